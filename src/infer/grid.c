/* Minimum cuts of pixel grids. Neighbours are offsets, so nothing is built: a pixel's residual capacities stand together, and the
 * arc opposite to direction k of pixel p is direction k ^ 1 of its neighbour. A frame of pixels without capacity saves looking
 * for borders. Elimination as in eliminate.c, then push-relabel, first in first out, with exact distances recomputed often: on
 * large grids highest label first, and gaps, took ten times as long. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cleave/infer.h"

#define FAR        (1 << 27) /* beyond any distance: grids have at most 2^26 pixels */
#define MAX_PIXELS (1 << 26)
#define UNDECIDED  2

/* Exact distances again after this many scans a pixel. */
#define SCANS_A_PIXEL 1

struct cut {
    int32_t stride, n_pixels; /* with the frame */
    int32_t offset[8];        /* right, left, below, above, below right, above left, below left, above right */
    int32_t *residual;        /* [n_pixels][4 or 8] */
    int32_t *excess, *distance;
    int32_t *queue;  /* [n_pixels + 1] of searches */
    int32_t *active; /* [n_pixels] ring of pixels with excess */
    uint8_t *label;
    int32_t n_core, head, tail; /* of the ring */
    int64_t work;
};

#define INLINE __attribute__((always_inline)) static inline

static void release(struct cut *cut)
{
    array_free(cut->residual);
    array_free(cut->excess);
    array_free(cut->distance);
    array_free(cut->queue);
    array_free(cut->active);
    array_free(cut->label);
}

static enum clv_status make_room(struct cut *cut, const struct clv_grid *grid, struct clv_error *err)
{
    cut->stride = grid->width + 2;
    cut->n_pixels = cut->stride * (grid->height + 2);
    int32_t s = cut->stride, offset[8] = {1, -1, s, -s, s + 1, -s - 1, s - 1, 1 - s};
    memcpy(cut->offset, offset, sizeof offset);
    size_t n = (size_t)cut->n_pixels;
    if ((cut->residual = array_zalloc_aligned(n, (size_t)grid->n_neighbours * sizeof *cut->residual)) &&
        (cut->excess = array_zalloc(n, sizeof *cut->excess)) &&
        (cut->distance = array_alloc(n, sizeof *cut->distance)) &&
        (cut->queue = array_alloc(n + 1, sizeof *cut->queue)) && (cut->active = array_alloc(n, sizeof *cut->active)) &&
        (cut->label = array_zalloc(n, 1)))
        return CLV_OK;
    return fail_memory(err);
}

/* The pixels that have a neighbour in the forward direction of coupling plane k: columns first .. last - 1 of the first n_rows. */
struct plane {
    int32_t first, last, n_rows;
};

static struct plane plane_of(const struct clv_grid *grid, int k)
{
    return (struct plane){k == 3, grid->width - (k == 0 || k == 2), grid->height - (k > 0)};
}

static const float *row_of(const float *values, const struct clv_grid *grid, int32_t y)
{
    return &values[(size_t)y * (size_t)grid->width];
}

/* The largest size of count values, NaN or infinite if one of them is. */
static float largest_of(const float *values, int32_t count)
{
    float largest = 0, taint = 0;
    for (int32_t x = 0; x < count; x++) {
        float size = fabsf(values[x]);
        largest = size > largest ? size : largest;
        taint += 0 * values[x];
    }
    return taint == 0 ? largest : NAN;
}

static float least_of(const float *values, int32_t count)
{
    float least = 0;
    for (int32_t x = 0; x < count; x++)
        least = values[x] < least ? values[x] : least;
    return least;
}

/* Checks all values; *unary and *coupling become the largest sizes. */
static enum clv_status check(const struct clv_grid *grid, float *unary, float *coupling, struct clv_error *err)
{
    if (grid->width < 1 || grid->height < 1 || (int64_t)grid->width * grid->height > MAX_PIXELS ||
        (grid->n_neighbours != 4 && grid->n_neighbours != 8))
        return fail(err, CLV_ERR_USAGE, "a grid of %dx%d pixels with %d neighbours", grid->width, grid->height,
                    grid->n_neighbours);
    for (int32_t y = 0; y < grid->height; y++) {
        const float *row = row_of(grid->unary, grid, y);
        float largest = largest_of(row, grid->width);
        *unary = largest > *unary ? largest : *unary;
        for (int32_t x = 0; !(largest <= FLT_MAX) && x < grid->width; x++)
            if (!isfinite(row[x]))
                return fail(err, CLV_ERR_DATA, "pixel (%d, %d): its unary score is %g", x, y, (double)row[x]);
    }
    for (int k = 0; k < grid->n_neighbours / 2; k++) {
        struct plane plane = plane_of(grid, k);
        for (int32_t y = 0; y < plane.n_rows; y++) {
            const float *row = row_of(grid->coupling[k], grid, y);
            float largest = largest_of(row + plane.first, plane.last - plane.first);
            int is_sound = largest <= FLT_MAX && least_of(row + plane.first, plane.last - plane.first) >= 0;
            *coupling = largest > *coupling ? largest : *coupling;
            for (int32_t x = plane.first; !is_sound && x < plane.last; x++)
                if (!(isfinite(row[x]) && row[x] >= 0))
                    return fail(err, CLV_ERR_DATA, "pixel (%d, %d): its coupling %d is %g", x, y, k, (double)row[x]);
        }
    }
    return CLV_OK;
}

/* By a power of two such that 8 couplings and a unary of the largest size together stay below 2^30. */
static void fill(struct cut *cut, const struct clv_grid *grid, float unary, float coupling)
{
    int exponent;
    frexp(unary + 8.0 * coupling, &exponent);
    double scale = ldexp(1, 29 - exponent);
    size_t n_arcs = (size_t)grid->n_neighbours;
    for (int32_t y = 0; y < grid->height; y++) {
        const float *row = row_of(grid->unary, grid, y);
        int32_t p = (y + 1) * cut->stride + 1;
        memset(&cut->label[p], UNDECIDED, (size_t)grid->width);
        for (int32_t x = 0; x < grid->width; x++)
            cut->excess[p + x] = (int32_t)rint(row[x] * scale);
        for (size_t k = 0; k < n_arcs / 2; k++) {
            struct plane plane = plane_of(grid, (int)k);
            const float *c = row_of(grid->coupling[k], grid, y);
            int32_t *there = &cut->residual[(size_t)p * n_arcs + 2 * k];
            int32_t *back = &cut->residual[(size_t)(p + cut->offset[2 * k]) * n_arcs + 2 * k + 1];
            for (int32_t x = plane.first; y < plane.n_rows && x < plane.last; x++)
                there[(size_t)x * n_arcs] = back[(size_t)x * n_arcs] = (int32_t)rint(c[x] * scale);
        }
    }
}

INLINE int32_t *arcs_of(const struct cut *cut, int32_t p, int n_arcs)
{
    return &cut->residual[(size_t)p * (size_t)n_arcs];
}

/* Decides pixel p if its excess outweighs its arcs to undecided pixels, and puts it in the queue. */
INLINE int32_t decide(struct cut *cut, int32_t p, int32_t tail, int n_arcs)
{
    const int32_t *arcs = arcs_of(cut, p, n_arcs);
    int32_t sum = 0;
    for (int k = 0; k < n_arcs; k++)
        sum += arcs[k];
    int is_one = cut->excess[p] > sum, is_zero = cut->excess[p] <= -sum;
    int is_fresh = (is_one | is_zero) & (cut->label[p] == UNDECIDED);
    cut->label[p] = is_fresh ? (uint8_t)is_one : cut->label[p];
    cut->queue[tail] = p;
    return tail + is_fresh;
}

INLINE void eliminate(struct cut *cut, int n_arcs)
{
    int32_t tail = 0, n_core = 0;
    for (int32_t p = 0; p < cut->n_pixels; p++)
        tail = decide(cut, p, tail, n_arcs);
    for (int32_t at = 0; at < tail; at++) {
        int32_t p = cut->queue[at], *arcs = arcs_of(cut, p, n_arcs);
        for (int k = 0; k < n_arcs; k++) {
            int32_t c = arcs[k], q = p + cut->offset[k];
            if (!c)
                continue;
            cut->excess[q] += cut->label[p] ? c : -c;
            arcs[k] = arcs_of(cut, q, n_arcs)[k ^ 1] = 0;
            tail = decide(cut, q, tail, n_arcs);
        }
    }
    for (int32_t p = 0; p < cut->n_pixels; p++)
        n_core += cut->label[p] == UNDECIDED;
    cut->n_core = n_core;
}

/* Exact distances of the undecided pixels from the nearest room; the decided have no arcs left. */
INLINE void measure(struct cut *cut, int n_arcs)
{
    int32_t *restrict distance = cut->distance, *restrict queue = cut->queue, tail = 0;
    for (int32_t p = 0; p < cut->n_pixels; p++) {
        int has_room = (cut->label[p] == UNDECIDED) & (cut->excess[p] < 0);
        distance[p] = has_room ? 0 : FAR;
        queue[tail] = p;
        tail += has_room;
    }
    for (int32_t at = 0; at < tail; at++) {
        int32_t p = queue[at], farther = distance[p] + 1;
        for (int k = 0; k < n_arcs; k++) {
            int32_t q = p + cut->offset[k];
            int is_fresh = (arcs_of(cut, q, n_arcs)[k ^ 1] > 0) & (distance[q] == FAR);
            distance[q] = is_fresh ? farther : distance[q];
            queue[tail] = q;
            tail += is_fresh;
        }
    }
}

/* Pushes pixel p's excess along its nearest neighbours until it is used up or p is cut off; p rises as it must. */
INLINE void discharge(struct cut *cut, int32_t p, int n_arcs)
{
    int32_t *arcs = arcs_of(cut, p, n_arcs), excess = cut->excess[p];
    while (excess) {
        uint32_t nearest = (uint32_t)FAR << 3; /* distance and direction in one number */
        for (int k = 0; k < n_arcs; k++) {
            uint32_t candidate = (uint32_t)cut->distance[p + cut->offset[k]] << 3 | (uint32_t)k;
            candidate = arcs[k] ? candidate : UINT32_MAX;
            nearest = candidate < nearest ? candidate : nearest;
        }
        int32_t k = nearest & 7, above = (int32_t)(nearest >> 3) + 1;
        cut->work++;
        above = above < FAR ? above : FAR;
        cut->distance[p] = above;
        if (above == FAR)
            break;
        int32_t q = p + cut->offset[k], amount = excess < arcs[k] ? excess : arcs[k], before = cut->excess[q];
        arcs[k] -= amount;
        arcs_of(cut, q, n_arcs)[k ^ 1] += amount;
        excess -= amount;
        cut->excess[q] = before + amount;
        if ((before <= 0) & (before + amount > 0)) {
            cut->active[cut->tail] = q;
            cut->tail = cut->tail + 1 == cut->n_pixels ? 0 : cut->tail + 1;
        }
    }
    cut->excess[p] = excess;
}

/* One round from exact distances. Returns 1 when it ended for having taken long. */
INLINE int push_round(struct cut *cut, int n_arcs)
{
    measure(cut, n_arcs);
    cut->head = cut->tail = 0;
    cut->work = 0;
    for (int32_t p = 0; p < cut->n_pixels; p++) {
        cut->active[cut->tail] = p;
        cut->tail += (cut->excess[p] > 0) & (cut->distance[p] < FAR);
    }
    if (!cut->tail)
        return 0;
    while (cut->work <= SCANS_A_PIXEL * (int64_t)cut->n_core) {
        if (cut->head == cut->tail)
            return 0;
        int32_t p = cut->active[cut->head];
        cut->head = cut->head + 1 == cut->n_pixels ? 0 : cut->head + 1;
        discharge(cut, p, n_arcs);
    }
    return 1;
}

/* The minimal source set among undecided pixels: what leftover excess reaches. */
INLINE void read_labels(struct cut *cut, int n_arcs)
{
    int32_t tail = 0;
    for (int32_t p = 0; p < cut->n_pixels; p++)
        if (cut->label[p] == UNDECIDED) {
            cut->label[p] = cut->excess[p] > 0;
            cut->queue[tail] = p;
            tail += cut->label[p];
        }
    for (int32_t at = 0; at < tail; at++)
        for (int k = 0; k < n_arcs; k++) {
            int32_t q = cut->queue[at] + cut->offset[k];
            int is_fresh = (arcs_of(cut, cut->queue[at], n_arcs)[k] > 0) & !cut->label[q];
            cut->label[q] |= (uint8_t)is_fresh;
            cut->queue[tail] = q;
            tail += is_fresh;
        }
}

INLINE void solve(struct cut *cut, int n_arcs)
{
    eliminate(cut, n_arcs);
    for (int more = cut->n_core > 0; more;)
        more = push_round(cut, n_arcs);
    read_labels(cut, n_arcs);
}

static void solve_4(struct cut *cut)
{
    solve(cut, 4);
}

static void solve_8(struct cut *cut)
{
    solve(cut, 8);
}

enum clv_status clv_grid_map(uint8_t *labels, const struct clv_grid *grid, struct clv_error *err)
{
    struct cut cut = {0};
    float unary = 0, coupling = 0;
    enum clv_status status = check(grid, &unary, &coupling, err);
    if (!status)
        status = make_room(&cut, grid, err);
    if (status)
        goto done;
    fill(&cut, grid, unary, coupling);
    if (grid->n_neighbours == 4)
        solve_4(&cut);
    else
        solve_8(&cut);
    for (int32_t y = 0; y < grid->height; y++)
        memcpy(&labels[(size_t)y * (size_t)grid->width], &cut.label[(size_t)(y + 1) * (size_t)cut.stride + 1],
               (size_t)grid->width);
done:
    release(&cut);
    return status;
}
