/* Many cut problems that differ in their terminal weights only, such as draws of perturbed unaries, solved side by side: one
 * problem a vector lane. */
#ifndef INFER_BATCH_H
#define INFER_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define BATCH_LANES 16

/* The size of a node's terminal weight, in every lane, and the capacities of its edges may add up to this. */
#define BATCH_LIMIT ((1 << 30) - 1)

struct batch_arc {
    int32_t head, edge;
    int32_t capacity, sign; /* sign 0: the edge's flow leaves by this arc, -1: it comes in */
};

struct batch {
    int32_t n_nodes, n_edges;
    int32_t *first;         /* [n_nodes + 1] */
    struct batch_arc *arcs; /* [2 n_edges] sorted by tail */
    /* A lane each: */
    int32_t *excess;   /* [n_nodes][BATCH_LANES] terminal weights, before batch_solve */
    int32_t *distance; /* [n_nodes][BATCH_LANES] */
    int32_t *flow;     /* [n_edges][BATCH_LANES] */
    uint16_t *label;   /* [n_nodes] bit l: the label in lane l */
    size_t node_room, edge_room;
};

void batch_init(struct batch *batch);
void batch_release(struct batch *batch);

/* Edges as for maxflow_build. Returns 0, or -1 when out of memory. */
int batch_build(struct batch *batch, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Solves what the caller has put into excess, with capacity[n_edges] both ways; label[] holds the canonical labellings. */
void batch_solve(struct batch *batch, const int32_t *capacity);

#endif
