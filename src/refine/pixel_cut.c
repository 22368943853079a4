/* Computes minimum cuts of images, of large ones in windows. Parts whose pixels all prefer one label are left out
 * (quiet_tiles.c). Each window is solved with undecided pixels around it at 0 and at 1, which bounds the labels of the
 * whole cut; the few pixels that remain undecided are improved window by window. Start at pixel_cut, at the end. */
#include "refine/refine.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "infer/grid/grid.h"

#define MAX_SWEEPS 4

/* Windows with 1 / across of the image's sides, shifted by shares of a window's sides. The cheapest passes come
 * first. */
static const struct pass {
    int across;
    double right, down;
} passes[] = {{5, 0, 0}, {5, 0.5, 0.5}, {5, 0.5, 0}, {5, 0, 0.5}, {4, 0, 0}, {4, 0.5, 0.5}, {4, 0.5, 0}, {4, 0, 0.5}};
enum { N_PASSES = sizeof passes / sizeof *passes, MIN_ACROSS = 4 };

struct rectangle {
    int32_t left, top, right, bottom; /* without right and bottom */
};

struct pixel_cut_state {
    const struct pixel_energy *energy;
    struct grid_scale scale; /* of struct grid_rows */
    struct quiet_tiles quiet;
    uint8_t *known;      /* [height][width] labels, GRID_UNDECIDED, or GRID_AWAY in quiet tiles */
    size_t n_open;       /* number of undecided pixels */
    float *row[5];       /* unary scores and couplings of a row of a window */
    uint8_t *labels;     /* of a window */
    struct rectangle in; /* the current window */
};

static void pixel_cut_state_release(struct pixel_cut_state *self)
{
    array_free(self->labels);
    quiet_tiles_release(&self->quiet);
    for (int k = 0; k < 5; k++)
        array_free(self->row[k]);
}

static float largest_of(const float *values, int32_t n)
{
    float largest = 0;
    for (int32_t x = 0; x < n; x++)
        largest = fabsf(values[x]) > largest ? fabsf(values[x]) : largest;
    return largest;
}

/* Returns the least value above 0, or INFINITY. */
static float least_above_0(const float *values, int32_t n)
{
    float least = INFINITY;
    for (int32_t x = 0; x < n; x++) {
        float value = values[x] > 0 ? values[x] : INFINITY;
        least = value < least ? value : least;
    }
    return least;
}

/* Returns the side of a window, without the ring of fixed pixels around it. */
static int32_t side_of(int32_t length, int across)
{
    return length / across + 1;
}

int64_t pixel_cut_window(int32_t width, int32_t height, int64_t whole)
{
    if ((int64_t)width * height <= whole)
        return (int64_t)width * height;
    return (int64_t)(side_of(width, MIN_ACROSS) + 2) * (side_of(height, MIN_ACROSS) + 2);
}

static enum clv_status pixel_cut_init(struct pixel_cut_state *self, int64_t whole, struct clv_error *err)
{
    int32_t width = self->energy->width, height = self->energy->height;
    struct grid_sizes sizes = {0};
    self->labels = array_alloc((size_t)pixel_cut_window(width, height, whole), 1);
    bool is_short = !self->labels;
    for (int k = 0; k < 5; k++)
        is_short |= !(self->row[k] = array_alloc((size_t)width, sizeof *self->row[k]));
    NEED(!is_short);
    MUST(quiet_tiles_init(&self->quiet, width, height, err));
    float least = INFINITY;
    for (int32_t y = 0; y < height; y++) {
        if (self->energy->scores)
            self->energy->scores(self->energy->context, self->row[0], 0, y, width);
        else
            self->energy->row(self->energy->context, self->row[0], self->row + 1, 0, y, width);
        grid_sizes_add(&sizes, self->row[0], width);
        quiet_tiles_add(&self->quiet, self->row[0], y);
        least = fminf(least, least_above_0(self->row[0], width));
        for (int k = 1; k < 5 && !self->energy->scores; k++)
            sizes.coupling = fmaxf(sizes.coupling, largest_of(self->row[k], width));
    }
    if (self->energy->scores)
        sizes.coupling = self->energy->largest;
    self->scale = grid_scale_of(&sizes);
    /* A quiet tile gets label 1 because its scores are above 0. That is wrong if one of them rounds to 0. */
    if (self->scale.is_exact || (double)least * self->scale.scale > 0.5)
        quiet_tiles_begin(&self->quiet);
    else
        quiet_tiles_begin_without(&self->quiet);
    return CLV_OK;
}

static void window_row(void *context, const float **unary, const float *coupling[4], int32_t y)
{
    const struct pixel_cut_state *self = context;
    size_t n = (size_t)(self->in.right - self->in.left);
    const uint8_t *labels = self->labels + (size_t)y * n;
    for (size_t x = 0, end; x < n; x = end) { /* runs of pixels that are all in the cut, or all GRID_AWAY */
        bool is_away = labels[x] == GRID_AWAY;
        for (end = x + 1; end < n && (labels[end] == GRID_AWAY) == is_away; end++)
            continue;
        float *const coupling_at[4] = {self->row[1] + x, self->row[2] + x, self->row[3] + x, self->row[4] + x};
        if (!is_away)
            self->energy->row(self->energy->context, self->row[0] + x, coupling_at, self->in.left + (int32_t)x,
                              self->in.top + y, (int32_t)(end - x));
    }
    *unary = self->row[0];
    for (int k = 0; k < 4; k++)
        coupling[k] = self->row[k + 1];
}

static uint8_t *known_row(const struct pixel_cut_state *self, int32_t y)
{
    return self->known + (size_t)y * (size_t)self->energy->width;
}

/* Returns the smallest rectangle with all undecided pixels of a tile; empty if there are none. */
static struct rectangle shrink_to_open(const struct pixel_cut_state *self, struct rectangle tile)
{
    struct rectangle found = {tile.right, tile.bottom, tile.left, tile.top};
    for (int32_t y = tile.top; y < tile.bottom; y++) {
        const uint8_t *row = known_row(self, y);
        int32_t first = tile.left, last = tile.right - 1;
        while (first < tile.right && row[first] != GRID_UNDECIDED)
            first++;
        if (first == tile.right)
            continue;
        while (row[last] != GRID_UNDECIDED)
            last--;
        found.left = first < found.left ? first : found.left;
        found.right = last + 1 > found.right ? last + 1 : found.right;
        found.top = y < found.top ? y : found.top;
        found.bottom = y + 1;
    }
    return found;
}

/* Solves the tile with the undecided pixels around it fixed at `around`. *is_certain tells that there were none. */
static enum clv_status solve_window(struct pixel_cut_state *self, bool *is_certain, struct rectangle tile,
                                    uint8_t around, struct clv_error *err)
{
    int32_t width = self->energy->width, height = self->energy->height;
    struct rectangle in = {tile.left - (tile.left > 0), tile.top - (tile.top > 0), tile.right + (tile.right < width),
                           tile.bottom + (tile.bottom < height)};
    size_t n = (size_t)(in.right - in.left);
    *is_certain = true;
    for (int32_t y = in.top; y < in.bottom; y++) {
        uint8_t *row = self->labels + (size_t)(y - in.top) * n;
        memcpy(row, known_row(self, y) + in.left, n);
        bool is_ring = y < tile.top || y >= tile.bottom;
        for (int32_t x = in.left; x < in.right; x++) {
            if (row[x - in.left] != GRID_UNDECIDED || !(is_ring || x < tile.left || x >= tile.right))
                continue;
            row[x - in.left] = around;
            *is_certain = false;
        }
    }
    self->in = in;
    const struct grid_rows grid = {.width = in.right - in.left,
                                   .height = in.bottom - in.top,
                                   .n_neighbours = 8,
                                   .scale = self->scale,
                                   .row = window_row,
                                   .context = self};
    return grid_rows_map(self->labels, &grid, err);
}

/* Copies the labels of the last solution to undecided pixels: all if takes_both, otherwise only label `only`. */
static void take_labels(struct pixel_cut_state *self, struct rectangle tile, bool takes_both, uint8_t only)
{
    size_t n = (size_t)(self->in.right - self->in.left);
    for (int32_t y = tile.top; y < tile.bottom; y++) {
        const uint8_t *found = self->labels + (size_t)(y - self->in.top) * n;
        uint8_t *row = known_row(self, y);
        for (int32_t x = tile.left; x < tile.right; x++) {
            uint8_t label = found[x - self->in.left];
            if (row[x] != GRID_UNDECIDED || !(takes_both || label == only))
                continue;
            row[x] = label;
            self->n_open--;
        }
    }
}

/* Returns the label of most pixels of the tile in the estimate. */
static uint8_t majority_label(const struct pixel_cut_state *self, struct rectangle tile, const uint8_t *estimate)
{
    int64_t n = 0;
    for (int32_t y = tile.top; estimate && y < tile.bottom; y++)
        for (int32_t x = tile.left; x < tile.right; x++)
            n += 2 * estimate[(size_t)y * (size_t)self->energy->width + (size_t)x] - 1;
    return n > 0;
}

static enum clv_status decide_window(struct pixel_cut_state *self, struct rectangle tile, const uint8_t *estimate,
                                     struct clv_error *err)
{
    tile = shrink_to_open(self, tile);
    if (tile.left >= tile.right)
        return CLV_OK;
    uint8_t label = majority_label(self, tile, estimate);
    for (int i = 0; i < 2; i++, label = !label) {
        bool is_certain;
        MUST(solve_window(self, &is_certain, tile, !label, err));
        take_labels(self, tile, is_certain, label);
        tile = shrink_to_open(self, tile);
        if (tile.left >= tile.right)
            break;
    }
    return CLV_OK;
}

/* Solves a tile's pixels that no window decided again, with all others fixed. current[height][width] holds 1 + the
 * label of such pixels, and 0 for decided ones. */
static enum clv_status improve_window(struct pixel_cut_state *self, size_t *n_changed, struct rectangle tile,
                                      uint8_t *current, struct clv_error *err)
{
    size_t width = (size_t)self->energy->width;
    bool is_certain;
    for (int32_t y = tile.top; y < tile.bottom; y++)
        for (int32_t x = tile.left; x < tile.right; x++)
            if (current[(size_t)y * width + (size_t)x]) {
                known_row(self, y)[x] = GRID_UNDECIDED;
                self->n_open++;
            }
    struct rectangle open = shrink_to_open(self, tile);
    if (open.left >= open.right)
        return CLV_OK;
    MUST(solve_window(self, &is_certain, open, GRID_ZERO, err));
    take_labels(self, open, true, GRID_ZERO);
    for (int32_t y = open.top; y < open.bottom; y++)
        for (int32_t x = open.left; x < open.right; x++) {
            uint8_t *now = &current[(size_t)y * width + (size_t)x], label = known_row(self, y)[x];
            if (*now && *now != 1 + label) {
                *now = (uint8_t)(1 + label);
                ++*n_changed;
            }
        }
    return CLV_OK;
}

/* Goes over the tiles of a pass: decides their labels, or improves them if `current` is given. */
static enum clv_status run_pass(struct pixel_cut_state *self, size_t *n_changed, const struct pass *pass,
                                const uint8_t *estimate, uint8_t *current, struct clv_error *err)
{
    int32_t width = self->energy->width, height = self->energy->height;
    int32_t across = side_of(width, pass->across), down = side_of(height, pass->across);
    for (int32_t top = -(int32_t)(pass->down * down); top < height; top += down)
        for (int32_t left = -(int32_t)(pass->right * across); left < width; left += across) {
            struct rectangle tile = {left < 0 ? 0 : left, top < 0 ? 0 : top,
                                     left + across < width ? left + across : width,
                                     top + down < height ? top + down : height};
            MUST(current ? improve_window(self, n_changed, tile, current, err)
                         : decide_window(self, tile, estimate, err));
        }
    return CLV_OK;
}

/* Labels the pixels that no window decides: starts from the estimate and sweeps over windows until none changes. */
static enum clv_status settle_open(struct pixel_cut_state *self, const uint8_t *estimate, struct clv_error *err)
{
    size_t n = (size_t)self->energy->width * (size_t)self->energy->height, n_changed = 1;
    OWNED_ARRAY uint8_t *current = array_zalloc(n, 1);
    NEED(current);
    for (size_t p = 0; p < n; p++)
        if (self->known[p] == GRID_UNDECIDED) {
            self->known[p] = estimate ? estimate[p] : GRID_ZERO;
            current[p] = (uint8_t)(1 + self->known[p]);
        }
    self->n_open = 0;
    for (int sweep = 0; sweep < MAX_SWEEPS && n_changed; sweep++) {
        n_changed = 0;
        for (int i = N_PASSES / 2; i < N_PASSES; i++)
            MUST(run_pass(self, &n_changed, &passes[i], NULL, current, err));
    }
    return CLV_OK;
}

enum clv_status pixel_cut(uint8_t *labels, size_t *n_open, const struct pixel_energy *energy, const uint8_t *estimate,
                          int64_t whole, struct clv_error *err)
{
    const struct rectangle all = {0, 0, energy->width, energy->height};
    OWNED(pixel_cut_state_release) struct pixel_cut_state self = {.energy = energy, .known = labels};
    MUST(pixel_cut_init(&self, whole, err));
    size_t n_left;
    do {
        self.n_open = quiet_tiles_paint(labels, &self.quiet, GRID_UNDECIDED, GRID_AWAY);
        if ((int64_t)energy->width * energy->height <= whole)
            MUST(decide_window(&self, all, NULL, err));
        for (int i = 0; i < N_PASSES && self.n_open; i++)
            MUST(run_pass(&self, NULL, &passes[i], estimate, NULL, err));
        n_left = self.n_open;
        if (n_left)
            MUST(settle_open(&self, estimate, err));
    } while (quiet_tiles_wake(&self.quiet, labels));
    quiet_tiles_label(labels, &self.quiet);
    *n_open = n_left;
    return CLV_OK;
}
