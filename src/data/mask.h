/* Masks from decoded images: values (mask.c), or colours and 16 bits (mask_wide.c); mask_read.c chooses. */
#ifndef DATA_MASK_H
#define DATA_MASK_H

#include <stdbool.h>

#include "cleave/data.h"

/* Maps an image's values to labels; `name` is the file, for messages. */
enum clv_status mask_from_indexed(struct clv_mask *mask, const struct clv_indexed_image *image, const char *name,
                                  const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* What a mask has to be: of this size, unless 0, and within these limits (NULL: the default ones). */
struct mask_wanted {
    int32_t width, height;
    const struct clv_image_limits *limits;
};

/* Whether the bytes begin a PNG of 16-bit grey, RGB or alpha; and the mask from such a one. */
bool mask_is_wide(const unsigned char *bytes, size_t size);
enum clv_status mask_from_wide(struct clv_mask *mask, const unsigned char *bytes, size_t size, const char *name,
                               const struct clv_labels *labels, const struct mask_wanted *wanted,
                               struct clv_error *err) CLV_CHECK;

/* The mask of a label image of objects: each of them is label 1, the rest label 0. */
enum clv_status mask_from_instances(struct clv_mask *mask, const char *path, const struct clv_labels *labels,
                                    int32_t expected_width, int32_t expected_height,
                                    const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* The note of a mask of 0 and one other value, which was read as 1. */
extern const char mask_other_value_note[];

#endif
