/* Perturb-and-MAP trainings: optima that are known, what is refused, bytes at any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/chains.h"
#include "learn/common/common.h"
#include "learn/learners.h"
#include "learn/pmap/pmap.h"

#define SIZE 8 /* 6 features, 2 couplings */

static const struct clv_weight_layout potts = {2, 6, 2, CLV_PAIRWISE_POTTS};
static const struct clv_weight_layout apart = {2, 6, 2, CLV_PAIRWISE_NONE};

static double objective_of(const struct clv_training_result *result)
{
    return result->curve[result->n_curve - 1].objective;
}

/* Logistic regression on the toy's nodes, by gradient descent: what mpmap and pmap without edges must find, their
 * objectives being the same there. */
TEST(without_edges_both_steps_reach_logistic_regressions_optimum)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 10, 20, &apart, 31);
    double lambda = 0.05 * toy_scale(&toy) / 400, w[6] = {0}, objective = 0;
    for (int step = 0; step < 5000; step++) {
        double g[6] = {0};
        objective = 0;
        for (size_t k = 0; k < 6; k++)
            objective += lambda / 2 * w[k] * w[k];
        for (size_t i = 0; i < toy.n; i++) {
            struct clv_problem p = clv_dataset_problem(toy.dataset, i);
            double scores[RANDOM_MAX_NODES];
            clv_unary_scores(scores, &p, &apart, w);
            for (int32_t node = 0; node < p.n_nodes; node++) {
                double one = 1 / (1 + exp(-scores[node]));
                objective -= log(p.label[node] ? one : 1 - one) / 200;
                for (int64_t k = p.row[node]; k < p.row[node + 1]; k++)
                    g[p.index[k]] += (p.label[node] - one) * (double)p.value[k] / 200;
            }
        }
        for (size_t k = 0; k < 6; k++)
            w[k] += 0.1 * (g[k] - lambda * w[k]);
    }
    const char *learners[] = {"pmap", "mpmap"};
    for (int l = 0; l < 2; l++)
        for (int rule = 0; rule < 2; rule++) {
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "lambda", 0.05);
            set(&training, learners[l], "step", rule);
            set(&training, learners[l], "passes", 4000);
            OWNED(clv_training_result_release) struct clv_training_result result = run(learners[l], &training);
            for (size_t k = 0; k < 6; k++)
                ck_assert_double_eq_tol(result.w[k], w[k], 0.03);
            ck_assert_double_eq_tol(objective_of(&result), objective, 0.1); /* one draw for each image */
        }
}

/* A problem of n nodes in a row that all have one label. */
static void add_uniform(struct toy *toy, int32_t n_nodes, int32_t label, uint64_t seed)
{
    static struct random_problem r;
    random_problem_fill(&r, &potts, n_nodes, 0.5, 0.6, seed);
    for (int32_t i = 0; i < n_nodes; i++) {
        r.label[i] = label;
        for (int32_t b = 0; b < 2; b++)
            r.theta[2 * i + b] = b == label ? 1 / (float)n_nodes : 0;
    }
    toy_add(toy, &r.problem);
}

TEST(edge_cases_leave_weights_finite)
{
    static const char *const learners[] = {"pmap", "mpmap", "wmpmap"};
    for (int kind = 0; kind < 4; kind++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_begin(&toy, 2, 6, 2, CLV_PAIRWISE_POTTS);
        for (uint64_t i = 0; i < 3; i++)
            add_uniform(&toy, kind == 1 ? 1 : 10, kind == 2 ? 1 : kind == 3 ? CLV_UNKNOWN : 0, i);
        if (kind == 3)
            add_uniform(&toy, 1, 1, 9); /* the only known node of all */
        for (int l = 0; l < 3; l++)
            for (int rule = 0; rule < 2; rule++) {
                struct clv_training training = toy_training(&toy, learners[l]);
                set(&training, learners[l], "passes", 30);
                set(&training, learners[l], "step", rule);
                OWNED(clv_training_result_release) struct clv_training_result result = {0};
                must(train_part(&result, clv_learner_find(learners[l]), &training, err));
                ck_assert(isfinite(objective_of(&result)));
                for (size_t k = 0; k < SIZE; k++)
                    ck_assert(isfinite(result.w[k]));
                ck_assert(result.w[6] >= 0 && result.w[7] >= 0);
            }
    }
}

TEST(planted_labels_are_learned)
{
    static const char *const learners[] = {"pmap", "mpmap", "wmpmap"};
    const double w[] = {1, -2, 0.5, 1.5, 0.7, 0.2};
    struct clv_weight_layout layout = {2, 4, 2, CLV_PAIRWISE_POTTS};
    OWNED(toy_release) struct toy toy = {0};
    toy_planted(&toy, 8, 20, &layout, w, 3);
    for (int l = 0; l < 3; l++) {
        struct clv_training training = toy_training(&toy, learners[l]);
        set(&training, learners[l], "lambda", 1e-5);
        set(&training, learners[l], "passes", 400);
        set(&training, learners[l], "batch", 1);
        set(&training, learners[l], "rate", 1);
        OWNED(clv_training_result_release) struct clv_training_result result = run(learners[l], &training);
        ck_assert_double_lt(result.curve[result.n_curve - 1].train_loss, 0.01);
        ck_assert_double_lt(objective_of(&result), result.curve[0].objective);
    }
}

TEST(batches_give_the_same_bytes_at_any_thread_count)
{
    static const char *const learners[] = {"pmap", "mpmap", "wmpmap"};
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 17, 30, &potts, 8);
    for (int l = 0; l < 3; l++) {
        struct clv_training training = toy_training(&toy, learners[l]);
        set(&training, learners[l], "passes", 12);
        OWNED(clv_training_result_release) struct clv_training_result single = run(learners[l], &training);
        set(&training, learners[l], "batch", 5);
        OWNED(clv_training_result_release) struct clv_training_result one = run(learners[l], &training);
        ck_assert(memcmp(one.w, single.w, SIZE * sizeof(double)) != 0);
        for (int threads = 2; threads <= 8; threads *= 2) {
            training.n_threads = threads;
            OWNED(clv_training_result_release) struct clv_training_result many = run(learners[l], &training);
            ck_assert(!memcmp(one.w, many.w, SIZE * sizeof(double)));
            ck_assert(!memcmp(one.curve, many.curve, one.n_curve * sizeof *one.curve));
        }
    }
}

TEST(full_tables_off_chains_are_refused)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 2, 5, &potts, 1);
    struct clv_training training = toy_training(&toy, "wmpmap");
    struct clv_training_result result = {0};
    training.layout.pairwise = CLV_PAIRWISE_FULL;
    must_fail(CLV_ERR_USAGE, "full pairwise terms of 2 labels on a graph with loops",
              clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    ck_assert_ptr_null(result.w);
}

/* One step of next to no length: the same weights and noise, two lambdas. */
TEST(the_curve_s_objective_has_the_penalty)
{
    const struct clv_weight_layout layout = {2, 5, 1, CLV_PAIRWISE_POTTS};
    const double w[] = {1, -2, 0.5, 1.5, 0.3, 0.7}, lambda[] = {0.5, 3};
    double objective[2], squares = 0, features = 0, n_nodes = 0;
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 4, 8, &layout, 3);
    for (size_t k = 0; k < 6; k++)
        squares += w[k] * w[k];
    for (size_t i = 0; i < toy.n; i++) {
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        n_nodes += p.n_nodes;
        for (int64_t k = p.row[0]; k < p.row[p.n_nodes]; k++)
            features += (double)p.value[k] * (double)p.value[k];
    }
    for (int t = 0; t < 2; t++) {
        struct clv_training training = toy_training(&toy, "wmpmap");
        training.init = w;
        set(&training, "wmpmap", "passes", 1);
        set(&training, "wmpmap", "rate", 1e-9);
        set(&training, "wmpmap", "lambda", lambda[t]);
        OWNED(clv_training_result_release) struct clv_training_result result = run("wmpmap", &training);
        objective[t] = result.curve[result.n_curve - 1].objective;
    }
    double rise = (lambda[1] - lambda[0]) * features / n_nodes / 2 * squares;
    ck_assert_double_eq_tol((objective[1] - objective[0]) / rise, 1, 1e-5);
}

/* Tables far larger than unaries do not keep a node from being clamped. */
TEST(clamping_anew_holds_against_strong_tables)
{
    const struct clv_weight_layout layout = {2, 4, 1, CLV_PAIRWISE_FULL};
    const double w[] = {0.3, -0.2, 0.1, 0.4, 20, -20, -20, 20};
    struct clv_training_result results[2];
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 6, &layout, 4);
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        struct clv_training training = toy_training(&toy, "mpmap");
        training.init = w;
        set(&training, "mpmap", "passes", 2);
        set(&training, "mpmap", "dynamic", dynamic);
        results[dynamic] = run("mpmap", &training);
    }
    for (size_t k = 0; k < clv_weight_layout_size(&layout); k++)
        ck_assert_double_eq_tol(results[0].w[k], results[1].w[k], 1e-9);
    clv_training_result_release(&results[0]);
    clv_training_result_release(&results[1]);
}
