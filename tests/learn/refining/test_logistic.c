/* Weighted logistic regression: against the optimality conditions, and what weights may not be. */
#include <math.h>

#include "learn/refining/refining.h"
#include "support/support.h"

enum { N = 200, K = 3 };

/* Three columns; the label follows the first and, backwards, the second, and the third never varies. */
struct drawn {
    float rows[N][K];
    uint8_t is_one[N];
    double weight[N];
};

static void draw(struct drawn *self)
{
    uint32_t seed = 7;
    for (int i = 0; i < N; i++) {
        double number[3];
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            number[k] = seed / 4294967296.0 - 0.5;
        }
        self->rows[i][0] = (float)(3 + 10 * number[0]);
        self->rows[i][1] = (float)number[1];
        self->rows[i][2] = 5;
        self->is_one[i] = number[0] - number[1] + number[2] > 0.1;
        self->weight[i] = 1 + i % 3;
    }
}

static struct logistic_data view(const struct drawn *drawn)
{
    return (struct logistic_data){N, K, &drawn->rows[0][0], drawn->is_one, drawn->weight};
}

/* The weighted mean of (probability - label) times each column, and times 1: 0 at the minimum without a ridge. */
static void residuals(double mean[K + 1], const struct drawn *drawn, const double *w, double bias)
{
    double total = 0;
    for (int k = 0; k <= K; k++)
        mean[k] = 0;
    for (int i = 0; i < N; i++) {
        double score = bias;
        for (int k = 0; k < K; k++)
            score += w[k] * (double)drawn->rows[i][k];
        double off = drawn->weight[i] * (1 / (1 + exp(-score)) - drawn->is_one[i]);
        for (int k = 0; k <= K; k++)
            mean[k] += off * (k < K ? (double)drawn->rows[i][k] : 1);
        total += drawn->weight[i];
    }
    for (int k = 0; k <= K; k++)
        mean[k] /= total;
}

TEST(the_minimum_is_found)
{
    static struct drawn drawn;
    static const bool any[K] = {false, false, false};
    double w[K], bias, mean[K + 1];
    draw(&drawn);
    const struct logistic_data data = view(&drawn);
    must(logistic_fit(w, &bias, &data, any, 0, err));
    residuals(mean, &drawn, w, bias);
    for (int k = 0; k <= K; k++)
        ck_assert_double_eq_tol(mean[k], 0, 1e-5);
    ck_assert_double_gt(w[0], 0);
    ck_assert_double_lt(w[1], 0);
    ck_assert(!(w[2] > 0 || w[2] < 0));
}

TEST(weights_stay_in_range_where_a_column_hardly_varies)
{
    static struct drawn drawn, without;
    static const bool any[K] = {false, false, false};
    double w[K], bias, expected[K], expected_bias;
    draw(&drawn);
    without = drawn;
    for (int i = 0; i < N; i++) { /* the third says it all, by 1e-7 more or less */
        drawn.rows[i][2] = drawn.is_one[i] ? 1e-7F : 0;
        without.rows[i][2] = 0;
    }
    const struct logistic_data data = view(&drawn), small = view(&without);
    must(logistic_fit(w, &bias, &data, any, 2e-4, err));
    must(logistic_fit(expected, &expected_bias, &small, any, 2e-4, err));
    for (int k = 0; k < K; k++)
        ck_assert_double_eq_tol(w[k], expected[k], 1e-4);
    ck_assert_double_eq_tol(bias, expected_bias, 1e-4);
    for (int i = 0; i < N; i++)
        drawn.rows[i][2] = drawn.is_one[i] ? 70000 : 70000.0625F; /* the weight would be some 100, the bias 1e7 */
    must(logistic_fit(w, &bias, &data, any, 2e-4, err));
    ck_assert_double_le(fabs(bias), LOGISTIC_LARGEST);
    ck_assert_double_eq(w[2], 0);
}

TEST(weights_that_may_not_be_negative_are_left_out_and_the_others_fitted_without_them)
{
    static struct drawn drawn;
    static const bool positive[K] = {true, true, true};
    double w[K], bias, mean[K + 1];
    draw(&drawn);
    const struct logistic_data data = view(&drawn);
    must(logistic_fit(w, &bias, &data, positive, 0, err));
    residuals(mean, &drawn, w, bias);
    ck_assert(!(w[1] > 0 || w[1] < 0));
    ck_assert_double_eq_tol(mean[0], 0, 1e-5);
    ck_assert_double_eq_tol(mean[K], 0, 1e-5);
    ck_assert_double_gt(mean[1], 1e-3); /* it would like to be negative */
}

TEST(a_ridge_keeps_weights_finite_where_columns_separate_the_labels)
{
    static struct drawn drawn;
    static const bool any[K] = {false, false, false};
    double w[2][K], bias;
    draw(&drawn);
    for (int i = 0; i < N; i++)
        drawn.is_one[i] = drawn.rows[i][0] > 3;
    const struct logistic_data data = view(&drawn);
    must(logistic_fit(w[0], &bias, &data, any, 1e-3, err));
    must(logistic_fit(w[1], &bias, &data, any, 1e-1, err));
    ck_assert(isfinite(w[0][0]));
    ck_assert_double_gt(w[0][0], w[1][0]);
    ck_assert_double_gt(w[1][0], 0);
}

/* A ridge r pulls weights in units of their columns' deviations: residuals are -r w times the variance. */
TEST(a_ridge_is_in_units_of_the_columns)
{
    static struct drawn drawn;
    static const bool any[K] = {false, false, false};
    const double ridge = 0.2;
    double w[K], bias, mean[K + 1];
    draw(&drawn);
    const struct logistic_data data = view(&drawn);
    must(logistic_fit(w, &bias, &data, any, ridge, err));
    residuals(mean, &drawn, w, bias);
    ck_assert_double_eq_tol(mean[K], 0, 1e-5);
    for (int k = 0; k < 2; k++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < N; i++) {
            sum += (double)drawn.rows[i][k] / N;
            squares += (double)drawn.rows[i][k] * (double)drawn.rows[i][k] / N;
        }
        ck_assert_double_eq_tol(mean[k] - sum * mean[K], -ridge * w[k] * (squares - sum * sum), 1e-4);
        ck_assert_double_gt(fabs(mean[k]), 1e-3);
    }
}

TEST(nothing_to_learn_from_is_refused)
{
    static struct drawn drawn;
    static const bool any[K] = {false, false, false};
    double w[K], bias;
    draw(&drawn);
    struct logistic_data data = view(&drawn);
    data.n = 0;
    must_fail(CLV_ERR_USAGE, "0 rows", logistic_fit(w, &bias, &data, any, 0, err));
    data.n = N;
    for (int i = 0; i < N; i++)
        drawn.weight[i] = 0;
    must_fail(CLV_ERR_USAGE, "no row has a weight", logistic_fit(w, &bias, &data, any, 0, err));
}

TEST(as_many_columns_as_there_may_be_are_fitted)
{
    enum { MOST = LOGISTIC_MOST - 1 };
    static float rows[N][MOST];
    static const bool any[MOST] = {false};
    static struct drawn drawn;
    double w[MOST], bias;
    draw(&drawn);
    for (int i = 0; i < N; i++)
        rows[i][MOST - 1] = drawn.rows[i][0]; /* all others are 0 */
    struct logistic_data data = {N, MOST, &rows[0][0], drawn.is_one, drawn.weight};
    must(logistic_fit(w, &bias, &data, any, 1e-3, err));
    ck_assert_double_gt(w[MOST - 1], 0);
    ck_assert_double_eq(w[MOST - 2], 0);
    data.n_columns = MOST + 1;
    must_fail(CLV_ERR_USAGE, "200 rows of 32 numbers", logistic_fit(w, &bias, &data, any, 0, err));
    data.n_columns = -1;
    must_fail(CLV_ERR_USAGE, "200 rows of -1 numbers", logistic_fit(w, &bias, &data, any, 0, err));
    data.n_columns = 0; /* the bias alone: the log odds of the weights */
    must(logistic_fit(w, &bias, &data, any, 0, err));
    double sum[2] = {0, 0};
    for (int i = 0; i < N; i++)
        sum[drawn.is_one[i]] += drawn.weight[i];
    ck_assert_double_eq_tol(bias, log(sum[1] / sum[0]), 1e-6);
}
