/* Where nodes are within their image's boxes: features that follow from a box, so known in training only. */
#ifndef FEATURE_FRAME_H
#define FEATURE_FRAME_H

#include "cleave/features.h"

/* The boxes of an item. */
struct item_boxes {
    struct clv_pixel_box *boxes; /* of the original image; NULL: nothing is known of the item */
    size_t n_boxes;              /* with boxes not NULL, 0 says that there is no object */
};

/* Estimates how likely each pixel is figure, from one image and its boxes alone: figure[height][width] in 0..1.
 * Called on any thread. */
typedef enum clv_status figure_estimate(float *figure, const struct clv_image *image, const struct item_boxes *boxes,
                                        struct clv_error *err);

/* Adds the example's frame to a dataset of frames: a problem with the same nodes and no edges. Features: soft bins
 * of an 8 x 8 grid over the box, and the share of pixels outside of all boxes. Of several boxes a pixel is in that
 * whose centre is nearest in box sizes. An item without known boxes has no features. theta is the estimate[n_nodes]
 * of what is figure, if there is one, NULL else. O(pixels x boxes). */
enum clv_status frame_add(struct clv_dataset *frames, const struct clv_example *example, const struct item_boxes *boxes,
                          const float *estimate, const char *name, struct clv_error *err) CLV_CHECK;

#endif
