/* clv_box_cut with weights of one's own: for learning them. */
#ifndef BOX_CUT_BOX_CUT_H
#define BOX_CUT_BOX_CUT_H

#include "box_cut/box_weights.h"
#include "cleave/box_cut.h"
#include "feature/dataset/frame.h"

enum clv_status box_cut_weighted(uint8_t *labels, float *probability, const struct clv_image *image,
                                 const struct clv_box *box, const struct clv_box_cut_options *options,
                                 const struct box_weights *weights, struct clv_error *err) CLV_CHECK;

/* A figure_estimate: what box to cut (clv_box_cut) says, the larger one of several boxes'; half of it the labels
 * and half the probabilities. */
enum clv_status box_figure(float *figure, const struct clv_image *image, const struct item_boxes *boxes,
                           struct clv_error *err) CLV_CHECK;

#endif
