#ifndef INFER_SETTLE_H
#define INFER_SETTLE_H

#include "infer/cut/maxflow.h"

/* Forgets what was settled, unless the solution is still the same. */
void settle_start(struct maxflow *graph);

/* Makes the residual capacities of node i's slots and its excess complete. Once a solution:
 * graph->clamps->is_settled[i] says. */
void settle_row(struct maxflow *graph, int32_t i);

#endif
