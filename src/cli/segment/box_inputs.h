#ifndef CLI_SEGMENT_BOX_INPUTS_H
#define CLI_SEGMENT_BOX_INPUTS_H

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/objects.h"
#include "cli/common/common.h"

/* `cleave segment --boxes`: which boxes each output is cut from. */

/* Replaces the inputs by objects, views into `boxes`. An input whose own mask some boxes of its image name is cut from
 * these; otherwise its boxes are grouped by the masks they name, each group an object, and those that name none make
 * one together, under the image's name. Outputs of the others go by their masks, without the folder that all masks
 * share. Images without a box are left out, which a note reports; if none has one, CLV_ERR_NO_INPUT. A box that was
 * typed is each image's; CLV_ERR_DATA if it reaches out of one of several images. */
enum clv_status box_inputs_assign(struct input_list *inputs, const struct clv_boxes *boxes, const char *path,
                                  const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Reads the boxes, or takes the one that `path` is if it is no file but four numbers ("x,y,width,height"); names the
 * labels of the masks, and gives each label of the boxes its value: (*values)[boxes->n_labels], array_free them. Boxes
 * of one label are figure, 1; labels->names[1] is theirs. Several labels are values of their own: those of the
 * labels.tsv of the set at `data` (or NULL) if it names them all, else boxes_label_values. */
enum clv_status box_inputs_open(struct clv_boxes *boxes, struct clv_labels *labels, uint8_t **values, const char *path,
                                const char *data, struct clv_error *err) CLV_CHECK;

/* labels[height][width] = values[label] on what is figure in a box of the object, the smaller boxes' in front. Notes
 * boxes that reach out of the image. */
enum clv_status box_inputs_cut(uint8_t *labels, const struct input *input, const struct clv_boxes *boxes,
                               const uint8_t *values, const struct clv_image *image, struct clv_error *err) CLV_CHECK;

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
