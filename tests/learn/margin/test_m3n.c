#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/chains.h"
#include "learn/common/common.h"
#include "learn/hidden/discrimination.h"

/* Projection onto the L1 ball. */

static int descending(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* Duchi et al. 2008, Figure 1: by sorting. */
static void project_by_sorting(double *w, size_t n, double radius)
{
    double sorted[1003], norm = 0, sum = 0, theta = 0;
    memcpy(sorted, w, n * sizeof *w);
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t k = 0; k < n; k++) {
        norm += fabs(sorted[k]);
        sum += fabs(sorted[k]);
        if (fabs(sorted[k]) > (sum - radius) / (double)(k + 1))
            theta = (sum - radius) / (double)(k + 1);
    }
    for (size_t k = 0; k < n && norm > radius; k++)
        w[k] = copysign(fmax(0, fabs(w[k]) - theta), w[k]);
}

TEST(l1_projection_is_the_one_by_sorting)
{
    int inside = 0, cut_off = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        double w[1003], by_sorting[1003], scratch[1003], norm = 0;
        bool is_long = seed % 100 == 0;
        size_t n = is_long ? 1003 : 1 + seed % 64;
        for (size_t k = 0; k < n; k++) { /* every third trial has many equal magnitudes; long ones are mostly zeros */
            double x = is_long && k % 10 ? 0 : rng_normal(seed, RNG_TEST, k);
            w[k] = by_sorting[k] = seed % 3 ? x : round(x);
        }
        double radius = 0.05 + 10 * rng_uniform(seed, RNG_TEST, 500);
        l1_ball_project(w, n, radius, scratch);
        project_by_sorting(by_sorting, n, radius);
        for (size_t k = 0; k < n; k++) {
            ck_assert_double_eq_tol(w[k], by_sorting[k], 1e-12);
            norm += fabs(w[k]);
            cut_off += w[k] == 0;
        }
        ck_assert_double_le(norm, radius * (1 + 1e-12));
        inside += norm < radius * (1 - 1e-9);
    }
    ck_assert(inside > 100 && cut_off > 10000);
}

/* Three times 0.1 is more than 0.3: no magnitude exceeds the mean. */
TEST(l1_projection_onto_next_to_nothing)
{
    double w[3] = {0.1, -0.1, 0.1}, scratch[3];
    l1_ball_project(w, 3, 1e-20, scratch);
    for (size_t k = 0; k < 3; k++)
        ck_assert_double_le(fabs(w[k]), 1e-16);
}

/* The dual in another metric. */

/* A step in the metric of S is one without it on delta S^1/2: same length, w = S^1/2 times the other w. */
TEST(prior_variance_is_a_change_of_units)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        double v[13], w[13], plain_v[13], plain_w[13], delta[13], plain_delta[13], variance[13];
        struct dual_point point = {.size = 13, .free_size = 9, .lambda = 0.3, .v = v, .w = w},
                          plain = {.size = 13, .free_size = 9, .lambda = 0.3, .v = plain_v, .w = plain_w};
        for (size_t k = 0; k < 13; k++) {
            variance[k] = exp(2 * rng_normal(seed, RNG_TEST, k));
            v[k] = rng_normal(seed, RNG_TEST, 20 + k);
            delta[k] = rng_normal(seed, RNG_TEST, 40 + k);
            plain_v[k] = sqrt(variance[k]) * v[k];
            plain_delta[k] = sqrt(variance[k]) * delta[k];
            plain_w[k] = k < 9 || plain_v[k] > 0 ? plain_v[k] : 0;
        }
        double change = 5 * rng_normal(seed, RNG_TEST, 60);
        dual_set_variance(&point, variance);
        double step = dual_line_search(&point, delta, change);
        ck_assert_double_eq_tol(step, dual_line_search(&plain, plain_delta, change), 1e-12);
        dual_step(&point, delta, change, step);
        dual_step(&plain, plain_delta, change, step);
        ck_assert_double_eq_tol(dual_value(&point), dual_value(&plain), 1e-10);
        for (size_t k = 0; k < 13; k++)
            ck_assert_double_eq_tol(w[k], sqrt(variance[k]) * plain_w[k], 1e-10);
    }
}

/* M3N. */

TEST(m3n_is_the_structured_svm_in_the_papers_units)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 12, &chain_shape, 5);
    double C = 0.7, scale = toy_scale(&toy), n = (double)toy.n;
    for (int is_raw = 0; is_raw < 2; is_raw++) {
        struct clv_training m3n = toy_training(&toy, "m3n"), ssvm = toy_training(&toy, "ssvm");
        set(&m3n, "m3n", "C", C);
        set(&m3n, "m3n", "units", is_raw);
        set(&m3n, "m3n", "gap", 1e-6);
        set(&ssvm, "ssvm", "gap", 1e-6);
        set(&ssvm, "ssvm", "table-variance", 1);
        set(&ssvm, "ssvm", "lambda", 1 / (C * n) / (is_raw ? scale : 1));
        set(&m3n, "m3n", "passes", 2000);
        set(&ssvm, "ssvm", "passes", 2000);
        OWNED(clv_training_result_release) struct clv_training_result a = run("m3n", &m3n), b = run("ssvm", &ssvm);
        const struct clv_curve_point *in_m3n = &a.curve[a.n_curve - 1], *in_ssvm = &b.curve[b.n_curve - 1];
        ck_assert_double_eq_tol(in_m3n->objective, C * n * in_ssvm->objective, 2e-3 * in_m3n->objective);
        ck_assert_double_ge(in_m3n->objective, C * n * in_ssvm->dual); /* each bounds the other */
        ck_assert_double_ge(C * n * in_ssvm->objective, in_m3n->dual);
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            ck_assert_double_eq_tol(a.w[k], b.w[k], 0.05 * fabs(b.w[k]) + 0.05 / (is_raw ? 1 : sqrt(scale)));
        ck_assert_ptr_null(a.variance);
        ck_assert_uint_eq(a.n_notes, 1);
        ck_assert_str_eq(a.notes[0].name, "support_labellings");
        ck_assert(a.notes[0].value >= 1 && a.notes[0].value < 12 * 81);
    }
}

TEST(m3n_by_subgradient_nears_what_frank_wolfe_brackets)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 12, &chain_shape, 6);
    struct clv_training exact = toy_training(&toy, "m3n"), online = exact;
    set(&exact, "m3n", "units", 1);
    set(&exact, "m3n", "C", 0.5);
    set(&exact, "m3n", "gap", 1e-5);
    set(&exact, "m3n", "passes", 5000);
    online = exact;
    set(&online, "m3n", "solver", 1);
    set(&online, "m3n", "beta", 2);
    OWNED(clv_training_result_release) struct clv_training_result a = run("m3n", &exact), b = run("m3n", &online);
    double optimum = a.curve[a.n_curve - 1].objective, reached = b.curve[b.n_curve - 1].objective;
    ck_assert_double_ge(reached, a.curve[a.n_curve - 1].dual);
    ck_assert_double_le(reached, 1.01 * optimum);
}

/* L1-M3N. */

static double l1_norm(const double *w, size_t n)
{
    double norm = 0;
    for (size_t k = 0; k < n; k++)
        norm += fabs(w[k]);
    return norm;
}

static struct clv_training l1_training(const struct toy *toy, double radius, double passes)
{
    struct clv_training training = toy_training(toy, "l1m3n");
    set(&training, "l1m3n", "units", 1);
    set(&training, "l1m3n", "radius", radius);
    set(&training, "l1m3n", "passes", passes);
    return training;
}

TEST(l1m3n_stays_in_its_ball_and_couplings_stay_supermodular)
{
    static const struct clv_weight_layout cuts = {2, 20, 3, CLV_PAIRWISE_POTTS};
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 10, 25, &cuts, 4);
    for (double radius = 0.01; radius < 200; radius *= 10) {
        struct clv_training training = l1_training(&toy, radius, 20);
        OWNED(clv_training_result_release) struct clv_training_result result = run("l1m3n", &training);
        ck_assert_double_le(l1_norm(result.w, 23), radius * (1 + 1e-9));
        for (size_t k = 20; k < 23; k++)
            ck_assert_double_ge(result.w[k], 0);
    }
}

/* The least sum of slacks on the ball, nearly: steps along the whole subgradient, all labellings enumerated, and the
 * projection by sorting. */
static double slow_l1(struct discrimination *medn, double radius)
{
    double w[CHAIN_SIZE] = {0}, squares = 0, best = INFINITY;
    discriminate(medn, INFINITY); /* lists labellings */
    for (int t = 0; t < 4000; t++) {
        double g[CHAIN_SIZE] = {0}, sum = 0;
        for (size_t i = 0; i < medn->toy->n; i++) {
            size_t worst = 0;
            double slack = -INFINITY;
            for (size_t a = 0; a < medn->n_labellings[i]; a++) {
                double value = medn->loss[i][a];
                for (size_t k = 0; k < CHAIN_SIZE; k++)
                    value -= w[k] * medn->change[i][a][k];
                worst = value > slack ? a : worst;
                slack = fmax(slack, value);
            }
            sum += slack;
            for (size_t k = 0; k < CHAIN_SIZE; k++)
                g[k] += medn->change[i][worst][k];
        }
        best = fmin(best, sum);
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            squares += g[k] * g[k];
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            w[k] += radius / sqrt(squares) * g[k];
        project_by_sorting(w, CHAIN_SIZE, radius);
    }
    return best;
}

TEST(l1m3n_comes_near_what_slow_subgradients_find)
{
    for (uint64_t seed = 3; seed < 6; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_chains(&toy, 12, &chain_shape, seed);
        struct clv_training online = l1_training(&toy, 2.5, 3000);
        OWNED(clv_training_result_release) struct clv_training_result result = run("l1m3n", &online);
        double reached = result.curve[result.n_curve - 1].objective;
        static struct discrimination medn;
        medn = (struct discrimination){.toy = &toy, .prior = PRIOR_GAUSS};
        double slow = slow_l1(&medn, 2.5);
        ck_assert_double_le(fabs(reached - slow), 0.01 * slow);
    }
}
