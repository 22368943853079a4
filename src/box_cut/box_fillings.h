/* Proposals of what is figure in a box, for clv_box_cut. */
#ifndef BOX_CUT_BOX_FILLINGS_H
#define BOX_CUT_BOX_FILLINGS_H

#include "box_cut/box_features.h"

/* Adds the features of all fillings; q[n] and score[n] = soft labels and log odds of the middle one. `rounds` of
 * learning densities and cutting each. */
enum clv_status box_fillings_propose(double *q, double *score, struct box_features *features, int32_t rounds,
                                     struct clv_error *err) CLV_CHECK;

#endif
