#ifndef INFER_SETTLE_H
#define INFER_SETTLE_H

#include "infer/maxflow.h"

/* Makes residual capacities and excesses of the last solution complete. rank[n_nodes + 1] is scratch. */
void settle_decided(struct maxflow *graph, int32_t *rank);

#endif
