/* Every way to a maximum flow gives the same labels: pushing and search trees, with leaves stripped and without. Small
 * graphs against enumeration. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "infer/cut/cut.h"
#include "support/support.h"

enum { MOST_NODES = 900, MOST_EDGES = 4000, N_METHODS = 2 };

struct drawn {
    int32_t n, m, edges[MOST_EDGES][2], terminal[MOST_NODES], forward[MOST_EDGES], backward[MOST_EDGES];
};

static int32_t draw_to(int32_t most, uint64_t *at)
{
    return (int32_t)(rng_uniform(11, RNG_STREAM(RNG_TEST, 40), (*at)++) * (most + 1));
}

static void join(struct drawn *graph, int32_t a, int32_t b, int32_t forward, int32_t backward)
{
    graph->edges[graph->m][0] = a;
    graph->edges[graph->m][1] = b;
    graph->forward[graph->m] = forward;
    graph->backward[graph->m++] = backward;
}

static int n_given_up; /* pushes, after which the search goes on */

static void solve_by(uint8_t *label, struct maxflow *graph, const struct drawn *drawn, int method, bool strips)
{
    ck_assert_int_eq(maxflow_build(graph, drawn->n, drawn->m, drawn->edges), 0);
    maxflow_set(graph, drawn->terminal, drawn->forward, drawn->backward);
    maxflow_eliminate(graph);
    graph->n_leaves = 0;
    if (strips)
        maxflow_strip_leaves(graph);
    bool is_finished = method == 0 && maxflow_push(graph);
    n_given_up += method == 0 && !is_finished;
    if (!is_finished)
        maxflow_search(graph);
    maxflow_read_leaves(graph);
    memcpy(label, graph->label, (size_t)drawn->n);
}

/* All methods' labels; found[] gets them. */
static void expect_one_answer(uint8_t found[MOST_NODES], const struct drawn *drawn)
{
    static struct maxflow graph;
    uint8_t label[MOST_NODES];
    maxflow_init(&graph);
    for (int k = 0; k < 2 * N_METHODS; k++) {
        solve_by(k ? label : found, &graph, drawn, k / 2, k % 2);
        ck_assert_msg(!k || memcmp(label, found, (size_t)drawn->n) == 0, "method %d, leaves %d: %d nodes, %d edges",
                      k / 2, k % 2, drawn->n, drawn->m);
    }
    ck_assert_int_eq(maxflow_build(&graph, drawn->n, drawn->m, drawn->edges), 0);
    maxflow_set(&graph, drawn->terminal, drawn->forward, drawn->backward);
    maxflow_solve(&graph);
    ck_assert_mem_eq(graph.label, found, (size_t)drawn->n);
    maxflow_release(&graph);
}

static int64_t cost_of(const struct drawn *drawn, unsigned labels)
{
    int64_t cost = 0;
    for (int32_t i = 0; i < drawn->n; i++)
        cost += (labels >> i & 1) ? (drawn->terminal[i] < 0 ? -drawn->terminal[i] : 0)
                                  : (drawn->terminal[i] > 0 ? drawn->terminal[i] : 0);
    for (int32_t e = 0; e < drawn->m; e++) {
        int a = labels >> drawn->edges[e][0] & 1, b = labels >> drawn->edges[e][1] & 1;
        cost += a > b ? drawn->forward[e] : b > a ? drawn->backward[e] : 0;
    }
    return cost;
}

TEST(all_methods_find_the_smallest_minimum_of_small_graphs)
{
    static struct drawn drawn;
    uint8_t found[MOST_NODES];
    uint64_t at = 0;
    for (int trial = 0; trial < 600; trial++) {
        drawn.n = 2 + draw_to(8, &at);
        drawn.m = 0;
        for (int32_t e = draw_to(16, &at); e > 0; e--) {
            int32_t a = draw_to(drawn.n - 1, &at), b = draw_to(drawn.n - 1, &at);
            if (a != b)
                join(&drawn, a, b, draw_to(6, &at), draw_to(trial % 3 ? 6 : 0, &at));
        }
        for (int32_t i = 0; i < drawn.n; i++)
            drawn.terminal[i] = draw_to(10, &at) - 5;
        expect_one_answer(found, &drawn);
        int64_t least = INT64_MAX;
        unsigned best = 0, mine = 0;
        for (unsigned labels = 0; labels < 1U << drawn.n; labels++) {
            int64_t cost = cost_of(&drawn, labels);
            best = cost == least ? best & labels : cost < least ? labels : best; /* minima are closed under both */
            least = cost < least ? cost : least;
        }
        for (int32_t i = 0; i < drawn.n; i++)
            mine |= (unsigned)found[i] << i;
        ck_assert_int_eq(cost_of(&drawn, mine), least);
        ck_assert_uint_eq(mine, best);
    }
}

TEST(all_methods_agree_on_long_paths_trees_ladders_grids_and_hubs)
{
    static struct drawn drawn;
    uint8_t found[MOST_NODES];
    uint64_t at = 1 << 20;
    for (int trial = 0; trial < 60; trial++) {
        int32_t n = drawn.n = 30 + draw_to(MOST_NODES - 30, &at), side = 1 + draw_to(29, &at);
        int seeds = trial / 6 % 3, strength = 1 + draw_to(200, &at);
        drawn.m = 0;
        for (int32_t i = 0; i < n; i++) {
            bool is_seed = draw_to(20, &at) == 0 || i == 0 || i == n - 1;
            drawn.terminal[i] = seeds == 2          ? (i == 0       ? strength
                                                       : i == n - 1 ? -strength
                                                                    : 0)
                                : seeds && !is_seed ? 0
                                                    : draw_to(200, &at) - 100;
            for (int other = 0; other < 4 && i; other++) {
                int32_t j = trial % 6 == 0   ? (other ? -1 : i - 1)
                            : trial % 6 == 1 ? (other ? -1 : draw_to(i - 1, &at))
                            : trial % 6 == 2 ? (other > 1 ? -1
                                                : other   ? (i % 2 ? i - 1 : -1)
                                                          : i - 2)
                            : trial % 6 == 3 ? (other > 1 ? -1
                                                : other   ? (i % side ? i - 1 : -1)
                                                          : i - side)
                            : trial % 6 == 4 ? (other > 1 ? -1 : other)
                                             : draw_to(i - 1, &at);
                if (j >= 0 && j != i)
                    join(&drawn, i, j, draw_to(strength, &at), draw_to(strength, &at));
            }
        }
        expect_one_answer(found, &drawn);
    }
    ck_assert_int_gt(n_given_up, 0);
}

/* Nodes with a terminal weight are few, so trees are deep and are cut off often. A neighbour of a node that leaves its
 * tree, cut off as well at that time, has to be looked at again: one graph in 400 to 1,000 showed that it was not. */
TEST(all_methods_agree_where_few_nodes_have_a_terminal_weight)
{
    static struct drawn drawn;
    uint8_t found[MOST_NODES];
    uint64_t at = 1 << 22;
    for (int trial = 0; trial < 6000; trial++) {
        drawn.n = 20 + draw_to(60, &at);
        drawn.m = 0;
        for (int32_t e = drawn.n + draw_to(100, &at); e > 0; e--) {
            int32_t a = draw_to(drawn.n - 1, &at), b = draw_to(drawn.n - 1, &at);
            if (a != b)
                join(&drawn, a, b, draw_to(10, &at), draw_to(10, &at));
        }
        int32_t rarity = draw_to(4, &at);
        for (int32_t i = 0; i < drawn.n; i++)
            drawn.terminal[i] = draw_to(rarity, &at) ? 0 : draw_to(120, &at) - 60;
        expect_one_answer(found, &drawn);
    }
}

/* Every new graph, again with other capacities, with another edge, and with one more that closes a cycle. */
TEST(forests_are_cut_without_a_residual_graph_with_the_same_labels)
{
    static struct drawn drawn;
    OWNED(forest_cut_release) struct forest_cut forest = {0};
    OWNED(maxflow_release) struct maxflow graph = {0};
    int32_t y[MOST_NODES];
    uint64_t at = 1 << 24;
    int n_forests = 0, n_cycles = 0;
    maxflow_init(&graph);
    for (int trial = 0; trial < 800; trial++) {
        int kind = trial % 4;
        if (kind == 0) {
            drawn.n = 2 + draw_to(trial % 3 ? 20 : MOST_NODES - 2, &at);
            drawn.m = 0;
            for (int32_t i = 1; i < drawn.n; i++) /* a path, a star, trees with nodes by themselves */
                if (trial % 12 < 8 || draw_to(3, &at))
                    join(&drawn, trial % 12 == 0 ? i - 1 : trial % 12 == 4 ? 0 : draw_to(i - 1, &at), i, 0, 0);
        }
        if (kind == 2 && drawn.m)
            drawn.edges[drawn.m - 1][0] = drawn.edges[drawn.m - 1][0] ? 0 : drawn.edges[drawn.m - 1][1] == 1 ? 0 : 1;
        if (kind == 3)
            join(&drawn, 0, drawn.n - 1, 0, 0);
        for (int32_t e = 0; e < drawn.m; e++)
            drawn.forward[e] = draw_to(trial % 5 ? 8 : MAXFLOW_LIMIT - 1, &at);
        for (int32_t i = 0; i < drawn.n; i++)
            drawn.terminal[i] = draw_to(trial % 5 ? 20 : MAXFLOW_LIMIT - 1, &at) - (trial % 5 ? 10 : MAXFLOW_LIMIT / 2);
        const struct clv_field field = {
            .n_nodes = drawn.n, .n_edges = drawn.m, .edges = (const int32_t(*)[2])drawn.edges};
        const struct capacities capacities = {.terminal = drawn.terminal, .capacity = drawn.forward};
        int solved = forest_cut_solve(&forest, y, &field, &capacities);
        ck_assert_int_ge(solved, 0);
        ck_assert(solved == 0 || drawn.m < drawn.n);
        ck_assert(solved == 1 || kind > 1 || drawn.m == 0);
        n_forests += solved;
        n_cycles += !solved && drawn.m && drawn.m < drawn.n;
        ck_assert_int_eq(
            maxflow_load(&graph, drawn.n, drawn.m, (const int32_t(*)[2])drawn.edges, drawn.terminal, drawn.forward), 0);
        maxflow_solve(&graph);
        for (int32_t i = 0; i < drawn.n && solved; i++)
            ck_assert_msg(y[i] == graph.label[i], "trial %d: node %d of %d", trial, i, drawn.n);
    }
    ck_assert_int_gt(n_forests, 400);
    ck_assert_int_gt(n_cycles, 20);
}
