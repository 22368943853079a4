/* Our min-cut engine: a graph is built once, capacities are replaced in place, solving allocates nothing.
 *
 *     minimise  sum_i [y_i = 0] max(t_i, 0) + [y_i = 1] max(-t_i, 0)  +  sum_(a,b) [y_a = 1, y_b = 0] c_ab + [y_a = 0, y_b = 1] c_ba
 *
 * Label 1 is the source side. The labelling is canonical: the minimal source set, hence the fewest 1s. */
#ifndef INFER_MAXFLOW_H
#define INFER_MAXFLOW_H

#include <stddef.h>
#include <stdint.h>

/* Terminal weights lie in -MAXFLOW_LIMIT..MAXFLOW_LIMIT, capacities in 0..MAXFLOW_LIMIT: the two capacities of an edge then
 * add up without overflow, and so does the residual capacity of either of its arcs. */
#define MAXFLOW_LIMIT ((1 << 30) - 1)

/* The residual capacity of the reverse arc is sum - residual, so that reading it costs no second access. */
struct maxflow_arc {
    int32_t head, reverse;
    int32_t residual, sum;
};

struct maxflow_node {
    int64_t excess; /* > 0: flow that came from the source and may go on; < 0: room towards the sink */
    int32_t first;  /* its arcs are nodes[i].first .. nodes[i + 1].first - 1 */
    int32_t distance;
};

struct maxflow {
    int32_t n_nodes, n_edges;
    struct maxflow_node *nodes; /* [n_nodes + 1] */
    struct maxflow_arc *arcs;   /* [2 n_edges], sorted by tail */
    int32_t *forward;           /* [n_edges] the arc from edges[e][0] to edges[e][1] */
    int32_t *queue;             /* [n_nodes] */
    uint8_t *label;             /* [n_nodes] of the last solution */
    size_t node_capacity, edge_capacity;
};

void maxflow_init(struct maxflow *graph);
void maxflow_release(struct maxflow *graph);

/* Makes the graph of edges[n_edges], ends in 0..n_nodes-1 and different; parallel edges are allowed; buffers are kept from
 * graph to graph. Returns 0, or -1 when out of memory (the graph is empty then). O(n_nodes + n_edges). */
int maxflow_build(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Replaces all capacities: terminal[n_nodes], forward[n_edges] from edges[e][0] to edges[e][1] and backward[n_edges], which may
 * be the same array. */
void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward);

/* Solves; label[] is the answer. */
void maxflow_solve(struct maxflow *graph);

#endif
