/* Chains and trees through the MAP oracle, whatever their tables and labels, against enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/random_field.h"

enum { N_FIELDS = 300 };

static struct clv_oracle *new_oracle(void)
{
    struct clv_oracle *oracle;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    return oracle;
}

/* Every third field is a chain, of two labels every other one; whole scores, with ties, in every fourth. */
static void draw_forest(struct sample *s, uint64_t index)
{
    memset(s, 0, sizeof *s); /* the tables of edges that close gaps */
    draw_sample(s, index, form_of(index), -1, index % 4 / 3 ? 0 : 1, index % 4 / 3 ? 0 : 1.5);
    int32_t n = s->field.n_nodes;
    for (int32_t i = 0; i + 1 < n && index % 3 == 0; i++) {
        s->edges[i][0] = i;
        s->edges[i][1] = i + 1;
        s->field.n_edges = n - 1;
    }
    if (index % 2)
        s->field.n_labels = 2 + (int32_t)(index / 2 % 2) * (s->field.n_labels - 2);
    s->field.is_shared = s->field.form == CLV_PAIRWISE_FULL && index % 5 == 0;
}

/* The best score with `label` at `node` (-1: any), and a labelling that has it. */
static double enumerate(int32_t *y, const struct clv_field *field, int32_t node, int32_t label)
{
    int32_t labels[MAX_NODES] = {0};
    double best = -INFINITY;
    do {
        double score = clv_field_score(field, labels);
        if ((node < 0 || labels[node] == label) && score > best) {
            best = score;
            memcpy(y, labels, sizeof labels);
        }
    } while (next_labelling(labels, field));
    return best;
}

static bool has_ties(uint64_t index)
{
    return index % 4 == 3;
}

TEST(maps_of_chains_and_trees_equal_enumeration)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    for (uint64_t t = 0; t < N_FIELDS; t++) {
        struct sample s;
        int32_t y[MAX_NODES], expected[MAX_NODES];
        double score;
        draw_forest(&s, t);
        double best = enumerate(expected, &s.field, -1, 0);
        must(clv_oracle_map(oracle, y, &score, &s.field, err));
        ck_assert_double_eq_tol(score, best, 1e-9);
        ck_assert_double_eq_tol(clv_field_score(&s.field, y), best, 1e-9);
        ck_assert(has_ties(t) || !memcmp(y, expected, (size_t)s.field.n_nodes * sizeof *y));
    }
}

TEST(clamped_optima_of_chains_and_trees_equal_enumeration)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    for (uint64_t t = 0; t < N_FIELDS; t++) {
        struct sample s;
        int32_t y[MAX_NODES], expected[MAX_NODES];
        draw_forest(&s, t);
        must(clv_oracle_map(oracle, y, NULL, &s.field, err));
        for (int32_t i = 0; i < s.field.n_nodes; i++)
            for (int32_t b = 0; b < s.field.n_labels; b++) {
                double score, best = enumerate(expected, &s.field, i, b);
                must(clv_oracle_clamp(oracle, y, &score, &s.field, i, b, err));
                ck_assert_double_eq_tol(score, best, 1e-9);
                ck_assert_int_eq(y[i], b);
                ck_assert(has_ties(t) || !memcmp(y, expected, (size_t)s.field.n_nodes * sizeof *y));
            }
    }
}

struct witness_check {
    const struct clv_field *field;
    const int32_t *y;
    double best;
    int32_t n_visits;
};

static void check_witness(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    struct witness_check *check = context;
    int32_t labels[MAX_NODES], expected[MAX_NODES];
    memcpy(labels, check->y, (size_t)check->field->n_nodes * sizeof *labels);
    for (int32_t k = 0; k < n_flipped; k++)
        labels[flipped[k]] = 1 - labels[flipped[k]];
    double forced = enumerate(expected, check->field, node, 1 - check->y[node]);
    ck_assert_int_eq(flipped[0], node);
    ck_assert(cost >= 0);
    ck_assert_double_eq_tol(check->best - cost, forced, 1e-6);
    ck_assert_double_eq_tol(clv_field_score(check->field, labels), forced, 1e-6);
    check->n_visits++;
}

/* No cut solves many of these. */
TEST(witnesses_of_two_labels_on_chains_and_trees_equal_enumeration)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    int n_no_cut = 0;
    for (uint64_t t = 0; t < N_FIELDS; t++) {
        struct sample s;
        int32_t y[MAX_NODES], other[MAX_NODES];
        double margin[MAX_NODES];
        draw_forest(&s, t);
        s.field.n_labels = 2;
        must(clv_oracle_map(oracle, y, NULL, &s.field, err));
        struct clv_field field = s.field; /* which witnesses do not look at */
        struct sample kept = s;
        field.edges = (const int32_t(*)[2])kept.edges;
        field.unary = kept.unary;
        field.pairwise = kept.pairwise;
        memset(&s.unary, 0, sizeof s.unary);
        memset(&s.pairwise, 0, sizeof s.pairwise);
        memset(&s.edges, 0, sizeof s.edges);
        struct witness_check check = {&field, y, enumerate(other, &field, -1, 0), 0};
        must(clv_oracle_witnesses(oracle, NULL, 0, check_witness, &check, err));
        ck_assert_int_eq(check.n_visits, field.n_nodes);
        must(clv_oracle_margins(oracle, margin, y, err));
        for (int32_t i = 0; i < field.n_nodes; i++)
            ck_assert_double_eq_tol(margin[i], enumerate(other, &field, i, 1) - enumerate(other, &field, i, 0), 1e-6);
        for (int32_t e = 0; e < field.n_edges && field.form == CLV_PAIRWISE_FULL; e++) {
            const double *table = clv_field_table(&field, e);
            n_no_cut += table[0] + table[3] < table[1] + table[2];
        }
    }
    ck_assert_int_gt(n_no_cut, 200);
}

/* Draws are the MAP of noisy scores, and so of any tables, too. */
TEST(draws_on_chains_and_trees_are_maps_of_noisy_scores)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    enum { N_DRAWS = 18 };
    for (uint64_t t = 0; t < 100; t++) {
        struct sample s;
        int32_t y[N_DRAWS * MAX_NODES], expected[MAX_NODES];
        draw_forest(&s, 2 * t);
        int32_t n = s.field.n_nodes, columns = s.field.n_labels == 2 ? 1 : s.field.n_labels;
        must(clv_perturbed_map(oracle, y, NULL, &s.field, t, 0, N_DRAWS, err));
        for (uint32_t draw = 0; draw < N_DRAWS; draw++) {
            double unary[MAX_NODES * MAX_LABELS];
            struct clv_field noisy = s.field;
            memcpy(unary, s.unary, (size_t)(n * columns) * sizeof *unary);
            gumbel_add(unary, n, s.field.n_labels, t, draw);
            noisy.unary = unary;
            enumerate(expected, &noisy, -1, 0);
            ck_assert(!memcmp(&y[(int32_t)draw * n], expected, (size_t)n * sizeof *y));
        }
    }
}

/* A star whose centre every leaf outvotes, of 200 labels; a path of 20,000 nodes. */
TEST(large_trees_are_solved)
{
    enum { N = 20000, K = 200, LEAVES = 60 };
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    int32_t(*edges)[2] = calloc(N, sizeof *edges), *y = calloc(N, sizeof *y);
    OWNED_ARRAY double *unary = calloc((size_t)N * 3, sizeof *unary), *coupling = calloc(N, sizeof *coupling);
    for (int32_t i = 0; i + 1 < N; i++) {
        edges[i][0] = i;
        edges[i][1] = i + 1;
        coupling[i] = 1;
    }
    unary[2] = 3; /* label 2 of node 0 */
    struct clv_field field = {.n_nodes = N,
                              .n_edges = N - 1,
                              .n_labels = 3,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    must(clv_oracle_map(oracle, y, NULL, &field, err));
    ck_assert(y[0] == 2 && y[N - 1] == 2);
    unary[2] = 0;
    for (int32_t i = 0; i < LEAVES; i++) {
        edges[i][0] = LEAVES;
        edges[i][1] = i;
        unary[i * K + K - 1] = 2;
    }
    unary[LEAVES * K + 5] = 7;
    field.n_nodes = LEAVES + 1;
    field.n_edges = LEAVES;
    field.n_labels = K;
    must(clv_oracle_map(oracle, y, NULL, &field, err));
    for (int32_t i = 0; i <= LEAVES; i++)
        ck_assert_int_eq(y[i], K - 1);
    free(edges);
    free(y);
}

TEST(forests_of_unsound_scores_are_refused_by_name)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = new_oracle();
    int32_t edges[3][2] = {{0, 2}, {1, 2}, {0, 1}}, y[3] = {7, 7, 7};
    double unary[9] = {0}, coupling[3] = {1, -1e-9, 1}, score = 7;
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 2,
                              .n_labels = 3,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    must_fail(CLV_ERR_DATA, "edge 1 (nodes 1 and 2): its coupling is -1e-09",
              clv_oracle_map(oracle, y, &score, &field, err));
    coupling[1] = 1;
    unary[4] = NAN;
    must_fail(CLV_ERR_DATA, "node 1", clv_oracle_map(oracle, y, &score, &field, err));
    unary[4] = 0;
    edges[1][1] = 3;
    must_fail(CLV_ERR_DATA, "edge 1 joins", clv_oracle_map(oracle, y, &score, &field, err));
    edges[1][1] = 2;
    field.n_edges = 3;
    must_fail(CLV_ERR_USAGE, "loops and 3 labels", clv_oracle_map(oracle, y, &score, &field, err));
    ck_assert(y[0] == 7 && y[1] == 7 && y[2] == 7 && score == 7);
    field.n_edges = 2;
    must(clv_oracle_map(oracle, y, NULL, &field, err));
    must_fail(CLV_ERR_USAGE, "clamp of node 3", clv_oracle_clamp(oracle, y, NULL, &field, 3, 0, err));
    must_fail(CLV_ERR_USAGE, "to label 3", clv_oracle_clamp(oracle, y, NULL, &field, 0, 3, err));
    must_fail(CLV_ERR_USAGE, "two-label", clv_oracle_margins(oracle, unary, y, err));
}
