/* How masks are written. */
#ifndef CLI_MASK_FILE_H
#define CLI_MASK_FILE_H

#include "cleave/data.h"

/* MASKS_AUTO is MASKS_PALETTE; MASKS_GREY has label numbers as grey values; MASKS_BINARY 0 and 255. */
enum mask_form { MASKS_AUTO, MASKS_GREY, MASKS_BINARY, MASKS_PALETTE };

/* CLV_ERR_USAGE: 0 and 255 of labels that they cannot tell. */
enum clv_status mask_form_check(enum mask_form form, const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* Writes label_of[height][width] as a PNG, all or nothing. In a palette two labels that no table names are black and
 * white, so that any viewer shows them; others have their own colours. */
enum clv_status mask_file_write(const char *path, int32_t width, int32_t height, const uint8_t *label_of,
                                enum mask_form form, const struct clv_labels *labels, struct clv_error *err) CLV_CHECK;

/* Back to labels[n] what an earlier run wrote as 0 and 255. */
void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image);

#endif
