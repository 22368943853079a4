/* A page of a TIFF, opened by libtiff; tiff.c (images), raster_tiff.c (windows of bands) and raster_write.c alone know
 * that library. */
#ifndef IMAGE_TIFF_FILE_H
#define IMAGE_TIFF_FILE_H

#include <tiffio.h>

#include "cleave/image.h"

struct tiff_file {
    TIFF *tiff;
    const uint8_t *bytes;
    size_t size, position;
    char message[200]; /* libtiff's first error */
    uint32_t width, height;
    uint16_t bits, n_samples, photometric, orientation, format;
};

/* Page `page`, from 1, of a file in memory, which is not copied: *self must not move until tiff_close, which ends it
 * whatever comes back. CLV_ERR_DATA, naming what: no such page, no size, sizes over the (resolved) limits. */
enum clv_status tiff_open(struct tiff_file *self, const uint8_t *bytes, size_t size, uint32_t page,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void tiff_close(struct tiff_file *self);

/* CLV_ERR_DATA with libtiff's first words, one line whatever the file put into them. */
enum clv_status tiff_corrupt(struct tiff_file *self, struct clv_error *err);

#endif
