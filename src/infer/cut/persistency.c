/* Persistency: a node with t_i > sum of its capacities to undecided nodes has label 1 in every minimum; one with t_i
 * <= -(sum of the capacities from them) has label 0 in the canonical one. What a decided node does to a neighbour is
 * one addition: the neighbour's slack towards the same label grows by both capacities of their edge, the other
 * stays. */
#include "infer/cut/maxflow_core.h"

static void propagate(struct maxflow *graph)
{
    const int32_t *restrict head = graph->head, *restrict sum = graph->sum;
    int64_t *restrict slack = graph->slack;
    int32_t *restrict queue = graph->queue, *restrict degree = graph->count, tail = graph->n_decided;
    for (int32_t at = 0; at < tail; at++) {
        int32_t i = queue[at] >> 1, label = queue[at] & 1;
        for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++) {
            int32_t side = 2 * head[k] + label;
            int64_t before = slack[side], after = before + sum[k];
            slack[side] = after;
            degree[head[k]]--;
            queue[tail] = side;
            tail += (before <= 0) & (after > 0);
        }
    }
    graph->n_decided = tail;
}

/* The excess of a core node, from its decided neighbours. */
static int64_t settled_excess(const struct maxflow *graph, int32_t i)
{
    int64_t excess = graph->terminal[i];
    for (int32_t k = graph->first[i]; k < graph->last[i]; k++) {
        const int64_t *slack = &graph->slack[2 * graph->head[k]];
        excess += slack[1] > 0 ? graph->sum[k] - graph->residual[k] : slack[0] > 0 ? -graph->residual[k] : 0;
    }
    return excess;
}

void maxflow_eliminate(struct maxflow *graph)
{
    propagate(graph);
    const int64_t *restrict slack = graph->slack;
    int64_t *restrict excess = graph->excess;
    int32_t *restrict distance = graph->distance, *restrict core = graph->core, n_core = 0;
    uint8_t *restrict label = graph->label;
    for (int32_t i = 0; i < graph->n_nodes; i++) {
        int64_t zero = slack[2 * i], one = slack[2 * i + 1];
        int is_decided = (zero > 0) | (one > 0);
        /* With equal capacities both ways, slack[0] = 1 - t - c and slack[1] = t - c. */
        excess[i] = (one - zero + 1) >> 1;
        label[i] = one > 0;
        distance[i] = is_decided ? MAXFLOW_DECIDED : MAXFLOW_FAR;
        core[n_core] = i;
        n_core += !is_decided;
    }
    distance[graph->n_nodes] = MAXFLOW_DECIDED;
    graph->n_core = n_core;
    if (!graph->is_symmetric)
        for (int32_t c = 0; c < n_core; c++)
            excess[core[c]] = settled_excess(graph, core[c]);
}
