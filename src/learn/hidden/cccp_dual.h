/* The convex problem between two linearisations of the concave-convex procedure,
 *
 *     min_w  P(w) = lambda/2 |w|^2 + mean_i F_i(w) - <w, plane>    (Potts couplings >= 0)
 *
 * with the free terms F_i of objective.h, by block-coordinate Frank-Wolfe steps on its dual. Nothing to set: each
 * step's length is exact. */
#ifndef LEARN_CCCP_DUAL_H
#define LEARN_CCCP_DUAL_H

#include "learn/common/frank_wolfe.h"
#include "learn/hidden/objective.h"

struct hidden_dual {
    struct hidden *hidden;
    struct dual_point point; /* its w is where the next tangents are laid; dual_value(&point) <= min P */
    double *slope, *height;  /* [n][size], [n]: F_i(w) >= <slope, w> + height, a mixture of tangents */
    double *plane, *change;  /* [size] */
    double *average;         /* [size] of the iterates since the plane was laid, the t-th weighing t */
    double n_steps;          /* in the average */
    int32_t *order;          /* [n] */
};

/* The first bounds are the tangents at w[size] of the true labels' score. O(n size) memory and time, and a pass of
 * inference. */
enum clv_status hidden_dual_open(struct hidden_dual *self, struct hidden *hidden, double lambda, const double *w,
                                 struct clv_error *err) CLV_CHECK;
void hidden_dual_release(struct hidden_dual *self); /* also after a failure, and of zeros */

/* Another plane: all bounds stay true, the average starts anew. */
void hidden_dual_set_plane(struct hidden_dual *self, const double *plane);

/* A step for each example, in an order drawn by (seed, pass). */
enum clv_status hidden_dual_pass(struct hidden_dual *self, uint64_t seed, size_t pass, struct clv_error *err) CLV_CHECK;

#endif
