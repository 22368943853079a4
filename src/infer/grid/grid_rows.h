/* Minimum cuts of pixel grids that are given row by row: of large ones, or of windows into them, nothing but the cut is
 * in memory. */
#ifndef INFER_GRID_ROWS_H
#define INFER_GRID_ROWS_H

#include "cleave/infer.h"

/* What a pixel's label is on entry and on exit. */
enum { GRID_ZERO, GRID_ONE, GRID_UNDECIDED };

/* Row y's scores and couplings as struct clv_grid has them, checked already: pointers at `width` values each that stay
 * until the next call. Couplings across the border are not looked at. */
typedef void grid_row(void *context, const float **unary, const float *coupling[4], int32_t y);

struct grid_rows {
    int32_t width, height;                  /* at most 2^26 pixels */
    int32_t n_neighbours;                   /* 4 or 8 */
    double largest_unary, largest_coupling; /* sizes; of a window: the whole grid's, for like rounding */
    grid_row *row;                          /* asked for once each, from the top */
    void *context;
};

/* labels[height][width]: as clv_grid_map, but that labels which are not GRID_UNDECIDED on entry are fixed. */
enum clv_status grid_rows_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err) CLV_CHECK;

#endif
