/* The two steps of a solution. Both avoid data-dependent branches where they can: on graphs of this size everything is
 * in cache, and mispredicted branches are what time goes into. */
#ifndef INFER_MAXFLOW_CORE_H
#define INFER_MAXFLOW_CORE_H

#include "infer/cut/maxflow.h"

#define MAXFLOW_DECIDED (INT32_MAX - 1) /* the distance of nodes that elimination has decided */

/* Decides the nodes whose terminal weight exceeds all that their undecided neighbours can add up against it, and so on
 * until there is none: label[]. Lists the others, the core, and gives them the excess that their decided neighbours
 * leave them. Arcs that touch decided nodes keep their capacities; no later step goes through them. */
void maxflow_eliminate(struct maxflow *graph);

/* Pushes the core's excess to nodes with a deficit, until none that is left can get to one. */
void maxflow_push(struct maxflow *graph);

#endif
