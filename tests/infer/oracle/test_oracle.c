#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/random_field.h"
#include "support/exhaustive.h"
#include "support/support.h"

/* The maximiser with the fewest 1s, by enumeration. */
static double canonical(int32_t *y, const struct clv_field *field)
{
    double best = -INFINITY;
    int fewest = 0;
    for (int code = 0; code < 1 << field->n_nodes; code++) {
        int32_t labels[MAX_NODES];
        for (int32_t i = 0; i < field->n_nodes; i++)
            labels[i] = code >> i & 1;
        double f = clv_field_score(field, labels);
        int ones = __builtin_popcount((unsigned)code);
        if (f > best || (f == best && ones < fewest)) {
            best = f;
            fewest = ones;
            memcpy(y, labels, (size_t)field->n_nodes * sizeof *y);
        }
    }
    return best;
}

static void check_map(struct clv_oracle *oracle, const struct clv_field *field, uint64_t t)
{
    int32_t y[MAX_NODES], expected[MAX_NODES];
    double score, best = canonical(expected, field);
    must(clv_oracle_map(oracle, y, &score, field, err));
    ck_assert_double_eq(score, best);
    ck_assert_msg(memcmp(y, expected, (size_t)field->n_nodes * sizeof *y) == 0, "sample %d", (int)t);
}

static void check_against_enumeration(enum clv_engine engine, enum clv_pairwise form)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, engine, err));
    for (uint64_t t = 0; t < 3000; t++) {
        struct sample s;
        draw_sample(&s, t, form, t % 3 == 0 ? 1 : t % 3 == 1 ? 4 : 1000);
        check_map(oracle, &s.field, t);
    }
}

TEST(cuts_equal_enumeration_with_ties)
{
    check_against_enumeration(CLV_ENGINE_DEFAULT, CLV_PAIRWISE_POTTS);
    if (clv_has_bk())
        check_against_enumeration(CLV_ENGINE_BK, CLV_PAIRWISE_POTTS);
}

TEST(supermodular_tables_are_cut_exactly)
{
    check_against_enumeration(CLV_ENGINE_DEFAULT, CLV_PAIRWISE_FULL);
    if (clv_has_bk())
        check_against_enumeration(CLV_ENGINE_BK, CLV_PAIRWISE_FULL);
}

/* P[a][b] = u_a + v_b couples nothing, whatever rounding makes of it. */
TEST(tables_that_are_sums_are_no_couplings)
{
    int32_t edges[1][2] = {{0, 1}}, y[2];
    double unary[2], table[4];
    struct clv_field field = {.n_nodes = 2,
                              .n_edges = 1,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = table};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int n_below = 0;
    for (uint64_t t = 0; t < 200; t++) {
        double u = rng_normal(6, 0, 4 * t), v = rng_normal(6, 0, 4 * t + 1);
        for (int k = 0; k < 4; k++)
            table[k] = (k / 2 ? u : 0.1) + (k % 2 ? v : 0.7);
        n_below += table[3] / 4 + table[0] / 4 < table[1] / 4 + table[2] / 4;
        unary[0] = rng_normal(6, 0, 4 * t + 2);
        unary[1] = rng_normal(6, 0, 4 * t + 3);
        must(clv_oracle_map(oracle, y, NULL, &field, err));
        ck_assert_int_eq(y[0], unary[0] + u - 0.1 > 0);
        ck_assert_int_eq(y[1], unary[1] + v - 0.7 > 0);
    }
    ck_assert_int_gt(n_below, 10);
}

TEST(fields_without_edges_take_each_nodes_best_label)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    double unary[] = {1, 3, 3, -1, -2, -3, 0, 0, 0};
    struct clv_field field = {.n_nodes = 3, .n_labels = 3, .form = CLV_PAIRWISE_NONE, .unary = unary};
    int32_t y[4];
    double score;
    must(clv_oracle_map(oracle, y, &score, &field, err));
    ck_assert(y[0] == 1 && y[1] == 0 && y[2] == 0);
    ck_assert_double_eq(score, 2);
    double binary[] = {1, 0, -1, 1e-300};
    field = (struct clv_field){.n_nodes = 4, .n_labels = 2, .form = CLV_PAIRWISE_NONE, .unary = binary};
    must(clv_oracle_map(oracle, y, &score, &field, err));
    ck_assert(y[0] == 1 && y[1] == 0 && y[2] == 0 && y[3] == 1);
    struct clv_field empty = {.n_labels = 2, .form = CLV_PAIRWISE_POTTS};
    must(clv_oracle_map(oracle, y, &score, &empty, err));
    ck_assert_double_eq(score, 0);
}

TEST(extreme_values_are_cut_without_overflow)
{
    double scales[] = {1, 0x1p-1074, 0x1p-1000, 1e300, 0x1p29, 0x1p30, 1 - 0x1p-53, 0.999999999999};
    int32_t edges[3][2] = {{0, 1}, {0, 1}, {1, 2}};
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        if (engine == CLV_ENGINE_BK && !clv_has_bk())
            continue;
        OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
        must(clv_oracle_new(&oracle, (enum clv_engine)engine, err));
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            double s = scales[k], unary[] = {s, -s, s}, coupling[] = {s, s, s};
            struct clv_field field = {.n_nodes = 3,
                                      .n_edges = 3,
                                      .n_labels = 2,
                                      .form = CLV_PAIRWISE_POTTS,
                                      .edges = (const int32_t(*)[2])edges,
                                      .unary = unary,
                                      .pairwise = coupling};
            int32_t y[3];
            must(clv_oracle_map(oracle, y, NULL, &field, err));
            ck_assert(y[0] == 1 && y[1] == 1 && y[2] == 1);
            unary[2] = -s;
            must(clv_oracle_map(oracle, y, NULL, &field, err));
            ck_assert(y[0] == 0 && y[1] == 0 && y[2] == 0);
        }
    }
}

TEST(unsound_fields_are_refused_by_name)
{
    struct clv_oracle *oracle;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    int32_t edges[3][2] = {{0, 1}, {1, 2}, {0, 2}}, y[3] = {7, 7, 7};
    double unary[3] = {0, 1, 0}, coupling[3] = {1, 1, 0}, score = 7;
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 3,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    unary[2] = NAN;
    must_fail(CLV_ERR_DATA, "node 2", clv_oracle_map(oracle, y, &score, &field, err));
    unary[2] = -INFINITY;
    must_fail(CLV_ERR_DATA, "node 2", clv_oracle_map(oracle, y, &score, &field, err));
    unary[2] = 0;
    coupling[1] = -1e-9;
    must_fail(CLV_ERR_DATA, "edge 1", clv_oracle_map(oracle, y, &score, &field, err));
    coupling[1] = NAN;
    must_fail(CLV_ERR_DATA, "edge 1", clv_oracle_map(oracle, y, &score, &field, err));
    coupling[1] = 1;
    edges[1][1] = 3;
    must_fail(CLV_ERR_DATA, "edge 1", clv_oracle_map(oracle, y, &score, &field, err));
    edges[1][1] = 1;
    must_fail(CLV_ERR_DATA, "edge 1", clv_oracle_map(oracle, y, &score, &field, err));
    edges[1][1] = 2;
    double tables[12] = {0, -1, -1, 0, 0, 1, 0, 0.5};
    field.form = CLV_PAIRWISE_FULL;
    field.pairwise = tables;
    must_fail(CLV_ERR_DATA, "edge 1", clv_oracle_map(oracle, y, &score, &field, err));
    for (int k = 0; k < 12; k++)
        tables[k] = k % 4 == 0 || k % 4 == 3 ? 1.7e308 : -1.7e308;
    must_fail(CLV_ERR_DATA, "overflow", clv_oracle_map(oracle, y, &score, &field, err));
    field.n_labels = 3;
    double three[9] = {0}, wide[27] = {0};
    field.unary = three;
    field.pairwise = wide;
    must_fail(CLV_ERR_USAGE, "3 labels", clv_oracle_map(oracle, y, &score, &field, err));
    ck_assert(y[0] == 7 && y[1] == 7 && y[2] == 7 && score == 7);
    clv_oracle_free(oracle);
    must_fail(CLV_ERR_USAGE, "engine 99", clv_oracle_new(&oracle, (enum clv_engine)99, err));
    if (!clv_has_bk())
        must_fail(CLV_ERR_USAGE, "WITH_BK=0", clv_oracle_new(&oracle, CLV_ENGINE_BK, err));
}

/* Everything that takes a field with two labels. */
static enum clv_status call_entry(int entry, struct clv_oracle *oracle, int32_t *y, double *score,
                                  const struct clv_field *field, struct clv_error *err)
{
    switch (entry) {
    case 0: return clv_oracle_map(oracle, y, score, field, err);
    case 1: return clv_oracle_expand(oracle, y, score, field, err);
    case 2: return clv_oracle_swap(oracle, y, score, field, err);
    case 3: return clv_perturbed_map(oracle, y, score, field, 1, 0, 1, err);
    default: return clv_perturbed_marginals(oracle, NULL, score, NULL, field, 1, 1, err);
    }
}

static void check_entry(int entry, enum clv_engine engine)
{
    static const struct {
        const char *part; /* of the message */
        double unary, coupling, others;
        int32_t end, is_table;
    } cases[] = {
        {"node 1: its unary score is nan", NAN, 1, 0, 2, 0},
        {"node 1: its unary score is inf", INFINITY, 1, 0, 2, 0},
        {"node 1: its unary score is -inf", -INFINITY, 1, 0, 2, 1},
        {"node 1: its unary score is -1e+308, and what it adds up to overflows", -1e308, 1, 0, 2, 0},
        {"node 1: its unary score is 3e+307, and what it adds up to overflows", 3e307, 1, 3e307, 2, 0},
        {"edge 1: its pairwise score is nan", 0, NAN, 0, 2, 0},
        {"edge 1: its pairwise score is nan", 0, NAN, 0, 2, 1},
        {"edge 1: its pairwise score is inf", 0, INFINITY, 0, 2, 0},
        {"edge 1: its pairwise score is -inf", 0, -INFINITY, 0, 2, 1},
        {"edge 1: its pairwise score is 3e+307, and what it adds up to overflows", 0, 3e307, 3e307, 2, 0},
        {"edge 1: its pairwise score is 3e+307, and what it adds up to overflows", 0, 3e307, 3e307, 2, 1},
        {"edge 1 joins nodes 1 and 3 of 3", 0, 1, 0, 3, 0},
        {"edge 1 joins nodes 1 and -1 of 3", 0, 1, 0, -1, 0},
        {"edge 1 joins nodes 1 and 1 of 3", 0, 1, 0, 1, 1},
        {"edge 1 (nodes 1 and 2): its coupling is -1e-09, below 0", 0, -1e-9, 0, 2, 0},
        {"edge 1 (nodes 1 and 2) is not supermodular", 0, -1e-9, 0, 2, 1},
    };
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, engine, err));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int is_any_sign = strstr(cases[k].part, "below") || strstr(cases[k].part, "supermodular");
        if (entry == 5 && is_any_sign)
            continue; /* enumeration has no such limits */
        int32_t edges[3][2] = {{0, 1}, {1, cases[k].end}, {0, 2}}, y[3] = {7, 7, 7};
        double unary[3] = {cases[k].others, cases[k].unary, 0}, coupling[3] = {0, cases[k].coupling}, score = 7;
        double tables[12] = {0, 0, 0, 0, 0, 0, 0, cases[k].coupling};
        struct clv_field field = {.n_nodes = 3,
                                  .n_edges = 3,
                                  .n_labels = 2,
                                  .form = cases[k].is_table ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_POTTS,
                                  .edges = (const int32_t(*)[2])edges,
                                  .unary = unary,
                                  .pairwise = cases[k].is_table ? tables : coupling};
        must_fail(CLV_ERR_DATA, cases[k].part, call_entry(entry, oracle, y, &score, &field, err));
        ck_assert(y[0] == 7 && y[1] == 7 && y[2] == 7 && score == 7);
    }
}

TEST(every_entry_point_refuses_unsound_fields_by_name)
{
    for (int entry = 0; entry < 5; entry++) {
        check_entry(entry, CLV_ENGINE_DEFAULT);
        if (clv_has_bk())
            check_entry(entry, CLV_ENGINE_BK);
    }
}

/* Best score with node i forced, by enumeration; y gets the canonical one. */
static double forced_optimum(int32_t *y, const struct clv_field *field, int32_t i, int32_t label)
{
    double best = -INFINITY;
    int fewest = 0;
    for (int code = 0; code < 1 << field->n_nodes; code++) {
        int32_t labels[MAX_NODES];
        for (int32_t v = 0; v < field->n_nodes; v++)
            labels[v] = code >> v & 1;
        double f = clv_field_score(field, labels);
        int ones = __builtin_popcount((unsigned)code);
        if (labels[i] == label && (f > best || (f == best && ones < fewest))) {
            best = f;
            fewest = ones;
            memcpy(y, labels, (size_t)field->n_nodes * sizeof *y);
        }
    }
    return best;
}

struct witness_check {
    const struct clv_field *field;
    const int32_t *y;
    double best;
    int visits;
};

static void check_witness(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    struct witness_check *check = context;
    int32_t found[MAX_NODES], expected[MAX_NODES];
    size_t size = (size_t)check->field->n_nodes * sizeof *found;
    memcpy(found, check->y, size);
    for (int32_t k = 0; k < n_flipped; k++)
        found[flipped[k]] ^= 1;
    double forced = forced_optimum(expected, check->field, node, !check->y[node]);
    ck_assert_double_eq(check->best - cost, forced);
    ck_assert(flipped[0] == node && memcmp(found, expected, size) == 0);
    check->visits++;
}

static void check_clamps(struct clv_oracle *oracle, const struct clv_field *field)
{
    int32_t y[MAX_NODES], other[MAX_NODES], some[] = {0, 0, field->n_nodes - 1};
    double margin[MAX_NODES];
    struct witness_check check = {.field = field, .y = y};
    must(clv_oracle_map(oracle, y, &check.best, field, err));
    must(clv_oracle_witnesses(oracle, NULL, 0, check_witness, &check, err));
    ck_assert_int_eq(check.visits, field->n_nodes);
    must(clv_oracle_margins(oracle, margin, y, err));
    for (int32_t i = 0; i < field->n_nodes; i++)
        ck_assert_double_eq(margin[i], forced_optimum(other, field, i, 1) - forced_optimum(other, field, i, 0));
    check.visits = 0;
    if (field->n_nodes > 1) {
        must(clv_oracle_witnesses(oracle, some, 3, check_witness, &check, err));
        ck_assert_int_eq(check.visits, 2);
    }
}

TEST(witnesses_and_margins_equal_forced_enumeration)
{
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        if (engine == CLV_ENGINE_BK && !clv_has_bk())
            continue;
        OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
        must(clv_oracle_new(&oracle, (enum clv_engine)engine, err));
        for (uint64_t t = 0; t < 300; t++) {
            struct sample s;
            draw_sample(&s, t, t % 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, t % 3 == 0 ? 2 : 50);
            if (t % 20 == 0)
                s.field.form = CLV_PAIRWISE_NONE;
            check_clamps(oracle, &s.field);
        }
    }
}

TEST(a_seed_of_any_size_leaves_labels_scores_and_margins_exact)
{
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        if (engine == CLV_ENGINE_BK && !clv_has_bk())
            continue;
        OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
        must(clv_oracle_new(&oracle, (enum clv_engine)engine, err));
        for (uint64_t t = 0; t < 420; t++) {
            struct sample s;
            draw_sample(&s, t, t % 3 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, t % 5 ? 3 : 1);
            s.pairwise[0] += 2; /* something is coupled, if there are edges */
            for (int32_t i = 0; t % 2 && i < s.field.n_nodes; i++)
                s.unary[i] /= 4; /* all against what the couplings hold together */
            set_seed(&s, t, (int)(t % 14));
            set_seed(&s, t + 5, (int)(t / 2 % 14));
            check_map(oracle, &s.field, t);
            if (s.field.n_edges)
                check_clamps(oracle, &s.field);
        }
    }
}

TEST(a_seed_of_any_size_reaches_the_end_of_a_chain)
{
    enum { N = 6 };
    int32_t edges[N - 1][2], y[N];
    double unary[N], coupling[N - 1], margin[N];
    for (int32_t e = 0; e < N - 1; e++) {
        edges[e][0] = e;
        edges[e][1] = e + 1;
        coupling[e] = 1.6 + 0.1 * e;
    }
    struct clv_field field = {.n_nodes = N,
                              .n_edges = N - 1,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    for (int engine = CLV_ENGINE_DEFAULT; engine <= CLV_ENGINE_CLEAVE; engine++) {
        if (engine == CLV_ENGINE_BK && !clv_has_bk())
            continue;
        OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
        must(clv_oracle_new(&oracle, (enum clv_engine)engine, err));
        for (int power = 1; power <= 13; power++) {
            for (int32_t i = 0; i < N; i++)
                unary[i] = i ? -0.3 : pow(10, power);
            must(clv_oracle_map(oracle, y, NULL, &field, err));
            for (int32_t i = 0; i < N; i++)
                ck_assert_msg(y[i] == 1, "engine %d, seed 1e%d: node %d", engine, power, i);
            must(clv_oracle_margins(oracle, margin, y, err));
            ck_assert_double_eq_tol(margin[0], pow(10, power) - 1.5, 1e-4 + pow(10, power) * 1e-7);

            ck_assert_double_eq_tol(margin[N - 1], 1.6 - 1.5, 1e-4); /* all but the seed go with it */
        }
    }
}

TEST(without_couplings_a_seed_leaves_the_signs_of_the_others)
{
    int32_t edges[2][2] = {{0, 1}, {1, 2}}, y[3];
    double unary[3] = {0, 0.3, -0.3}, coupling[2] = {0, 0}, margin[3];
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 2,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = coupling};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    for (int power = 0; power <= 13; power++) {
        unary[0] = -pow(10, power);
        must(clv_oracle_map(oracle, y, NULL, &field, err));
        must(clv_oracle_margins(oracle, margin, y, err));
        ck_assert(y[0] == 0 && y[1] == 1 && y[2] == 0);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(margin[i], unary[i], fabs(unary[i]));
        ck_assert_double_eq_tol(margin[0], unary[0], 1e-6 * fabs(unary[0]));
    }
}

TEST(witnesses_need_a_solution_and_nodes_in_range)
{
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    must_fail(CLV_ERR_USAGE, "before", clv_oracle_witnesses(oracle, NULL, 0, check_witness, NULL, err));
    double unary[] = {1, -1};
    struct clv_field field = {.n_nodes = 2, .n_labels = 2, .form = CLV_PAIRWISE_POTTS, .unary = unary};
    int32_t y[2], bad[] = {2};
    must(clv_oracle_map(oracle, y, NULL, &field, err));
    must_fail(CLV_ERR_USAGE, "node 2 of 2", clv_oracle_witnesses(oracle, bad, 1, check_witness, NULL, err));
    unary[0] = NAN;
    must_fail(CLV_ERR_DATA, "node 0", clv_oracle_map(oracle, y, NULL, &field, err));
    must_fail(CLV_ERR_USAGE, "before", clv_oracle_witnesses(oracle, NULL, 0, check_witness, NULL, err));
}
