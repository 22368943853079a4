/* How often each colour occurs in figure and in ground, near each place of an image and in all of it: counts over a
 * coarse grid of places and Lab colours, smoothed over neighbouring cells in all five directions. */
#ifndef REFINE_NEAR_COLOURS_H
#define REFINE_NEAR_COLOURS_H

#include "cleave/image.h"

struct near_colours {
    int32_t n_columns, n_rows; /* of places */
    int32_t *cell;             /* [height][width] place * colours + colour */
    size_t n_pixels, n_cells;
    float *counts;  /* [2][n_cells] ground, figure */
    float *overall; /* log-likelihood ratio of each colour */
};
void near_colours_release(struct near_colours *self);

/* Assigns pixels to cells. O(pixels). */
enum clv_status near_colours_init(struct near_colours *self, const struct clv_image *image,
                                  struct clv_error *err) CLV_CHECK;

/* Learns from a labelling[height][width], 0 or 1, that has both. O(pixels + cells). */
void near_colours_learn(struct near_colours *self, const uint8_t *labels);

/* unary[height][width] += near log((figure + a) / (ground + a)) of each pixel's cell + overall times the ratio of its
 * colour. */
void near_colours_add(float *unary, const struct near_colours *self, double near, double overall);

#endif
