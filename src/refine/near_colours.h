/* How often each colour occurs in figure and in ground, near each place of an image and in all of it: counts over a
 * coarse grid of places and Lab colours, smoothed over neighbouring cells in all five directions. */
#ifndef REFINE_NEAR_COLOURS_H
#define REFINE_NEAR_COLOURS_H

#include "base/machine.h"
#include "cleave/image.h"

#define NEAR_COLOURS_BINS 12 /* of lightness, a and b */
#define NEAR_COLOURS_ALL  (NEAR_COLOURS_BINS * NEAR_COLOURS_BINS * NEAR_COLOURS_BINS)

struct near_colours {
    int32_t width, height;
    int32_t n_columns, n_rows;   /* of places */
    uint16_t *colour;            /* [height][width] */
    int32_t *column_of, *row_of; /* [width], [height] the places' */
    size_t n_cells;              /* places * colours */
    float *counts;               /* [2][n_cells] ground, figure */
    float *overall;              /* log-likelihood ratio of each colour */
};
void near_colours_release(struct near_colours *self);

/* Assigns pixels to cells. O(pixels); 2 bytes a pixel. */
enum clv_status near_colours_init(struct near_colours *self, const struct clv_image *image,
                                  struct clv_error *err) CLV_CHECK;

/* Learns from labels[height][width], of which `figure` is one side and all others are the other; there are both.
 * O(pixels + cells). */
void near_colours_learn(struct near_colours *self, const uint8_t *labels, uint8_t figure);

/* The cell of pixel (x, y). */
INLINE size_t near_colours_cell(const struct near_colours *self, int32_t x, int32_t y)
{
    size_t place = (size_t)self->row_of[y] * (size_t)self->n_columns + (size_t)self->column_of[x];
    return place * NEAR_COLOURS_ALL + self->colour[(size_t)y * (size_t)self->width + (size_t)x];
}

/* score[n_cells] = near log((figure + a) / (ground + a)) of a cell + overall times the ratio of its colour; of cells
 * with a pixel. */
void near_colours_score(float *score, const struct near_colours *self, double near, double overall);

#endif
