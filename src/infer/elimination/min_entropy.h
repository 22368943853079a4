/* Minimum-entropy scores of labellings with hidden nodes (Miller, Kumar, Packer, Goodman, Koller: Max-margin
 * min-entropy models, AISTATS 2012): the Renyi entropy, of order 1/T, of the generalised distribution P(y, h) over h
 * at a fixed y is
 *
 *     H(y) = 1 / (1 - 1/T) log( sum_h P(y, h)^(1/T) / sum_h P(y, h) ) = log Z - s(y)
 *     s(y) = (V_T(y) - T V_1(y)) / (1 - T),      V_T(y) = T log sum_h exp(f(y, h) / T)
 *
 * T -> 0 gives max_h f(y, h), T -> 1 Shannon's entropy: s(y) = sum_h p(h | y) f(y, h). Both V and so s are sums over
 * hidden nodes when these touch visible ones only. */
#ifndef INFER_MIN_ENTROPY_H
#define INFER_MIN_ENTROPY_H

#include "cleave/infer.h"

/* Buffers; all zeros at first, not for two threads at once. */
struct min_entropy {
    struct clv_forest *forest;
    struct clv_field reduced; /* over visible nodes, hidden ones taken up into tables */
    int32_t (*edges)[2];      /* [reduced.n_edges] */
    int32_t *number;          /* [n_nodes] of a visible node among them */
    int32_t (*incident)[2];   /* [n_nodes] the edges of a hidden node, or -1 */
    int32_t *y;               /* [reduced.n_nodes] */
    size_t node_capacity, edge_capacity, unary_capacity, table_capacity;
};
void min_entropy_release(struct min_entropy *self);

/* y[n_nodes] maximises s over visible nodes; hidden ones get their most probable label given it. is_visible[n_nodes];
 * NULL: all are. 0 <= T <= 1. Exact where hidden nodes have no hidden neighbour and at most two visible ones, and what
 * is left when those are joined is a forest; otherwise CLV_ERR_USAGE, naming a hidden node, or as clv_forest_run.
 * O(n_nodes n_labels^3). */
enum clv_status min_entropy_map(int32_t *y, struct min_entropy *self, const struct clv_field *field,
                                const uint8_t *is_visible, double temperature, struct clv_error *err) CLV_CHECK;

/* *score = s(y) of y's visible nodes; slope[n_nodes][n_labels]: the derivative of s by the unary scores, 1 at y_i for
 * visible nodes; it may be negative at hidden ones, sums to 1, and that by the score of a pair of labels is the product
 * of its ends'. After min_entropy_map with the same graph and is_visible. */
void min_entropy_slope(double *score, double *slope, const struct min_entropy *self, const struct clv_field *field,
                       const uint8_t *is_visible, double temperature, const int32_t *y);

#endif
