#include "infer/infer.h"
#include "infer/merit.h"
#include "infer/oracle/oracle.h"
#include "support/exhaustive.h"

static void assert_most_probable(const struct clv_field *field, const int32_t *y)
{
    double marginals[MAX_NODES * MAX_LABELS];
    exhaustive(NULL, NULL, NULL, marginals, field);
    for (int32_t i = 0; i < field->n_nodes; i++)
        for (int32_t a = 0; a < field->n_labels; a++)
            ck_assert_double_ge(marginals[i * field->n_labels + y[i]], marginals[i * field->n_labels + a] - 1e-9);
}

TEST(every_rule_is_exact_on_trees)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int n_marginal = 0;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t index = 0; index < 60; index++) {
        int32_t y[MAX_NODES];
        uint8_t is_visible[MAX_NODES], n_hidden = 0;
        draw_sample(&s, index, form_of(index), -1, 1, 1.5);
        if (s.field.n_labels > 3)
            continue;
        for (int32_t i = 0; i < s.field.n_nodes; i++)
            n_hidden += !(is_visible[i] = rng_below(SEED, 1, index * 100 + (uint64_t)i, 3) > 0);
        struct clv_decoding decoding = {.rule = CLV_DECODE_MAP};
        must(clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
        double best, found = merit(&best, &s.field, y, is_visible, 0);
        ck_assert_double_eq_tol(found, best, 1e-9);
        decoding.rule = CLV_DECODE_MARGINALS;
        must(clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
        assert_most_probable(&s.field, y);
        decoding = (struct clv_decoding){CLV_DECODE_MARGINAL_MAP, T_H};
        if (n_hidden > 1)
            continue; /* two that hang together with three visible ones are beyond the forest's reach */
        n_marginal++;
        must(clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
        found = merit(&best, &s.field, y, is_visible, 1);
        ck_assert_double_le(found, best + 1e-9);
        int32_t degree = 0;
        for (int32_t e = 0; e < s.field.n_edges; e++)
            degree += !is_visible[s.edges[e][0]] || !is_visible[s.edges[e][1]];
        if (degree <= 2)
            ck_assert_double_ge(found, best - 1e-9);
    }
    ck_assert_int_gt(n_marginal, 10);
}

TEST(chains_of_many_labels_take_the_most_probable_ones)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int n_chains = 0;
    const struct clv_decoding decoding = {.rule = CLV_DECODE_MARGINALS};
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t index = 0; index < 40; index++) {
        int32_t y[MAX_NODES];
        draw_sample(&s, index, CLV_PAIRWISE_FULL, -1, 1, 2);
        for (int32_t e = 0; e < s.field.n_edges; e++) {
            s.edges[e][0] = e;
            s.edges[e][1] = e + 1;
        }
        s.field.is_shared = index % 2;
        n_chains += s.field.n_labels > 2 && s.field.n_edges == s.field.n_nodes - 1 && s.field.n_nodes > 2;
        must(clv_oracle_decode(oracle, y, &s.field, NULL, &decoding, err));
        assert_most_probable(&s.field, y);
    }
    ck_assert_int_gt(n_chains, 10);
}

TEST(the_oracles_rule_is_its_map)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t a[MAX_NODES], b[MAX_NODES];
    const struct clv_decoding decoding = {0};
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t index = 0; index < 40; index++) {
        draw_sample(&s, index, CLV_PAIRWISE_POTTS, 3, 1, 1);
        if (s.field.n_labels > 2)
            s.field.form = CLV_PAIRWISE_NONE;
        must(clv_oracle_map(oracle, a, NULL, &s.field, err));
        must(clv_oracle_decode(oracle, b, &s.field, NULL, &decoding, err));
        ck_assert_mem_eq(a, b, (size_t)s.field.n_nodes * sizeof *a);
    }
}

TEST(every_rule_is_exact_on_narrow_graphs)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t index = 0; index < 60; index++) {
        int32_t y[MAX_NODES];
        uint8_t is_visible[MAX_NODES];
        draw_sample(&s, index, form_of(index), 4, 1, 1.5);
        if (s.field.n_labels > 3)
            continue;
        for (int32_t i = 0; i < MAX_NODES; i++)
            is_visible[i] = rng_below(SEED, 1, index * 100 + (uint64_t)i, 2) > 0;
        for (int rule = CLV_DECODE_MAP; rule <= CLV_DECODE_MARGINAL_MAP; rule++) {
            const struct clv_decoding decoding = {(enum clv_decoding_rule)rule, T_H};
            must(clv_oracle_decode(oracle, y, &s.field, is_visible, &decoding, err));
            double best, found = merit(&best, &s.field, y, is_visible, rule == CLV_DECODE_MARGINAL_MAP);
            ck_assert_double_ge(found, best - 1e-9);
        }
        const struct clv_decoding decoding = {.rule = CLV_DECODE_MARGINALS};
        must(clv_oracle_decode(oracle, y, &s.field, NULL, &decoding, err));
        assert_most_probable(&s.field, y);
    }
}

/* A grid too wide for elimination; every third node is known by its neighbours alone. */
TEST(wide_graphs_are_decoded_by_belief_propagation)
{
    enum { SIDE = 16, N = SIDE * SIDE, K = 3 };
    static double unary[N * K], coupling[2 * N];
    static int32_t edges[2 * N][2], y[N];
    static uint8_t is_visible[N];
    int32_t m = 0;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (int32_t i = 0; i < N; i++) {
        if (i % SIDE < SIDE - 1)
            memcpy(edges[m++], (int32_t[]){i, i + 1}, sizeof *edges);
        if (i < N - SIDE)
            memcpy(edges[m++], (int32_t[]){i, i + SIDE}, sizeof *edges);
        is_visible[i] = i % 3 > 0;
        unary[i * K + i / (N / 2 + 1)] = is_visible[i] ? 2 : 0.01;
    }
    for (int32_t e = 0; e < m; e++)
        coupling[e] = 1;
    struct clv_field field = {N, m, K, CLV_PAIRWISE_POTTS, (const int32_t(*)[2])edges, unary, coupling, 0};
    for (int rule = CLV_DECODE_MAP; rule <= CLV_DECODE_MARGINALS; rule++) {
        const struct clv_decoding decoding = {(enum clv_decoding_rule)rule, 1};
        must(clv_oracle_decode(oracle, y, &field, is_visible, &decoding, err));
        for (int32_t i = 0; i < N; i++)
            ck_assert_int_eq(y[i], i / (N / 2 + 1));
    }
}

TEST(rules_and_temperatures_out_of_range_are_refused)
{
    struct sample s;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t y[MAX_NODES];
    struct clv_decoding decoding = {CLV_DECODE_MARGINAL_MAP, 0};
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    draw_sample(&s, 1, CLV_PAIRWISE_FULL, -1, 1, 1);
    must_fail(CLV_ERR_USAGE, "a temperature of 0", clv_oracle_decode(oracle, y, &s.field, NULL, &decoding, err));
    decoding.rule = (enum clv_decoding_rule)CLV_N_DECODING_RULES;
    must_fail(CLV_ERR_USAGE, "no decoding rule", clv_oracle_decode(oracle, y, &s.field, NULL, &decoding, err));
    ck_assert_str_eq(decoding_rule_name(decoding.rule), "unknown");
    s.unary[0] = NAN;
    decoding.rule = CLV_DECODE_MAP;
    must_fail(CLV_ERR_DATA, "node 0", clv_oracle_decode(oracle, y, &s.field, NULL, &decoding, err));
}

/* Every rule, with label costs and without, refuses an edge whose end is not a node before it uses the edge. */
TEST(edges_to_missing_nodes_are_refused_by_every_rule)
{
    enum { N = 3 };
    static double unary[N * 3] = {0, 1, 0, 0, 0, 1}, pairwise[2 * 9] = {0};
    static const double cost[3] = {0};
    static const uint8_t is_visible[N] = {1, 0, 1};
    static const int32_t bad[] = {-1, N, 1 << 28, INT32_MIN, INT32_MAX};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint32_t t = 0; t < 5 * 2 * 2 * 2 * CLV_N_DECODING_RULES; t++) {
        int32_t edges[2][2] = {{0, 1}, {1, 2}}, y[N] = {7, 7, 7};
        struct clv_field field = {.n_nodes = N,
                                  .n_edges = 2,
                                  .n_labels = t / 5 % 2 ? 2 : 3,
                                  .form = t / 10 % 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL,
                                  .edges = (const int32_t(*)[2])edges,
                                  .unary = unary,
                                  .pairwise = pairwise};
        const struct clv_decoding decoding = {(enum clv_decoding_rule)(t / 40), 1};
        edges[1][t / 20 % 2] = bad[t % 5];
        must_fail(CLV_ERR_DATA, "edge 1 joins nodes", clv_oracle_decode(oracle, y, &field, is_visible, &decoding, err));
        must_fail(CLV_ERR_DATA, "edge 1 joins nodes",
                  clv_oracle_decode_costs(oracle, y, &field, cost, is_visible, &decoding, err));
        for (int32_t i = 0; i < N; i++)
            ck_assert_int_eq(y[i], 7);
    }
}
