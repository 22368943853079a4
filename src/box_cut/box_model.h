/* What is figure among the superpixels of a box, for clv_box_cut. */
#ifndef BOX_CUT_BOX_MODEL_H
#define BOX_CUT_BOX_MODEL_H

#include "box_cut/box_scene.h"
#include "cleave/box_cut.h"

/* figure[n] = 1 where the minimum cut of the last round says so, odds[n] = the log odds of figure that it cut
 * (superpixels outside the box: 0 and no odds). */
enum clv_status box_model_solve(int32_t *figure, float *odds, const struct box_scene *scene,
                                const struct clv_box_cut_options *options, struct clv_error *err) CLV_CHECK;

#endif
