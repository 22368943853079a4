/* The steps of a solution. Both avoid data-dependent branches where they can: on graphs of this size everything is
 * in cache, and mispredicted branches are what time goes into. */
#ifndef INFER_MAXFLOW_CORE_H
#define INFER_MAXFLOW_CORE_H

#include "infer/cut/maxflow.h"

#define MAXFLOW_DECIDED (INT32_MAX - 1) /* the distance of nodes that elimination has decided, */
#define MAXFLOW_LEAF    (INT32_MAX - 2) /* and of those that stripping leaves has */

/* Decides the nodes whose terminal weight exceeds all that their undecided neighbours can add up against it, and so on
 * until there is none: label[]. Lists the others, the core, and gives them the excess that their decided neighbours
 * leave them. Arcs that touch decided nodes keep their capacities; no later step goes through them. */
void maxflow_eliminate(struct maxflow *graph);

/* Takes nodes with one undecided neighbour out of the core, until there is none: they have given it what they could, or
 * drawn from it. */
void maxflow_strip_leaves(struct maxflow *graph);

/* [n_leaves] the arc through which each was stripped, -1: none was left. */
static inline int32_t *maxflow_leaf_arcs(const struct maxflow *graph)
{
    return &graph->queue[2 * (size_t)graph->n_nodes + 2 - (size_t)graph->n_leaves];
}

/* The core's flow by search trees, breadth-first until nodes have moved to a deeper level so many times in all
 * (trees.c), then in whatever order is at hand (search.c). What source trees hold has label 1. */
void maxflow_grow_trees(struct maxflow *graph, int64_t most_sinks);

/* Pushes the core's excess to nodes with a deficit, until none that is left can get to one. What excess that is left
 * over reaches has label 1. */
void maxflow_push(struct maxflow *graph);

/* The labels of leaves, from those of the core. */
void maxflow_read_leaves(struct maxflow *graph);

#endif
