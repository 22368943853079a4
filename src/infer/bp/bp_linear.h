/* Messages outside the log domain: what bp_sweep.c works on. */
#ifndef INFER_BP_LINEAR_H
#define INFER_BP_LINEAR_H

#include "infer/bp/bp_lanes.h"
#include "infer/bp/bp_state.h"

/* With messages at least SMALLEST_MESSAGE (their maximum is 1) and sums at least SMALLEST_SUM, what underflowed below
 * 1e-308 counts for less than 1e-16 of any sum; with beliefs at least that, quotients of them are exact as well. */
#define SMALLEST_MESSAGE 1e-30
#define SMALLEST_SUM     1e-200

static inline double *bp_message(const struct clv_bp *bp, int32_t arc)
{
    return &bp->linear.message[(size_t)bp->linear.slot[arc] * row_length(bp->n_labels)];
}

/* All nodes send once, in the order given or backward. */
struct bp_pass {
    const int32_t *nodes; /* [n_nodes] */
    bool is_backward;
    enum bp_receivers receivers;
    double enough; /* of changes beyond it, as of *factor below, one is as good as another */
};

/* *factor rises to the largest factor of any change, minus 1. Returns how many nodes are done: less than all if
 * precision could be lost at the next one, with some of its messages sent; then it is time to leave. */
int32_t bp_pass_linear(double *factor, struct clv_bp *bp, const struct bp_pass *which);

/* total[count] = sum over both ends of an edge of cavity cavity' exp(pairwise), of edges from `first` on, from
 * linear.belief; up to what beliefs and kernels were scaled by. */
void bp_edge_sums(double *total, const struct clv_bp *bp, int32_t first, size_t count);

/* A node's row of linear.belief; false if precision could be lost. */
bool bp_gather_row(double *belief, const struct clv_bp *bp, int32_t node);

#endif
