#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { N = 7 };

static const float x[N] = {-1.9f, -1.2f, -0.8f, -0.5f, -0.2f, 0.9f, 1.6f};
static const float area[N] = {30, 10, 25, 10, 20, 2, 3};

/* Seven nodes in a chain of weak couplings; w scales scores and couplings alike. */
struct toy {
    struct clv_model model;
    struct clv_problem problem;
    struct clv_oracle *oracle;
    double w[2];
};

static const int64_t row[N + 1] = {0, 1, 2, 3, 4, 5, 6, 7};
static const int32_t column[N] = {0};
static const int32_t edges[N - 1][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
static const float ones[N - 1] = {1, 1, 1, 1, 1, 1};

static void toy_init(struct toy *toy, double scale, double coupling)
{
    *toy = (struct toy){.w = {scale, scale * coupling}};
    toy->model = (struct clv_model){.layout = {2, 1, 1, CLV_PAIRWISE_POTTS}, .w = toy->w};
    toy->problem = (struct clv_problem){.n_nodes = N,
                                        .n_edges = N - 1,
                                        .n_features = 1,
                                        .n_edge_features = 1,
                                        .row = row,
                                        .index = column,
                                        .value = x,
                                        .edges = edges,
                                        .edge_features = ones,
                                        .area = area};
    must(clv_oracle_new(&toy->oracle, CLV_ENGINE_DEFAULT, err));
}

static int bit(int labelling, int node)
{
    return labelling >> node & 1;
}

/* Expected balanced error of deciding `y` when z has probability exp(f(z)) / Z, without edges, by enumeration. */
static double expected_error(int y, double scale)
{
    double total = 0, sum = 0;
    for (int z = 0; z < 1 << N; z++) {
        double f = 0, pixels[2] = {0, 0}, wrong[2] = {0, 0};
        for (int i = 0; i < N; i++) {
            f += bit(z, i) * scale * (double)x[i];
            pixels[bit(z, i)] += (double)area[i];
            wrong[bit(z, i)] += bit(y, i) != bit(z, i) ? (double)area[i] : 0;
        }
        double present = (pixels[0] > 0) + (pixels[1] > 0), error = 0;
        for (int b = 0; b < 2; b++)
            error += pixels[b] > 0 ? wrong[b] / pixels[b] / present : 0;
        sum += exp(f) * error;
        total += exp(f);
    }
    return sum / total;
}

static int decide(struct toy *toy, const struct clv_decision_options *options)
{
    int32_t y[N];
    int labelling = 0;
    must(clv_model_decide(y, &toy->model, &toy->problem, toy->oracle, options, err));
    for (int i = 0; i < N; i++)
        labelling |= y[i] << i;
    return labelling;
}

TEST(a_decision_has_the_least_expected_balanced_error_of_all_labellings)
{
    struct clv_decision_options options = {.n_samples = 20000, .seed = 3, .scale = 1};
    for (double scale = 0.5; scale <= 2; scale *= 2) {
        struct toy toy;
        toy_init(&toy, scale, 0);
        double least = INFINITY, found = expected_error(decide(&toy, &options), scale), map = 0;
        for (int y = 0; y < 1 << N; y++)
            least = fmin(least, expected_error(y, scale));
        int y = 0;
        for (int i = 0; i < N; i++)
            y |= (x[i] > 0) << i;
        map = expected_error(y, scale);
        ck_assert_double_le(found, least * 1.01);
        ck_assert_double_lt(found, 0.95 * map); /* foreground is small here: its threshold is below 1/2 */
        clv_oracle_free(toy.oracle);
    }
}

/* Two nodes of one pixel, the second one background. Where the first one is background too, foreground is absent and
 * background's share 1: foreground needs q / 2 > (1 - q) / 2. Were an absent label counted, q > 1/3 would do. */
TEST(a_label_that_is_absent_has_no_share)
{
    static const float score[] = {-0.32f, -30}, pixels[] = {1, 1}; /* q = 0.42 */
    struct clv_decision_options options = {.n_samples = 8000, .seed = 3, .scale = 1};
    struct toy toy;
    int32_t y[2];
    toy_init(&toy, 1, 0);
    toy.problem.n_nodes = 2;
    toy.problem.n_edges = 0;
    toy.problem.value = score;
    toy.problem.area = pixels;
    must(clv_model_decide(y, &toy.model, &toy.problem, toy.oracle, &options, err));
    ck_assert(y[0] == 0 && y[1] == 0);
    options.is_balanced = true;
    must(clv_model_decide(y, &toy.model, &toy.problem, toy.oracle, &options, err));
    ck_assert(y[0] == 0 && y[1] == 0);
    clv_oracle_free(toy.oracle);
}

TEST(balanced_models_decide_at_one_half)
{
    struct clv_decision_options options = {.n_samples = 4000, .seed = 3, .is_balanced = true, .scale = 1};
    struct toy toy;
    toy_init(&toy, 2, 0);
    ck_assert_int_eq(decide(&toy, &options), 3 << 5);
    clv_oracle_free(toy.oracle);
}

TEST(without_a_scale_models_that_differ_by_a_factor_decide_alike)
{
    struct clv_decision_options options = {.n_samples = 50, .seed = 3};
    struct toy large, small;
    toy_init(&large, 4, 0.4);
    toy_init(&small, 4.0 / 1024, 0.4);
    int y = decide(&large, &options);
    ck_assert_int_eq(decide(&small, &options), y);
    options.scale = 1;
    ck_assert_int_ne(decide(&small, &options), y); /* next to nothing against the noise */
    clv_oracle_free(large.oracle);
    clv_oracle_free(small.oracle);
}

/* Unary scores of mean size 3 stand for themselves. */
TEST(without_a_scale_scores_have_the_usual_size)
{
    double sum = 0;
    int n_differ = 0;
    for (int i = 0; i < N; i++)
        sum += fabs((double)x[i]);
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct clv_decision_options options = {.n_samples = 8, .seed = seed};
        struct toy any, usual;
        toy_init(&any, 0.7, 0);
        toy_init(&usual, 3 * N / sum, 0);
        int y = decide(&any, &options);
        options.scale = 1;
        ck_assert_int_eq(decide(&usual, &options), y);
        n_differ += decide(&any, &options) != y;
        clv_oracle_free(any.oracle);
        clv_oracle_free(usual.oracle);
    }
    ck_assert_int_gt(n_differ, 0);
}

TEST(defaults_follow_the_learner)
{
    static const struct {
        const char *learner;
        int is_balanced;
        double scale;
    } cases[] = {{"pmap", 0, 1}, {"mpmap", 0, 1}, {"wmpmap", 1, 1}, {"crf", 1, 1},
                 {"hcrf", 1, 1}, {"ssvm", 1, 0},  {"mssvm", 1, 0},  {NULL, 0, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct clv_model model = {.w = NULL};
        struct clv_decision_options options;
        if (cases[k].learner)
            must(clv_record_set(&model.record, "learner", cases[k].learner, err));
        clv_decision_defaults(&options, &model);
        ck_assert_int_eq(options.is_balanced, cases[k].is_balanced);
        ck_assert_double_eq(options.scale, cases[k].scale);
        ck_assert_uint_eq(options.n_samples, 100);
        clv_model_release(&model);
    }
}

TEST(decisions_from_nothing_are_refused)
{
    struct clv_decision_options options = {.n_samples = 0, .scale = 1};
    struct toy toy;
    int32_t y[N];
    toy_init(&toy, 1, 0);
    must_fail(CLV_ERR_USAGE, "a decision from 0 samples",
              clv_model_decide(y, &toy.model, &toy.problem, toy.oracle, &options, err));
    options = (struct clv_decision_options){.n_samples = 1, .scale = -1};
    must_fail(CLV_ERR_USAGE, "scale -1", clv_model_decide(y, &toy.model, &toy.problem, toy.oracle, &options, err));
    toy.problem.n_features = 2;
    must_fail(CLV_ERR_DATA, "2 features", clv_model_decide(y, &toy.model, &toy.problem, toy.oracle, NULL, err));
    clv_oracle_free(toy.oracle);
}
