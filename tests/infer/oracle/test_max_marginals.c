/* Max-marginals and the counts of their witnesses, against enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/random_field.h"

static struct clv_oracle *new_oracle(enum clv_engine engine)
{
    struct clv_oracle *oracle;
    must(clv_oracle_new(&oracle, engine, err));
    return oracle;
}

/* The best score with a label at a node, and adds its labelling to the counts. */
static double enumerate(double *counts, const struct clv_field *field, int32_t node, int32_t label)
{
    int32_t labels[MAX_NODES] = {0}, best_labels[MAX_NODES] = {0};
    double best = -INFINITY;
    do {
        double score = clv_field_score(field, labels);
        if (labels[node] == label && score > best) {
            best = score;
            memcpy(best_labels, labels, sizeof labels);
        }
    } while (next_labelling(labels, field));
    for (int32_t i = 0; i < field->n_nodes; i++)
        counts[i * field->n_labels + best_labels[i]]++;
    return best;
}

static void check(struct clv_oracle *oracle, const struct clv_field *field, double tolerance)
{
    double found[MAX_NODES * MAX_LABELS], counts[MAX_NODES * MAX_LABELS];
    double expected[MAX_NODES * MAX_LABELS], expected_counts[MAX_NODES * MAX_LABELS] = {0};
    int32_t n = field->n_nodes, k = field->n_labels;
    for (int32_t i = 0; i < n; i++)
        for (int32_t a = 0; a < k; a++)
            expected[i * k + a] = enumerate(expected_counts, field, i, a);
    must(clv_oracle_max_marginals(oracle, found, counts, field, err));
    assert_near(found, expected, n * k, tolerance);
    assert_near(counts, expected_counts, n * k, 0);
    must(clv_oracle_max_marginals(oracle, found, NULL, field, err));
    assert_near(found, expected, n * k, tolerance);
    must(clv_oracle_max_marginals(oracle, NULL, counts, field, err));
    assert_near(counts, expected_counts, n * k, 0);
}

TEST(max_marginals_of_forests_equal_enumeration)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle(CLV_ENGINE_DEFAULT);
    for (uint64_t t = 0; t < 200; t++) {
        struct sample s;
        draw_sample(&s, t, form_of(t), -1, 1, 1.5);
        s.field.is_shared = s.field.form == CLV_PAIRWISE_FULL && t % 5 == 0;
        if (t % 7 == 0) {
            s.field.form = CLV_PAIRWISE_NONE;
            s.field.n_edges = 0;
        }
        check(oracle, &s.field, 1e-11);
    }
}

/* Loops of two labels: minimum cuts, whose scores are rounded. */
TEST(max_marginals_of_two_labels_with_loops_equal_enumeration)
{
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        if (engine == CLV_ENGINE_BK && !clv_has_bk())
            continue;
        OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle((enum clv_engine)engine);
        for (uint64_t t = 0; t < 60; t++) {
            struct sample s;
            draw_sample(&s, t, form_of(t), 8, 1, 0.6);
            s.field.n_labels = 2;
            for (int32_t e = 0; e < s.field.n_edges && s.field.form == CLV_PAIRWISE_FULL; e++)
                s.pairwise[4 * e] =
                    s.pairwise[4 * e + 1] + s.pairwise[4 * e + 2] - s.pairwise[4 * e + 3] + 0.1 * (double)e;
            check(oracle, &s.field, 1e-6);
        }
    }
}

/* Whole scores have ties: the sums still hold. */
TEST(counts_of_ties_add_up)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle(CLV_ENGINE_DEFAULT);
    for (uint64_t t = 0; t < 100; t++) {
        struct sample s;
        double counts[MAX_NODES * MAX_LABELS], found[MAX_NODES * MAX_LABELS], ignored[MAX_NODES * MAX_LABELS] = {0};
        draw_sample(&s, t, form_of(t), -1, 0, 0);
        must(clv_oracle_max_marginals(oracle, found, counts, &s.field, err));
        int32_t n = s.field.n_nodes, k = s.field.n_labels;
        for (int32_t i = 0; i < n; i++) {
            double sum = 0;
            for (int32_t a = 0; a < k; a++) {
                sum += counts[i * k + a];
                ck_assert_double_eq(found[i * k + a], enumerate(ignored, &s.field, i, a));
            }
            ck_assert_double_eq(sum, n * k);
        }
    }
}

TEST(max_marginals_that_nothing_finds_exactly_are_refused_by_name)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle(CLV_ENGINE_DEFAULT);
    int32_t edges[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    double unary[9] = {0}, coupling[3] = {1, 1, 1}, tables[12] = {0, 1, 1, 0}, found[9] = {7}, counts[9] = {7};
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 3,
                              .n_labels = 3,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    must_fail(CLV_ERR_USAGE, "loops and 3 labels", clv_oracle_max_marginals(oracle, found, counts, &field, err));
    field.n_labels = 2;
    field.form = CLV_PAIRWISE_FULL;
    field.pairwise = tables;
    must_fail(CLV_ERR_DATA, "edge 0 (nodes 0 and 1) is not supermodular",
              clv_oracle_max_marginals(oracle, found, counts, &field, err));
    field.n_edges = 2;
    must(clv_oracle_max_marginals(oracle, NULL, NULL, &field, err));
    unary[1] = INFINITY;
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_max_marginals(oracle, found, counts, &field, err));
    ck_assert(found[0] == 7 && counts[0] == 7);
}
