/* Persistency: a node with t_i > sum of its capacities to undecided nodes has label 1 in every minimum; one with t_i <=
 * -(sum of the capacities from them) has label 0 in the canonical one. A decided node changes a neighbour by one
 * addition: the neighbour's slack for the same label grows by both capacities of their edge.
 *
 * Leaves are stripped then: nodes with one undecided neighbour. A leaf can only give its excess to that neighbour, or
 * draw its deficit from there, up to the arc's capacity. The rest stays at the leaf. So paths and trees are solved in
 * linear time, and other graphs lose the trees that hang on them. The flow is part of the pseudoflow: the label of a
 * leaf is read from the residual graph like any other. */
#include <string.h>

#include "infer/cut/cut.h"

/* Number of nodes decided by their own scores that are propagated before the nodes which follow from them: these are
 * near in memory. */
#define SEEDS_AT_ONCE 1024

/* Appends the nodes that entry `at` of the queue decides. Returns the new end. */
static inline size_t propagate_node(struct maxflow *graph, size_t at, size_t tail)
{
    const struct maxflow_arc *restrict arc = graph->arc;
    int32_t *restrict queue = graph->queue, *restrict degree = graph->distance;
    int64_t *restrict slack = graph->node->slack; /* [n_nodes][2] */
    int32_t i = queue[at] >> 1, label = queue[at] & 1;
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
        int32_t to = arc[k].head, side = 2 * to + label;
        int64_t before = slack[side], after = before + arc[k].sum;
        slack[side] = after;
        degree[to]--;
        queue[tail] = side;
        tail += (uint64_t)(before ^ after) >> 63; /* slack only grows */
    }
    return tail;
}

/* Fills the queue with the nodes that their own scores decide, then with the nodes that follow from them, in the order
 * in which they are found. */
static void propagate(struct maxflow *graph)
{
    union maxflow_node *restrict node = graph->node;
    int32_t *restrict queue = graph->queue, *restrict degree = graph->distance;
    size_t tail = 0;
    for (int32_t i = 0, n = graph->n_nodes; i < n; i++) {
        int64_t out = graph->excess[i], in = out, t = graph->terminal[i];
        if (!graph->is_symmetric)
            for (int32_t k = graph->first[i]; k < graph->first[i + 1]; k++)
                in += graph->arc[k].sum - 2 * (int64_t)graph->arc[k].residual;
        degree[i] = graph->first[i + 1] - graph->first[i];
        node[i].slack[0] = -t - in;
        node[i].slack[1] = t - out - 1;
        int is_one = node[i].slack[1] >= 0, is_zero = node[i].slack[0] >= 0;
        queue[tail] = 2 * i + is_one;
        tail += (size_t)(is_one | is_zero);
    }
    for (size_t at = 0, n_first = tail, found = tail; at < n_first;) {
        size_t end = n_first - at > SEEDS_AT_ONCE ? at + SEEDS_AT_ONCE : n_first;
        for (; at < end; at++)
            tail = propagate_node(graph, at, tail);
        for (; found < tail; found++)
            tail = propagate_node(graph, found, tail);
    }
    graph->n_decided = (int32_t)tail;
}

/* Returns the excess of a core node: its terminal weight with what its decided neighbours add. */
static int64_t settled_excess(const struct maxflow *graph, int32_t i)
{
    int64_t excess = graph->terminal[i];
    for (int32_t k = graph->first[i]; k < graph->first[i + 1]; k++) {
        const int64_t *slack = graph->node[graph->arc[k].head].slack;
        excess += slack[1] >= 0   ? graph->arc[k].sum - graph->arc[k].residual
                  : slack[0] >= 0 ? -graph->arc[k].residual
                                  : 0;
    }
    return excess;
}

void maxflow_eliminate(struct maxflow *graph)
{
    propagate(graph);
    const union maxflow_node *restrict node = graph->node;
    int64_t *restrict excess = graph->excess;
    int32_t *restrict distance = graph->distance, *restrict core = graph->core, n_core = 0;
    uint8_t *restrict label = graph->label;
    for (int32_t i = 0, n = graph->n_nodes; i < n; i++) {
        int64_t zero = node[i].slack[0], one = node[i].slack[1];
        int is_core = (zero & one) < 0;
        /* With equal capacities both ways, slack[0] = -t - c and slack[1] = t - c - 1. */
        excess[i] = (one - zero + 1) >> 1;
        label[i] = one >= 0;
        distance[i] |= MAXFLOW_DECIDED & (is_core - 1);
        core[n_core] = i;
        n_core += is_core;
    }
    distance[graph->n_nodes] = MAXFLOW_DECIDED;
    graph->n_core = n_core;
    if (!graph->is_symmetric)
        for (int32_t c = 0; c < n_core; c++)
            excess[core[c]] = settled_excess(graph, core[c]);
}

/* Returns the slot of i's only arc to a node that is neither decided nor a leaf. */
static inline int32_t only_arc(const struct maxflow *graph, int32_t i)
{
    int32_t k = graph->first[i];
    while (graph->distance[graph->arc[k].head] >= MAXFLOW_LEAF)
        k++;
    return k;
}

/* Sends leaf i's excess along its only arc, or draws its deficit, up to the capacity. */
static inline void strip(struct maxflow *graph, int32_t i, struct maxflow_arc *arc)
{
    int64_t excess = graph->excess[i], forth = arc->residual, back = arc->residual - arc->sum;
    int64_t amount = excess < forth ? excess : forth;
    amount = amount > back ? amount : back;
    arc->residual -= (int32_t)amount;
    graph->arc[arc->reverse].residual += (int32_t)amount;
    graph->excess[i] = excess - amount;
    graph->excess[arc->head] += amount;
}

void maxflow_strip_leaves(struct maxflow *graph)
{
    int32_t *restrict degree = graph->distance, *restrict core = graph->core;
    int32_t *restrict queue = graph->queue + graph->n_decided, tail = 0, n_core = 0;
    for (int32_t c = 0; c < graph->n_core; c++) {
        queue[tail] = core[c];
        tail += degree[core[c]] <= 1;
    }
    for (int32_t at = 0; at < tail; at++) {
        int32_t i = queue[at], *leaf_arc = maxflow_leaf_arc(graph, at);
        bool is_alone = degree[i] <= 0; /* its neighbours were leaves, too */
        degree[i] = MAXFLOW_LEAF;
        *leaf_arc = is_alone ? -1 : only_arc(graph, i);
        if (is_alone)
            continue;
        struct maxflow_arc *arc = &graph->arc[*leaf_arc];
        strip(graph, i, arc);
        queue[tail] = arc->head;
        tail += --degree[arc->head] == 1;
    }
    graph->n_leaves = tail;
    if (!tail)
        return;
    for (int32_t c = 0; c < graph->n_core; c++) {
        core[n_core] = core[c];
        n_core += degree[core[c]] != MAXFLOW_LEAF;
    }
    memcpy(&core[n_core], queue, (size_t)tail * sizeof *core);
    graph->n_core = n_core;
}
