/* The objects of an image whose pixels have labels. */
#ifndef TASK_LABEL_OBJECTS_H
#define TASK_LABEL_OBJECTS_H

#include "cleave/model.h"
#include "cleave/objects.h"

/* *map = the objects of labels[height][width] of an image: those that the model has learned to find, each with the label
 * of most of its pixels that are labelled; of a model that has not, connected pieces, by sides, of every label with a
 * name, but for a label 0 called "background". O(pixels) mostly. */
enum clv_status label_objects(struct clv_object_map *map, const uint8_t *labels, const struct clv_image *image,
                              const struct clv_model *model, struct clv_error *err) CLV_CHECK;

#endif
