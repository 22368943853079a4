#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "infer/cut/cut.h"
#include "support/support.h"
#include "tools/bench/dimacs.h"
#if WITH_BK
#include "maxflow_shim.h"

DROPS(bk_drop, struct bk, bk_free)
#endif

/* A cut problem; flow that no labelling can avoid (s -> i -> t) is apart. */
struct network {
    int32_t n, m;
    size_t capacity;
    int32_t (*edges)[2], *terminal, *forward, *backward;
    int64_t constant;
};

static void release_network(struct network *net)
{
    free(net->edges);
    free(net->terminal);
    free(net->forward);
    free(net->backward);
    memset(net, 0, sizeof *net);
}

static void add_edge(struct network *net, int32_t a, int32_t b, int32_t forward, int32_t backward)
{
    if ((size_t)net->m == net->capacity) {
        net->capacity = net->capacity ? 2 * net->capacity : 64;
        net->edges = realloc(net->edges, net->capacity * sizeof *net->edges);
        net->forward = realloc(net->forward, net->capacity * sizeof *net->forward);
        net->backward = realloc(net->backward, net->capacity * sizeof *net->backward);
    }
    net->edges[net->m][0] = a;
    net->edges[net->m][1] = b;
    net->forward[net->m] = forward;
    net->backward[net->m++] = backward;
}

static int64_t cut_value(const struct network *net, const uint8_t *label)
{
    int64_t value = net->constant;
    for (int32_t i = 0; i < net->n; i++)
        if ((net->terminal[i] > 0) != label[i])
            value += llabs(net->terminal[i]);
    for (int32_t e = 0; e < net->m; e++) {
        int a = label[net->edges[e][0]], b = label[net->edges[e][1]];
        value += a && !b ? net->forward[e] : b && !a ? net->backward[e] : 0;
    }
    return value;
}

static void solve(struct maxflow *graph, const struct network *net)
{
    ck_assert_int_eq(maxflow_build(graph, net->n, net->m, (const int32_t(*)[2])net->edges), 0);
    maxflow_set(graph, net->terminal, net->forward, net->backward);
    maxflow_solve(graph);
}

TEST(real_instances_reach_their_known_flow_and_minimal_source_set)
{
    const char *table =
        real_data("real_instances_reach_their_known_flow_and_minimal_source_set", "maxflow/optimal.txt");
    if (!table)
        return;
    FILE *file = fopen(table, "r");
    char line[256], name[128];
    int64_t flow;
    int32_t ones, done = 0;
    OWNED(maxflow_release) struct maxflow graph = {0};
    maxflow_init(&graph);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%127s %*d %*d %" SCNd64 " %" SCNd32, name, &flow, &ones) != 3)
            continue;
        OWNED(dimacs_release) struct dimacs problem = {0};
        must(dimacs_read(&problem, real_data(name, formatted("maxflow/%s.max.gz", name)), err));
        ck_assert_int_eq(maxflow_build(&graph, problem.n, problem.m, (const int32_t(*)[2])problem.edges), 0);
        maxflow_set(&graph, problem.terminal, problem.forward, problem.backward);
        maxflow_solve(&graph);
        int32_t found = 0;
        for (int32_t i = 0; i < problem.n; i++)
            found += graph.label[i];
        int64_t cost = dimacs_cost(&problem, graph.label);
        ck_assert_msg(cost == flow && found == ones, "%s: %" PRId64 ", %d", name, cost, found);
        done++;
    }
    fclose(file);
    ck_assert_int_eq(done, 7);
}

/* Capacities of many kinds: zero, ties everywhere, wide, at the limit. */
static int32_t draw_capacity(uint64_t *at, int kind)
{
    uint32_t r = rng_below(5, 1, (*at)++, 1 << 30);
    switch (kind) {
    case 0: return 0;
    case 1: return (int32_t)(r % 3);
    case 2: return (int32_t)(r % 100);
    case 3: return (int32_t)r;
    default: return r % 2 ? MAXFLOW_LIMIT : (int32_t)(r % 2);
    }
}

static void draw_network(struct network *net, uint64_t seed)
{
    uint64_t at = seed << 16;
    net->n = 1 + (int32_t)rng_below(5, 1, at++, seed % 50 ? 24 : 200);
    int kind = (int)rng_below(5, 1, at++, 5), mixed = rng_below(5, 1, at++, 4) == 0;
    int is_symmetric = rng_below(5, 1, at++, 2) != 0;
    uint32_t density = rng_below(5, 1, at++, 5);
    net->m = 0;
    net->constant = 0;
    free(net->terminal);
    net->terminal = malloc((size_t)net->n * sizeof *net->terminal);
    for (int32_t i = 0; i < net->n; i++) {
        int32_t t = draw_capacity(&at, mixed ? (int)rng_below(5, 1, at++, 5) : kind);
        net->terminal[i] = rng_below(5, 1, at++, 2) ? t : -t;
    }
    for (int32_t e = 0; net->n > 1 && e < net->n * (int32_t)density; e++) {
        int32_t a = (int32_t)rng_below(5, 1, at++, (uint32_t)net->n),
                b = (int32_t)rng_below(5, 1, at++, (uint32_t)net->n - 1);
        int32_t forward = draw_capacity(&at, mixed ? (int)rng_below(5, 1, at++, 5) : kind);
        add_edge(net, a, b + (b >= a), forward, is_symmetric ? forward : draw_capacity(&at, kind));
    }
}

/* Minimal and canonical, by trying every labelling. */
static void check_by_enumeration(const struct network *net, const uint8_t *label)
{
    int64_t best = INT64_MAX;
    int fewest = 0;
    for (int code = 0; code < 1 << net->n; code++) {
        uint8_t labels[12];
        for (int32_t i = 0; i < net->n; i++)
            labels[i] = code >> i & 1;
        int64_t value = cut_value(net, labels);
        int ones = __builtin_popcount((unsigned)code);
        if (value < best || (value == best && ones < fewest)) {
            best = value;
            fewest = ones;
        }
    }
    int ones = 0;
    for (int32_t i = 0; i < net->n; i++)
        ones += label[i];
    ck_assert_int_eq(cut_value(net, label), best);
    ck_assert_int_eq(ones, fewest);
}

TEST(small_graphs_equal_enumeration)
{
    OWNED(release_network) struct network net = {0};
    OWNED(maxflow_release) struct maxflow graph = {0};
    maxflow_init(&graph);
    for (uint64_t seed = 1; seed < 6000; seed++) {
        draw_network(&net, seed);
        if (net.n > 10)
            continue;
        solve(&graph, &net);
        check_by_enumeration(&net, graph.label);
    }
}

#if WITH_BK
static double *as_doubles(const int32_t *values, int32_t n)
{
    double *copy = malloc(((size_t)n + 1) * sizeof *copy);
    for (int32_t i = 0; i < n; i++)
        copy[i] = values[i];
    return copy;
}

TEST(random_graphs_equal_libmaxflow_in_flow_and_labels)
{
    OWNED(release_network) struct network net = {0};
    OWNED(maxflow_release) struct maxflow graph = {0};
    maxflow_init(&graph);
    for (uint64_t seed = 1; seed <= 100000; seed++) {
        draw_network(&net, seed);
        solve(&graph, &net);
        OWNED_ARRAY double *terminal = as_doubles(net.terminal, net.n), *forward = as_doubles(net.forward, net.m),
                           *backward = as_doubles(net.backward, net.m);
        double flow;
        OWNED(bk_drop) struct bk *bk = NULL;
        ck_assert_int_eq(bk_new(&bk, net.n, net.m, (const int32_t(*)[2])net.edges, NULL), BK_OK);
        ck_assert_int_eq(bk_solve(bk, &flow, terminal, forward, backward, NULL), BK_OK);
        ck_assert_msg((double)cut_value(&net, graph.label) == flow, "seed %d", (int)seed);
        int32_t different = 0;
        for (int32_t i = 0; i < net.n; i++)
            different += bk_on_source_side(bk, i) != graph.label[i];
        ck_assert_msg(!different, "seed %d: %d labels differ", (int)seed, different);
    }
}

TEST(the_shim_refuses_what_libmaxflow_would_swallow)
{
    int32_t edges[1][2] = {{0, 1}}, loop[1][2] = {{1, 1}}, culprit = -1;
    double terminal[2] = {1, -2}, capacity[1] = {3}, flow;
    OWNED(bk_drop) struct bk *bk = NULL;
    ck_assert_int_eq(bk_new(&bk, 2, 1, (const int32_t(*)[2])loop, &culprit), BK_BAD_EDGE);
    ck_assert(bk == NULL && culprit == 0);
    ck_assert_int_eq(bk_new(&bk, 2, 1, (const int32_t(*)[2])edges, NULL), BK_OK);
    ck_assert_int_eq(bk_resolve(bk, NULL), BK_BAD_SEQUENCE);
    ck_assert_int_eq(bk_change(bk, 0, 1), BK_BAD_SEQUENCE);
    double bad[] = {NAN, INFINITY, -INFINITY, 0x1p60};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        terminal[1] = bad[k];
        ck_assert_int_eq(bk_solve(bk, &flow, terminal, capacity, capacity, &culprit), BK_BAD_NODE);
        ck_assert_int_eq(culprit, 1);
        terminal[1] = -2;
        capacity[0] = bad[k];
        ck_assert_int_eq(bk_solve(bk, &flow, terminal, capacity, capacity, &culprit), BK_BAD_EDGE);
        ck_assert_int_eq(culprit, 0);
        capacity[0] = 3;
    }
    capacity[0] = -1;
    ck_assert_int_eq(bk_solve(bk, &flow, terminal, capacity, capacity, &culprit), BK_BAD_EDGE);
    capacity[0] = 3;
    ck_assert_int_eq(bk_solve(bk, &flow, terminal, capacity, capacity, NULL), BK_OK);
    ck_assert_double_eq(flow, 1);
    ck_assert_int_eq(bk_change(bk, 0, 4), BK_OK);
    ck_assert_int_eq(bk_resolve(bk, &flow), BK_OK);
    ck_assert_double_eq(flow, 1);
    ck_assert(bk_on_source_side(bk, 0) && bk_on_source_side(bk, 1)); /* 5 against 2: the sink arc is what is cut */
}

TEST(the_shims_flow_stays_exact_over_many_solves)
{
    int32_t edges[1][2] = {{0, 1}};
    double terminal[2] = {0x1p50, -0x1p50}, capacity[1] = {0x1p50 - 1}, flow;
    OWNED(bk_drop) struct bk *bk = NULL;
    ck_assert_int_eq(bk_new(&bk, 2, 1, (const int32_t(*)[2])edges, NULL), BK_OK);
    for (int k = 0; k < 40; k++) {
        ck_assert_int_eq(bk_solve(bk, &flow, terminal, capacity, capacity, NULL), BK_OK);
        ck_assert_double_eq(flow, 0x1p50 - 1);
    }
}
#endif

/* The network with node i forced to `label`, by a terminal weight that nothing outweighs. */
static void solve_forced(struct maxflow *graph, struct network *net, int32_t i, int label)
{
    int32_t before = net->terminal[i];
    net->terminal[i] = label ? MAXFLOW_LIMIT : -MAXFLOW_LIMIT;
    solve(graph, net);
    net->terminal[i] = before;
}

struct clamp_check {
    struct network *net;
    struct maxflow *graph, *forced;
    int64_t best;
    uint64_t seed;
    int32_t visits;
};

static void compare_clamp(void *context, int32_t node, int64_t cost, const int32_t *flipped, int32_t n_flipped)
{
    struct clamp_check *check = context;
    size_t n = (size_t)check->net->n;
    uint8_t label[256];
    memcpy(label, check->graph->label, n);
    for (int32_t k = 0; k < n_flipped; k++)
        label[flipped[k]] ^= 1;
    solve_forced(check->forced, check->net, node, !check->graph->label[node]);
    int64_t expected = cut_value(check->net, check->forced->label) - check->best;
    check->visits++;
    const struct clamp_frame *frames = check->graph->clamps->frames; /* the last one has not been kept yet */
    for (int32_t d = 1; d + 1 < check->graph->clamps->depth; d++)
        ck_assert_int_le(2 * frames[d].n_flipped, frames[d - 1].n_flipped);
    ck_assert_msg(cost == expected && memcmp(label, check->forced->label, n) == 0 && flipped[0] == node,
                  "seed %d, node %d: cost %" PRId64 " for %" PRId64, (int)check->seed, node, cost, expected);
}

/* Clamps every node of random graphs and compares cost and labels with solving from scratch. Capacities stay so small
 * that the forcing weight is one. */
static int32_t check_clamps(uint64_t seed, struct network *net, struct maxflow *graph, struct maxflow *forced)
{
    draw_network(net, seed);
    for (int32_t i = 0; i < net->n; i++)
        net->terminal[i] %= 1 << 22;
    for (int32_t e = 0; e < net->m; e++) {
        net->forward[e] %= 1 << 22;
        net->backward[e] %= 1 << 22;
    }
    int is_symmetric = net->m && memcmp(net->forward, net->backward, (size_t)net->m * sizeof *net->forward) == 0;
    ck_assert_int_eq(maxflow_build(graph, net->n, net->m, (const int32_t(*)[2])net->edges), 0);
    maxflow_set(graph, net->terminal, net->forward, is_symmetric ? net->forward : net->backward);
    maxflow_solve(graph);
    ck_assert_int_eq(clamps_prepare(graph), 0);
    struct clamp_check check = {
        .net = net, .graph = graph, .forced = forced, .seed = seed, .best = cut_value(net, graph->label)};
    if (seed % 2) {
        int32_t all[256];
        for (int32_t i = 0; i < net->n; i++)
            all[i] = (i * 7 + 3) % net->n;
        ck_assert_int_eq(clamp_each(graph, all, net->n, compare_clamp, &check), 0);
        return check.visits;
    }
    for (int32_t i = 0; i < net->n; i++) {
        int64_t cost = clamp(graph, i);
        compare_clamp(&check, i, cost, graph->clamps->flipped, graph->clamps->n_flipped);
        clamp_undo(graph);
    }
    return net->n;
}

TEST(clamps_equal_solving_from_scratch_with_ties)
{
    OWNED(release_network) struct network net = {0};
    OWNED(maxflow_release) struct maxflow graph = {0}, forced = {0};
    maxflow_init(&graph);
    maxflow_init(&forced);
    int64_t clamps = 0;
    for (uint64_t seed = 1; clamps < 1000000; seed++)
        clamps += check_clamps(seed, &net, &graph, &forced);
}

static uint64_t scatter(uint64_t value)
{
    return (value + 1) * 0x9e3779b97f4a7c15u ^ (value + 1) * 0xbf58476d1ce4e5b9u >> 29;
}

/* A sum: neither the order of visits nor that of flipped nodes matters. */
static void add_to_digest(void *context, int32_t node, int64_t cost, const int32_t *flipped, int32_t n_flipped)
{
    uint64_t nodes = 0;
    for (int32_t k = 0; k < n_flipped; k++)
        nodes += scatter((uint64_t)flipped[k]);
    *(uint64_t *)context += scatter(nodes ^ scatter((uint64_t)node) ^ scatter((uint64_t)cost << 16));
}

/* Everything that a solution and its clamps say, in one number. */
static uint64_t everything(struct maxflow *graph, const struct network *net, int has_avx2)
{
    uint64_t digest = 0;
    int is_symmetric = net->m && memcmp(net->forward, net->backward, (size_t)net->m * sizeof *net->forward) == 0;
    int32_t all[256];
    ck_assert_int_eq(maxflow_build(graph, net->n, net->m, (const int32_t(*)[2])net->edges), 0);
    graph->has_avx2 &= has_avx2;
    maxflow_set(graph, net->terminal, net->forward, is_symmetric ? net->forward : net->backward);
    maxflow_solve(graph);
    for (int32_t i = 0; i < net->n; i++) {
        digest += scatter(2 * (uint64_t)i + graph->label[i]);
        all[i] = i;
    }
    ck_assert_int_eq(clamps_prepare(graph), 0);
    ck_assert_int_eq(clamp_each(graph, all, net->n, add_to_digest, &digest), 0);
    return digest;
}

TEST(machines_without_vector_instructions_give_the_same)
{
    OWNED(release_network) struct network net = {0};
    OWNED(maxflow_release) struct maxflow graph = {0};
    maxflow_init(&graph);
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        draw_network(&net, seed);
        uint64_t with = everything(&graph, &net, 1), without = everything(&graph, &net, 0);
        ck_assert_msg(with == without, "seed %d", (int)seed);
    }
}

/* Sixteen networks that differ in their terminal weights only, ties and zero capacities included. */
TEST(lanes_equal_the_same_problems_one_by_one)
{
    OWNED(release_network) struct network net = {0};
    OWNED(maxflow_release) struct maxflow graph = {0};
    OWNED(batch_release) struct batch batch = {0};
    maxflow_init(&graph);
    batch_init(&batch);
    int has_avx2 = batch.has_avx2;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        draw_network(&net, seed);
        for (int32_t e = 0; e < net.m; e++)
            net.forward[e] %= 1 << 22;
        ck_assert_int_eq(batch_build(&batch, net.n, net.m, (const int32_t(*)[2])net.edges), 0);
        batch.has_avx2 = has_avx2 && seed % 4;
        for (int32_t i = 0; i < net.n; i++)
            for (int32_t l = 0; l < BATCH_LANES; l++) {
                int32_t t =
                    (int32_t)rng_below(5, 2, seed << 20 | (uint64_t)i << 4 | (uint64_t)l, seed % 2 ? 5 : 1 << 24);
                batch.excess[i * BATCH_LANES + l] = l % 2 ? t : t - (seed % 2 ? 2 : 1 << 23);
            }
        OWNED_ARRAY int32_t *terminals = malloc(((size_t)net.n * BATCH_LANES + 1) * sizeof *terminals);
        memcpy(terminals, batch.excess, (size_t)net.n * BATCH_LANES * sizeof *terminals);
        ck_assert(batch_solve(&batch, net.forward));
        ck_assert_int_eq(maxflow_build(&graph, net.n, net.m, (const int32_t(*)[2])net.edges), 0);
        for (int32_t l = 0; l < BATCH_LANES; l++) {
            for (int32_t i = 0; i < net.n; i++)
                net.terminal[i] = terminals[i * BATCH_LANES + l];
            maxflow_set(&graph, net.terminal, net.forward, net.forward);
            maxflow_solve(&graph);
            int32_t different = 0;
            for (int32_t i = 0; i < net.n; i++)
                different += (batch.label[i] >> l & 1) != graph.label[i];
            ck_assert_msg(!different, "seed %d, lane %d", (int)seed, l);
        }
    }
}

/* A ring whose nodes are numbered at random, so that the way around it turns at every other node. Excess enters at one
 * of them and no deficit takes it; its arcs lead one way round and one of them has no capacity. */
TEST(excess_that_nothing_takes_reaches_all_that_arcs_with_capacity_lead_to)
{
    enum { N = 300, LAST = 200 };
    int32_t edges[N][2], node[N], terminal[N] = {0}, forward[N], backward[N] = {0};
    struct maxflow graph;
    for (int32_t i = 0; i < N; i++) {
        const int32_t other = (int32_t)rng_below(5, RNG_STREAM(RNG_TEST, 0), (uint64_t)i, (uint32_t)i + 1);
        node[i] = node[other];
        node[other] = i;
    }
    for (int32_t at = 0; at < N; at++) {
        edges[at][0] = node[at];
        edges[at][1] = node[(at + 1) % N];
        forward[at] = at == LAST ? 0 : 5;
    }
    maxflow_init(&graph);
    ck_assert_int_eq(maxflow_build(&graph, N, N, (const int32_t(*)[2])edges), 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        terminal[node[0]] = 4 * sign;
        maxflow_set(&graph, terminal, forward, backward);
        maxflow_solve(&graph);
        for (int32_t at = 0; at < N; at++)
            ck_assert_int_eq(graph.label[node[at]], sign > 0 && at <= LAST);
    }
    maxflow_release(&graph);
}

TEST(graphs_without_edges_or_nodes_are_solved)
{
    OWNED(maxflow_release) struct maxflow graph = {0};
    maxflow_init(&graph);
    struct network none = {0};
    solve(&graph, &none);
    int32_t terminal[4] = {1, 0, -1, MAXFLOW_LIMIT};
    struct network apart = {.n = 4, .terminal = terminal};
    solve(&graph, &apart);
    ck_assert(graph.label[0] == 1 && graph.label[1] == 0 && graph.label[2] == 0 && graph.label[3] == 1);
}
