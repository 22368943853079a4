/* Perturb-and-MAP: draws, the bound on the partition function, enumeration. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/cut/cut.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/oracle/random_field.h"
#include "support/exhaustive.h"
#include "support/support.h"

TEST(perturbed_scores_bound_the_partition_function)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int tested = 0;
    for (uint64_t t = 0; tested < 18; t++) {
        struct sample s;
        draw_sample(&s, t, t % 2 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS, 3);
        if (s.field.n_nodes < 3)
            continue;
        for (int32_t i = 0; i < s.field.n_nodes; i++)
            s.unary[i] /= 2;
        for (int32_t c = 0; c < 4 * s.field.n_edges; c++)
            s.pairwise[c] /= 8;
        int is_separable = tested++ % 3 == 0;
        if (is_separable)
            s.field.form = CLV_PAIRWISE_NONE;
        double log_partition, exact[2 * MAX_NODES], drawn[2 * MAX_NODES], bound, error;
        exhaustive(NULL, NULL, &log_partition, exact, &s.field);
        must(clv_perturbed_marginals(oracle, drawn, &bound, &error, &s.field, 9, 4000, err));
        ck_assert_double_gt(bound, log_partition - 3 * error);
        if (!is_separable)
            continue;
        ck_assert_double_lt(fabs(bound - log_partition), 3 * error);
        for (int32_t k = 0; k < 2 * s.field.n_nodes; k++)
            ck_assert_double_lt(fabs(drawn[k] - exact[k]), 4 * sqrt(0.25 / 4000));
    }
}

TEST(the_bound_and_its_standard_error_are_those_of_the_sample)
{
    enum { DRAWS = 21 };
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 12; t++) {
        struct sample s;
        int32_t y[DRAWS * MAX_NODES];
        double value[DRAWS], mean = 0, squares = 0, bound, error;
        draw_sample(&s, t, CLV_PAIRWISE_POTTS, 3);
        must(clv_perturbed_map(oracle, y, value, &s.field, 5, 0, DRAWS, err));
        for (int k = 0; k < DRAWS; k++)
            mean += value[k] / DRAWS;
        for (int k = 0; k < DRAWS; k++)
            squares += (value[k] - mean) * (value[k] - mean);
        must(clv_perturbed_marginals(oracle, NULL, &bound, &error, &s.field, 5, DRAWS, err));
        ck_assert_double_eq_tol(bound, mean, 1e-9);
        ck_assert_double_eq_tol(error, sqrt(squares / (DRAWS - 1) / DRAWS), 1e-9);
        must(clv_perturbed_marginals(oracle, NULL, NULL, &error, &s.field, 5, 1, err));
        ck_assert(isnan(error));
    }
}

TEST(draws_in_lanes_equal_draws_one_by_one)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 200; t++) {
        struct sample s;
        draw_sample(&s, t, t % 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, t % 3 ? 2 : 30);
        if (t >= 100)
            set_seed(&s, t, (int)(t % 14));
        int32_t drawn[20 * MAX_NODES], y[MAX_NODES], n = s.field.n_nodes;
        double value[20], score, unary[MAX_NODES];
        must(clv_perturbed_map(oracle, drawn, value, &s.field, 3, 7, 20, err));
        struct clv_field perturbed = s.field;
        perturbed.unary = unary;
        for (uint32_t k = 0; k < 20; k++) {
            memcpy(unary, s.unary, sizeof unary);
            gumbel_add(unary, n, 2, 3, 7 + k);
            must(clv_oracle_map(oracle, y, &score, &perturbed, err));
            ck_assert(memcmp(y, &drawn[k * (uint32_t)n], (size_t)n * sizeof *y) == 0);
            for (int32_t i = 0; i < n; i++)
                score += rng_gumbel(3, RNG_STREAM(RNG_GUMBEL, 7 + k), 2 * (uint64_t)i);
            ck_assert_double_eq_tol(value[k], score, 1e-9 + 1e-14 * fabs(score));
        }
    }
    double unary[] = {1, NAN};
    struct clv_field bad = {.n_nodes = 2, .n_labels = 2, .form = CLV_PAIRWISE_POTTS, .unary = unary};
    int32_t y[2];
    must_fail(CLV_ERR_DATA, "node 1", clv_perturbed_map(oracle, y, NULL, &bad, 1, 0, 1, err));
    must_fail(CLV_ERR_USAGE, "0 samples", clv_perturbed_map(oracle, y, NULL, &bad, 1, 0, 0, err));
}

TEST(fields_too_large_for_lanes_are_drawn_all_the_same)
{
    enum { N = 17000 };
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int32_t(*edges)[2] = array_alloc(N, sizeof *edges), *drawn = array_alloc(N, sizeof *drawn),
    *y = array_alloc(N, sizeof *y);
    OWNED_ARRAY double *unary = array_zalloc(N, sizeof *unary), *coupling = array_alloc(N, sizeof *coupling);
    for (int32_t i = 0; i < N - 1; i++) {
        edges[i][0] = i;
        edges[i][1] = i + 1;
        coupling[i] = 1e6;
        unary[i] = 30; /* all of it goes to the last node, farther than lanes can count */
    }
    unary[N - 1] = -1e6;
    struct clv_field field = {.n_nodes = N,
                              .n_edges = N - 1,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    must(clv_perturbed_map(oracle, drawn, NULL, &field, 3, 7, 1, err));
    gumbel_add(unary, N, 2, 3, 7);
    must(clv_oracle_map(oracle, y, NULL, &field, err));
    ck_assert(y[0] == 0 && memcmp(y, drawn, N * sizeof *y) == 0);
    array_free(edges);
    array_free(drawn);
    array_free(y);
}

/* A path in random order, strongly bound: flow goes far, and lanes give up; so do graphs of very many nodes. */
TEST(draws_that_lanes_give_up_are_those_of_searches)
{
    enum { MOST = BATCH_SUITS + 100, DRAWS = 3 };
    static int32_t order[MOST], edges[MOST][2], y[DRAWS * MOST], expected[MOST];
    static double unary[MOST], coupling[MOST];
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (int32_t n = MOST - 200; n <= MOST; n += 200) {
        rng_permutation(order, (size_t)n, 3, RNG_STREAM(RNG_TEST, 4));
        for (int32_t e = 0; e + 1 < n; e++) {
            edges[e][0] = order[e];
            edges[e][1] = order[e + 1];
            coupling[e] = 40 + rng_uniform(5, RNG_TEST, (uint64_t)e);
        }
        struct clv_field field = {.n_nodes = n,
                                  .n_edges = n - 1,
                                  .n_labels = 2,
                                  .form = CLV_PAIRWISE_POTTS,
                                  .edges = (const int32_t(*)[2])edges,
                                  .unary = unary,
                                  .pairwise = coupling};
        memset(unary, 0, sizeof unary);
        must(clv_perturbed_map(oracle, y, NULL, &field, 7, 0, DRAWS, err));
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            memset(unary, 0, sizeof unary);
            gumbel_add(unary, n, 2, 7, draw);
            must(clv_oracle_map(oracle, expected, NULL, &field, err));
            ck_assert_mem_eq(&y[draw * (uint32_t)n], expected, (size_t)n * sizeof *expected);
        }
    }
    OWNED(batch_release) struct batch batch = {.n_nodes = -1};
    static int32_t capacity[MOST];
    const int32_t n = MOST; /* as the edges are */
    for (int32_t e = 0; e + 1 < n; e++)
        capacity[e] = 1 << 20;
    ck_assert_int_eq(batch_build(&batch, n, n - 1, (const int32_t(*)[2])edges), 0);
    for (int32_t i = 0; i < n * BATCH_LANES; i++)
        batch.excess[i] = 0;
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        batch.excess[edges[0][0] * BATCH_LANES + lane] = 1 << 10;
        batch.excess[edges[n - 2][1] * BATCH_LANES + lane] = -(1 << 10);
    }
    ck_assert(!batch_solve(&batch, capacity));
}

TEST(draws_leave_no_solution_to_ask_about)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    struct sample s;
    int32_t y[16 * MAX_NODES];
    double margin[MAX_NODES];
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    draw_sample(&s, 1, CLV_PAIRWISE_POTTS, 3);
    must(clv_oracle_map(oracle, y, NULL, &s.field, err));
    must(clv_oracle_margins(oracle, margin, y, err));
    must(clv_perturbed_map(oracle, y, NULL, &s.field, 3, 0, 16, err));
    must_fail(CLV_ERR_USAGE, "before a two-label field was solved", clv_oracle_margins(oracle, margin, y, err));
}

TEST(noise_depends_on_seed_draw_node_and_label_only)
{
    double two[3] = {0}, more[3] = {1, 2, 3}, other[3] = {0}, wide[9] = {0};
    gumbel_add(two, 3, 2, 7, 5);
    gumbel_add(more, 3, 2, 7, 5);
    gumbel_add(other, 3, 2, 7, 6);
    gumbel_add(wide, 3, 3, 7, 5);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(more[i] - (i + 1), two[i], 1e-12);
        ck_assert_double_ne(two[i], other[i]);
    }
    ck_assert_double_eq_tol(wide[1] - wide[0], two[0], 1e-12);
}

TEST(enumeration_gives_partition_and_marginals)
{
    int32_t edges[1][2] = {{0, 1}}, y[2];
    double unary[6] = {0.5, 1, -1, 0, 0.25, 2}, table[9] = {1, 0, 2, -1, 0.5, 0, 0, 0, 1}, z = 0, shares[6] = {0};
    struct clv_field field = {.n_nodes = 2,
                              .n_edges = 1,
                              .n_labels = 3,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = table};
    double score, log_partition, marginals[6];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double weight = exp(unary[a] + unary[3 + b] + table[3 * a + b]);
            z += weight;
            shares[a] += weight;
            shares[3 + b] += weight;
        }
    exhaustive(y, &score, &log_partition, marginals, &field);
    ck_assert(y[0] == 0 && y[1] == 2);
    ck_assert_double_eq(score, 4.5);
    ck_assert_double_eq_tol(log_partition, log(z), 1e-12);
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq_tol(marginals[k], shares[k] / z, 1e-12);
}

/* Two nodes that no draw tells apart are one: it has 1 where both unaries with their noise add up to more than 0. */
TEST(draws_beside_a_hard_coupling_are_those_of_one_node)
{
    enum { N_DRAWS = 100 };
    int32_t edges[2][2] = {{0, 1}, {1, 2}}, y[3 * N_DRAWS];
    double unary[3] = {0.4, -0.3, 0.2}, coupling[2] = {1e13, 0}, value[N_DRAWS];
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 2,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    must(clv_perturbed_map(oracle, y, value, &field, 5, 0, N_DRAWS, err));
    for (uint32_t d = 0; d < N_DRAWS; d++) {
        double noisy[3] = {0.4, -0.3, 0.2};
        gumbel_add(noisy, 3, 2, 5, d);
        ck_assert_int_eq(y[3 * d], noisy[0] + noisy[1] > 0);
        ck_assert_int_eq(y[3 * d + 1], y[3 * d]);
        ck_assert_int_eq(y[3 * d + 2], noisy[2] > 0);
    }
}
