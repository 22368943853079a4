/* Which labels an image has, learned from marginals; and what labels cost by it. */
#include <math.h>

#include "base/base.h"
#include "infer/infer.h"
#include "learn/stages/stages.h"
#include "model/context.h"
#include "model/model.h"
#include "mrf/problem.h"
#include "support/support.h"

enum { K = 3, N = 60, N_NODES = 4 };

/* Label 0 is always there, label 1 where marginals of some node say so, label 2 with label 1 but for every fifth,
 * though its own marginals are uninformative. */
static void draw(double *evidence, uint8_t *is_present)
{
    for (size_t i = 0; i < N; i++) {
        double marginals[N_NODES][K], strength = i % 2 ? 0.9 : 0.2;
        for (size_t node = 0; node < N_NODES; node++) {
            double noise = rng_uniform(3, RNG_TEST, i * N_NODES + node);
            marginals[node][1] = node ? 0.05 * noise : strength - 0.15 * noise;
            marginals[node][2] = 0.1 * noise;
            marginals[node][0] = 1 - marginals[node][1] - marginals[node][2];
        }
        evidence_measure(evidence + i * 2 * K, &marginals[0][0], N_NODES, K);
        is_present[i * K] = 1;
        is_present[i * K + 1] = i % 2;
        is_present[i * K + 2] = i % 2 && i % 5;
    }
}

static double score_of(const double *w, const double *evidence, int32_t label)
{
    double row[3 + K], score = 0;
    ck_assert_int_eq(evidence_size(K), 3 + K);
    evidence_row(row, evidence, K, label);
    for (int c = 0; c < 3 + K; c++)
        score += w[label * (3 + K) + c] * row[c];
    return score;
}

TEST(presence_is_learned_from_own_marginals_and_from_company)
{
    static double evidence[N * 2 * K], w[2][K * (3 + K)];
    static uint8_t is_present[N * K];
    draw(evidence, is_present);
    for (int t = 0; t < 2; t++)
        must(presence_learn(w[t], &(struct presence_examples){evidence, is_present, N, K}, 1 + t, err));
    ck_assert_mem_eq(w[0], w[1], sizeof w[0]);
    int n_right = 0;
    for (size_t i = 0; i < N; i++) {
        ck_assert_double_gt(score_of(w[0], evidence + i * 2 * K, 0), 4);
        ck_assert_int_eq(score_of(w[0], evidence + i * 2 * K, 1) > 0, is_present[i * K + 1]);
        n_right += (score_of(w[0], evidence + i * 2 * K, 2) > 0) == is_present[i * K + 2];
    }
    ck_assert_int_ge(n_right, N * 9 / 10);
    ck_assert_double_eq_tol(w[0][0], log((N + 0.5) / 0.5), 1e-12); /* of all images */
    memset(is_present, 0, sizeof is_present);
    must(presence_learn(w[0], &(struct presence_examples){evidence, is_present, N, K}, 1, err));
    ck_assert_double_eq_tol(w[0][0], log(0.5 / (N + 0.5)), 1e-12); /* of none */
}

/* The gradient of the objective is small where it was minimised. */
TEST(presence_is_the_minimum_of_its_objective)
{
    static double evidence[N * 2 * K], w[K * (3 + K)];
    static uint8_t is_present[N * K];
    double gradient[3 + K] = {0};
    draw(evidence, is_present);
    must(presence_learn(w, &(struct presence_examples){evidence, is_present, N, K}, 1, err));
    for (size_t i = 0; i < N; i++) {
        double row[3 + K], wrong = 1 / (1 + exp(-score_of(w, evidence + i * 2 * K, 2))) - is_present[i * K + 2];
        evidence_row(row, evidence + i * 2 * K, K, 2);
        for (int c = 0; c < 3 + K; c++)
            gradient[c] += wrong * row[c] / N;
    }
    for (int c = 0; c < 3 + K; c++)
        ck_assert_double_lt(fabs(gradient[c] + (c ? 0.001 * w[2 * (3 + K) + c] : 0)), 3e-4);
}

TEST(a_label_is_there_from_one_in_five_hundred_on)
{
    float theta[2][K] = {{100, 0, 0.1F}, {0, 99, 1}};
    uint8_t is_present[K];
    const struct clv_problem problem = {.n_nodes = 2, .theta = &theta[0][0]};
    presence_of(is_present, &problem, K);
    ck_assert(is_present[0] == 1 && is_present[1] == 1 && is_present[2] == 1);
    theta[1][2] = 0;
    presence_of(is_present, &problem, K);
    ck_assert_int_eq(is_present[2], 0);
}

/* Five nodes show label 0, one shows label 1, which both stages believe; it is given up if the image cannot have it. */
TEST(models_give_up_labels_that_an_image_hardly_has)
{
    enum { NODES = 6 };
    static const int64_t row[NODES + 1] = {0, 1, 2, 3, 4, 5, 6};
    static const int32_t index[NODES] = {0, 0, 1, 0, 0, 0};
    static const float value[NODES] = {1, 1, 1, 1, 1, 1};
    const struct clv_problem problem = {.n_nodes = NODES, .n_features = K, .row = row, .index = index, .value = value};
    double first_w[K * K] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, presence[K * (3 + K)] = {0};
    struct clv_stage stage = {
        .layout = {.n_labels = K, .n_features = K, .pairwise = CLV_PAIRWISE_NONE}, .w = first_w, .temperature = 1};
    OWNED(clv_model_release) struct clv_model model = {.layout = stage_next_layout(&stage.layout, CLV_PAIRWISE_NONE),
                                                       .first = &stage};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t y[NODES];
    model.w = array_zalloc(clv_weight_layout_size(&model.layout), sizeof *model.w);
    for (int32_t l = 0; l < K; l++)
        model.w[l * model.layout.n_features + l] = 2;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (int k = 0; k < 3; k++) {
        presence[3 + K] = k == 1 ? -4 : 4; /* the log-odds of label 1 */
        if (k)
            must(label_costs_attach(&model, presence, 1, err));
        must(clv_model_predict(y, &model, &problem, oracle, err));
        ck_assert_int_eq(y[0], 0);
        ck_assert_int_eq(y[2], k != 1);
    }
    model.first = NULL;
}

TEST(a_tensor_of_costs_that_does_not_fit_the_model_is_refused)
{
    double w[K * (3 + K)] = {0}, cost[K];
    OWNED(clv_model_release) struct clv_model model = {.layout = {.n_labels = K, .n_features = 1}};
    const struct clv_problem problem = {.n_nodes = 0};
    ck_assert(!label_costs_are_there(&model));
    must(label_costs_attach(&model, w, 2, err));
    ck_assert(label_costs_are_there(&model));
    must_fail(CLV_ERR_DATA, "no first stage", label_costs_of(cost, &model, &problem, err));
    model.layout.n_labels = K + 1;
    must_fail(CLV_ERR_DATA, "is not f64 [4][8]", label_costs_of(cost, &model, &problem, err));
    model.layout.n_labels = K;
    w[4] = INFINITY;
    must(label_costs_attach(&model, w, 2, err));
    struct clv_stage stage = {.layout = model.layout, .temperature = 1};
    model.first = &stage;
    must_fail(CLV_ERR_DATA, "holds inf", label_costs_of(cost, &model, &problem, err));
    model.first = NULL;
}

/* Nine of ten nodes have label 0, which held-out marginals give .6 there; to the tenth, of label 1, they give it .55.
 * Weights of share^-x find the rare label as soon as 9^x > .55 / .45, and lose the common one from 9^x > .6 / .4 on. */
TEST(rare_labels_weigh_as_much_as_held_out_marginals_bear)
{
    enum { NODES = 10 };
    double marginals[NODES][2], share[2] = {0}, right[RARE_EXPONENTS][2];
    float theta[NODES][2] = {{0}};
    const struct clv_problem problem = {.n_nodes = NODES, .theta = &theta[0][0]};
    for (int i = 0; i < NODES; i++) {
        theta[i][i == 0] = 1;
        marginals[i][0] = i ? 0.6 : 0.55;
        marginals[i][1] = 1 - marginals[i][0];
    }
    label_shares_add(share, &problem, 2);
    ck_assert_double_eq(share[0], 9);
    rare_labels_tally(&right[0][0], &problem, &marginals[0][0], share, 2);
    ck_assert_double_eq(right[0][0], 9);
    ck_assert_double_eq(right[0][1], 0);
    ck_assert_double_eq(right[RARE_EXPONENTS - 1][0], 0);
    ck_assert_double_eq(right[RARE_EXPONENTS - 1][1], 1);
    ck_assert_double_eq(rare_labels_choose(&right[0][0], share, 1, 2), 0.1); /* 9^.1 = 1.246, between 1.222 and 1.5 */
    share[1] = 0; /* nobody has it: all decisions are as good */
    for (int k = 0; k < RARE_EXPONENTS; k++) {
        right[k][0] = 9;
        right[k][1] = 0;
    }
    ck_assert_double_eq(rare_labels_choose(&right[0][0], share, 1, 2), 0);
    /* All pixels and the mean of the labels weigh the same: .8 + .5 is more than .59 + .65. */
    share[0] = 8;
    share[1] = 2;
    memset(right, 0, sizeof right);
    right[0][0] = 8;
    right[5][0] = 4.4;
    right[5][1] = 1.5;
    ck_assert_double_eq(rare_labels_choose(&right[0][0], share, 1, 2), 0);
}
