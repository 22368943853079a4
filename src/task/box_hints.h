/* The boxes of a set's images, from one file or folder or from those that its manifest names. */
#ifndef TASK_BOX_HINTS_H
#define TASK_BOX_HINTS_H

#include "cleave/segment.h"
#include "feature/dataset/frame.h"
#include "task/training_set.h"

/* boxes[n_items], array_free each item's and the whole. */
void box_hints_free(struct item_boxes *boxes, size_t n_items);

/* Finds and places the boxes of the set's images; options->boxes NULL: from the files that the items name. Images
 * without boxes are left out of the set, and notes name the first of them next to what the file has that neither they
 * nor `others` have taken. Notes count the boxes that were cut at their image's border, too. Images whose boxes do not
 * fit are left out and go to `bad`. An error if none has boxes. */
enum clv_status box_hints_read(struct item_boxes **boxes, struct clv_set *set, struct bad_images *bad,
                               const struct clv_set *others, const struct clv_train_options *options,
                               struct clv_error *err) CLV_CHECK;

#endif
