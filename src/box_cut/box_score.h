/* What is figure among the superpixels of a box, for clv_box_cut and for learning its weights. */
#ifndef BOX_CUT_BOX_SCORE_H
#define BOX_CUT_BOX_SCORE_H

#include "box_cut/box_weights.h"

/* values[n][BOX_FEATURES], to array_free: the features of all superpixels of the scene, rows of 0 outside the box. */
enum clv_status box_score_features(float **values, const struct box_affinity *affinity, int32_t rounds,
                                   struct clv_error *err) CLV_CHECK;

/* score[n]: the log odds of figure, 0 outside the box. */
enum clv_status box_score(double *score, const struct box_affinity *affinity, const struct box_weights *weights,
                          int32_t rounds, struct clv_error *err) CLV_CHECK;

#endif
