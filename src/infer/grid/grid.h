/* Minimum cuts of pixel grids whose scores are read row by row, so that of a large grid, or of a window into it, only
 * the cut is in memory. */
#ifndef INFER_GRID_GRID_H
#define INFER_GRID_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/machine.h"
#include "cleave/infer.h"

/* Labels of pixels on entry and on exit. GRID_AWAY pixels do not belong to the grid and are coupled with nothing. */
enum { GRID_ZERO, GRID_ONE, GRID_UNDECIDED, GRID_AWAY };

/* Returns the scores and couplings of row y in the layout of struct clv_grid, already checked: pointers to `width`
 * values each, valid until the next call. Couplings across the border and values of GRID_AWAY pixels are not read. */
typedef void grid_row(void *context, const float **unary, const float *coupling[4], int32_t y);

/* Rounding of scores to whole numbers. */
struct grid_scale {
    double scale;  /* a power of two */
    double limit;  /* size to which unaries are clipped, INFINITY: none is */
    bool is_exact; /* hard couplings leave too few digits for rounding: use grid_exact.c */
};

/* Sizes of a grid's scores. Zeros initialise it. */
struct grid_sizes {
    float unary, coupling;     /* largest sizes */
    int64_t n_zeros;           /* unaries that are 0 */
    int32_t exponents[4][256]; /* number of unaries by exponent, as the sum of four lists */
};

/* Adds n finite unaries. */
void grid_sizes_add(struct grid_sizes *sizes, const float *unary, int32_t n);

/* Returns how to round and clip the scores of a grid with these sizes. */
struct grid_scale grid_scale_of(const struct grid_sizes *sizes);

struct grid_rows {
    int32_t width, height;   /* at most 2^26 pixels */
    int32_t n_neighbours;    /* 4 or 8 */
    struct grid_scale scale; /* for a window that of the whole grid, to round equally */
    grid_row *row;           /* called once per row, from the top */
    void *context;
};

/* Sets labels[height][width] as clv_grid_map does, except that labels other than GRID_UNDECIDED on entry are fixed.
 * GRID_AWAY pixels take almost no time. */
enum clv_status grid_rows_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err) CLV_CHECK;

/* Does the same without rounding. Memory: about 250 bytes per open pixel with 4 neighbours, 400 with 8. */
enum clv_status grid_exact_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err) CLV_CHECK;

/* A grid cut, which grid.c fills, grid_levels.c starts with flow from coarser grids, and grid_ibfs.c solves. Read
 * grid.c first. Neighbours are found by offsets, so no graph is built: the arc opposite to arc k of pixel p is arc k ^
 * 1 of its neighbour. A frame of pixels without capacity saves checks for the border. GRID_AWAY pixels have no capacity
 * either; only those beside other pixels are read. */

/* State of a pixel, stored after its residual capacities. */
struct grid_state {
    int32_t excess;    /* flow that cannot leave the pixel yet; below 0: a deficit, which the sink could take */
    int32_t distance;  /* level in a source tree; below 0: in a sink tree; 0: in none */
    int32_t next;      /* next orphan of the same level */
    uint8_t parent;    /* 1 + the arc to the parent, GRID_ROOT or GRID_NONE */
    uint8_t is_listed; /* 1: in a list of source trees, 2: of sink trees */
    uint8_t label;
};
enum { GRID_NONE, GRID_ROOT = 9 };

/* A record: the residual capacities right, left, below, above and, with 8 arcs, below right, above left, below left,
 * above right; then the state. */
#define GRID_STATE_WORDS 4

/* Pixels first .. end - 1 of a row. */
struct grid_run {
    int32_t first, end;
};

struct grid_cut {
    int32_t width, height, n_arcs;
    int32_t stride, n_pixels; /* with the frame */
    int32_t offset[8];
    int32_t *records;      /* [n_pixels][n_arcs + GRID_STATE_WORDS] */
    int32_t n_core;        /* undecided pixels */
    struct grid_run *runs; /* row y has runs[row_runs[y]] .. runs[row_runs[y + 1] - 1] */
    int32_t *row_runs;     /* [height + 1] */
    bool has_away;
};

/* n_arcs is a constant wherever speed matters, so that loops over arcs unroll. */
INLINE int32_t *arcs_of(const struct grid_cut *cut, int32_t p, int n_arcs)
{
    return &cut->records[(size_t)p * ((size_t)n_arcs + GRID_STATE_WORDS)];
}

INLINE struct grid_state *state_of(const struct grid_cut *cut, int32_t p, int n_arcs)
{
    return (struct grid_state *)(arcs_of(cut, p, n_arcs) + n_arcs);
}

/* Returns the index of pixel (x, y). */
INLINE int32_t pixel_at(const struct grid_cut *cut, int32_t x, int32_t y)
{
    return (y + 1) * cut->stride + x + 1;
}

/* Initialises a cut: finds the runs of pixels of labels[height][width] that are not GRID_AWAY, and zeroes the records
 * that are read later. */
enum clv_status grid_cut_init(struct grid_cut *cut, int32_t width, int32_t height, int32_t n_arcs,
                              const uint8_t *labels, struct clv_error *err) CLV_CHECK;

/* Initialises a cut of half the width and height, whose pixels are blocks of 2 x 2 pixels. */
enum clv_status grid_cut_init_half(struct grid_cut *cut, const struct grid_cut *fine, struct clv_error *err) CLV_CHECK;
void grid_cut_release(struct grid_cut *cut);

/* Initialises and fills the grid of half the width and height. Does nothing if the grid is small or has no core. */
enum clv_status grid_coarsen(struct grid_cut *coarse, const struct grid_cut *fine, struct clv_error *err) CLV_CHECK;

/* Takes over the flow of row y of the coarse grid. After that, pixels above row 2 y + 2 get no more flow from it. */
void grid_project(struct grid_cut *fine, const struct grid_cut *coarse, int32_t y);

/* Extends any flow to a maximum one. If `coarse` has records, its flow is taken over first and they are released.
 * Afterwards the undecided pixels that excess still reaches are those of distance > 0, and none of them has a
 * deficit. */
enum clv_status grid_grow(struct grid_cut *cut, struct grid_cut *coarse, struct clv_error *err) CLV_CHECK;

#endif
