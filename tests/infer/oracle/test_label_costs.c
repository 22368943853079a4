/* Labels that cost by being used at all, compared with all labellings. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "support/requests.h"
#include "support/support.h"

enum { MAX_NODES = 6, MAX_EDGES = 8, MAX_LABELS = 4 };

struct sample {
    int32_t edges[MAX_EDGES][2];
    double unary[MAX_NODES * MAX_LABELS], pairwise[MAX_EDGES * MAX_LABELS * MAX_LABELS], cost[MAX_LABELS];
    struct clv_field field;
};

/* Of any form and any sign, two labels to four. */
static void draw_sample(struct sample *s, uint64_t index)
{
    uint64_t at = index << 12;
    int32_t n = 2 + (int32_t)rng_below(8, 0, at++, MAX_NODES - 1), m = (int32_t)rng_below(8, 0, at++, MAX_EDGES);
    int32_t k = 2 + (int32_t)(index % 3);
    enum clv_pairwise form = (enum clv_pairwise)(index / 3 % 3);
    for (int32_t c = 0; c < n * k; c++)
        s->unary[c] = 4 * rng_uniform(8, 1, at++) - (k == 2 ? 2 : 0);
    for (int32_t e = 0; e < m; e++) {
        int32_t a = (int32_t)rng_below(8, 0, at++, (uint32_t)n), b = (int32_t)rng_below(8, 0, at++, (uint32_t)n - 1);
        s->edges[e][0] = a;
        s->edges[e][1] = b + (b >= a);
    }
    for (int32_t c = 0; c < m * (form == CLV_PAIRWISE_FULL ? k * k : 1); c++)
        s->pairwise[c] = 2 * rng_uniform(8, 2, at++) - (form == CLV_PAIRWISE_FULL ? 1 : 0);
    for (int32_t l = 0; l < k; l++)
        s->cost[l] = rng_below(8, 3, at++, 4) ? 6 * rng_uniform(8, 4, at) : 0;
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = form == CLV_PAIRWISE_NONE ? 0 : m,
                                  .n_labels = k,
                                  .form = form,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->pairwise};
}

static int labels_of(const struct sample *s, const int32_t *y)
{
    int set = 0;
    for (int32_t i = 0; i < s->field.n_nodes; i++)
        set |= 1 << y[i];
    return set;
}

static double value_of(const struct sample *s, const int32_t *y)
{
    double value = clv_field_score(&s->field, y);
    for (int32_t l = 0; l < s->field.n_labels; l++)
        value -= labels_of(s, y) >> l & 1 ? s->cost[l] : 0;
    return value;
}

/* The best value of a labelling by labels of the set alone. */
static double best_of(const struct sample *s, int set)
{
    int32_t y[MAX_NODES] = {0};
    double best = -INFINITY;
    for (int32_t i = 0; i < s->field.n_nodes;) {
        if (!(labels_of(s, y) & ~set))
            best = fmax(best, value_of(s, y));
        for (i = 0; i < s->field.n_nodes && ++y[i] == s->field.n_labels; i++)
            y[i] = 0;
    }
    return best;
}

TEST(no_label_given_up_improves_the_answer)
{
    const struct clv_decoding rule = {.rule = CLV_DECODE_MAP};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int n_best = 0, n_given_up = 0, total = 180;
    for (uint64_t t = 0; t < (uint64_t)total; t++) {
        struct sample s;
        int32_t y[MAX_NODES], free_y[MAX_NODES];
        draw_sample(&s, t);
        must(clv_oracle_decode(oracle, free_y, &s.field, NULL, &rule, err));
        must(clv_oracle_decode_costs(oracle, y, &s.field, s.cost, NULL, &rule, err));
        double value = value_of(&s, y), best = best_of(&s, (1 << s.field.n_labels) - 1);
        int set = labels_of(&s, y);
        for (int32_t l = 0; l < s.field.n_labels; l++)
            if (set >> l & 1 && set != 1 << l)
                ck_assert_double_le(best_of(&s, set & ~(1 << l)), value + 1e-6);
        ck_assert_double_ge(value, value_of(&s, free_y));
        ck_assert_double_le(value, best + 1e-9);
        n_best += value > best - 1e-6;
        n_given_up += labels_of(&s, free_y) != set;
    }
    ck_assert_int_ge(n_best, total * 8 / 10);
    ck_assert_int_ge(n_given_up, total / 4);
}

TEST(labels_that_cost_nothing_change_nothing)
{
    static const double nothing[MAX_LABELS] = {0};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 60; t++) {
        const struct clv_decoding rule = {.rule = t % 2 ? CLV_DECODE_MARGINALS : CLV_DECODE_MAP};
        struct sample s;
        int32_t y[MAX_NODES], free_y[MAX_NODES];
        draw_sample(&s, t);
        must(clv_oracle_decode(oracle, free_y, &s.field, NULL, &rule, err));
        must(clv_oracle_decode_costs(oracle, y, &s.field, nothing, NULL, &rule, err));
        if (rule.rule == CLV_DECODE_MAP) /* else labels that MAP does not use are out */
            ck_assert_mem_eq(y, free_y, (size_t)s.field.n_nodes * sizeof *y);
    }
}

TEST(one_table_of_all_edges_is_that_table_at_each)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int n_given_up = 0;
    for (uint64_t t = 0; t < 120; t++) {
        const struct clv_decoding rule = {.rule = CLV_DECODE_MAP};
        struct sample s;
        int32_t y[MAX_NODES], expected[MAX_NODES];
        draw_sample(&s, 9 * t + 6 + t % 3); /* full tables, of two to four labels */
        ck_assert_int_eq(s.field.form, CLV_PAIRWISE_FULL);
        size_t size = (size_t)s.field.n_labels * (size_t)s.field.n_labels;
        for (int32_t e = 1; e < s.field.n_edges; e++)
            memcpy(s.pairwise + (size_t)e * size, s.pairwise, size * sizeof *s.pairwise);
        must(clv_oracle_decode_costs(oracle, expected, &s.field, s.cost, NULL, &rule, err));
        s.field.is_shared = true;
        for (size_t c = size; c < sizeof s.pairwise / sizeof *s.pairwise; c++)
            s.pairwise[c] = NAN;
        must(clv_oracle_decode_costs(oracle, y, &s.field, s.cost, NULL, &rule, err));
        ck_assert_mem_eq(y, expected, (size_t)s.field.n_nodes * sizeof *y);
        n_given_up += labels_of(&s, y) != (1 << s.field.n_labels) - 1;
    }
    ck_assert_int_gt(n_given_up, 30);
}

/* Two of three nodes are a little better as 1 and as 2, which is not worth the cost: 0 is nearly as good. */
TEST(a_label_of_few_nodes_is_not_worth_a_high_cost_whatever_the_rule)
{
    static double unary[9] = {5, 0, 0, 0, 2, 0, 0, 0, 2};
    const double cost[3] = {0, 10, 1};
    static const int32_t expected[3] = {0, 0, 2};
    struct clv_field field = {.n_nodes = 3, .n_labels = 3, .form = CLV_PAIRWISE_NONE, .unary = unary};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (int rule = CLV_DECODE_ORACLE; rule <= CLV_DECODE_MARGINALS; rule++) {
        const struct clv_decoding decoding = {.rule = (enum clv_decoding_rule)rule, .hidden_temperature = 1};
        int32_t y[3];
        must(clv_oracle_decode_costs(oracle, y, &field, cost, NULL, &decoding, err));
        ck_assert_int_eq(y[0], expected[0]);
        ck_assert_int_ne(y[1], 1);
        if (rule != CLV_DECODE_MARGINALS) /* there nodes 1 and 2 go by themselves between 0 and 2 */
            ck_assert_mem_eq(y, expected, sizeof y);
    }
}

TEST(costs_out_of_range_are_refused_by_name)
{
    static double unary[6] = {0};
    const struct clv_decoding rule = {.rule = CLV_DECODE_MAP};
    struct clv_field field = {.n_nodes = 2, .n_labels = 3, .form = CLV_PAIRWISE_NONE, .unary = unary};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t y[2] = {7, 7};
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    const double bad[] = {-1, NAN, INFINITY};
    for (int k = 0; k < 3; k++) {
        double cost[3] = {0, 0, bad[k]};
        must_fail(CLV_ERR_DATA, "label 2 costs", clv_oracle_decode_costs(oracle, y, &field, cost, NULL, &rule, err));
    }
    field.n_labels = 1;
    must_fail(CLV_ERR_USAGE, "1 labels", clv_oracle_decode_costs(oracle, y, &field, bad, NULL, &rule, err));
    ck_assert_int_eq(y[0], 7);
}

TEST(labels_stay_where_memory_runs_out)
{
    for (uint64_t t = 0; t < 9; t++) { /* two to four labels of each form */
        const struct clv_decoding rule = {.rule = CLV_DECODE_MAP};
        struct sample s;
        OWNED(oracle_drop) struct clv_oracle *oracle = NULL, *fresh = NULL;
        int32_t y[MAX_NODES], expected[MAX_NODES];
        draw_sample(&s, t);
        size_t size = (size_t)s.field.n_nodes * sizeof *y;
        must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
        must(clv_oracle_new(&fresh, CLV_ENGINE_DEFAULT, err));
        must(clv_oracle_decode_costs(oracle, expected, &s.field, s.cost, NULL, &rule, err));
        int32_t untouched[MAX_NODES];
        memset(y, 7, sizeof y);
        memset(untouched, 7, sizeof untouched);
        must_keep_when_requests_fail(clv_oracle_decode_costs(fresh, y, &s.field, s.cost, NULL, &rule, err),
                                     ck_assert_mem_eq(y, untouched, sizeof y));
        ck_assert_mem_eq(y, expected, size);
    }
}
