#ifndef BATCH_BOX_OBJECTS_H
#define BATCH_BOX_OBJECTS_H

#include "base/base.h"
#include "batch/inputs.h"
#include "cleave/boxes.h"
#include "cleave/objects.h"

/* Whether the box belongs to the object: both name one mask, or neither does. */
bool box_is_of_object(const struct clv_box *box, const char *object);

/* The boxes of the input's object, placed in its image: *placed (array_free it) and *n of them. Notes boxes that reach
 * out of it; without `progress` nothing is said. */
enum clv_status box_inputs_place(struct clv_box **placed, size_t *n, const struct input *input,
                                 const struct clv_boxes *boxes, const struct clv_image *image,
                                 const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* The result of cutting the boxes of an image. */
struct box_findings {
    size_t n, n_empty;     /* boxes, and those without a pixel of their own */
    char first_empty[200]; /* "box 2 of a.png", and why nothing is in it where that is known */
};

/* Makes an object of what each box holds, in their order, without those that are empty; its labels are values. A
 * pixel of labels[height][width] belongs to the smallest box of its value that covers it, else to the nearest: so it
 * follows from the mask and the boxes alone. `image` (may be empty) tells why a box is empty. O(pixels + those of all
 * boxes). */
enum clv_status box_inputs_objects(struct clv_object_map *map, struct box_findings *found, const struct input *input,
                                   const struct clv_boxes *boxes, const uint8_t *values, const uint8_t *labels,
                                   int32_t width, int32_t height, const struct clv_image *image,
                                   struct clv_error *err) CLV_CHECK;

/* Draws the object's boxes into the image. */
enum clv_status box_inputs_draw(struct clv_image *image, const struct input *input, const struct clv_boxes *boxes,
                                struct clv_error *err) CLV_CHECK;

#endif
