/* Push-relabel in lockstep (after Goldberg & Tarjan 1988): every node is visited in turn, in all lanes at once, so that no lane
 * needs a gather or a branch. Sweeps go up and down the nodes, which carries flow far in one sweep where neighbours have near
 * numbers; exact distances come from sweeps too (Bellman 1958). */
#include "infer/batch.h"

#include <string.h>

#include "base/array.h"

#define LANES BATCH_LANES
#define FAR   (1 << 29)

/* Pushing sweeps between two computations of exact distances. */
#define N_SWEEPS 6

/* clang 14 knows no such clones of functions that other files call. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__) || !defined(__x86_64__)
#define FOR_EACH_MACHINE
#else
#define FOR_EACH_MACHINE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif

void batch_init(struct batch *batch)
{
    memset(batch, 0, sizeof *batch);
}

void batch_release(struct batch *batch)
{
    array_free(batch->first);
    array_free(batch->arcs);
    array_free(batch->excess);
    array_free(batch->distance);
    array_free(batch->flow);
    array_free(batch->label);
    batch_init(batch);
}

static int make_room(struct batch *batch, size_t nodes, size_t edges)
{
    if (batch->first && nodes <= batch->node_room && edges <= batch->edge_room)
        return 0;
    nodes = nodes > batch->node_room ? nodes : batch->node_room;
    edges = edges > batch->edge_room ? edges : batch->edge_room;
    batch_release(batch);
    if ((batch->first = array_alloc(nodes + 1, sizeof *batch->first)) &&
        (batch->arcs = array_alloc(edges, 2 * sizeof *batch->arcs)) &&
        (batch->excess = array_zalloc_aligned(nodes, LANES * sizeof *batch->excess)) &&
        (batch->distance = array_zalloc_aligned(nodes, LANES * sizeof *batch->distance)) &&
        (batch->flow = array_zalloc_aligned(edges, LANES * sizeof *batch->flow)) &&
        (batch->label = array_alloc(nodes, sizeof *batch->label))) {
        batch->node_room = nodes;
        batch->edge_room = edges;
        return 0;
    }
    batch_release(batch);
    return -1;
}

int batch_build(struct batch *batch, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2])
{
    if (make_room(batch, (size_t)n_nodes, (size_t)n_edges))
        return -1;
    batch->n_nodes = n_nodes;
    batch->n_edges = n_edges;
    int32_t *first = batch->first;
    memset(first, 0, ((size_t)n_nodes + 1) * sizeof *first);
    for (int32_t e = 0; e < n_edges; e++) {
        first[edges[e][0]]++;
        first[edges[e][1]]++;
    }
    for (int32_t i = 1; i <= n_nodes; i++)
        first[i] += first[i - 1];
    for (int32_t e = n_edges - 1; e >= 0; e--) {
        int32_t a = edges[e][0], b = edges[e][1];
        batch->arcs[--first[a]] = (struct batch_arc){.head = b, .edge = e, .sign = 0};
        batch->arcs[--first[b]] = (struct batch_arc){.head = a, .edge = e, .sign = -1};
    }
    return 0;
}

/* Vectors are passed to functions that are always inlined only, so how they would be passed does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Eight lanes of one value; comparisons give -1 or 0. Not wider: the compiler takes wider comparisons apart. */
typedef int32_t lanes __attribute__((vector_size(32), may_alias));
#define PARTS (LANES / 8)

#define INLINE __attribute__((always_inline)) static inline

INLINE lanes *row_of(int32_t *array, int32_t row)
{
    return (lanes *)&array[(size_t)row * LANES];
}

INLINE int any(const lanes *mask)
{
    typedef int64_t pairs __attribute__((vector_size(32), may_alias));
    pairs p = *(const pairs *)mask;
    return (p[0] | p[1] | p[2] | p[3]) != 0;
}

/* The flow out of the arc's tail. */
INLINE lanes flow_out(const lanes *flow, struct batch_arc arc)
{
    return (*flow ^ arc.sign) - arc.sign;
}

/* One node's exact distance from its neighbours'. Returns whether it changed in any lane. */
INLINE int measure_node(struct batch *batch, int32_t i)
{
    lanes *own = row_of(batch->distance, i), nearest[PARTS], changed = {0};
    for (int p = 0; p < PARTS; p++)
        nearest[p] = own[p];
    for (int32_t k = batch->first[i]; k < batch->first[i + 1]; k++) {
        struct batch_arc arc = batch->arcs[k];
        const lanes *flow = row_of(batch->flow, arc.edge), *distance = row_of(batch->distance, arc.head);
        for (int p = 0; p < PARTS; p++) {
            lanes above = distance[p] + 1;
            lanes is_nearer = (flow_out(&flow[p], arc) < arc.capacity) & (above < nearest[p]);
            nearest[p] = (is_nearer & above) | (~is_nearer & nearest[p]);
        }
    }
    for (int p = 0; p < PARTS; p++) {
        changed |= own[p] ^ nearest[p];
        own[p] = nearest[p];
    }
    return any(&changed);
}

/* Exact distances to the nearest room. Returns whether there is excess left that can get to some. */
INLINE int measure(struct batch *batch)
{
    int32_t n = batch->n_nodes, n_parts = n * PARTS;
    lanes *distance = row_of(batch->distance, 0), *excess = row_of(batch->excess, 0), is_active = {0};
    for (int32_t p = 0; p < n_parts; p++)
        distance[p] = (excess[p] >= 0) & FAR;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t i = 0; i < n; i++)
            changed |= measure_node(batch, i);
        for (int32_t i = n - 1; i >= 0 && changed; i--)
            measure_node(batch, i);
    }
    for (int32_t p = 0; p < n_parts; p++)
        is_active |= (excess[p] > 0) & (distance[p] < FAR);
    return any(&is_active);
}

/* Node i pushes to neighbours one arc nearer, then rises where it has excess left. */
INLINE void push_node(struct batch *batch, int32_t i)
{
    lanes *own_excess = row_of(batch->excess, i), *own_distance = row_of(batch->distance, i);
    lanes excess[PARTS], kept[PARTS], risen[PARTS], is_active = {0};
    for (int p = 0; p < PARTS; p++) {
        lanes active = (own_excess[p] > 0) & (own_distance[p] < FAR);
        excess[p] = own_excess[p] & active;
        kept[p] = own_excess[p] & ~active;
        risen[p] = (lanes){0} + FAR;
        is_active |= active;
    }
    if (!any(&is_active))
        return;
    for (int32_t k = batch->first[i]; k < batch->first[i + 1]; k++) {
        struct batch_arc arc = batch->arcs[k];
        lanes *flow = row_of(batch->flow, arc.edge), *head_excess = row_of(batch->excess, arc.head);
        const lanes *head_distance = row_of(batch->distance, arc.head);
        for (int p = 0; p < PARTS; p++) {
            lanes residual = arc.capacity - flow_out(&flow[p], arc), above = head_distance[p] + 1;
            lanes fits = excess[p] < residual, amount = (fits & excess[p]) | (~fits & residual);
            amount &= above == own_distance[p];
            flow[p] += (amount ^ arc.sign) - arc.sign;
            head_excess[p] += amount;
            excess[p] -= amount;
            lanes is_lower = (residual > amount) & (above < risen[p]);
            risen[p] = (is_lower & above) | (~is_lower & risen[p]);
        }
    }
    for (int p = 0; p < PARTS; p++) {
        own_excess[p] = kept[p] + excess[p];
        lanes rises = excess[p] > 0;
        own_distance[p] = (rises & risen[p]) | (~rises & own_distance[p]);
    }
}

/* What leftover excess reaches: distance is 0 there and -1 elsewhere. */
INLINE int reach_node(struct batch *batch, int32_t i)
{
    lanes *own = row_of(batch->distance, i), unreached[PARTS], changed = {0};
    for (int p = 0; p < PARTS; p++)
        unreached[p] = own[p];
    for (int32_t k = batch->first[i]; k < batch->first[i + 1]; k++) {
        struct batch_arc arc = batch->arcs[k];
        const lanes *flow = row_of(batch->flow, arc.edge), *other = row_of(batch->distance, arc.head);
        for (int p = 0; p < PARTS; p++)
            unreached[p] &= other[p] | (flow_out(&flow[p], arc) <= -arc.capacity);
    }
    for (int p = 0; p < PARTS; p++) {
        changed |= own[p] ^ unreached[p];
        own[p] = unreached[p];
    }
    return any(&changed);
}

INLINE void read_labels(struct batch *batch)
{
    int32_t n = batch->n_nodes;
    lanes *distance = row_of(batch->distance, 0), *excess = row_of(batch->excess, 0);
    for (int32_t p = 0; p < n * PARTS; p++)
        distance[p] = excess[p] <= 0;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t i = 0; i < n; i++)
            changed |= reach_node(batch, i);
        for (int32_t i = n - 1; i >= 0 && changed; i--)
            reach_node(batch, i);
    }
    for (size_t i = 0; i < (size_t)n; i++) {
        uint32_t bits = 0;
        for (size_t l = 0; l < LANES; l++)
            bits |= (uint32_t)(batch->distance[i * LANES + l] == 0) << l;
        batch->label[i] = (uint16_t)bits;
    }
}

FOR_EACH_MACHINE void batch_solve(struct batch *batch, const int32_t *capacity)
{
    int32_t n = batch->n_nodes;
    for (int32_t k = 0; k < 2 * batch->n_edges; k++)
        batch->arcs[k].capacity = capacity[batch->arcs[k].edge];
    memset(batch->flow, 0, (size_t)batch->n_edges * LANES * sizeof *batch->flow);
    while (measure(batch))
        for (int sweep = 0; sweep < N_SWEEPS; sweep++)
            for (int32_t i = 0; i < n; i++)
                push_node(batch, sweep % 2 ? n - 1 - i : i);
    read_labels(batch);
}
