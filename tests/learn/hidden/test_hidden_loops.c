/* Terms among loops, where belief propagation may miss: what is taken is the best that was met. */
#include <string.h>

#include "infer/infer.h"
#include "learn/hidden/hidden_toy.h"

enum { SIZE = 3 * 2 + 9 * 2, TRIALS = 40 };

/* max over visible labels of loss + log sum over hidden ones, by enumeration. */
static double best_free(const struct clv_problem *p, const double *w, double scale)
{
    double sum[27] = {0}, loss[27] = {0}, best = -INFINITY;
    for (int code = 0; code < 243; code++) {
        int32_t y[NODES];
        double psi[SIZE] = {0}, score = 0;
        for (int i = 0, left = code; i < NODES; i++, left /= 3)
            y[i] = left % 3;
        clv_joint_feature_add(psi, p, &full3, y, 1);
        for (size_t k = 0; k < SIZE; k++)
            score += psi[k] * w[k];
        int at = y[0] + 3 * y[2] + 9 * y[4];
        sum[at] += exp(score);
        loss[at] = scale * clv_loss(p, 3, y);
    }
    for (int at = 0; at < 27; at++)
        best = fmax(best, loss[at] + log(sum[at]));
    return best;
}

/* log of the sum over hidden labels, by enumeration. */
static double sum_given(const struct clv_problem *p, const double *w, const int32_t *label)
{
    double sum = 0;
    for (int code = 0; code < 9; code++) {
        int32_t y[NODES] = {label[0], code % 3, label[2], code / 3, label[4]};
        double psi[SIZE] = {0}, score = 0;
        clv_joint_feature_add(psi, p, &full3, y, 1);
        for (size_t k = 0; k < SIZE; k++)
            score += psi[k] * w[k];
        sum += exp(score);
    }
    return log(sum);
}

static void open_loops(struct hidden *hidden, struct clv_training *training, struct toy *toy, double *w, double visible,
                       int32_t sweeps, uint64_t seed)
{
    toy_hidden(toy, 1, &full3, LOOPS, seed);
    *training = toy_training(toy, "mssvm");
    const struct hidden_settings settings = {visible, 1, 1, sweeps, 0};
    must(hidden_open(hidden, training, &settings, err));
    random_weights(w, &full3, seed);
    for (size_t k = 0; k < SIZE; k++)
        w[k] *= 2.5;
}

static void close_loops(struct hidden *hidden, struct toy *toy)
{
    hidden_release(hidden);
    toy_release(toy);
}

/* The truth, here the best visible labels there are, whose nodes hold pixels of other labels as well, is one of the
 * labellings that are maximised over, however few the sweeps. */
TEST(the_free_term_is_never_below_the_truth)
{
    int n_raised = 0;
    for (uint64_t seed = 0; seed < 3 * TRIALS; seed++) {
        static struct random_problem r;
        struct toy toy;
        double w[SIZE], gradient[SIZE], free, clamped, best = -INFINITY;
        int32_t first = 0;
        fill(&r, &full3, LOOPS, seed);
        random_weights(w, &full3, seed);
        for (int32_t k = 0; k < 3 * NODES; k++)
            r.theta[k] =
                r.label[k / 3] == CLV_UNKNOWN ? 0 : (float)(0.1 * rng_uniform(seed, RNG_TEST, 900 + (uint64_t)k));
        for (int at = 0; at < 27; at++) {
            const int32_t label[NODES] = {at % 3, CLV_UNKNOWN, at / 3 % 3, CLV_UNKNOWN, at / 9};
            double value = sum_given(&r.problem, w, label);
            if (value > best)
                memcpy(r.label, label, sizeof label);
            best = fmax(best, value);
        }
        toy_begin(&toy, 3, 2, 2, CLV_PAIRWISE_FULL);
        toy_add(&toy, &r.problem);
        struct hidden hidden;
        struct clv_training training = toy_training(&toy, "mssvm");
        const struct hidden_settings settings = {0, 1, 0.1, 1, 0};
        must(hidden_open(&hidden, &training, &settings, err));
        must(
            hidden_gradient(gradient, &free, &clamped, &hidden, &(struct hidden_pass){HIDDEN_BOTH, &first, 1, w}, err));
        ck_assert_double_eq_tol(clamped, best, 1e-2 * fabs(best));
        double truth = clamped + 0.1 * hidden.unit * clv_loss(&r.problem, 3, r.label);
        ck_assert_double_ge(free, truth - 1e-9);
        bool is_raised = fabs(free - truth) < 1e-12;
        n_raised += is_raised;
        for (size_t k = 0; k < SIZE && is_raised; k++)
            ck_assert_double_eq_tol(gradient[k], 0, 1e-12);
        close_loops(&hidden, &toy);
    }
    ck_assert_int_gt(n_raised, 0);
}

/* Of mixed-product's labels and those of the joint maximum the better ones: the best there are, but for few. */
TEST(the_best_visible_labels_are_found_among_small_loops)
{
    int n_found = 0, n_trials = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        struct toy toy;
        struct hidden hidden;
        struct clv_training training;
        double w[SIZE], gradient[SIZE], free, clamped;
        int32_t first = 0;
        open_loops(&hidden, &training, &toy, w, 0, 200, seed);
        struct clv_problem p = clv_dataset_problem(toy.dataset, 0);
        double best = best_free(&p, w, hidden.unit);
        for (int again = 0; again < 2; again++) { /* goes on from its messages */
            must(hidden_gradient(gradient, &free, &clamped, &hidden, &(struct hidden_pass){HIDDEN_BOTH, &first, 1, w},
                                 err));
            n_found += fabs(free - best) < 1e-6 * fabs(best);
            n_trials++;
        }
        close_loops(&hidden, &toy);
    }
    ck_assert_msg(n_found >= n_trials * 9 / 10, "%d of %d", n_found, n_trials);
}

/* Of the fixed points from nothing and from near the truth, the one of the higher value. */
TEST(sums_are_those_of_the_better_fixed_point)
{
    int n_differ = 0;
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    must(clv_bp_new(&bp, err));
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        struct toy toy;
        struct hidden hidden;
        struct clv_training training;
        double w[SIZE], gradient[SIZE], free, clamped, unary[3 * NODES], pairwise[9 * RANDOM_MAX_EDGES], value[2];
        int32_t first = 0;
        open_loops(&hidden, &training, &toy, w, 1, 200, seed);
        struct clv_problem p = clv_dataset_problem(toy.dataset, 0);
        struct clv_field field = {p.n_nodes, p.n_edges, 3, CLV_PAIRWISE_FULL, p.edges, unary, pairwise, 0};
        clv_unary_scores(unary, &p, &full3, w);
        clv_pairwise_scores(pairwise, &p, &full3, w);
        for (int32_t k = 0; k < 3 * NODES; k++)
            for (int32_t b = 0; b < 3; b++) /* theta is 0 where the label is hidden */
                unary[k] += b != k % 3 ? hidden.unit * (double)p.theta[k / 3 * 3 + b] : 0;
        for (int is_near = 0; is_near < 2; is_near++) {
            struct clv_bp_options options;
            struct clv_bp_result result;
            clv_bp_defaults(&options);
            options.tolerance = 1e-3;
            options.max_iterations = 200;
            options.near = is_near ? p.label : NULL;
            must(clv_bp_run(bp, NULL, NULL, &result, &field, &options, err));
            value[is_near] = result.value;
        }
        must(
            hidden_gradient(gradient, &free, &clamped, &hidden, &(struct hidden_pass){HIDDEN_BOTH, &first, 1, w}, err));
        ck_assert_double_eq_tol(free, fmax(value[0], value[1]), 1e-6 * fabs(free));
        n_differ += value[1] > value[0] + 0.01;
        close_loops(&hidden, &toy);
    }
    ck_assert_int_gt(n_differ, 0);
}
