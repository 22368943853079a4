/* Minimum cuts of pixel grids that are given row by row: of large ones, or of windows into them, nothing but the cut is
 * in memory. */
#ifndef INFER_GRID_GRID_H
#define INFER_GRID_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/machine.h"
#include "cleave/infer.h"

/* Labels of pixels on entry and on exit. Pixels that are AWAY are left out: nothing is coupled with them. */
enum { GRID_ZERO, GRID_ONE, GRID_UNDECIDED, GRID_AWAY };

/* Row y's scores and couplings as struct clv_grid has them, checked already: pointers at `width` values each that stay
 * until the next call. Couplings across the border and values of pixels that are away are not looked at. */
typedef void grid_row(void *context, const float **unary, const float *coupling[4], int32_t y);

/* Rounding of scores to whole numbers. */
struct grid_scale {
    double scale;  /* a power of two */
    double limit;  /* to which unaries are clipped, INFINITY: none is */
    bool is_exact; /* rounding would lose what decides beside hard couplings: grid_exact.c */
};

/* Sizes of a grid's numbers; zeros at first. */
struct grid_sizes {
    float unary, coupling;     /* the largest ones */
    int64_t n_zeros;           /* unaries */
    int32_t exponents[4][256]; /* numbers of unaries by the exponents of their sizes, in any of four lists */
};

/* Adds n finite unaries. */
void grid_sizes_add(struct grid_sizes *sizes, const float *unary, int32_t n);

struct grid_scale grid_scale_of(const struct grid_sizes *sizes);

struct grid_rows {
    int32_t width, height;   /* at most 2^26 pixels */
    int32_t n_neighbours;    /* 4 or 8 */
    struct grid_scale scale; /* of a window: the whole grid's, for like rounding */
    grid_row *row;           /* asked for once each, from the top */
    void *context;
};

/* labels[height][width]: as clv_grid_map, but that labels which are not GRID_UNDECIDED on entry are fixed. What is away
 * costs next to nothing. */
enum clv_status grid_rows_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err) CLV_CHECK;

/* Does the same without rounding. Memory: about 250 bytes per open pixel with 4 neighbours, 400 with 8. */
enum clv_status grid_exact_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err) CLV_CHECK;

/* grid/: minimum cuts of pixel grids; read grid.c first. A cut in the making: what grid.c fills, grid_levels.c starts
 * with flow from coarser grids, grid_ibfs.c solves. Neighbours are offsets, so nothing is built: the arc opposite to
 * arc k of pixel p is arc k ^ 1 of its neighbour. A frame of pixels without capacity saves looking for borders; pixels
 * that are away are like it, and only those beside the others are ever looked at. */

/* State that follows a pixel's residual capacities. */
struct grid_state {
    int32_t excess;    /* what the source can still send into the pixel; below 0: a deficit, for the sink */
    int32_t distance;  /* level in a source tree; below 0: in a sink tree; 0: in none */
    int32_t next;      /* orphan of the same level */
    uint8_t parent;    /* 1 + the arc that leads there, GRID_ROOT or GRID_NONE */
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
    struct grid_run *runs; /* those of row y, which are not away, are runs[row_runs[y]] .. runs[row_runs[y + 1] - 1] */
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

/* Pixel (x, y). */
INLINE int32_t pixel_at(const struct grid_cut *cut, int32_t x, int32_t y)
{
    return (y + 1) * cut->stride + x + 1;
}

/* Runs of pixels that are not GRID_AWAY in labels[height][width]. Records that are looked at are zeroed. */
enum clv_status grid_cut_init(struct grid_cut *cut, int32_t width, int32_t height, int32_t n_arcs,
                              const uint8_t *labels, struct clv_error *err) CLV_CHECK;

/* The grid of half the sides, blocks of 2 x 2 pixels as its pixels. */
enum clv_status grid_cut_init_half(struct grid_cut *cut, const struct grid_cut *fine, struct clv_error *err) CLV_CHECK;
void grid_cut_release(struct grid_cut *cut);

/* Fills the grid of half the sides; none of small grids and of those without a core. */
enum clv_status grid_coarsen(struct grid_cut *coarse, const struct grid_cut *fine, struct clv_error *err) CLV_CHECK;

/* Takes over the flow of row y of the coarse grid: pixels above row 2 y + 2 get no more afterwards. */
void grid_project(struct grid_cut *fine, const struct grid_cut *coarse, int32_t y);

/* Extends any flow to a maximum one. The flow of a coarse grid, if it has records, is taken over first, and they are
 * released. Afterwards the undecided pixels that excess still reaches are those of distance > 0, and none of them
 * has a deficit. */
enum clv_status grid_grow(struct grid_cut *cut, struct grid_cut *coarse, struct clv_error *err) CLV_CHECK;

#endif
