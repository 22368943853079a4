/* Marginals by the best way that the graph allows, against enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/random_field.h"
#include "support/exhaustive.h"

static struct clv_oracle *new_oracle(void)
{
    struct clv_oracle *oracle;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    return oracle;
}

static void draw_forest(struct sample *s, uint64_t index)
{
    memset(s, 0, sizeof *s); /* the tables of edges that close gaps */
    draw_sample(s, index, form_of(index), -1, 1, 1.5);
    for (int32_t i = 0; i + 1 < s->field.n_nodes && index % 3 == 0; i++) {
        s->edges[i][0] = i;
        s->edges[i][1] = i + 1;
        s->field.n_edges = s->field.n_nodes - 1;
    }
    s->field.is_shared = s->field.form == CLV_PAIRWISE_FULL && index % 5 == 0;
    if (index % 7 == 0) {
        s->field.form = CLV_PAIRWISE_NONE;
        s->field.n_edges = 0;
    }
}

static enum clv_marginals kind_of(const struct clv_field *field)
{
    enum clv_marginals kind;
    must(field_marginals_kind(&kind, field, CLV_MARGINALS_SAMPLED, err));
    return kind;
}

/* Chains, trees, forests and single nodes, of 2 to 5 labels, of couplings and of tables, shared ones, too. */
TEST(marginals_without_loops_are_exact_whatever_the_number_of_draws)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    for (uint64_t t = 0; t < 400; t++) {
        struct sample s;
        double found[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS], log_partition, expected, error = 7;
        draw_forest(&s, t);
        must(clv_oracle_marginals(oracle, found, &log_partition, &error, &s.field, t, 1, err));
        exhaustive(NULL, NULL, &expected, exact, &s.field);
        assert_near(found, exact, s.field.n_nodes * s.field.n_labels, 1e-11);
        ck_assert_double_eq_tol(log_partition, expected, 1e-10);
        ck_assert(error == 0);
        ck_assert_int_eq(kind_of(&s.field), CLV_MARGINALS_EXACT);
    }
}

/* A loop of three nodes beside a tree of four and a single node: numbers that no component has to itself. */
static void fill_mixed(struct sample *s, uint64_t index, int32_t n_labels, enum clv_pairwise form)
{
    static const int32_t edges[6][2] = {{0, 2}, {1, 3}, {2, 5}, {5, 0}, {4, 1}, {3, 7}};
    uint64_t at = index << 12;
    size_t k = (size_t)n_labels;
    memcpy(s->edges, edges, sizeof edges);
    for (size_t c = 0; c < 8 * k; c++)
        s->unary[c] = draw_score(at++, 1);
    for (size_t c = 0; c < 6 * k * k; c++)
        s->pairwise[c] = form == CLV_PAIRWISE_POTTS ? fabs(draw_score(at++, 0.7)) : draw_score(at++, 0.7);
    for (size_t e = 0; e < 6 && form == CLV_PAIRWISE_FULL; e++)
        s->pairwise[e * 4] = 3; /* of two labels supermodular */
    s->field = (struct clv_field){.n_nodes = 8,
                                  .n_edges = 6,
                                  .n_labels = n_labels,
                                  .form = form,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->pairwise};
}

TEST(trees_beside_loops_are_exact)
{
    static const bool is_tree[8] = {false, true, false, true, true, false, true, true};
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    for (uint64_t t = 0; t < 60; t++) {
        struct sample s;
        double drawn[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS], bound, expected, error;
        int32_t k = t % 2 ? 2 : 3;
        fill_mixed(&s, t, k, t % 4 < 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL);
        exhaustive(NULL, NULL, &expected, exact, &s.field);
        ck_assert_int_eq(kind_of(&s.field), CLV_MARGINALS_SAMPLED);
        struct marginals_found found = {.marginals = drawn};
        must(field_marginals(
            oracle, &found, &s.field,
            &(struct marginals_options){k == 2 ? CLV_MARGINALS_SAMPLED : CLV_MARGINALS_PROPAGATED, t, 400}, err));
        bound = found.log_partition;
        error = found.standard_error;
        for (int32_t i = 0; i < 8; i++)
            for (int32_t a = 0; a < k; a++)
                ck_assert_double_eq_tol(drawn[i * k + a], exact[i * k + a], is_tree[i] ? 1e-11 : 0.35);
        ck_assert(k > 2 ? error == 0 : error > 0 && bound > expected - 5 * error);
        ck_assert_double_eq_tol(bound, expected, 1.5);
    }
}

/* Fields with loops throughout have the marginals of the draws alone. */
TEST(marginals_of_loops_are_shares_of_draws)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    struct sample s;
    double found[MAX_NODES * 2], drawn[MAX_NODES * 2], values[4];
    draw_sample(&s, 3, CLV_PAIRWISE_POTTS, 8, 1, 0.5);
    s.field.n_labels = 2;
    must(clv_oracle_marginals(oracle, found, &values[0], &values[1], &s.field, 9, 50, err));
    must(clv_perturbed_marginals(oracle, drawn, &values[2], &values[3], &s.field, 9, 50, err));
    ck_assert_mem_eq(found, drawn, (size_t)s.field.n_nodes * 2 * sizeof *found);
    ck_assert(values[0] == values[2] && values[1] == values[3]);
}

/* A path of 5,000 nodes of 100 labels with couplings, whose tables nobody writes out; and a long chain with a table. */
TEST(long_chains_need_no_tables_of_their_own)
{
    enum { N = 5000, K = 100 };
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    int32_t(*edges)[2] = calloc(N, sizeof *edges);
    OWNED_ARRAY double *unary = calloc((size_t)N * K, sizeof *unary), *coupling = calloc(N, sizeof *coupling);
    OWNED_ARRAY double *marginals = calloc((size_t)N * K, sizeof *marginals);
    double log_partition;
    for (int32_t i = 0; i + 1 < N; i++) {
        edges[i][0] = i;
        edges[i][1] = i + 1;
        coupling[i] = 0.25;
    }
    struct clv_field field = {.n_nodes = N,
                              .n_edges = N - 1,
                              .n_labels = K,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    must(clv_oracle_marginals(oracle, marginals, &log_partition, NULL, &field, 0, 1, err));
    ck_assert_double_eq_tol(marginals[17], 1.0 / K, 1e-9);
    ck_assert_double_eq_tol(log_partition, log(K) + (N - 1) * log(1 + (K - 1) * exp(-0.25)), 1e-6);
    double table[4] = {1, -1, -1, 1};
    field.n_labels = 2;
    field.form = CLV_PAIRWISE_FULL;
    field.is_shared = true;
    field.pairwise = table;
    must(clv_oracle_marginals(oracle, marginals, &log_partition, NULL, &field, 0, 1, err));
    ck_assert_double_eq_tol(log_partition, log(2) + (N - 1) * log(exp(1) + exp(-1)), 1e-6);
    free(edges);
}

TEST(marginals_of_unsound_fields_are_refused_by_name)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    int32_t edges[1][2] = {{0, 2}};
    double unary[2] = {0, NAN}, coupling = 1, marginals[4] = {7, 7, 7, 7};
    struct clv_field field = {.n_nodes = 2,
                              .n_edges = 1,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = &coupling};
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_marginals(oracle, marginals, NULL, NULL, &field, 0, 1, err));
    unary[1] = 0;
    must_fail(CLV_ERR_DATA, "edge 0 joins", clv_oracle_marginals(oracle, marginals, NULL, NULL, &field, 0, 1, err));
    edges[0][1] = 1;
    coupling = -1;
    must_fail(CLV_ERR_DATA, "edge 0", clv_oracle_marginals(oracle, marginals, NULL, NULL, &field, 0, 1, err));
    coupling = 1;
    must_fail(CLV_ERR_USAGE, "0 samples", clv_oracle_marginals(oracle, marginals, NULL, NULL, &field, 0, 0, err));
    ck_assert(marginals[0] == 7 && marginals[3] == 7);
    ck_assert_str_eq(clv_marginals_name(CLV_MARGINALS_EXACT), "sum-product");
    ck_assert_str_eq(clv_marginals_name(CLV_MARGINALS_SAMPLED), "samples");
    ck_assert_str_eq(clv_marginals_name(CLV_MARGINALS_PROPAGATED), "belief propagation");
}
