/* Masks from decoded PNGs. */
#ifndef DATA_MASK_H
#define DATA_MASK_H

#include "cleave/data.h"

/* Maps an image's values to labels; `name` is the file, for messages. */
enum clv_status mask_from_indexed(struct clv_mask *mask, const struct clv_indexed_image *image, const char *name,
                                  const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

#endif
