#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/support.h"

#define MAX_NODES 7
#define MAX_EDGES 14
#define N_LABELS  3

struct sample {
    int32_t edges[MAX_EDGES][2];
    double unary[MAX_NODES * N_LABELS], pairwise[MAX_EDGES * N_LABELS * N_LABELS];
    struct clv_field field;
};

/* Potts couplings, or minus the distance of labels on a line times a coupling: both metric. */
static void draw_sample(struct sample *s, uint64_t index, enum clv_pairwise form)
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
            s->pairwise[e * N_LABELS * N_LABELS + k] = -coupling * abs(k / N_LABELS - k % N_LABELS);
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

START_TEST(no_expansion_improves_the_answer)
{
    struct clv_oracle *oracle;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int exact = 0, total = 300;
    for (uint64_t t = 0; t < (uint64_t)total; t++) {
        struct sample s;
        int32_t y[MAX_NODES];
        double score, best;
        draw_sample(&s, t, t % 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL);
        must(clv_oracle_expand(oracle, y, &score, &s.field, err));
        must(clv_exhaustive(NULL, &best, NULL, NULL, &s.field, err));
        ck_assert_double_eq(score, clv_field_score(&s.field, y));
        ck_assert_double_eq(score, best_move(&s.field, y));
        ck_assert_double_le(score, best);
        exact += score == best;
    }
    ck_assert_int_ge(exact, total * 9 / 10);
    clv_oracle_free(oracle);
}
END_TEST

START_TEST(tables_that_no_cut_can_move_are_refused)
{
    struct clv_oracle *oracle;
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
    ck_assert(y[0] == 7 && y[1] == 7);
    unary[4] = NAN;
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_expand(oracle, y, NULL, &field, err));
    clv_oracle_free(oracle);
}
END_TEST

Suite *expansion_suite(void)
{
    Suite *suite = suite_create("expansion");
    TCase *tests = tcase_create("expansion");
    tcase_add_test(tests, no_expansion_improves_the_answer);
    tcase_add_test(tests, tables_that_no_cut_can_move_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
