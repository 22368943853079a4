/* Windows of TIFFs. */
#ifndef IMAGE_RASTER_TIFF_H
#define IMAGE_RASTER_TIFF_H

#include "image/raster/raster.h"

struct raster_tiff;

/* *tiff is NULL where the page is one that its colours are all of (palette, YCbCr, ..), which clv_image_decode reads;
 * else it, and what the raster says of it, are filled in; the place is in both cases. bytes must stay. */
enum clv_status raster_tiff_open(struct raster_tiff **tiff, struct raster *raster, const uint8_t *bytes, size_t size,
                                 uint32_t page, const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void raster_tiff_close(struct raster_tiff *self);

/* As raster_read, values `step` from pixel to pixel. */
enum clv_status raster_tiff_read(float *values, size_t step, struct raster_tiff *self, int32_t left, int32_t top,
                                 int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;

#endif
