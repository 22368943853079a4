/* Memory, the graph, and which machine's solver is called; the algorithm is in batch_kernel.h. */
#include "infer/cut/batch.h"

#include <string.h>

#include "base/array.h"
#include "infer/cut/batch_solve.h"

void batch_init(struct batch *batch)
{
    memset(batch, 0, sizeof *batch);
    batch->n_nodes = -1;
#if defined(__x86_64__)
    batch->has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
}

void batch_release(struct batch *batch)
{
    void *arrays[] = {batch->first, batch->last,     batch->arcs, batch->slots, batch->excess, batch->distance,
                      batch->flow,  batch->nearness, batch->full, batch->label, batch->edges};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
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
        (batch->last = array_alloc(nodes, sizeof *batch->last)) &&
        (batch->arcs = array_alloc(2 * edges + 7 * nodes, sizeof *batch->arcs)) &&
        (batch->slots = array_alloc(edges, sizeof *batch->slots)) &&
        (batch->excess = array_zalloc_aligned(nodes, BATCH_LANES * sizeof *batch->excess)) &&
        (batch->distance = array_zalloc_aligned(nodes, BATCH_LANES * sizeof *batch->distance)) &&
        (batch->flow = array_zalloc_aligned(edges, BATCH_LANES * sizeof *batch->flow)) &&
        (batch->nearness = array_zalloc_aligned(nodes + 1, BATCH_LANES * sizeof *batch->nearness)) &&
        (batch->full = array_zalloc_aligned(2 * edges + 7 * nodes, BATCH_LANES * sizeof *batch->full)) &&
        (batch->edges = array_alloc(edges, sizeof *batch->edges)) &&
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
    size_t size = (size_t)n_edges * sizeof *edges;
    if (n_nodes == batch->n_nodes && n_edges == batch->n_edges && (!size || !memcmp(batch->edges, edges, size)))
        return 0;
    if (make_room(batch, (size_t)n_nodes, (size_t)n_edges))
        return -1;
    if (size)
        memcpy(batch->edges, edges, size);
    batch->n_nodes = n_nodes;
    batch->n_edges = n_edges;
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

void batch_solve(struct batch *batch, const int32_t *capacity)
{
    for (int32_t e = 0; e < batch->n_edges; e++)
        for (int side = 0; side < 2; side++)
            batch->arcs[batch->slots[e][side]].capacity = capacity[e];
#if defined(__x86_64__)
    if (batch->has_avx2) {
        batch_solve_avx2(batch, capacity);
        return;
    }
#endif
    batch_solve_plain(batch, capacity);
}
