/* Minimum cuts of a scene's superpixels, for clv_box_cut. */
#ifndef BOX_CUT_BOX_MINCUT_H
#define BOX_CUT_BOX_MINCUT_H

#include "box_cut/box_affinity.h"
#include "cleave/oracle.h"

struct box_mincut {
    const struct box_affinity *affinity;
    double *unary;    /* [n] */
    double *coupling; /* [n_edges] by length and contrast of the border, on the scale of unaries of mean size 1 */
    struct clv_oracle *oracle;
};
enum clv_status box_mincut_init(struct box_mincut *self, const struct box_affinity *affinity, double coupling,
                                struct clv_error *err) CLV_CHECK;
void box_mincut_release(struct box_mincut *self);

/* figure[n] = the best labels for score[n], the log odds of figure, which count by the superpixels' sizes; 0 outside
 * the box. */
enum clv_status box_mincut_solve(int32_t *figure, struct box_mincut *self, const double *score,
                                 struct clv_error *err) CLV_CHECK;

#endif
