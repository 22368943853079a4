/* Finding an image's boxes, and saying where one stands in its file. */
#ifndef DATA_BOXES_FIND_H
#define DATA_BOXES_FIND_H

#include "cleave/boxes.h"

/* Fills by_stem. O(n log n). */
enum clv_status boxes_index(struct clv_boxes *boxes, struct clv_error *err) CLV_CHECK;

/* "line", "object" ..: what clv_box.place counts. */
const char *boxes_place_word(enum clv_boxes_form form);

/* Bytes of the "1a2b3c4d-" that Label Studio puts before the names of files; 0: there is none. */
size_t boxes_upload_prefix(const char *name);

#endif
