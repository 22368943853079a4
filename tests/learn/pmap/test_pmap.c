#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/oracle/oracle.h"
#include "learn/chains.h"
#include "learn/common/common.h"
#include "learn/learners.h"
#include "learn/pmap/pmap.h"

#define SIZE 8 /* 6 features, 2 couplings */

static const struct clv_weight_layout potts = {2, 6, 2, CLV_PAIRWISE_POTTS};
static const struct clv_weight_layout apart = {2, 6, 2, CLV_PAIRWISE_NONE};

/* A random example with labels of both kinds, soft weights, and some nodes unknown. */
static struct pmap_example random_example(struct random_problem *r, float *weight,
                                          const struct clv_weight_layout *layout, int32_t n_nodes, uint64_t seed)
{
    random_problem_fill(r, layout, n_nodes, 0.4, 0.6, seed);
    for (int32_t i = 0; i < n_nodes; i++)
        for (int32_t b = 0; b < layout->n_labels; b++) {
            double u = rng_uniform(seed, RNG_TEST, 70000 + (uint64_t)(i * layout->n_labels + b));
            weight[i * layout->n_labels + b] = b == r->label[i] ? (float)(0.5 + u) : u < 0.5 ? 0 : (float)(u - 0.5);
        }
    for (int32_t i = 3; i < n_nodes; i += 5)
        r->label[i] = CLV_UNKNOWN;
    return (struct pmap_example){.problem = r->problem, .weight = weight, .scale = 0.7};
}

static void random_weights(double *w, const struct clv_weight_layout *layout, uint64_t seed)
{
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
        w[k] = k < clv_weight_layout_unary_size(layout) ? 0.5 * rng_normal(seed, RNG_TEST, 80000 + k)
                                                        : rng_uniform(seed, RNG_TEST, 80000 + k);
}

static bool is_given(const struct pmap_example *example, int32_t i)
{
    return example->given && example->given[i] != CLV_UNKNOWN;
}

/* max (f + z)(y) over the labellings of the known nodes that give node `node` label b (node -1: all), and given nodes
 * theirs. */
static double best_score(const struct pmap_example *example, const struct clv_weight_layout *layout, const double *w,
                         const double *noise, int32_t node, int32_t b)
{
    const struct clv_problem *p = &example->problem;
    double unary[RANDOM_MAX_NODES], coupling[RANDOM_MAX_EDGES], best = -INFINITY;
    clv_unary_scores(unary, p, layout, w);
    clv_pairwise_scores(coupling, p, layout, w);
    for (uint32_t bits = 0; bits < 1U << p->n_nodes; bits++) {
        double score = 0;
        bool is_allowed = node < 0 || (int32_t)(bits >> node & 1) == b;
        for (int32_t i = 0; i < p->n_nodes && is_allowed; i++) {
            is_allowed = p->label[i] != CLV_UNKNOWN || !(bits >> i & 1);
            is_allowed &= !is_given(example, i) || (int32_t)(bits >> i & 1) == example->given[i];
            score += bits >> i & 1 ? unary[i] + noise[i] : 0;
        }
        for (int32_t e = 0; e < p->n_edges && layout->pairwise; e++) {
            int32_t i = p->edges[e][0], j = p->edges[e][1];
            if (p->label[i] != CLV_UNKNOWN && p->label[j] != CLV_UNKNOWN && (bits >> i & 1) != (bits >> j & 1))
                score -= coupling[e];
        }
        if (is_allowed && score > best)
            best = score;
    }
    return best;
}

/* The estimate by its definition. */
static double slow_value(const struct pmap_example *example, const struct clv_weight_layout *layout, const double *w,
                         uint64_t seed, uint32_t draw)
{
    const struct clv_problem *p = &example->problem;
    double noise[RANDOM_MAX_NODES] = {0}, value = 0;
    gumbel_add(noise, p->n_nodes, 2, seed, draw);
    double top = best_score(example, layout, w, noise, -1, 0);
    for (int32_t i = 0; i < p->n_nodes && example->weight; i++)
        for (int32_t b = 0; b < 2 && p->label[i] != CLV_UNKNOWN && !is_given(example, i); b++)
            value += (double)example->weight[2 * i + b] * (best_score(example, layout, w, noise, i, b) - top);
    if (!example->weight) {
        int32_t y[RANDOM_MAX_NODES];
        double psi[SIZE] = {0};
        for (int32_t i = 0; i < p->n_nodes; i++) {
            y[i] = p->label[i];
            value += y[i] == 1 ? noise[i] : 0;
        }
        clv_joint_feature_add(psi, p, layout, y, 1);
        for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
            value += psi[k] * w[k];
        value -= top;
    }
    return example->scale * value;
}

struct bench {
    struct decoder *decoder;
    struct pmap_workspace space;
};

static void bench_open(struct bench *bench)
{
    memset(bench, 0, sizeof *bench);
    must(decoders_new(&bench->decoder, 1, CLV_ENGINE_DEFAULT, err));
}

static void bench_release(struct bench *bench)
{
    decoders_free(bench->decoder, 1);
    pmap_workspace_release(&bench->space);
}

static double draw_at(struct bench *bench, double *gradient, const struct pmap_draws *draws,
                      const struct pmap_example *example, uint32_t draw, const double *w)
{
    double value;
    must(pmap_draw(&value, gradient, &(struct pmap_estimate){draws, example, draw, w}, &bench->space, bench->decoder,
                   err));
    return value;
}

/* For the marginal and the joint objective, with and without edges; with labels given, against what else is known of
 * them, too: the conditional likelihood of Shpakova et al. 2018, "Partial labels". */
TEST(gradient_is_that_of_the_estimate_by_its_definition)
{
    static struct random_problem r;
    OWNED(bench_release) struct bench bench = {0};
    bench_open(&bench);
    int n_compared = 0, n_coupled = 0;
    for (uint64_t seed = 0; seed < 48; seed++) {
        const struct clv_weight_layout *layout = seed % 3 ? &potts : &apart;
        float weight[2 * RANDOM_MAX_NODES];
        double w[SIZE], gradient[SIZE], h = 1e-5;
        struct pmap_example example = random_example(&r, weight, layout, 9, seed);
        if (seed % 4 == 3)
            example.weight = NULL;
        int32_t given[9] = {CLV_UNKNOWN, 1, 0, CLV_UNKNOWN, CLV_UNKNOWN, 1, CLV_UNKNOWN, 0, CLV_UNKNOWN};
        if (seed >= 24)
            example.given = given;
        for (int32_t i = 0; i < 9 && example.given && !example.weight; i++)
            r.label[i] = given[i] == CLV_UNKNOWN ? r.label[i] : given[i];
        struct pmap_draws draws = {*layout, seed & 1, seed & 2, seed};
        random_weights(w, layout, seed);
        double value = draw_at(&bench, gradient, &draws, &example, 5, w);
        ck_assert_double_eq_tol(value, slow_value(&example, layout, w, seed, 5), 1e-10 + 1e-7 * fabs(value));
        ck_assert_double_le(value, example.given ? 1e-12 : -1e-12); /* all that is not given may be right */
        for (size_t k = 0; k < clv_weight_layout_size(layout); k++) {
            double up[SIZE], down[SIZE];
            memcpy(up, w, sizeof w);
            memcpy(down, w, sizeof w);
            up[k] += h;
            down[k] -= h;
            double slope =
                (slow_value(&example, layout, up, seed, 5) - slow_value(&example, layout, down, seed, 5)) / (2 * h);
            ck_assert_double_eq_tol(gradient[k], slope, 1e-4 * fabs(slope) + 1e-7);
            n_compared += slope != 0;
            n_coupled += k >= 6 && fabs(slope) > 1e-6;
        }
    }
    ck_assert(n_compared > 100 && n_coupled > 10);
}

/* The same on problems of the size of images' neighbourhoods, where the estimate itself is differenced, averaged over
 * draws. */
TEST(gradient_of_the_mean_over_draws_agrees_with_finite_differences)
{
    static struct random_problem r;
    static const struct clv_weight_layout wide = {2, 20, 3, CLV_PAIRWISE_POTTS};
    OWNED(bench_release) struct bench bench = {0};
    bench_open(&bench);
    for (uint64_t seed = 0; seed < 6; seed++) {
        float weight[2 * RANDOM_MAX_NODES];
        double w[23], mean[23] = {0}, gradient[23];
        enum { DRAWS = 20 };
        random_problem_fill(&r, &wide, 50, 0.08, 0.5, 900 + seed);
        struct pmap_example example = random_example(&r, weight, &wide, 50, 900 + seed);
        if (seed % 3 == 2)
            example.weight = NULL;
        struct pmap_draws draws = {wide, true, true, seed};
        random_weights(w, &wide, seed);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            draw_at(&bench, gradient, &draws, &example, draw, w);
            for (size_t k = 0; k < 23; k++)
                mean[k] += gradient[k] / DRAWS;
        }
        for (size_t k = 0; k < 23; k++) {
            double slope = 0, h = 1e-7, moved[23];
            for (int side = -1; side <= 1; side += 2) {
                memcpy(moved, w, sizeof w);
                moved[k] += side * h;
                for (uint32_t draw = 0; draw < DRAWS; draw++)
                    slope += side * draw_at(&bench, NULL, &draws, &example, draw, moved) / (2 * h * DRAWS);
            }
            ck_assert_double_eq_tol(mean[k], slope, 1e-4 * fabs(slope) + 1e-6);
        }
    }
}

/* Reduction and dynamic cuts are accelerations: the same sums in another order. With both engines. */
TEST(switches_and_engines_leave_the_gradient_the_same)
{
    static struct random_problem r;
    int n_large = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        float weight[2 * RANDOM_MAX_NODES];
        double w[SIZE], first[SIZE], gradient[SIZE], value = 0;
        struct pmap_example example = random_example(&r, weight, &potts, 40, 300 + seed);
        random_weights(w, &potts, seed);
        w[6] *= 0.2;
        w[7] *= 0.2;
        for (int variant = 0; variant < 8; variant++) {
            enum clv_engine engine = variant < 4 || !clv_has_bk() ? CLV_ENGINE_CLEAVE : CLV_ENGINE_BK;
            OWNED(bench_release) struct bench bench = {0};
            must(decoders_new(&bench.decoder, 1, engine, err));
            struct pmap_draws draws = {potts, variant & 1, variant & 2, seed};
            double now = draw_at(&bench, variant ? gradient : first, &draws, &example, 1, w);
            if (!variant)
                value = now;
            ck_assert_double_eq_tol(now, value, 1e-12 * fabs(value));
            for (size_t k = 0; k < SIZE && variant; k++)
                ck_assert_double_eq_tol(gradient[k], first[k], 1e-11 * (1 + fabs(first[k])));
        }
        n_large += fabs(first[6]) > 0.1;
    }
    ck_assert_int_gt(n_large, 10);
}

/* E z log-likelihoods without edges are exact, so the mean of many draws is logistic regression's value and
 * gradient. */
TEST(without_edges_the_expected_gradient_is_logistic_regressions)
{
    static struct random_problem r;
    OWNED(bench_release) struct bench bench = {0};
    float weight[2 * RANDOM_MAX_NODES];
    enum { DRAWS = 20000 };
    double w[SIZE], gradient[SIZE], mean[SIZE] = {0}, squares[SIZE] = {0}, exact[SIZE] = {0}, scores[RANDOM_MAX_NODES];
    double value = 0, exact_value = 0;
    bench_open(&bench);
    struct pmap_example example = random_example(&r, weight, &apart, 12, 42);
    struct pmap_draws draws = {apart, true, true, 3};
    random_weights(w, &apart, 42);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        value += draw_at(&bench, gradient, &draws, &example, draw, w) / DRAWS;
        for (size_t k = 0; k < 6; k++) {
            mean[k] += gradient[k] / DRAWS;
            squares[k] += gradient[k] * gradient[k] / DRAWS;
        }
    }
    clv_unary_scores(scores, &example.problem, &apart, w);
    for (int32_t i = 0; i < 12; i++) {
        if (r.label[i] == CLV_UNKNOWN)
            continue;
        double one = 1 / (1 + exp(-scores[i])), *t = (double[]){(double)weight[2 * i], (double)weight[2 * i + 1]};
        exact_value += 0.7 * (t[1] * log(one) + t[0] * log(1 - one));
        for (int64_t k = r.row[i]; k < r.row[i + 1]; k++)
            exact[r.index[k]] += 0.7 * (t[1] * (1 - one) - t[0] * one) * (double)r.value[k];
    }
    ck_assert_double_eq_tol(value, exact_value, 0.01 * fabs(exact_value));
    for (size_t k = 0; k < 6; k++) {
        double error = sqrt((squares[k] - mean[k] * mean[k]) / DRAWS);
        ck_assert_double_eq_tol(mean[k], exact[k], 4 * error);
        ck_assert_double_lt(error, 0.1 * fabs(exact[0]));
    }
}

TEST(several_labels_without_edges_follow_the_softmax)
{
    static struct random_problem r;
    static const struct clv_weight_layout four = {4, 5, 0, CLV_PAIRWISE_NONE};
    OWNED(bench_release) struct bench bench = {0};
    float weight[4 * RANDOM_MAX_NODES];
    enum { DRAWS = 20000 };
    double w[20], gradient[20], mean[20] = {0}, exact[20] = {0}, scores[4 * RANDOM_MAX_NODES];
    bench_open(&bench);
    struct pmap_example example = random_example(&r, weight, &four, 7, 11);
    struct pmap_draws draws = {four, true, true, 4};
    random_weights(w, &four, 11);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        draw_at(&bench, gradient, &draws, &example, draw, w);
        for (size_t k = 0; k < 20; k++)
            mean[k] += gradient[k] / DRAWS;
    }
    clv_unary_scores(scores, &example.problem, &four, w);
    for (int32_t i = 0; i < 7; i++) {
        double total = 0, all = 0;
        for (int32_t b = 0; b < 4; b++) {
            total += exp(scores[4 * i + b]);
            all += (double)weight[4 * i + b];
        }
        for (int32_t b = 0; b < 4 && r.label[i] != CLV_UNKNOWN; b++)
            for (int64_t k = r.row[i]; k < r.row[i + 1]; k++)
                exact[5 * b + r.index[k]] +=
                    0.7 * ((double)weight[4 * i + b] - all * exp(scores[4 * i + b]) / total) * (double)r.value[k];
    }
    for (size_t k = 0; k < 20; k++)
        ck_assert_double_eq_tol(mean[k], exact[k], 0.06);
}

TEST(published_steps_shrink_and_couplings_stay_non_negative)
{
    double gradient[SIZE];
    OWNED(ascent_release) struct ascent ascent = {0};
    must(ascent_open(&ascent, &potts, (struct ascent_rules){STEP_PUBLISHED, 0.5, 0, 1}, err));
    double w = 0, average = 0;
    for (int h = 1; h <= 50; h++) {
        for (size_t k = 0; k < SIZE; k++)
            gradient[k] = rng_normal(1, RNG_TEST, (uint64_t)h * SIZE + k);
        w += (gradient[2] - 0.5 * w) / (0.5 * h);
        average += 2.0 / (h + 1) * (w - average);
        ascent_step(&ascent, gradient);
        ck_assert_double_eq_tol(ascent.w[2], w, 1e-12);
        ck_assert_double_eq_tol(ascent_point(&ascent)[2], average, 1e-12);
        ck_assert(ascent.w[6] >= 0 && ascent.w[7] >= 0);
    }
}

/* A table's prior variance V is what scaling its features by sqrt(V) would do: w = sqrt(V) u, where u walks along
 * sqrt(V) g. */
TEST(a_tables_variance_is_its_features_scale)
{
    const struct clv_weight_layout layout = {3, 2, 1, CLV_PAIRWISE_FULL};
    for (int rule = STEP_PUBLISHED; rule <= STEP_ADAGRAD; rule++) {
        OWNED(ascent_release) struct ascent ascent = {0}, scaled = {0};
        must(ascent_open(&ascent, &layout, (struct ascent_rules){(enum step_rule)rule, 0.5, 0.3, 1}, err));
        must(ascent_open(&scaled, &layout, (struct ascent_rules){(enum step_rule)rule, 0.5, 0.3, 1}, err));
        ascent_set_table_variance(&ascent, 9);
        for (uint64_t h = 1; h <= 20; h++) {
            double gradient[15], larger[15];
            for (size_t k = 0; k < 15; k++) {
                gradient[k] = rng_normal(2, RNG_TEST, h * 15 + k);
                larger[k] = (k < 6 ? 1 : 3) * gradient[k];
            }
            ascent_step(&ascent, gradient);
            ascent_step(&scaled, larger);
        }
        double penalty = 0;
        for (size_t k = 0; k < 15; k++) {
            ck_assert_double_eq_tol(ascent.w[k], (k < 6 ? 1 : 3) * scaled.w[k], 1e-12);
            ck_assert_double_eq_tol(ascent_point(&ascent)[k], (k < 6 ? 1 : 3) * ascent_point(&scaled)[k], 1e-12);
            penalty += 0.25 * scaled.w[k] * scaled.w[k];
        }
        ck_assert_double_eq_tol(ascent_penalty(&ascent, ascent.w), penalty, 1e-12);
    }
}
