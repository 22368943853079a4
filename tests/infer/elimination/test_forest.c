#include "infer/bp/two_temperatures.h"
#include "infer/infer.h"
#include "support/exhaustive.h"
#include "support/requests.h"

DROPS(forest_drop, struct clv_forest, clv_forest_free)

static struct clv_forest *new_forest(void)
{
    struct clv_forest *forest;
    must(clv_forest_new(&forest, err));
    return forest;
}

/* Runs and compares everything with enumeration; returns 0 if the forest was refused. */
static int compare(struct clv_forest *forest, const struct clv_field *field, const struct clv_forest_options *options)
{
    double value, marginals[MAX_NODES * MAX_LABELS], pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
    double exact[MAX_NODES * MAX_LABELS], exact_pairs[MAX_EDGES * MAX_LABELS * MAX_LABELS];
    int32_t y[MAX_NODES], k = field->n_labels;
    struct clv_error error;
    enum clv_status status = clv_forest_run(forest, &value, marginals, pairs, y, field, options, &error);
    if (status == CLV_ERR_USAGE && strstr(error.message, "visible ones"))
        return 0;
    ck_assert_msg(status == CLV_OK, "%s", error.message);
    double best = enumerate(exact, exact_pairs, field, options->is_visible ? options->is_visible : all_visible,
                            options->visible_temperature, options->hidden_temperature, options->label);
    ck_assert_double_eq_tol(value, best, 1e-9);
    assert_near(marginals, exact, field->n_nodes * k, 1e-9);
    assert_near(pairs, exact_pairs, field->n_edges * k * k, 1e-9);
    for (int32_t i = 0; i < field->n_nodes; i++)
        for (int32_t a = 0; a < k; a++)
            ck_assert_double_le(marginals[i * k + a], marginals[i * k + y[i]]);
    return 1;
}

TEST(one_temperature_gives_sums_and_maxima)
{
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    const double temperatures[] = {1, 0, 0.25, 3};
    for (uint64_t t = 0; t < 400; t++) {
        struct sample s;
        draw_sample(&s, t, form_of(t), -1, 2, 2);
        double temperature = temperatures[t % 4];
        struct clv_forest_options options = {NULL, temperature, temperature, NULL};
        ck_assert_int_eq(compare(forest, &s.field, &options), 1);
    }
}

/* Largest number of visible nodes that hidden ones hanging together touch. */
static int most_joined(const struct clv_field *field, const uint8_t *is_visible)
{
    int most = 0;
    for (int32_t root = 0; root < field->n_nodes; root++) {
        uint8_t in[MAX_NODES] = {0}, touched[MAX_NODES] = {0};
        in[root] = !is_visible[root];
        for (int pass = 0; pass < MAX_NODES; pass++)
            for (int32_t e = 0; e < field->n_edges; e++)
                for (int side = 0; side < 2; side++) {
                    int32_t a = field->edges[e][side], b = field->edges[e][!side];
                    if (in[a] && is_visible[b])
                        touched[b] = 1;
                    else if (in[a])
                        in[b] = 1;
                }
        int n = 0;
        for (int32_t i = 0; i < field->n_nodes; i++)
            n += touched[i];
        most = n > most ? n : most;
    }
    return most;
}

TEST(two_temperatures_are_exact_where_hidden_nodes_join_two_visible_ones_and_refused_elsewhere)
{
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    const double pairs[][2] = {{0, 1}, {0, 0.5}, {1, 0.5}, {0.3, 0.7}, {0.5, 0}, {2, 1}};
    int n_exact = 0, n_between = 0, n_refused = 0;
    for (uint64_t t = 0; t < 900; t++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        draw_sample(&s, t, form_of(t), -1, 1, 1.5);
        for (int32_t i = 0; i < MAX_NODES; i++)
            is_visible[i] = rng_below(SEED, 2, t * 100 + (uint64_t)i, 5) < 3;
        const double *temperatures = pairs[t % 6];
        struct clv_forest_options options = {is_visible, temperatures[0], temperatures[1], NULL};
        int joined = most_joined(&s.field, is_visible);
        ck_assert_int_eq(compare(forest, &s.field, &options), joined <= 2);
        n_exact += joined <= 1;
        n_between += joined == 2;
        n_refused += joined > 2;
        options.hidden_temperature = options.visible_temperature; /* then the order does not matter */
        ck_assert_int_eq(compare(forest, &s.field, &options), 1);
    }
    ck_assert_int_gt(n_exact, 100);
    ck_assert_int_gt(n_between, 100);
    ck_assert_int_gt(n_refused, 20);
}

TEST(given_labels_are_kept_and_split_the_forest)
{
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    int n_run = 0;
    for (uint64_t t = 0; t < 400; t++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        int32_t label[MAX_NODES];
        draw_sample(&s, t, form_of(t), -1, 1, 1.5);
        for (int32_t i = 0; i < MAX_NODES; i++) {
            is_visible[i] = (uint8_t)rng_below(SEED, 2, t * 100 + (uint64_t)i, 2);
            label[i] = (t % 3 ? is_visible[i] : rng_below(SEED, 3, t * 100 + (uint64_t)i, 3) == 0)
                           ? (int32_t)rng_below(SEED, 4, t * 100 + (uint64_t)i, (uint32_t)s.field.n_labels)
                           : CLV_UNKNOWN;
        }
        struct clv_forest_options options = {is_visible, t % 2 ? 0 : 0.5, 1, label};
        int has_run = compare(forest, &s.field, &options);
        ck_assert(has_run || t % 3 == 0); /* with every visible label given nothing is joined */
        n_run += has_run;
    }
    ck_assert_int_gt(n_run, 350);
}

TEST(small_temperatures_reach_the_maximum)
{
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    for (uint64_t t = 0; t < 60; t++) {
        struct sample s;
        uint8_t is_visible[MAX_NODES];
        double near, limit;
        draw_sample(&s, t, form_of(t), -1, 1, 1);
        for (int32_t i = 0; i < MAX_NODES; i++)
            is_visible[i] = i % 2 || i > 4;
        for (int k = 0; k < 3; k++) {
            double small = k < 2 ? 1e-8 : 0, hidden = k == 0 ? 1 : small;
            struct clv_forest_options options = {is_visible, 1e-8, k == 0 ? 1 : 1e-8, NULL};
            enum clv_status status = clv_forest_run(forest, &near, NULL, NULL, NULL, &s.field, &options, NULL);
            options.visible_temperature = 0;
            options.hidden_temperature = k == 0 ? hidden : 0;
            if (status || clv_forest_run(forest, &limit, NULL, NULL, NULL, &s.field, &options, NULL))
                continue;
            ck_assert_double_eq_tol(near, limit, 1e-6);
        }
    }
}

TEST(a_long_chain_equals_the_chain_s_own_routine)
{
    enum { N = 3000, K = 4 };
    static double unary[N * K], table[K * K], tables[(N - 1) * K * K], marginals[N * K], other[N * K];
    static double pairs[(N - 1) * K * K], other_pairs[(N - 1) * K * K];
    static int32_t edges[N - 1][2], y[N], map[N];
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    for (int32_t c = 0; c < N * K; c++)
        unary[c] = 2 * rng_normal(SEED, 5, (uint64_t)c);
    for (int32_t c = 0; c < K * K; c++)
        table[c] = 2 * rng_normal(SEED, 6, (uint64_t)c);
    for (int32_t i = 0; i + 1 < N; i++) {
        edges[i][0] = i;
        edges[i][1] = i + 1;
        memcpy(&tables[i * K * K], table, sizeof table);
    }
    struct clv_chain chain = {N, K, 1, unary, table};
    struct clv_field field = {.n_nodes = N,
                              .n_edges = N - 1,
                              .n_labels = K,
                              .form = CLV_PAIRWISE_FULL,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = tables};
    double value, log_partition, score;
    must(clv_forest_run(forest, &value, marginals, pairs, NULL, &field, NULL, err));
    must(clv_chain_marginals(other, other_pairs, &log_partition, &chain, err));
    ck_assert_double_eq_tol(value, log_partition, 1e-8);
    assert_near(marginals, other, N * K, 1e-9);
    assert_near(pairs, other_pairs, (N - 1) * K * K, 1e-9);
    struct clv_forest_options options = {NULL, 0, 0, NULL};
    must(clv_forest_run(forest, &value, NULL, NULL, y, &field, &options, err));
    must(clv_chain_map(map, &score, &chain, err));
    ck_assert_double_eq_tol(value, score, 1e-8);
    ck_assert_mem_eq(y, map, sizeof y);
}

/* The same field with its table written out at every edge. */
TEST(a_shared_table_counts_at_every_edge)
{
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    must(clv_bp_new(&bp, err));
    for (uint64_t t = 0; t < 40; t++) {
        struct sample s;
        double value, other, marginals[MAX_NODES * MAX_LABELS], exact[MAX_NODES * MAX_LABELS];
        struct clv_bp_result result;
        struct clv_trws_result bounds;
        draw_sample(&s, t, CLV_PAIRWISE_FULL, -1, 1, 1);
        s.field.is_shared = 1;
        exhaustive(NULL, &other, &value, exact, &s.field);
        must(clv_bp_trws(bp, NULL, &bounds, &s.field, NULL, err));
        ck_assert_double_eq_tol(bounds.score, other, 1e-9);
        must(clv_bp_run(bp, NULL, NULL, &result, &s.field, NULL, err));
        ck_assert_double_eq_tol(result.value, value, 1e-9);
        must(clv_forest_run(forest, &other, marginals, NULL, NULL, &s.field, NULL, err));
        ck_assert_double_eq_tol(other, value, 1e-9);
        assert_near(marginals, exact, s.field.n_nodes * s.field.n_labels, 1e-9);
    }
}

TEST(loops_and_bad_options_are_refused_by_name)
{
    int32_t edges[3][2] = {{0, 1}, {1, 2}, {2, 0}}, label[3] = {0, -1, 2};
    uint8_t is_visible[3] = {1, 0, 2};
    double unary[3] = {0}, pairwise[3] = {1, 1, 1}, value = 7;
    struct clv_field field = {.n_nodes = 3,
                              .n_edges = 3,
                              .n_labels = 2,
                              .form = CLV_PAIRWISE_POTTS,
                              .edges = (const int32_t(*)[2])edges,
                              .unary = unary,
                              .pairwise = pairwise};
    OWNED(forest_drop) struct clv_forest *forest = new_forest();
    struct clv_forest_options options = {NULL, 1, 1, NULL};
    must_fail(CLV_ERR_DATA, "edge 2 (nodes 2 and 0) closes a loop",
              clv_forest_run(forest, &value, NULL, NULL, NULL, &field, NULL, err));
    edges[2][1] = 1; /* a second edge between two nodes is a loop as well */
    must_fail(CLV_ERR_DATA, "edge 2", clv_forest_run(forest, &value, NULL, NULL, NULL, &field, NULL, err));
    field.n_edges = 2;
    const double bad[] = {-1, NAN, INFINITY};
    for (int k = 0; k < 3; k++) {
        options.hidden_temperature = bad[k];
        must_fail(CLV_ERR_USAGE, formatted("temperature of %g", bad[k]),
                  clv_forest_run(forest, &value, NULL, NULL, NULL, &field, &options, err));
    }
    options = (struct clv_forest_options){is_visible, 1, 1, NULL};
    must_fail(CLV_ERR_USAGE, "node 2: is_visible is 2",
              clv_forest_run(forest, &value, NULL, NULL, NULL, &field, &options, err));
    options = (struct clv_forest_options){NULL, 1, 1, label};
    must_fail(CLV_ERR_USAGE, "node 2: it has label 2 of 2",
              clv_forest_run(forest, &value, NULL, NULL, NULL, &field, &options, err));
    unary[1] = NAN;
    must_fail(CLV_ERR_DATA, "node 1", clv_forest_run(forest, &value, NULL, NULL, NULL, &field, NULL, err));
    ck_assert(value == 7);
    clv_forest_free(NULL);
}

TEST(failed_requests_leave_the_next_run_right)
{
    struct sample s;
    uint8_t is_visible[MAX_NODES] = {1, 0, 1, 0, 1, 0, 1, 0};
    struct clv_forest_options options = {is_visible, 0, 1, NULL};
    uint64_t t = 0;
    do {
        draw_sample(&s, t++, CLV_PAIRWISE_FULL, -1, 1, 1);
    } while (s.field.n_nodes < 6 || most_joined(&s.field, is_visible) != 2);
    OWNED(forest_drop) struct clv_forest *forest = NULL;
    double value = 7;
    must_survive_failed_requests(clv_forest_new(&forest, err));
    must_survive_failed_requests(clv_forest_run(forest, &value, NULL, NULL, NULL, &s.field, &options, err));
    ck_assert_int_eq(compare(forest, &s.field, &options), 1);
}
