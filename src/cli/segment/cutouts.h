/* Cut-outs: the object alone, on transparency. */
#ifndef CLI_CUTOUTS_H
#define CLI_CUTOUTS_H

#include <stdbool.h>

#include "cleave/data.h"

/* Which labels are the object: those of `names`, comma-separated names or numbers; NULL: all but label 0.
 * CLV_ERR_USAGE for one that the model lacks. */
enum clv_status cutout_choose(bool is_object[256], const char *names, const struct clv_labels *labels,
                              struct clv_error *err) CLV_CHECK;

/* Writes the object of labels[height][width] as RGBA PNG, all or nothing; cropped to it with `crop`. "-" is standard
 * output. */
enum clv_status cutout_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                             const bool is_object[256], bool crop, struct clv_error *err) CLV_CHECK;

#endif
