/* Nodes with one undecided neighbour, leaves first. All that a leaf can do is to give its excess to that neighbour, or to
 * draw its deficit from there, as far as the arc goes; what is then left stays, and the leaf is done. So paths and trees
 * are solved in linear time, and other graphs lose what hangs on them. The flow is part of the pseudoflow: the leaf's
 * label is read off the residual graph like any other. */
#include "infer/cut/maxflow_core.h"

/* The slot of i's only arc to a node that is neither decided nor a leaf. */
static inline int32_t only_arc(const struct maxflow *graph, int32_t i)
{
    int32_t k = graph->first[i];
    while (graph->distance[graph->head[k]] >= MAXFLOW_LEAF)
        k++;
    return k;
}

/* Moves what leaf i has or lacks along its only arc. */
static inline int32_t strip(struct maxflow *graph, int32_t i, int32_t slot)
{
    int32_t to = graph->head[slot], back = graph->sum[slot] - graph->residual[slot];
    int64_t excess = graph->excess[i];
    int64_t amount = excess > graph->residual[slot] ? graph->residual[slot] : excess < -back ? -back : excess;
    graph->residual[slot] -= (int32_t)amount;
    graph->residual[graph->reverse[slot]] += (int32_t)amount;
    graph->excess[i] -= amount;
    graph->excess[to] += amount;
    return to;
}

void maxflow_strip_leaves(struct maxflow *graph)
{
    int32_t *restrict degree = graph->count, *restrict core = graph->core;
    int32_t *restrict queue = graph->queue + graph->n_decided, tail = 0, n_core = 0;
    for (int32_t c = 0; c < graph->n_core; c++) {
        queue[tail] = core[c];
        tail += degree[core[c]] <= 1;
    }
    graph->n_leaves = 0;
    for (int32_t at = 0; at < tail; at++) {
        int32_t i = queue[at];
        graph->distance[i] = MAXFLOW_LEAF;
        if (degree[i] <= 0)
            continue; /* its neighbours were leaves, too */
        int32_t to = strip(graph, i, only_arc(graph, i));
        queue[tail] = to;
        tail += --degree[to] == 1;
    }
    if (!tail)
        return;
    for (int32_t c = 0; c < graph->n_core; c++) {
        core[n_core] = core[c];
        n_core += graph->distance[core[c]] != MAXFLOW_LEAF;
    }
    for (int32_t at = 0; at < tail; at++)
        core[n_core + at] = queue[at];
    graph->n_core = n_core;
    graph->n_leaves = tail;
}
