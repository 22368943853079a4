/* Where nodes lie within their image's boxes: features that a box tells, so known in training only. */
#ifndef FEATURE_FRAME_H
#define FEATURE_FRAME_H

#include "cleave/features.h"

/* Adds the example's frame to a dataset of frames: a problem with the same nodes and no edges. Features: soft bins of an 8 x 8
 * grid over the box, the share of pixels outside of all boxes, soft bins of the opinion, and last the opinion itself. Of
 * several boxes a pixel lies in that whose centre is nearest in box sizes. An item without known boxes has no features.
 * opinion[n_nodes] may be NULL. O(pixels x boxes). */
enum clv_status frame_add(struct clv_dataset *frames, const struct clv_example *example,
                          const struct clv_item_boxes *boxes, const float *opinion, const char *name,
                          struct clv_error *err) CLV_CHECK;

#endif
