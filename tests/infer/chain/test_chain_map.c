#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/chain/chain.h"
#include "infer/infer.h"
#include "support/support.h"

#define MAX_NODES  6
#define MAX_LABELS 7

struct sample {
    double unary[MAX_NODES * MAX_LABELS], table[MAX_NODES * MAX_LABELS * MAX_LABELS];
    int32_t edges[MAX_NODES][2];
    struct clv_field field;
};

/* A random chain of at most 3,000 labellings, with one table or many. Whole numbers in every other one, for ties. */
static void draw_sample(struct sample *s, uint64_t index)
{
    uint64_t at = index << 16;
    int32_t k = 2 + (int32_t)rng_below(9, 0, at++, MAX_LABELS - 1), most = k < 4 ? MAX_NODES : k < 6 ? 4 : 3;
    int32_t n = 1 + (int32_t)rng_below(9, 0, at++, (uint32_t)most);
    int is_shared = (int)rng_below(9, 0, at++, 2);
    for (int32_t c = 0; c < MAX_NODES * MAX_LABELS * MAX_LABELS; c++)
        s->table[c] = index % 2 ? rng_normal(9, 1, at++) : (double)rng_below(9, 1, at++, 3);
    for (int32_t c = 0; c < MAX_NODES * MAX_LABELS; c++)
        s->unary[c] = index % 2 ? rng_normal(9, 1, at++) : (double)rng_below(9, 1, at++, 3);
    for (int32_t i = 0; i + 1 < n; i++) {
        s->edges[i][0] = i;
        s->edges[i][1] = i + 1;
    }
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = n - 1,
                                  .n_labels = k,
                                  .form = CLV_PAIRWISE_FULL,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->table,
                                  .is_shared = is_shared};
}

/* The best labelling with `label` at `node` (-1: any), the lowest from behind at ties. */
static double slow_best(int32_t *y, const struct clv_field *field, int32_t node, int32_t label)
{
    double best = -INFINITY;
    int64_t n_labellings = 1;
    for (int32_t i = 0; i < field->n_nodes; i++)
        n_labellings *= field->n_labels;
    for (int64_t code = 0; code < n_labellings; code++) { /* node 0 varies fastest, so the last node counts most */
        int32_t labels[MAX_NODES];
        int64_t rest = code;
        for (int32_t i = 0; i < field->n_nodes; i++, rest /= field->n_labels)
            labels[i] = (int32_t)(rest % field->n_labels);
        double score = clv_field_score(field, labels);
        if ((node < 0 || labels[node] == label) && score > best) {
            best = score;
            memcpy(y, labels, sizeof labels);
        }
    }
    return best;
}

TEST(map_of_a_chain_equals_enumeration_ties_included)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 400; t++) {
        struct sample s;
        draw_sample(&s, t);
        int32_t y[MAX_NODES], expected[MAX_NODES];
        double score, best = slow_best(expected, &s.field, -1, 0);
        must(clv_oracle_map(oracle, y, &score, &s.field, err));
        ck_assert_double_eq_tol(score, best, 1e-12);
        ck_assert(!memcmp(y, expected, (size_t)s.field.n_nodes * sizeof *y));
    }
}

/* In any order of questions, since what is behind a node is found when first asked for. */
TEST(clamped_optima_of_a_chain_equal_enumeration)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 200; t++) {
        struct sample s;
        draw_sample(&s, t);
        int32_t y[MAX_NODES], expected[MAX_NODES], order[MAX_NODES];
        double score;
        must(clv_oracle_map(oracle, y, NULL, &s.field, err));
        rng_permutation(order, (size_t)s.field.n_nodes, t, RNG_TEST);
        for (int32_t i = 0; i < s.field.n_nodes; i++)
            for (int32_t b = 0; b < s.field.n_labels; b++) {
                double best = slow_best(expected, &s.field, order[i], b);
                must(clv_oracle_clamp(oracle, y, &score, &s.field, order[i], b, err));
                ck_assert_double_eq_tol(score, best, 1e-12);
                ck_assert_int_eq(y[order[i]], b);
                if (t % 2) /* no ties */
                    ck_assert(!memcmp(y, expected, (size_t)s.field.n_nodes * sizeof *y));
            }
    }
}

TEST(a_shared_table_is_the_same_as_copies_of_it)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    must(clv_bp_new(&bp, err));
    for (uint64_t t = 0; t < 100; t++) {
        struct sample s;
        double copies[MAX_NODES * MAX_LABELS * MAX_LABELS], beliefs[2][MAX_NODES * MAX_LABELS];
        int32_t y[2][MAX_NODES];
        draw_sample(&s, t);
        size_t k = (size_t)s.field.n_labels, cells = k * k;
        s.field.is_shared = 1;
        struct clv_field copied = s.field;
        copied.is_shared = 0;
        copied.pairwise = copies;
        for (int32_t e = 0; e < s.field.n_edges; e++)
            memcpy(&copies[(size_t)e * cells], s.table, cells * sizeof *copies);
        must(clv_oracle_map(oracle, y[0], NULL, &s.field, err));
        must(clv_oracle_map(oracle, y[1], NULL, &copied, err));
        ck_assert(!memcmp(y[0], y[1], (size_t)s.field.n_nodes * sizeof *y[0]));
        ck_assert(clv_field_score(&s.field, y[0]) == clv_field_score(&copied, y[0]));
        must(clv_bp_run(bp, beliefs[0], NULL, NULL, &s.field, NULL, err));
        must(clv_bp_run(bp, beliefs[1], NULL, NULL, &copied, NULL, err));
        ck_assert(!memcmp(beliefs[0], beliefs[1], (size_t)s.field.n_nodes * k * sizeof(double)));
    }
}

TEST(unsound_chains_and_clamps_are_refused_by_name)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    struct sample s;
    int32_t y[MAX_NODES] = {7, 7, 7, 7, 7, 7};
    double score = 7;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 1; draw_sample(&s, t), s.field.n_nodes < 3 || s.field.n_labels < 3; t += 2)
        ;
    must_fail(CLV_ERR_USAGE, "clamp", clv_oracle_clamp(oracle, y, &score, &s.field, 0, 0, err));
    s.field.unary[s.field.n_labels + 1] = NAN;
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_map(oracle, y, &score, &s.field, err));
    s.field.unary[s.field.n_labels + 1] = 0;
    s.table[1] = INFINITY;
    must_fail(CLV_ERR_DATA, "edge 0", clv_oracle_map(oracle, y, &score, &s.field, err));
    s.table[1] = 0;
    s.edges[1][1] = 0; /* edge 0 again */
    must_fail(CLV_ERR_USAGE, "with loops", clv_oracle_map(oracle, y, &score, &s.field, err));
    ck_assert(y[0] == 7 && score == 7);
    s.edges[1][1] = 2;
    must(clv_oracle_map(oracle, y, NULL, &s.field, err));
    must_fail(CLV_ERR_USAGE, "node -1", clv_oracle_clamp(oracle, y, NULL, &s.field, -1, 0, err));
    must_fail(CLV_ERR_USAGE, "to label", clv_oracle_clamp(oracle, y, NULL, &s.field, 0, s.field.n_labels, err));
    must_fail(CLV_ERR_USAGE, "two-label", clv_oracle_margins(oracle, s.unary, y, err));
}
