/* Minimum cuts of pixel grids: from scores to labels. Pixels whose unary score outweighs their couplings are decided at
 * once (as in cut/persistency.c); the rest, the core, is solved by grid_levels.c and grid_ibfs.c. grid_exact.c solves
 * grids whose scores do not fit whole numbers of 26 bits. Start at clv_grid_map. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "infer/grid/grid.h"
#include "infer/infer.h"

#define MAX_PIXELS (1 << 26)

/* A unary of the largest size and eight couplings stay below 2^VALUE_BITS, so that the sums of grid_levels.c do not
 * overflow. */
#define VALUE_BITS 26

/* Rounding is fine enough if at most a quarter of the unaries have fewer than QUARTER_BITS bits, and at most one in 32
 * fewer than FEWEST_BITS. */
#define QUARTER_BITS 14
#define FEWEST_BITS  10

/* The pixels that have a neighbour in the forward direction of coupling plane k: columns first .. last - 1 of the
 * first n_rows. */
struct plane {
    int32_t first, last, n_rows;
};

static struct plane plane_of(int32_t width, int32_t height, int k)
{
    return (struct plane){k == 3, width - (k == 0 || k == 2), height - (k > 0)};
}

static const float *row_of(const float *values, const struct clv_grid *grid, int32_t y)
{
    return &values[(size_t)y * (size_t)grid->width];
}

/* Returns the largest size of `count` values, infinite or NaN if one of them is. The bits of sizes compare like whole
 * numbers. */
static float largest_of(const float *values, int32_t count)
{
    int32_t largest = 0;
    for (int32_t x = 0; x < count; x++) {
        int32_t bits;
        memcpy(&bits, &values[x], sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    float size;
    memcpy(&size, &largest, sizeof size);
    return size;
}

static bool has_negative(const float *values, int32_t count)
{
    int32_t found = 0;
    for (int32_t x = 0; x < count; x++)
        found |= values[x] < 0;
    return found;
}

/* Counts sizes in four lists in turn, so that no count waits for the one before it. */
void grid_sizes_add(struct grid_sizes *sizes, const float *unary, int32_t n)
{
    int32_t n_zeros = 0;
    for (int32_t x = 0; x < n; x++)
        n_zeros += unary[x] == 0;
    sizes->n_zeros += n_zeros;
    for (int32_t x = 0; x < n; x++) {
        uint32_t bits;
        memcpy(&bits, &unary[x], sizeof bits);
        sizes->exponents[x & 3][bits >> 23 & 255]++;
    }
    float largest = largest_of(unary, n);
    sizes->unary = largest > sizes->unary ? largest : sizes->unary;
}

/* Returns how many unaries that are not 0 are below 2^power. */
static int64_t count_below(const struct grid_sizes *sizes, int power)
{
    int64_t n = -sizes->n_zeros;
    for (int k = 0; k < 256 && k - 127 < power; k++)
        for (int list = 0; list < 4; list++)
            n += sizes->exponents[list][k];
    return n;
}

/* Returns whether rounding to units of 2^(power - VALUE_BITS) is too coarse, by QUARTER_BITS and FEWEST_BITS. */
static bool loses_digits(const struct grid_sizes *sizes, int power)
{
    int64_t n = count_below(sizes, 256);
    return 4 * count_below(sizes, power - VALUE_BITS + QUARTER_BITS) > n ||
           32 * count_below(sizes, power - VALUE_BITS + FEWEST_BITS) > n;
}

/* Unaries far above all others are clipped always; other unaries that decide their pixels only if the rest needs the
 * digits that this gives. */
struct grid_scale grid_scale_of(const struct grid_sizes *sizes)
{
    double couplings = 8 * (double)sizes->coupling;
    struct grid_scale result = {.limit = unary_limit(sizes->unary, couplings, FLT_TRUE_MIN)};
    int exponent;
    frexp(fmin(sizes->unary, result.limit) + couplings, &exponent);
    if (couplings > 0 && sizes->unary > 2 * couplings && loses_digits(sizes, exponent)) {
        result.limit = 2 * couplings;
        frexp(result.limit + couplings, &exponent);
    }
    result.is_exact = couplings > 0 && loses_digits(sizes, exponent);
    result.scale = ldexp(1, VALUE_BITS - exponent);
    return result;
}

/* Checks all values and records their sizes. */
static enum clv_status check(struct grid_sizes *sizes, const struct clv_grid *grid, struct clv_error *err)
{
    if (grid->n_neighbours != 4 && grid->n_neighbours != 8)
        return fail(err, CLV_ERR_USAGE, "a grid with %d neighbours: must be 4 or 8", grid->n_neighbours);
    if (grid->width < 1 || grid->height < 1 || (int64_t)grid->width * grid->height > MAX_PIXELS)
        return fail(err, CLV_ERR_USAGE, "a grid of %dx%d pixels: must have 1 to %d", grid->width, grid->height,
                    MAX_PIXELS);
    for (int32_t y = 0; y < grid->height; y++) {
        const float *row = row_of(grid->unary, grid, y);
        float largest = largest_of(row, grid->width);
        for (int32_t x = 0; !(largest <= FLT_MAX) && x < grid->width; x++)
            if (!isfinite(row[x]))
                return fail(err, CLV_ERR_DATA, "pixel (%d, %d): its unary score is %g", x, y, (double)row[x]);
        grid_sizes_add(sizes, row, grid->width);
    }
    for (int k = 0; k < grid->n_neighbours / 2; k++) {
        struct plane plane = plane_of(grid->width, grid->height, k);
        for (int32_t y = 0; y < plane.n_rows; y++) {
            const float *row = row_of(grid->coupling[k], grid, y);
            float largest = largest_of(row + plane.first, plane.last - plane.first);
            bool is_sound = largest <= FLT_MAX && !has_negative(row + plane.first, plane.last - plane.first);
            sizes->coupling = largest > sizes->coupling ? largest : sizes->coupling;
            for (int32_t x = plane.first; !is_sound && x < plane.last; x++)
                if (!(isfinite(row[x]) && row[x] >= 0))
                    return fail(err, CLV_ERR_DATA, "pixel (%d, %d): its coupling %d is %g", x, y, k, (double)row[x]);
        }
    }
    return CLV_OK;
}

/* Rows of rounded couplings, a column of zeros on either side. */
struct rows {
    int32_t *memory;
    int32_t *now[4], *before[4]; /* [plane][x] */
};

static void rows_release(struct rows *rows)
{
    array_free(rows->memory);
}

static enum clv_status rows_init(struct rows *rows, int32_t width, struct clv_error *err)
{
    size_t size = (size_t)width + 2;
    rows->memory = array_zalloc(size, 8 * sizeof *rows->memory);
    for (size_t k = 0; k < 4 && rows->memory; k++) {
        rows->now[k] = rows->memory + 2 * k * size + 1;
        rows->before[k] = rows->memory + (2 * k + 1) * size + 1;
    }
    return rows->memory ? CLV_OK : fail_memory(err);
}

/* Rounds to the nearest whole number, halves to even: the last digit of a double above 2^52 is a unit. */
INLINE int32_t rounded(double value)
{
    double sum = value + 0x1.8p52;
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int32_t)bits;
}

/* Rounds row y of every plane; 0 where a pixel has no such neighbour. fixed[height][width] has the GRID_AWAY pixels. */
static void rows_next(struct rows *rows, const struct grid_cut *cut, const struct grid_rows *grid,
                      const float *const coupling[4], const uint8_t *fixed, int32_t y)
{
    static const int32_t step_x[4] = {1, 0, 1, -1};
    double scale = grid->scale.scale;
    for (int k = 0; k < grid->n_neighbours / 2; k++) {
        struct plane plane = plane_of(grid->width, grid->height, k);
        int32_t *restrict now = rows->before[k];
        rows->before[k] = rows->now[k];
        rows->now[k] = now;
        memset(now, 0, (size_t)grid->width * sizeof *now);
        const float *c = coupling[k];
        if (y >= plane.n_rows || !c)
            continue;
        const uint8_t *there = fixed + ((ptrdiff_t)y + (k > 0)) * grid->width + step_x[k];
        for (int32_t r = cut->row_runs[y]; r < cut->row_runs[y + 1]; r++) {
            int32_t first = cut->runs[r].first, end = smaller(cut->runs[r].end, plane.last);
            first = first > plane.first ? first : plane.first;
            for (int32_t x = first; x < end; x++)
                now[x] = rounded(c[x] * scale);
            for (int32_t x = first; x < end && cut->has_away; x++)
                now[x] &= -(there[x] != GRID_AWAY);
        }
    }
}

/* Returns the label that is optimal whatever the labels of the neighbours, 0 if both are, GRID_UNDECIDED if neither
 * is. */
INLINE uint8_t decided(int32_t excess, const int32_t *arcs, int n_arcs)
{
    int32_t sum = 0;
    for (int k = 0; k < n_arcs; k++)
        sum += arcs[k];
    return (uint8_t)(GRID_UNDECIDED - (excess > sum) - 2 * (excess <= -sum));
}

/* Fills the records of a run of row y. */
INLINE void fill_run(struct grid_cut *cut, struct grid_run run, const struct rows *rows, const float *unary,
                     const uint8_t *fixed, int32_t y, double scale, double limit, int n_arcs)
{
    int32_t *const *now = rows->now, *const *before = rows->before;
    for (int32_t x = run.first; x < run.end; x++) {
        int32_t p = pixel_at(cut, x, y), *arcs = arcs_of(cut, p, n_arcs);
        struct grid_state *state = state_of(cut, p, n_arcs);
        arcs[0] = now[0][x];
        arcs[1] = now[0][x - 1];
        arcs[2] = now[1][x];
        arcs[3] = before[1][x];
        if (n_arcs == 8) {
            arcs[4] = now[2][x];
            arcs[5] = before[2][x - 1];
            arcs[6] = now[3][x];
            arcs[7] = before[3][x + 1];
        }
        state->excess = rounded(unary_clip(unary[x], limit) * scale);
        state->label = fixed[x] != GRID_UNDECIDED ? fixed[x] : decided(state->excess, arcs, n_arcs);
    }
}

/* Removes the arcs of the decided pixels of a run. Their capacities are added to the scores of undecided neighbours,
 * which may be decided by that. Earlier neighbours are handled at once, later ones when their turn comes. */
INLINE void eliminate_run(struct grid_cut *cut, struct grid_run run, int32_t *stack, int32_t y, int n_arcs)
{
    for (int32_t at = pixel_at(cut, run.first, y), end = at + run.end - run.first; at < end; at++) {
        int32_t n = state_of(cut, at, n_arcs)->label != GRID_UNDECIDED;
        cut->n_core += 1 - n;
        stack[0] = at;
        while (n) {
            int32_t p = stack[--n], *arcs = arcs_of(cut, p, n_arcs);
            int32_t sign = 2 * state_of(cut, p, n_arcs)->label - 1;
            for (int k = 0; k < n_arcs; k++) {
                int32_t q = p + cut->offset[k], taken = arcs[k];
                struct grid_state *state = state_of(cut, q, n_arcs);
                if (!taken || state->label != GRID_UNDECIDED)
                    continue;
                int32_t *back = arcs_of(cut, q, n_arcs);
                state->excess += sign * taken;
                back[k ^ 1] = 0;
                state->label = decided(state->excess, back, n_arcs);
                int is_next = (state->label != GRID_UNDECIDED) & (q <= at);
                stack[n] = q;
                n += is_next;
                cut->n_core -= is_next;
            }
            memset(arcs, 0, (size_t)n_arcs * sizeof *arcs);
        }
    }
}

INLINE void eliminate_row(struct grid_cut *cut, int32_t *stack, int32_t y, int n_arcs)
{
    for (int32_t r = cut->row_runs[y]; r < cut->row_runs[y + 1]; r++)
        eliminate_run(cut, cut->runs[r], stack, y, n_arcs);
}

/* Fills the records row by row from the top, and decides pixels one row behind. The undecided ones are the core. */
INLINE void fill(struct grid_cut *cut, struct rows *rows, int32_t *stack, const uint8_t *fixed,
                 const struct grid_rows *grid, int n_arcs)
{
    double scale = grid->scale.scale, limit = grid->scale.limit;
    for (int32_t y = 0; y < grid->height; y++) {
        const float *unary, *coupling[4] = {NULL};
        grid->row(grid->context, &unary, coupling, y);
        rows_next(rows, cut, grid, coupling, fixed, y);
        for (int32_t r = cut->row_runs[y]; r < cut->row_runs[y + 1]; r++)
            fill_run(cut, cut->runs[r], rows, unary, fixed + (size_t)y * (size_t)grid->width, y, scale, limit, n_arcs);
        if (y > 0)
            eliminate_row(cut, stack, y - 1, n_arcs);
    }
    eliminate_row(cut, stack, grid->height - 1, n_arcs);
}

/* Reads the labels. The minimal source set is the pixels that the remaining excess reaches: the source trees. */
INLINE void read_labels(uint8_t *labels, const struct grid_cut *cut, int n_arcs)
{
    for (int32_t y = 0; y < cut->height; y++)
        for (int32_t r = cut->row_runs[y], end = cut->row_runs[y + 1]; r < end; r++) {
            const struct grid_run run = cut->runs[r];
            for (int32_t x = run.first; x < run.end; x++) {
                const struct grid_state *state = state_of(cut, pixel_at(cut, x, y), n_arcs);
                int is_source = (state->label == GRID_ONE) | ((state->label == GRID_UNDECIDED) & (state->distance > 0));
                labels[(size_t)y * (size_t)cut->width + (size_t)x] = (uint8_t)is_source;
            }
        }
}

static enum clv_status prepare(struct grid_cut *cut, const uint8_t *fixed, const struct grid_rows *grid,
                               struct clv_error *err)
{
    OWNED(rows_release) struct rows rows = {0};
    MUST(rows_init(&rows, grid->width, err));
    OWNED_ARRAY int32_t *stack = array_alloc((size_t)cut->width * (size_t)cut->height + 1, sizeof *stack);
    NEED(stack);
    if (cut->n_arcs == 4)
        fill(cut, &rows, stack, fixed, grid, 4);
    else
        fill(cut, &rows, stack, fixed, grid, 8);
    return CLV_OK;
}

/* Finds a maximum flow, starting from that of coarser grids. */
static enum clv_status solve(struct grid_cut *cut, struct clv_error *err)
{
    OWNED(grid_cut_release) struct grid_cut coarse = {0};
    MUST(grid_coarsen(&coarse, cut, err));
    if (coarse.records)
        MUST(solve(&coarse, err));
    return grid_grow(cut, &coarse, err);
}

enum clv_status grid_rows_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err)
{
    if (grid->scale.is_exact)
        return grid_exact_map(labels, grid, err);
    OWNED(grid_cut_release) struct grid_cut cut = {0};
    MUST(grid_cut_init(&cut, grid->width, grid->height, grid->n_neighbours, labels, err));
    MUST(prepare(&cut, labels, grid, err));
    MUST(solve(&cut, err));
    if (cut.n_arcs == 4)
        read_labels(labels, &cut, 4);
    else
        read_labels(labels, &cut, 8);
    return CLV_OK;
}

static void row_of_arrays(void *context, const float **unary, const float *coupling[4], int32_t y)
{
    const struct clv_grid *grid = context;
    *unary = row_of(grid->unary, grid, y);
    for (int k = 0; k < grid->n_neighbours / 2; k++)
        coupling[k] = row_of(grid->coupling[k], grid, y);
}

enum clv_status clv_grid_map(uint8_t *labels, const struct clv_grid *grid, struct clv_error *err)
{
    struct grid_sizes sizes = {0};
    struct clv_grid arrays = *grid;
    MUST(check(&sizes, grid, err));
    size_t n = (size_t)grid->width * (size_t)grid->height;
    OWNED_ARRAY uint8_t *result = array_alloc(n, 1); /* the caller's labels are unchanged on failure */
    NEED(result);
    memset(result, GRID_UNDECIDED, n);
    const struct grid_rows rows = {.width = grid->width,
                                   .height = grid->height,
                                   .n_neighbours = grid->n_neighbours,
                                   .scale = grid_scale_of(&sizes),
                                   .row = row_of_arrays,
                                   .context = &arrays};
    MUST(grid_rows_map(result, &rows, err));
    memcpy(labels, result, n);
    return CLV_OK;
}
