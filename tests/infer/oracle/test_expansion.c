#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "support/exhaustive.h"
#include "support/support.h"

#define MAX_NODES 7
#define MAX_EDGES 14
#define N_LABELS  3

struct sample {
    int32_t edges[MAX_EDGES][2];
    double unary[MAX_NODES * N_LABELS], pairwise[MAX_EDGES * N_LABELS * N_LABELS];
    struct clv_field field;
};

/* Potts couplings, or minus a power of the distance of labels on a line times a coupling: metric, if squared
 * semi-metric. */
static void draw_sample(struct sample *s, uint64_t index, enum clv_pairwise form, int is_squared)
{
    uint64_t at = index << 12;
    int32_t n = 2 + (int32_t)rng_below(6, 0, at++, MAX_NODES - 1), m = (int32_t)rng_below(6, 0, at++, MAX_EDGES);
    for (int32_t c = 0; c < n * N_LABELS; c++)
        s->unary[c] = (double)rng_below(6, 0, at++, 9);
    for (int32_t e = 0; e < m; e++) {
        int32_t a = (int32_t)rng_below(6, 0, at++, (uint32_t)n), b = (int32_t)rng_below(6, 0, at++, (uint32_t)n - 1);
        s->edges[e][0] = a;
        s->edges[e][1] = b + (b >= a);
        double coupling = (double)rng_below(6, 0, at++, 5);
        if (form == CLV_PAIRWISE_POTTS)
            s->pairwise[e] = coupling;
        for (int32_t k = 0; form == CLV_PAIRWISE_FULL && k < N_LABELS * N_LABELS; k++)
            s->pairwise[e * N_LABELS * N_LABELS + k] =
                -coupling * (is_squared ? (k / N_LABELS - k % N_LABELS) * (k / N_LABELS - k % N_LABELS)
                                        : abs(k / N_LABELS - k % N_LABELS));
    }
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = m,
                                  .n_labels = N_LABELS,
                                  .form = form,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->pairwise};
}

/* The best labelling that one expansion of any label can make of y, by enumeration. */
static double best_move(const struct clv_field *field, const int32_t *y)
{
    double best = -INFINITY;
    for (int32_t alpha = 0; alpha < N_LABELS; alpha++)
        for (int code = 0; code < 1 << field->n_nodes; code++) {
            int32_t moved[MAX_NODES];
            for (int32_t i = 0; i < field->n_nodes; i++)
                moved[i] = code >> i & 1 ? alpha : y[i];
            best = fmax(best, clv_field_score(field, moved));
        }
    return best;
}

TEST(no_expansion_improves_the_answer)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int exact = 0, total = 300;
    for (uint64_t t = 0; t < (uint64_t)total; t++) {
        struct sample s;
        int32_t y[MAX_NODES];
        double score, best;
        draw_sample(&s, t, t % 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, 0);
        must(clv_oracle_expand(oracle, y, &score, &s.field, err));
        exhaustive(NULL, &best, NULL, NULL, &s.field);
        ck_assert_double_eq(score, clv_field_score(&s.field, y));
        ck_assert_double_eq(score, best_move(&s.field, y));
        ck_assert_double_le(score, best);
        exact += score == best;
    }
    ck_assert_int_ge(exact, total * 9 / 10);
}

/* The best labelling that one swap of any two labels can make of y, by enumeration. */
static double best_swap(const struct clv_field *field, const int32_t *y)
{
    double best = -INFINITY;
    for (int32_t alpha = 0; alpha < N_LABELS; alpha++)
        for (int32_t beta = 0; beta < alpha; beta++)
            for (int code = 0; code < 1 << field->n_nodes; code++) {
                int32_t moved[MAX_NODES];
                for (int32_t i = 0; i < field->n_nodes; i++)
                    moved[i] = y[i] != alpha && y[i] != beta ? y[i] : code >> i & 1 ? alpha : beta;
                best = fmax(best, clv_field_score(field, moved));
            }
    return best;
}

TEST(no_swap_improves_the_answer_semi_metrics_included)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int exact = 0, total = 300, n_not_metric = 0;
    for (uint64_t t = 0; t < (uint64_t)total; t++) {
        struct sample s;
        int32_t y[MAX_NODES];
        double score, best;
        draw_sample(&s, t, t % 3 ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS, t % 3 == 1);
        must(clv_oracle_swap(oracle, y, &score, &s.field, err));
        exhaustive(NULL, &best, NULL, NULL, &s.field);
        ck_assert_double_eq(score, clv_field_score(&s.field, y));
        ck_assert_double_eq(score, best_swap(&s.field, y));
        ck_assert_double_le(score, best);
        exact += score == best;
        n_not_metric += t % 3 == 1 && clv_oracle_expand(oracle, y, NULL, &s.field, NULL) != CLV_OK;
    }
    ck_assert_int_ge(exact, total * 8 / 10);
    ck_assert_int_ge(n_not_metric, 1); /* what expansion cannot do */
}

TEST(with_two_labels_both_are_the_minimum_cut)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (uint64_t t = 0; t < 60; t++) {
        struct sample s;
        int32_t cut[MAX_NODES], y[MAX_NODES];
        double best, score;
        draw_sample(&s, t, CLV_PAIRWISE_POTTS, 0);
        s.field.n_labels = 2;
        must(clv_oracle_map(oracle, cut, &best, &s.field, err));
        must(clv_oracle_expand(oracle, y, &score, &s.field, err));
        ck_assert_double_eq(score, best);
        ck_assert_mem_eq(y, cut, (size_t)s.field.n_nodes * sizeof *y);
        must(clv_oracle_swap(oracle, y, &score, &s.field, err));
        ck_assert_double_eq(score, best);
        ck_assert_mem_eq(y, cut, (size_t)s.field.n_nodes * sizeof *y);
    }
}

TEST(tables_that_no_cut_can_move_are_refused)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int32_t edges[1][2] = {{0, 1}}, y[2] = {7, 7};
    double unary[6] = {1, 0, 0, 1, 0, 0}, table[9] = {0, 5, 0, 5, 0, 0, 0, 0, 0};
    struct clv_field field = {.n_nodes = 2,
                              .n_edges = 1,
                              .n_labels = 3,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = table};
    must_fail(CLV_ERR_DATA, "edge 0", clv_oracle_expand(oracle, y, NULL, &field, err));
    must_fail(CLV_ERR_DATA, "edge 0 (nodes 0 and 1): labels 0 and 1 score more apart than alike",
              clv_oracle_swap(oracle, y, NULL, &field, err));
    ck_assert(y[0] == 7 && y[1] == 7);
    double coupling = -1;
    field.form = CLV_PAIRWISE_POTTS;
    field.pairwise = &coupling;
    must_fail(CLV_ERR_DATA, "edge 0", clv_oracle_swap(oracle, y, NULL, &field, err));
    field.form = CLV_PAIRWISE_FULL;
    field.pairwise = table;
    for (int i = 0; i < 9; i++)
        table[i] = 5; /* apart scores as alike: a cut can move that */
    must(clv_oracle_swap(oracle, y, NULL, &field, err));
    ck_assert(y[0] == 0 && y[1] == 0);
    must(clv_oracle_expand(oracle, y, NULL, &field, err));
    unary[4] = NAN;
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_swap(oracle, y, NULL, &field, err));
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_expand(oracle, y, NULL, &field, err));
}

/* One node begins with label 1, all others with 0, and all have label 1 in the best labelling. It is better than label
 * 0 everywhere by 0.055, which a sum of 80,000 edges' scores of 1.4e10 loses to rounding. */
TEST(scores_of_a_shared_table_count_for_each_edge)
{
    enum { SIDE = 200, N = SIDE * SIDE };
    static int32_t edges[2 * N][2], y[N];
    static double unary[N * N_LABELS];
    double large = 1.38e10, table[9] = {large, 0, 0, 0, large, 0, 0, 0, large};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int32_t m = 0;
    for (int32_t i = 0; i < N; i++) {
        if (i % SIDE + 1 < SIDE) {
            edges[m][0] = i;
            edges[m++][1] = i + 1;
        }
        if (i + SIDE < N) {
            edges[m][0] = i;
            edges[m++][1] = i + SIDE;
        }
        unary[i * N_LABELS] = i ? (1 - 0.055) / (N - 1) : 0;
        unary[i * N_LABELS + 1] = i ? 0 : 1;
        unary[i * N_LABELS + 2] = i ? -1 : 0;
    }
    const struct clv_field field = {.n_nodes = N,
                                    .n_edges = m,
                                    .n_labels = N_LABELS,
                                    .form = CLV_PAIRWISE_FULL,
                                    .edges = (const int32_t(*)[2])edges,
                                    .unary = unary,
                                    .pairwise = table,
                                    .is_shared = true};
    for (int kind = 0; kind < 2; kind++) {
        must((kind ? clv_oracle_swap : clv_oracle_expand)(oracle, y, NULL, &field, err));
        for (int32_t i = 0; i < N; i++)
            ck_assert_int_eq(y[i], 1);
    }
}

static void count_visit(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    (void)node, (void)cost, (void)flipped, (void)n_flipped;
    ++*(int *)context;
}

TEST(after_moves_no_solution_is_left_to_ask_for_witnesses)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t edges[3][2] = {{0, 1}, {1, 2}, {0, 2}}, y[3];
    double unary[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, couplings[3] = {1, 1, 1};
    int n_visits = 0;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 3,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = couplings};
    for (int kind = 0; kind < 2; kind++) {
        field.n_labels = 2;
        must(clv_oracle_map(oracle, y, NULL, &field, err));
        must(clv_oracle_witnesses(oracle, NULL, 0, count_visit, &n_visits, err));
        field.n_labels = 3;
        must((kind ? clv_oracle_swap : clv_oracle_expand)(oracle, y, NULL, &field, err));
        must_fail(CLV_ERR_USAGE, "before", clv_oracle_witnesses(oracle, NULL, 0, count_visit, &n_visits, err));
    }
    ck_assert_int_eq(n_visits, 6);
}

TEST(failed_requests_leave_the_labelling_alone)
{
    struct sample s;
    struct clv_oracle *oracle;
    int32_t y[MAX_NODES];
    uint64_t t = 0;
    do {
        draw_sample(&s, t++, CLV_PAIRWISE_FULL, 0);
    } while (s.field.n_edges < 3 || s.field.n_nodes < 4);
    for (int kind = 0; kind < 2; kind++)
        for (size_t request = 1, is_done = 0; !is_done; request++) {
            struct clv_error error;
            memset(y, 7, sizeof y);
            int32_t first = y[0];
            must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
            array_fail_request(request);
            enum clv_status status = kind ? clv_oracle_swap(oracle, y, NULL, &s.field, &error)
                                          : clv_oracle_expand(oracle, y, NULL, &s.field, &error);
            array_fail_request(0);
            ck_assert(status == CLV_OK || (status == CLV_ERR_MEMORY && y[0] == first));
            ck_assert(status == CLV_OK || request < 100);
            is_done = status == CLV_OK;
            ck_assert(!is_done || request > 3);
            clv_oracle_free(oracle);
        }
}
