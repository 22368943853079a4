/* Learners with hidden nodes, followed by a slow reference: of the learner only the gradient (test_hidden.c). */
#include <string.h>

#include "learn/hidden/hidden_toy.h"

enum { SIZE = 3 * 2 + 9 * 2, EXAMPLES = 6 };

struct walk {
    struct hidden hidden;
    double w[SIZE], mean[SIZE], squares[SIZE];
    int32_t all[EXAMPLES];
};

static void open_walk(struct walk *self, struct clv_training *training, const struct toy *toy, const double *init)
{
    memset(self, 0, sizeof *self);
    open_toy(&self->hidden, training, toy, 0, 1, 1);
    memcpy(self->w, init, sizeof self->w);
    memcpy(self->mean, init, sizeof self->mean);
    for (int32_t i = 0; i < EXAMPLES; i++)
        self->all[i] = i;
}

static void gradient_at(double *gradient, struct walk *self)
{
    must(hidden_gradient(gradient, NULL, NULL, &self->hidden,
                         &(struct hidden_pass){HIDDEN_BOTH, self->all, EXAMPLES, self->w}, err));
}

static void expect_weights(const struct clv_training_result *result, const double *w)
{
    for (size_t k = 0; k < SIZE; k++)
        ck_assert_msg(fabs(result->w[k] - w[k]) < 1e-9, "weight %zu is %g, %g by the algorithm", k, result->w[k], w[k]);
}

static double mean_square(const struct toy *toy, double *mean_known)
{
    double squares = 0, known = 0;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        for (int32_t node = 0; node < p.n_nodes; node++)
            if (p.label[node] != CLV_UNKNOWN) {
                known++;
                for (int64_t k = p.row[node]; k < p.row[node + 1]; k++)
                    squares += (double)p.value[k] * (double)p.value[k];
            }
    }
    *mean_known = known / (double)toy->n;
    return squares / known;
}

/* Algorithm 1 with C = 1: w - rate (w + n times the gradient), of one rate as published; ours end where they would go to
 * and fro, by rates / sqrt(1 + t / 10). */
TEST(subgradient_steps_are_constant_as_published_and_get_shorter_otherwise)
{
    static struct walk walk;
    OWNED(toy_release) struct toy toy = {0};
    double init[SIZE], gradient[SIZE];
    toy_hidden(&toy, EXAMPLES, &full3, CHAINS, 4);
    random_weights(init, &full3, 4);
    for (int kind = 0; kind < 4; kind++) {
        struct clv_training training;
        bool with_c = kind & 1, is_published = kind & 2;
        double c = with_c ? 0.3 : 1;
        open_walk(&walk, &training, &toy, init);
        training.init = init;
        set(&training, "mssvm", "solver", 1);
        set(&training, "mssvm", "passes", 25);
        set(&training, "mssvm", "rate", 0.05);
        set(&training, "mssvm", "paper", is_published);
        set(&training, "mssvm", "c", with_c ? c : 0);
        for (int t = 0; t < 25; t++) {
            gradient_at(gradient, &walk);
            for (size_t k = 0; k < SIZE; k++)
                walk.w[k] -= 0.05 / (is_published ? 1 : sqrt(1 + t / 10.0)) * (walk.w[k] + c * EXAMPLES * gradient[k]);
        }
        OWNED(clv_training_result_release) struct clv_training_result result = run("mssvm", &training);
        expect_weights(&result, walk.w);
        hidden_release(&walk.hidden);
    }
}

/* The source's rates: 0.02, and 0.001 of lssvm. */
TEST(published_rates_are_the_source_s)
{
    static const struct {
        const char *learner;
        double rate;
    } cases[] = {{"mssvm", 0.02}, {"hcrf", 0.02}, {"lssvm", 0.001}};
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, EXAMPLES, &full3, CHAINS, 4);
    for (int k = 0; k < 3; k++) {
        struct clv_training training = toy_training(&toy, cases[k].learner);
        set(&training, cases[k].learner, "paper", 1);
        set(&training, cases[k].learner, "solver", 1);
        set(&training, cases[k].learner, "passes", 7);
        OWNED(clv_training_result_release) struct clv_training_result usual = run(cases[k].learner, &training);
        set(&training, cases[k].learner, "rate", cases[k].rate);
        OWNED(clv_training_result_release) struct clv_training_result given = run(cases[k].learner, &training);
        ck_assert_mem_eq(usual.w, given.w, SIZE * sizeof *usual.w);
    }
}

/* AdaGrad; after smooth passes, at temperature 1 all over, it starts again with an eighth of the rate. */
TEST(adagrad_goes_on_with_shorter_steps_after_smooth_ones)
{
    static struct walk walk;
    OWNED(toy_release) struct toy toy = {0};
    double init[SIZE], gradient[SIZE], known;
    toy_hidden(&toy, EXAMPLES, &full3, CHAINS, 5);
    random_weights(init, &full3, 5);
    for (int is_smooth = 0; is_smooth < 2; is_smooth++) {
        struct clv_training training;
        int n_smooth = is_smooth ? 8 : 0, n_steps = 0;
        open_walk(&walk, &training, &toy, init);
        double scale = mean_square(&toy, &known), rate = 0.4 / sqrt(scale), lambda = 0.02 * scale * known;
        training.init = init;
        set(&training, "mssvm", "passes", 20);
        set(&training, "mssvm", "batch", 0);
        set(&training, "mssvm", "rate", 0.4);
        set(&training, "mssvm", "lambda", 0.02);
        set(&training, "mssvm", "smooth", is_smooth ? 0.4 : 0);
        if (is_smooth)
            must(hidden_set_temperatures(&walk.hidden, 1, 1, err));
        for (int t = 0; t < 20; t++) {
            if (is_smooth && t == n_smooth) {
                must(hidden_set_temperatures(&walk.hidden, 0, 1, err));
                memset(walk.squares, 0, sizeof walk.squares);
                memcpy(walk.mean, walk.w, sizeof walk.mean);
                rate /= 8;
                n_steps = 0;
            }
            gradient_at(gradient, &walk);
            n_steps++;
            for (size_t k = 0; k < SIZE; k++) {
                double d = -gradient[k] - lambda * walk.w[k];
                walk.squares[k] += d * d;
                walk.w[k] += walk.squares[k] > 0 ? rate * d / sqrt(walk.squares[k]) : 0;
                walk.mean[k] += 2.0 / (n_steps + 1) * (walk.w[k] - walk.mean[k]);
            }
        }
        OWNED(clv_training_result_release) struct clv_training_result result = run("mssvm", &training);
        expect_weights(&result, walk.mean);
        hidden_release(&walk.hidden);
    }
}

TEST(what_was_learned_is_decoded_at_its_temperatures)
{
    static const struct {
        double visible, hidden;
        enum clv_decoding_rule rule;
    } cases[] = {{0, 0, CLV_DECODE_MAP},
                 {1, 1, CLV_DECODE_MARGINALS},
                 {0, 1, CLV_DECODE_MARGINAL_MAP},
                 {0, 0.3, CLV_DECODE_MARGINAL_MAP},
                 {0.5, 0.5, CLV_DECODE_MARGINAL_MAP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hidden_settings settings = {.visible_temperature = cases[i].visible,
                                                 .hidden_temperature = cases[i].hidden};
        struct clv_decoding decoding = hidden_decoding(&settings);
        ck_assert_int_eq(decoding.rule, cases[i].rule);
        if (decoding.rule == CLV_DECODE_MARGINAL_MAP)
            ck_assert_double_eq(decoding.hidden_temperature, cases[i].hidden);
    }
}

static bool next(int32_t *y)
{
    for (int32_t i = 0; i < NODES; i++) {
        if (++y[i] < 3)
            return true;
        y[i] = 0;
    }
    return false;
}

/* The hinge of the min-entropy model: max_y L + G(y) - G(y_i), G = (T log sum_h e^(f/T) - T log sum_h e^f) / (1 - T).
 * */
static double entropy_hinge(const struct clv_problem *p, const double *w, double temperature)
{
    double one[27] = {0}, sharp[27] = {0}, loss[27] = {0}, best = -INFINITY, value;
    int32_t y[NODES] = {0};
    do {
        double psi[SIZE] = {0}, score = 0;
        int at = y[0] + 3 * y[2] + 9 * y[4];
        clv_joint_feature_add(psi, p, &full3, y, 1);
        for (size_t k = 0; k < SIZE; k++)
            score += psi[k] * w[k];
        one[at] += exp(score);
        sharp[at] += exp(score / temperature);
        loss[at] = clv_loss(p, 3, y);
    } while (next(y));
    for (int at = 0; at < 27; at++) {
        value = loss[at] + temperature * (log(sharp[at]) - log(one[at])) / (1 - temperature);
        best = fmax(best, value);
    }
    int truth = p->label[0] + 3 * p->label[2] + 9 * p->label[4];
    return best - temperature * (log(sharp[truth]) - log(one[truth])) / (1 - temperature);
}

static double entropy_objective(const struct toy *toy, const double *w, double C, double order)
{
    double value = 0;
    for (size_t k = 0; k < SIZE; k++)
        value += w[k] * w[k] / 2;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        value += C * entropy_hinge(&p, w, 1 / order);
    }
    return value;
}

/* Miller et al. 2012, by enumeration; the gradient by differences. */
TEST(m3e_goes_down_its_objective_in_shorter_and_shorter_steps)
{
    OWNED(toy_release) struct toy toy = {0};
    double w[SIZE], C = 0.4, order = 4;
    toy_hidden(&toy, 4, &full3, CHAINS, 6);
    random_weights(w, &full3, 6);
    struct clv_training training = toy_training(&toy, "m3e");
    double init[SIZE];
    memcpy(init, w, sizeof init);
    training.init = init;
    set(&training, "m3e", "solver", 1);
    set(&training, "m3e", "units", UNITS_RAW);
    set(&training, "m3e", "passes", 4);
    set(&training, "m3e", "order", order);
    set(&training, "m3e", "rate", 0.1);
    set(&training, "m3e", "C", C);
    OWNED(clv_training_result_release) struct clv_training_result result = run("m3e", &training);
    ck_assert_double_eq_tol(result.curve[0].objective, entropy_objective(&toy, w, C, order), 1e-9);
    double zero[SIZE] = {0};
    ck_assert_double_eq_tol(result.at_zero, entropy_objective(&toy, zero, C, order), 1e-9);
    for (int t = 0; t < 4; t++) {
        double gradient[SIZE];
        for (size_t k = 0; k < SIZE; k++) {
            double kept = w[k], above;
            w[k] = kept + 1e-6;
            above = entropy_objective(&toy, w, C, order);
            w[k] = kept - 1e-6;
            gradient[k] = (above - entropy_objective(&toy, w, C, order)) / 2e-6;
            w[k] = kept;
        }
        for (size_t k = 0; k < SIZE; k++)
            w[k] -= 0.1 / (1 + 9 * t / 4.0) * gradient[k];
    }
    for (size_t k = 0; k < SIZE; k++)
        ck_assert_double_eq_tol(result.w[k], w[k], 1e-6);
}

TEST(m3e_reports_the_start_ten_points_at_most_and_the_last)
{
    static const double reported[] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 25};
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 2, &full3, CHAINS, 6);
    struct clv_training training = toy_training(&toy, "m3e");
    set(&training, "m3e", "passes", 25);
    OWNED(clv_training_result_release) struct clv_training_result result = run("m3e", &training);
    ck_assert_uint_eq(result.n_curve, 10);
    for (int k = 0; k < 10; k++)
        ck_assert_double_eq(result.curve[k].pass, reported[k]);
}

/* What the entropy's order is in training, it is in decoding: temperature 1 / order. */
TEST(m3e_is_decoded_at_the_order_it_learned)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 4, &full3, CHAINS, 6);
    struct clv_training training = toy_training(&toy, "m3e");
    set(&training, "m3e", "passes", 3);
    set(&training, "m3e", "order", 4);
    OWNED(clv_training_result_release) struct clv_training_result result = run("m3e", &training);
    ck_assert_int_eq(result.decoding.rule, CLV_DECODE_MIN_ENTROPY);
    ck_assert_double_eq(result.decoding.hidden_temperature, 0.25);
}
