/* Many cut problems that differ in their terminal weights only, such as draws of perturbed unaries, solved side by
 * side: one problem a vector lane. */
#ifndef INFER_BATCH_H
#define INFER_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define BATCH_LANES 16

/* The size of a node's terminal weight, in every lane, and the capacities of its edges may add up to this. */
#define BATCH_LIMIT ((1 << 30) - 1)

/* As many nodes at most: distances are measured in 14 bits. */
#define BATCH_NODES ((1 << 14) - 1)

struct batch_arc {
    int32_t head, edge;     /* times BATCH_LANES: where their rows begin */
    int32_t capacity, sign; /* sign 0: the edge's flow leaves by this arc, -1: it comes in */
};

struct batch {
    int32_t n_nodes, n_edges;
    int has_avx2;   /* of this machine; a test may say no */
    int32_t *first; /* [n_nodes + 1], multiples of 8 */
    int32_t *last;  /* [n_nodes] */
    struct batch_arc
        *arcs; /* [n_slots] of node i in slots first[i] .. last[i] - 1; those up to first[i + 1] are always full,
                               and lead to node n_nodes, which does not exist */
    int32_t (*slots)[2]; /* [n_edges] where an edge's two arcs are */
    /* A lane each: */
    int32_t *excess;     /* [n_nodes][BATCH_LANES] terminal weights, before batch_solve */
    int32_t *distance;   /* [n_nodes][BATCH_LANES] */
    int32_t *flow;       /* [n_edges][BATCH_LANES] */
    int16_t *nearness;   /* [n_nodes + 1][BATCH_LANES] distances while they are measured; what excess reaches */
    int16_t *full;       /* [n_slots][BATCH_LANES] all ones where an arc is full, else 0 */
    uint16_t *label;     /* [n_nodes] bit l: the label in lane l */
    int32_t (*edges)[2]; /* what the graph was built of; n_nodes < 0: nothing */
    size_t node_capacity, edge_capacity, slot_capacity;
};

void batch_init(struct batch *batch);
void batch_release(struct batch *batch);

/* Edges as for maxflow_build, at most BATCH_NODES nodes; building the same graph again costs a comparison. Returns 0,
 * or -1 when out of memory. */
int batch_build(struct batch *batch, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Solves what the caller has put into excess, with capacity[n_edges] both ways; label[] holds the canonical
 * labellings. */
void batch_solve(struct batch *batch, const int32_t *capacity);

#endif
