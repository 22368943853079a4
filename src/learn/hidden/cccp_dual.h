/* The convex problem between two linearisations of the concave-convex procedure,
 *
 *     min_w  P(w) = lambda/2 |w|^2 + mean_i F_i(w) - <w, plane>    (Potts couplings >= 0)
 *
 * with the free terms F_i of objective.h, by block-coordinate Frank-Wolfe steps on its dual. Nothing to set: each
 * step's length is exact. */
#ifndef LEARN_CCCP_DUAL_H
#define LEARN_CCCP_DUAL_H

#include "base/array.h"
#include "learn/common/frank_wolfe.h"
#include "learn/hidden/objective.h"

struct hidden_dual {
    struct arena arena; /* of the arrays below */
    struct hidden *hidden;
    struct dual_point point; /* its w is where the next tangents are laid; dual_value(&point) <= min P */
    double *slope, *height;  /* [n][size], [n]: F_i(w) >= <slope, w> + height, a mixture of tangents */
    double *plane, *change;  /* [size] */
    double *average;         /* [size] of the iterates since the plane was laid, the t-th weighing t */
    double n_steps;          /* in the average */
    int32_t *order;          /* [n] */
};

/* O(n size) memory. */
enum clv_status hidden_dual_open(struct hidden_dual *self, struct hidden *hidden, double lambda,
                                 struct clv_error *err) CLV_CHECK;
void hidden_dual_release(struct hidden_dual *self); /* also after a failure, and of zeros */

/* Another plane: all bounds stay true, the average starts anew. */
void hidden_dual_set_plane(struct hidden_dual *self, const double *plane);

/* The first bounds: tangents at w[size] of the true labels' score. A pass of inference. */
enum clv_status hidden_dual_lay(struct hidden_dual *self, const double *w, struct clv_error *err) CLV_CHECK;

/* After bounds, v, average, n_steps and the point's loss were put back, with the plane that they belong to. */
void hidden_dual_resume(struct hidden_dual *self, const double *plane);

/* Steps for some examples of a pass, in an order drawn by (seed, pass), of which *n_taken have had theirs: all have
 * once that is n. */
enum clv_status hidden_dual_steps(size_t *n_taken, struct hidden_dual *self, uint64_t seed, size_t pass,
                                  struct clv_error *err) CLV_CHECK;

#endif
