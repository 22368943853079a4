/* Ordinary images of rasters' bands, and what a training learns for it (struct clv_bands). */
#ifndef IMAGE_BANDS_H
#define IMAGE_BANDS_H

#include "image/raster/raster.h"

/* From n files: percentiles of pixels spread evenly over each, and the colours' weights: red, green and blue as they
 * are where all files have them, one band as grey, else the leading three principal components (Pearson 1901; of
 * standardised bands), of the lengths of their deviations. CLV_ERR_DATA names a file of another number of bands than
 * the first, and a band without any value. O(files x looked at). */
enum clv_status bands_learn(struct clv_bands *bands, const char *const *paths, size_t n,
                            const struct clv_image_limits *limits, const struct clv_progress *progress,
                            struct clv_error *err) CLV_CHECK;

/* *image is a new one. bands NULL: by the raster's own values. CLV_ERR_DATA for another number of bands. O(pixels). */
enum clv_status bands_show(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                           struct clv_error *err) CLV_CHECK;

#endif
