/* Maxima over two labels are minimum cuts, and exact, whichever nodes are hidden and whichever labels are given. */
#include <string.h>

#include "learn/common/common.h"
#include "learn/hidden/hidden_toy.h"

enum { MAX_SIZE = 10, N_LABELLINGS = 1 << NODES, N_TRIALS = 40 };

static const struct clv_weight_layout potts2 = {2, 2, 2, CLV_PAIRWISE_POTTS}, full2 = {2, 2, 2, CLV_PAIRWISE_FULL};

/* Tables that attract: equal labels win. Features of edges are at least 0. */
static void attracting_weights(double *w, const struct clv_weight_layout *layout, uint64_t seed)
{
    size_t n_unary = clv_weight_layout_unary_size(layout), p = (size_t)layout->n_edge_features;
    random_weights(w, layout, seed);
    for (size_t f = 0; f < p && layout->pairwise == CLV_PAIRWISE_FULL; f++) {
        double *table = &w[n_unary + f], least = table[0] + table[3 * p] - table[p] - table[2 * p];
        table[0] += fmax(0, -least);
    }
}

/* The labelling that scores most, by enumeration, among those that have the labels given (NULL: all of them), with the
 * loss added `scale` times; psi is its joint feature. */
static double best_of_all(double *psi, const struct clv_problem *p, const struct clv_weight_layout *layout,
                          const double *w, const int32_t *given, double scale)
{
    double best = -INFINITY;
    for (int code = 0; code < N_LABELLINGS; code++) {
        int32_t y[NODES];
        double feature[MAX_SIZE] = {0}, score = 0;
        bool is_allowed = true;
        for (int i = 0; i < NODES; i++) {
            y[i] = code >> i & 1;
            is_allowed &= !given || given[i] == CLV_UNKNOWN || given[i] == y[i];
        }
        clv_joint_feature_add(feature, p, layout, y, 1);
        for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
            score += feature[k] * w[k];
        score += scale * clv_loss(p, 2, y);
        if (is_allowed && score > best) {
            best = score;
            memcpy(psi, feature, sizeof feature);
        }
    }
    return best;
}

static void expect_exact(const struct clv_weight_layout *layout, double hidden_temperature, bool has_hidden,
                         uint64_t seed)
{
    OWNED(toy_release) struct toy toy = {0};
    OWNED(hidden_release) struct hidden hidden = {0};
    struct clv_training training;
    double w[MAX_SIZE], gradient[MAX_SIZE], most[MAX_SIZE], truest[MAX_SIZE], free, clamped;
    int32_t first = 0;
    if (has_hidden)
        toy_hidden(&toy, 1, layout, LOOPS, seed);
    else
        toy_random(&toy, 1, NODES, layout, seed);
    open_toy(&hidden, &training, &toy, 0, hidden_temperature, 1);
    attracting_weights(w, layout, seed);
    must(hidden_gradient(gradient, &free, &clamped, &hidden, &(struct hidden_pass){HIDDEN_BOTH, &first, 1, w}, err));
    struct clv_problem p = clv_dataset_problem(toy.dataset, 0);
    ck_assert_double_eq_tol(free, best_of_all(most, &p, layout, w, NULL, hidden.unit), 1e-5);
    ck_assert_double_eq_tol(clamped, best_of_all(truest, &p, layout, w, p.label, 0), 1e-5);
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
        ck_assert_double_eq_tol(gradient[k], most[k] - truest[k], 1e-6);
    ck_assert_int_eq(hidden.items[0].n_runs, 0);
}

TEST(maxima_of_two_labels_are_exact)
{
    for (uint64_t seed = 0; seed < N_TRIALS; seed++) {
        expect_exact(&potts2, 0, true, seed);
        expect_exact(&potts2, 0, false, seed);
        expect_exact(&potts2, 1, false, seed);
        expect_exact(&full2, 0, true, seed);
    }
}

/* Nothing is hidden: sums over hidden nodes and maxima over them are the same, to the bytes. */
TEST(without_hidden_nodes_marginal_and_latent_machines_are_one)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 6, 8, &potts2, 3);
    struct clv_training marginal = toy_training(&toy, "mssvm"), latent = toy_training(&toy, "lssvm");
    OWNED(clv_training_result_release) struct clv_training_result a = run("mssvm", &marginal);
    OWNED(clv_training_result_release) struct clv_training_result b = run("lssvm", &latent);
    ck_assert_mem_eq(a.w, b.w, clv_weight_layout_size(&potts2) * sizeof *a.w);
    ck_assert_uint_eq(a.n_notes, 0);
}

/* Sweeps matter where something is propagated: in smooth passes, too. */
TEST(cuts_need_no_sweeps)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 6, &potts2, LOOPS, 3);
    struct clv_training training = toy_training(&toy, "lssvm");
    const struct clv_learner *learner = clv_learner_find("lssvm");
    int sweeps = clv_learner_parameter(learner, "sweeps");
    ck_assert_str_eq(learner->unused_reason(&training, sweeps), "inference is exact on these graphs");
    set(&training, "lssvm", "smooth", 0.5);
    ck_assert_ptr_null(learner->unused_reason(&training, sweeps));
}
