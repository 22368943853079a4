/* Dense SIFT on a grid that covers the whole image: every pixel has a nearest descriptor, images down to 1x1
 * included. */
#ifndef FEATURE_SIFT_H
#define FEATURE_SIFT_H

#include <stdbool.h>

#include "cleave/features.h"

enum { SIFT_ORIENTATIONS = 8, SIFT_LUMA_ONE = 256 };

/* Brightness in 1/SIFT_LUMA_ONE grey levels: ITU-R BT.601 in whole numbers. */
static inline int32_t sift_luma(const uint8_t *rgb)
{
    return 77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2];
}

/* Gradients by orientation, summed up so that the sum under any triangular window costs nine looks, whatever its
 * size: made once for all scales of an image. */
struct sift_integral {
    int32_t width, height; /* of the image */
    int32_t margin;        /* rows and columns before the image's first, as many (and a few) after its last */
    int32_t row_pixels;    /* columns with margins */
    uint32_t *sum;         /* [rows with margins][row_pixels][SIFT_ORIENTATIONS] */
};
void sift_integral_release(struct sift_integral *integral);

/* rgb[height][width][3], for the recipe's step and bins. O(pixels and margins). */
enum clv_status sift_integral_init(struct sift_integral *integral, const uint8_t *rgb, int32_t width, int32_t height,
                                   const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* The descriptor of cell (c, r) describes the pixels x in [c*step, (c+1)*step), y likewise, and is centred on that
 * cell. */
struct sift_grid {
    int32_t n_columns, n_rows;
    uint8_t *
        values; /* [n_rows][n_columns][128]: 4 x 4 spatial bins (rows first) of 8 orientations; zero where it is flat */
};
void sift_grid_release(struct sift_grid *grid);

/* One scale of the recipe. O(margins and cells). */
enum clv_status sift_extract(struct sift_grid *grid, const struct sift_integral *integral, int32_t bin_px,
                             int32_t step_px, struct clv_error *err) CLV_CHECK;

#endif
