/* Minimum cuts on the pixels of an image, whose graph is never built: to refine a mask at its border, for instance.
 *
 *     float unary[3][4] = ..., right[3][4] = ..., below[3][4] = ...;
 *     uint8_t labels[3][4];
 *     struct clv_grid grid = {.width = 4, .height = 3, .n_neighbours = 4, .unary = &unary[0][0],
 *                             .coupling = {&right[0][0], &below[0][0]}};
 *     if (clv_grid_map(&labels[0][0], &grid, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef CLEAVE_GRID_H
#define CLEAVE_GRID_H

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A two-label field on pixels: unary[height][width] is the score of label 1 minus that of label 0;
 * coupling[k][height][width] >= 0 is lost where a pixel's label differs from its neighbour's to the right (k = 0),
 * below (1) and, with 8 neighbours, below right (2) and below left (3). Couplings across the border are not looked
 * at. */
struct clv_grid {
    int32_t width, height; /* at most 2^26 pixels */
    int32_t n_neighbours;  /* 4 or 8 */
    const float *unary;
    const float *coupling[4];
};

/* labels[height][width] = argmax, exact, on a grid 2^-k with k as large as 26 bits allow for the largest unary plus
 * eight times the largest coupling; unaries above 8,192 such couplings, whose pixels are decided, take no digits from
 * the others. Ties are canonical, the fewest 1s. Working memory: at most 54 bytes a pixel with 4 neighbours, 71 with 8.
 * Refused: values that are not finite and negative couplings, naming the pixel. */
CLV_API enum clv_status clv_grid_map(uint8_t *labels, const struct clv_grid *grid, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
