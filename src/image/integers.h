/* Images of whole numbers, one a pixel: the numbers of objects. */
#ifndef IMAGE_INTEGERS_H
#define IMAGE_INTEGERS_H

#include "cleave/image.h"

struct integer_image {
    int32_t width, height;
    int32_t *values; /* [height][width], 0 or more */
};
void integer_image_release(struct integer_image *image);

/* Reads them as they are stored: PNG of one grey value of up to 16 bits a pixel, or of palette indices, and TIFF (or a
 * page of one) of a number of up to 32 bits. Orientation is applied. Errors (CLV_ERR_DATA) name the file: other
 * formats, negative numbers. O(pixels). */
enum clv_status integer_image_read(struct integer_image *image, const char *path, const struct clv_image_limits *limits,
                                   struct clv_error *err) CLV_CHECK;

/* Writes all or nothing: grey PNG of 16 bits (values up to 65,535), or an uncompressed TIFF of 32 bits. */
enum clv_status integer_image_write_png(const char *path, const struct integer_image *image,
                                        struct clv_error *err) CLV_CHECK;
enum clv_status integer_image_write_tiff(const char *path, const struct integer_image *image,
                                         struct clv_error *err) CLV_CHECK;

#endif
