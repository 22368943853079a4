/* Moves the border of labels that were cut at a smaller size to the edges of a large image, by minimum cuts of the
 * pixels near the border in 64 x 64 tiles with a margin. Tiles run in parallel, and each writes only the pixels of its
 * core. Start at border_enlarge, then border_follow and follow. */
#include "refine/refine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/image.h"
#include "infer/grid/grid.h"

#define BORDER 0.5 /* coupling at the full size of the image */
#define TILE   64
#define PULL   2.0F /* weight of the share of foreground within reach */
#define COLOUR 1.0F /* weight of the colours' log odds */
#define CLIP   2.0F
#define LARGE  100.0F /* largest unary score for rounding, above any that occurs */

struct border {
    uint8_t *labels;       /* the result */
    const uint8_t *before; /* a copy of the labels on entry */
    const struct clv_image *image;
    const struct pixel_couplings *couplings;
    const uint8_t *fixed;    /* or NULL */
    struct grid_scale scale; /* of all tiles */
    int32_t reach, n_columns;
};

/* A tile with a margin of `reach` pixels. The tile without its margin is its core. */
struct tile {
    int32_t x, y, width, height; /* with the margin */
    int32_t core[4];             /* first and end x, first and end y, relative to x and y */
    float *unary, *coupling[4];  /* [height][width]; [width] of a row */
    uint8_t *labels;             /* certain labels or GRID_UNDECIDED; after the cut, of grid_rows_map */
    uint8_t *is_kept;            /* pixels that are in the cut */
    int32_t *sums;               /* [height + 1][width + 1] summed-area table of the labels on entry */
    const struct border *border;
};

static void tile_release(struct tile *self)
{
    arrays_free(self->unary, self->coupling[0], self->coupling[1], self->coupling[2], self->coupling[3]);
    arrays_free(self->labels, self->is_kept, self->sums);
}

static struct tile tile_of(const struct border *border, size_t index)
{
    int32_t x = (int32_t)index % border->n_columns * TILE, y = (int32_t)index / border->n_columns * TILE;
    int32_t end_x = smaller(x + TILE, border->image->width), end_y = smaller(y + TILE, border->image->height);
    struct tile tile = {.border = border,
                        .x = x > border->reach ? x - border->reach : 0,
                        .y = y > border->reach ? y - border->reach : 0};
    tile.width = smaller(end_x + border->reach, border->image->width) - tile.x;
    tile.height = smaller(end_y + border->reach, border->image->height) - tile.y;
    tile.core[0] = x - tile.x;
    tile.core[1] = end_x - tile.x;
    tile.core[2] = y - tile.y;
    tile.core[3] = end_y - tile.y;
    return tile;
}

/* Returns whether the tile with its margin has both labels. */
static bool has_both(const struct border *border, const struct tile *tile)
{
    size_t stride = (size_t)border->image->width;
    const uint8_t *first = border->before + (size_t)tile->y * stride + (size_t)tile->x;
    for (int32_t y = 0; y < tile->height; y++)
        if (memchr(first + (size_t)y * stride, *first ? 0 : 1, (size_t)tile->width))
            return true;
    return false;
}

static enum clv_status tile_init(struct tile *self, struct clv_error *err)
{
    const struct border *border = self->border;
    size_t width = (size_t)self->width, height = (size_t)self->height, stride = (size_t)border->image->width;
    self->unary = array_alloc(width * height, sizeof *self->unary);
    self->labels = array_alloc(width * height, 1);
    self->sums = array_alloc((width + 1) * (height + 1), sizeof *self->sums);
    self->is_kept = array_alloc(width * height, 1);
    NEED(self->unary && self->labels && self->sums && self->is_kept);
    for (int k = 0; k < 4; k++)
        NEED(self->coupling[k] = array_alloc(width, sizeof *self->coupling[k]));
    memset(self->sums, 0, (width + 1) * sizeof *self->sums);
    for (size_t y = 0; y < height; y++) {
        const uint8_t *before = border->before + ((size_t)self->y + y) * stride + (size_t)self->x;
        int32_t *above = self->sums + y * (width + 1), *row = above + width + 1, sum = 0;
        row[0] = 0;
        for (size_t x = 0; x < width; x++) {
            sum += before[x];
            row[x + 1] = above[x + 1] + sum;
        }
    }
    return CLV_OK;
}

/* Returns the share of foreground in the square within reach of a pixel. */
static float share_around(const struct tile *self, int32_t x, int32_t y, int32_t reach)
{
    int32_t x0 = x > reach ? x - reach : 0, x1 = smaller(x + reach + 1, self->width);
    int32_t y0 = y > reach ? y - reach : 0, y1 = smaller(y + reach + 1, self->height), w = self->width + 1;
    int32_t sum = self->sums[y1 * w + x1] - self->sums[y0 * w + x1] - self->sums[y1 * w + x0] + self->sums[y0 * w + x0];
    return (float)sum / (float)((x1 - x0) * (y1 - y0));
}

struct colours {
    int64_t sum[2][3], n[2], square; /* of pixels with certain labels, by label */
};

static const uint8_t *byte_at(const struct tile *self, int32_t x, int32_t y)
{
    const struct clv_image *image = self->border->image;
    return image->pixels + 3 * ((size_t)(self->y + y) * (size_t)image->width + (size_t)(self->x + x));
}

static void colours_add(struct colours *self, const uint8_t *pixel, int side)
{
    for (int k = 0; k < 3; k++) {
        self->sum[side][k] += pixel[k];
        self->square += pixel[k] * pixel[k];
    }
    self->n[side]++;
}

/* Scores pixels by the labels around them. A pixel's label is certain if it is fixed or all labels within reach are
 * equal. */
static void score_surroundings(struct tile *self, struct colours *colours)
{
    const struct border *border = self->border;
    size_t stride = (size_t)border->image->width;
    for (int32_t y = 0, p = 0; y < self->height; y++) {
        const uint8_t *fixed = border->fixed ? border->fixed + (size_t)(self->y + y) * stride + (size_t)self->x : NULL;
        for (int32_t x = 0; x < self->width; x++, p++) {
            float share = share_around(self, x, y, border->reach);
            uint8_t label = share <= 0 ? GRID_ZERO : share >= 1 ? GRID_ONE : GRID_UNDECIDED;
            if (fixed && fixed[x])
                label = fixed[x] == FIXED_ONE ? GRID_ONE : GRID_ZERO;
            self->labels[p] = label;
            self->unary[p] = PULL * (2 * share - 1);
            if (label != GRID_UNDECIDED)
                colours_add(colours, byte_at(self, x, y), label);
        }
    }
}

/* Adds to the scores of undecided pixels the log odds of their colours under a Gaussian for each side, clipped. */
static void score_colours(struct tile *self, const struct colours *colours)
{
    if (colours->n[0] < TILE || colours->n[1] < TILE)
        return;
    double mean[2][3], spread = (double)colours->square;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++) {
            mean[side][k] = (double)colours->sum[side][k] / (double)colours->n[side];
            spread -= mean[side][k] * (double)colours->sum[side][k];
        }
    spread = spread / (double)(colours->n[0] + colours->n[1]) + 10;
    for (int32_t y = 0, p = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++, p++) {
            double odds = 0;
            if (self->labels[p] != GRID_UNDECIDED)
                continue;
            for (int k = 0; k < 3; k++) {
                double value = byte_at(self, x, y)[k], background = value - mean[0][k], foreground = value - mean[1][k];
                odds += (background * background - foreground * foreground) / (2 * spread);
            }
            self->unary[p] += COLOUR * fminf(fmaxf((float)odds, -CLIP), CLIP);
        }
}

/* Excludes from the cut (GRID_AWAY) all pixels that are neither undecided nor next to one that is. Returns whether any
 * pixel is undecided. */
static bool keep_undecided(struct tile *self)
{
    bool is_any = false;
    size_t n = (size_t)self->width * (size_t)self->height;
    memset(self->is_kept, 0, n);
    for (int32_t y = 0, p = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++, p++) {
            if (self->labels[p] != GRID_UNDECIDED)
                continue;
            int32_t left = x > 0 ? x - 1 : 0, right = smaller(x + 2, self->width), end = smaller(y + 2, self->height);
            for (int32_t row = y > 0 ? y - 1 : 0; row < end; row++)
                memset(self->is_kept + row * self->width + left, 1, (size_t)(right - left));
            is_any = true;
        }
    for (size_t p = 0; p < n; p++)
        self->labels[p] = self->is_kept[p] ? self->labels[p] : GRID_AWAY;
    return is_any;
}

static void tile_row(void *context, const float **unary, const float *coupling[4], int32_t y)
{
    const struct tile *self = context;
    const uint8_t *labels = self->labels + y * self->width;
    int32_t first = 0, end = self->width;
    while (first < end && labels[first] == GRID_AWAY)
        first++;
    while (end > first && labels[end - 1] == GRID_AWAY)
        end--;
    float *const row[4] = {self->coupling[0] + first, self->coupling[1] + first, self->coupling[2] + first,
                           self->coupling[3] + first};
    pixel_couplings_row(row, self->border->couplings, self->x + first, self->y + y, end - first);
    *unary = self->unary + y * self->width;
    for (int k = 0; k < 4; k++)
        coupling[k] = self->coupling[k];
}

/* Writes the labels of the core's pixels that are in the cut. */
static void write_core(const struct tile *self)
{
    for (int32_t y = self->core[2]; y < self->core[3]; y++) {
        size_t at = (size_t)(self->y + y) * (size_t)self->border->image->width + (size_t)self->x;
        const uint8_t *labels = self->labels + y * self->width;
        for (int32_t x = self->core[0]; x < self->core[1]; x++)
            if (labels[x] != GRID_AWAY)
                self->border->labels[at + (size_t)x] = labels[x];
    }
}

static enum clv_status follow(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct border *border = context;
    OWNED(tile_release) struct tile tile = tile_of(border, index);
    struct colours colours = {0};
    (void)thread;
    if (!has_both(border, &tile))
        return CLV_OK;
    MUST(tile_init(&tile, err));
    score_surroundings(&tile, &colours);
    score_colours(&tile, &colours);
    write_core(&tile);
    if (!keep_undecided(&tile))
        return CLV_OK;
    const struct grid_rows grid = {.width = tile.width,
                                   .height = tile.height,
                                   .n_neighbours = 8,
                                   .scale = border->scale,
                                   .row = tile_row,
                                   .context = &tile};
    MUST(grid_rows_map(tile.labels, &grid, err));
    write_core(&tile);
    return CLV_OK;
}

enum clv_status border_follow(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *fixed,
                              int32_t reach_px, struct clv_error *err)
{
    const struct clv_image *image = couplings->image;
    size_t n_columns = ((size_t)image->width + TILE - 1) / TILE, n_rows = ((size_t)image->height + TILE - 1) / TILE;
    OWNED_ARRAY uint8_t *before = array_copy(labels, (size_t)image->width * (size_t)image->height, 1);
    NEED(before);
    const struct grid_sizes sizes = {.unary = LARGE, .coupling = pixel_couplings_largest(couplings)};
    struct border border = {.labels = labels,
                            .before = before,
                            .image = image,
                            .couplings = couplings,
                            .fixed = fixed,
                            .scale = grid_scale_of(&sizes),
                            .reach = reach_px,
                            .n_columns = (int32_t)n_columns};
    return parallel_for(n_columns * n_rows, 0, follow, &border, err);
}

enum clv_status border_couplings_init(struct pixel_couplings *couplings, const struct clv_image *image,
                                      struct clv_error *err)
{
    double of_reference = coupling_at(1, (size_t)image->width * (size_t)image->height);
    return pixel_couplings_init(couplings, image, BORDER / of_reference, err);
}

static void keep_fixed(uint8_t *labels, const struct clv_image *image, const uint8_t *fixed)
{
    size_t width = (size_t)image->width;
    for (int32_t y = 0; y < image->height; y++, labels += width, fixed += width) {
        if (row_is_free(fixed, width))
            continue;
        for (size_t x = 0; x < width; x++)
            labels[x] = fixed[x] ? fixed[x] == FIXED_ONE : labels[x];
    }
}

enum clv_status border_enlarge(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *cut,
                               int32_t width, int32_t height, const uint8_t *fixed, struct clv_error *err)
{
    const struct clv_image *image = couplings->image;
    size_t n = (size_t)image->width * (size_t)image->height, n_cut = (size_t)width * (size_t)height;
    int32_t reach = int32_within(ceil(sqrt((double)n / (double)n_cut)), 0, INT32_MAX - 1) + 1;
    OWNED_ARRAY uint8_t *result = array_alloc(n, 1);
    NEED(result);
    clv_labels_resize(result, image->width, image->height, cut, width, height);
    if (fixed)
        keep_fixed(result, image, fixed);
    MUST(border_follow(result, couplings, fixed, reach, err));
    memcpy(labels, result, n);
    return CLV_OK;
}
