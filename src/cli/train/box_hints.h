/* The boxes of a set's images, from one file or folder or from those that its manifest names. */
#ifndef CLI_BOX_HINTS_H
#define CLI_BOX_HINTS_H

#include "cleave/features.h"

/* boxes[n_items], array_free each item's and the whole. */
void box_hints_free(struct clv_item_boxes *boxes, size_t n_items);

/* Finds and places the boxes of the set's images; `path` NULL: from the files that the items name. Images without boxes are
 * left out of the set, which a note counts, and so does one boxes that were cut at their image's border. An error if none has
 * boxes. */
enum clv_status box_hints_read(struct clv_item_boxes **boxes, struct clv_set *set, const char *path,
                               const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
