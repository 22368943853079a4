#ifndef BATCH_BOX_OBJECTS_H
#define BATCH_BOX_OBJECTS_H

#include "base/base.h"
#include "batch/inputs.h"
#include "cleave/boxes.h"
#include "cleave/objects.h"

/* Whether the box belongs to the object: both name the same mask, or neither names one. */
bool box_is_of_object(const struct clv_box *box, const char *object);

/* Lists the boxes of the input's object in pixels of its image: *placed, of *n boxes, which the caller frees with
 * array_free. Boxes that reach out of the image are cut, which a note reports unless progress is NULL. */
enum clv_status box_inputs_place(struct clv_box **placed, size_t *n, const struct input *input,
                                 const struct clv_boxes *boxes, const struct clv_image *image,
                                 const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* How many boxes of an image have objects. */
struct box_findings {
    size_t n, n_empty;     /* boxes, and boxes without an object */
    char first_empty[200]; /* "box 2 of a.png", and why it is empty if that is known */
};

/* Makes an object of the pixels of each box, in the order of boxes, without empty boxes; labels of objects are
 * `values`. A pixel of labels[height][width] belongs to the smallest box of its label that covers it, else to the
 * nearest box of its label. The pixels of `image`, which may be missing, tell why a box is empty. O(pixels + pixels of
 * all boxes). */
enum clv_status box_inputs_objects(struct clv_object_map *map, struct box_findings *found, const struct input *input,
                                   const struct clv_boxes *boxes, const uint8_t *values, const uint8_t *labels,
                                   int32_t width, int32_t height, const struct clv_image *image,
                                   struct clv_error *err) CLV_CHECK;

/* Draws the object's boxes into the image. */
enum clv_status box_inputs_draw(struct clv_image *image, const struct input *input, const struct clv_boxes *boxes,
                                struct clv_error *err) CLV_CHECK;

#endif
