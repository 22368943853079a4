/* Search trees of a cut in the making: trees.c grows them breadth-first, search.c in whatever order is at hand. In a source
 * tree arcs lead from parent to child, in a sink tree from child to parent. Side 0 are the source trees. */
#ifndef INFER_CUT_TREES_H
#define INFER_CUT_TREES_H

#include "base/machine.h"
#include "infer/cut/maxflow_core.h"

enum {
    TREES_FAR = 1 << 28,
    TREES_CLOSED = 1 << 30
};                                         /* beyond any level; the level of nodes that are not in the core */
enum { TREES_ROOT = -1, TREES_NONE = -2 }; /* in place of a parent */

/* How much more an arc of a node carries to its head, as trees of that side use it, or from there. */
INLINE int32_t toward_child(const struct maxflow *graph, int32_t slot, int side)
{
    return side ? graph->arc[slot].sum - graph->arc[slot].residual : graph->arc[slot].residual;
}

INLINE int32_t toward_parent(const struct maxflow *graph, int32_t slot, int side)
{
    return toward_child(graph, slot, !side);
}

/* Below 0 in trees of the other side. */
INLINE int32_t level_of(const struct maxflow *graph, int32_t i, int side)
{
    return side ? -graph->node[i].level : graph->node[i].level;
}

/* Hangs node i into a tree. */
INLINE void hang(struct maxflow *graph, int32_t i, int32_t level, int32_t parent, int side)
{
    graph->node[i].level = side ? -level : level;
    graph->node[i].parent = parent;
}

/* The least residual capacity on i's path to its root, the root's own included, and `amount`. */
INLINE int64_t path_bottleneck(const struct maxflow *graph, int32_t i, int64_t amount, int side)
{
    while (graph->node[i].parent != TREES_ROOT) {
        int32_t k = graph->node[i].parent, residual = toward_parent(graph, k, side);
        amount = residual < amount ? residual : amount;
        i = graph->arc[k].head;
    }
    int64_t root = side ? -graph->excess[i] : graph->excess[i];
    return root < amount ? root : amount;
}

/* Pushes along a slot of a source tree, against one of a sink tree. */
INLINE void push_slot(struct maxflow *graph, int32_t slot, int64_t amount)
{
    struct maxflow_arc *arc = &graph->arc[slot];
    arc->residual -= (int32_t)amount;
    graph->arc[arc->reverse].residual += (int32_t)amount;
}

/* From any flow and trees to a maximum flow, by the search of Boykov and Kolmogorov. graph->label[i]: whether node i of
 * the core may find something. */
void maxflow_search(struct maxflow *graph);

#endif
