/* Dense SIFT on a grid that covers the whole image: every pixel has a nearest descriptor, images down to 1x1 included. */
#ifndef FEATURE_SIFT_H
#define FEATURE_SIFT_H

#include "cleave/features.h"

/* The descriptor of cell (c, r) describes the pixels x in [c*step, (c+1)*step), y likewise, and is centred on that cell. */
struct sift_grid {
    int32_t n_columns, n_rows, step_px;
    uint8_t *values; /* [n_rows][n_columns][128]; all zero where the image is flat */
};

void sift_grid_release(struct sift_grid *grid);

/* grey[height][width] in 0..1. Spatial bins of bin_px: a descriptor sees 4 x 4 of them; the image is smoothed for that scale
 * first and goes on beyond its borders as its outermost pixels do. O(pixels + cells). */
enum clv_status sift_extract(struct sift_grid *grid, const float *grey, int32_t width, int32_t height, int32_t bin_px,
                             int32_t step_px, struct clv_error *err) CLV_CHECK;

#endif
