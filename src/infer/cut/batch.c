/* Sixteen minimum cuts at once: memory, the graph, and the choice of the solver for this machine. The algorithm is
 * in batch_kernel.h. */
#include "infer/cut/cut.h"

#include <string.h>

#include "base/base.h"
#include "infer/cut/batch_solve.h"

void batch_release(struct batch *batch)
{
    void *arrays[] = {batch->first, batch->last,     batch->arcs, batch->slots, batch->excess, batch->distance,
                      batch->flow,  batch->nearness, batch->full, batch->label, batch->edges};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    batch_init(batch);
}

static int reserve(struct batch *batch, size_t nodes, size_t edges)
{
    const struct array_part by_node[] = {{&batch->first, sizeof *batch->first},
                                         {&batch->last, sizeof *batch->last},
                                         {&batch->excess, BATCH_LANES * sizeof *batch->excess},
                                         {&batch->distance, BATCH_LANES * sizeof *batch->distance},
                                         {&batch->nearness, BATCH_LANES * sizeof *batch->nearness},
                                         {&batch->label, sizeof *batch->label}};
    const struct array_part by_edge[] = {{&batch->slots, sizeof *batch->slots},
                                         {&batch->flow, BATCH_LANES * sizeof *batch->flow},
                                         {&batch->edges, sizeof *batch->edges}};
    const struct array_part by_slot[] = {{&batch->arcs, sizeof *batch->arcs},
                                         {&batch->full, BATCH_LANES * sizeof *batch->full}};
    return array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &batch->node_capacity, nodes + 1) ||
           array_reserve_all(by_edge, sizeof by_edge / sizeof *by_edge, &batch->edge_capacity, edges + 1) ||
           array_reserve_all(by_slot, sizeof by_slot / sizeof *by_slot, &batch->slot_capacity, 2 * edges + 7 * nodes);
}

int batch_build(struct batch *batch, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2])
{
    size_t size = (size_t)n_edges * sizeof *edges;
    if (n_nodes == batch->n_nodes && n_edges == batch->n_edges && (!size || !memcmp(batch->edges, edges, size)))
        return 0;
    batch->n_nodes = -1;
    if (reserve(batch, (size_t)n_nodes, (size_t)n_edges))
        return -1;
    array_put(batch->edges, edges, size, 1);
    batch->n_nodes = n_nodes;
    batch->n_edges = n_edges;
#if defined(__x86_64__)
    batch->has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
    int32_t *first = batch->first, *last = batch->last;
    memset(first, 0, ((size_t)n_nodes + 1) * sizeof *first);
    for (int32_t e = 0; e < n_edges; e++) {
        first[edges[e][0] + 1]++;
        first[edges[e][1] + 1]++;
    }
    for (int32_t i = 0; i < n_nodes; i++) {
        last[i] = first[i];
        first[i + 1] = first[i] + (first[i + 1] + 7) / 8 * 8;
    }
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t a = edges[e][0], b = edges[e][1], there = last[a]++, back = last[b]++, edge = e * BATCH_LANES;
        batch->slots[e][0] = there;
        batch->slots[e][1] = back;
        batch->arcs[there] = (struct batch_arc){.head = b * BATCH_LANES, .edge = edge, .sign = 0};
        batch->arcs[back] = (struct batch_arc){.head = a * BATCH_LANES, .edge = edge, .sign = -1};
    }
    for (int32_t i = 0; i < n_nodes; i++)
        for (int32_t k = last[i]; k < first[i + 1]; k++) {
            batch->arcs[k] = (struct batch_arc){.head = n_nodes * BATCH_LANES};
            for (size_t l = 0; l < BATCH_LANES; l++)
                batch->full[(size_t)k * BATCH_LANES + l] = BATCH_NODES;
        }
    return 0;
}

bool batch_solve(struct batch *batch, const int32_t *capacity)
{
    for (int32_t e = 0; e < batch->n_edges; e++)
        for (int side = 0; side < 2; side++)
            batch->arcs[batch->slots[e][side]].capacity = capacity[e];
#if defined(__x86_64__)
    if (batch->has_avx2)
        return batch_solve_avx2(batch, capacity);
#endif
    return batch_solve_plain(batch, capacity);
}
