/* Moves the border of labels that were cut at a smaller size to the edges of a large image, by minimum cuts of 64
 * x 64 tiles with a margin. Tiles run in parallel, and each writes only its own pixels. Start at
 * click_border_follow, then follow. */
#include "click/click.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/infer.h"

#define TILE    64
#define PULL    2.0F /* towards the side that most pixels within reach are on */
#define COLOUR  1.0F /* of the colours' log odds, which end at .. */
#define CLIP    2.0F
#define CERTAIN 100.0F

struct border {
    uint8_t *labels;       /* what comes out */
    const uint8_t *before; /* what went in */
    const struct clv_image *image;
    const struct pixel_couplings *couplings;
    const uint8_t *seeds;
    int32_t reach, n_columns;
};

/* A tile with as much around it as is looked at. */
struct tile {
    int32_t x, y, width, height; /* of the whole */
    int32_t core[4];             /* first and end x, first and end y within */
    struct clv_image image;
    float *unary, *coupling[4];
    uint8_t *labels;
    int32_t *sums; /* [height + 1][width + 1] of labels, above and left */
};

static void tile_release(struct tile *self)
{
    clv_image_release(&self->image);
    array_free(self->unary);
    for (int k = 0; k < 4; k++)
        array_free(self->coupling[k]);
    arrays_free(self->labels, self->sums);
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static struct tile tile_at(const struct border *border, size_t index)
{
    int32_t x = (int32_t)index % border->n_columns * TILE, y = (int32_t)index / border->n_columns * TILE;
    int32_t end_x = least(x + TILE, border->image->width), end_y = least(y + TILE, border->image->height);
    struct tile tile = {.x = x > border->reach ? x - border->reach : 0, .y = y > border->reach ? y - border->reach : 0};
    tile.width = least(end_x + border->reach, border->image->width) - tile.x;
    tile.height = least(end_y + border->reach, border->image->height) - tile.y;
    tile.core[0] = x - tile.x;
    tile.core[1] = end_x - tile.x;
    tile.core[2] = y - tile.y;
    tile.core[3] = end_y - tile.y;
    return tile;
}

/* Returns whether the border goes through the tile. */
static bool has_both(const struct border *border, const struct tile *tile)
{
    size_t stride = (size_t)border->image->width;
    const uint8_t *first = border->before + (size_t)tile->y * stride + (size_t)tile->x;
    for (int32_t y = 0; y < tile->height; y++)
        if (memchr(first + (size_t)y * stride, *first ? 0 : 1, (size_t)tile->width))
            return true;
    return false;
}

static enum clv_status cut_out(struct tile *self, const struct border *border, struct clv_error *err)
{
    size_t width = (size_t)self->width, height = (size_t)self->height, stride = (size_t)border->image->width;
    MUST(clv_image_new(&self->image, self->width, self->height, 3, err));
    self->unary = array_alloc(width * height, sizeof *self->unary);
    self->labels = array_alloc(width * height, 1);
    self->sums = array_zalloc((width + 1) * (height + 1), sizeof *self->sums);
    NEED(self->unary && self->labels && self->sums);
    for (size_t y = 0; y < height; y++) {
        size_t from = ((size_t)self->y + y) * stride + (size_t)self->x;
        memcpy(self->image.pixels + 3 * y * width, border->image->pixels + 3 * from, 3 * width);
        memcpy(self->labels + y * width, border->before + from, width);
        for (size_t x = 0; x < width; x++)
            self->sums[(y + 1) * (width + 1) + x + 1] =
                self->labels[y * width + x] + self->sums[y * (width + 1) + x + 1] +
                self->sums[(y + 1) * (width + 1) + x] - self->sums[y * (width + 1) + x];
    }
    for (int k = 0; k < 4; k++)
        NEED(self->coupling[k] = array_alloc(width * height, sizeof *self->coupling[k]));
    for (int32_t y = 0; y < self->height; y++) {
        size_t at = (size_t)y * width;
        float *const row[4] = {self->coupling[0] + at, self->coupling[1] + at, self->coupling[2] + at,
                               self->coupling[3] + at};
        pixel_couplings_row(row, border->couplings, self->x, self->y + y, self->width);
    }
    return CLV_OK;
}

/* The share of foreground within reach of a pixel. */
static float share_around(const struct tile *self, int32_t x, int32_t y, int32_t reach)
{
    int32_t x0 = x > reach ? x - reach : 0, x1 = least(x + reach + 1, self->width);
    int32_t y0 = y > reach ? y - reach : 0, y1 = least(y + reach + 1, self->height), w = self->width + 1;
    int32_t sum = self->sums[y1 * w + x1] - self->sums[y0 * w + x1] - self->sums[y1 * w + x0] + self->sums[y0 * w + x0];
    return (float)sum / (float)((x1 - x0) * (y1 - y0));
}

struct colours {
    double sum[2][3], n[2], square; /* of what is certain */
};

static void score(struct tile *self, const struct border *border)
{
    struct colours colours = {0};
    size_t stride = (size_t)border->image->width;
    for (int32_t y = 0, p = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++, p++) {
            uint8_t seed = border->seeds[(size_t)(self->y + y) * stride + (size_t)(self->x + x)];
            float share = share_around(self, x, y, border->reach);
            self->unary[p] = share <= 0 ? -CERTAIN : share >= 1 ? CERTAIN : PULL * (2 * share - 1);
            if (seed)
                self->unary[p] = seed == CLICK_FOREGROUND ? CERTAIN : -CERTAIN;
            if (fabsf(self->unary[p]) < CERTAIN)
                continue;
            int side = self->unary[p] > 0;
            for (int k = 0; k < 3; k++) {
                double value = self->image.pixels[3 * p + k];
                colours.sum[side][k] += value;
                colours.square += value * value;
            }
            colours.n[side]++;
        }
    if (colours.n[0] < TILE || colours.n[1] < TILE)
        return;
    double mean[2][3], spread = colours.square;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++) {
            mean[side][k] = colours.sum[side][k] / colours.n[side];
            spread -= mean[side][k] * colours.sum[side][k];
        }
    spread = spread / (colours.n[0] + colours.n[1]) + 10;
    for (int32_t p = 0; p < self->width * self->height; p++) {
        double odds = 0;
        for (int k = 0; k < 3; k++) {
            double value = self->image.pixels[3 * p + k], background = value - mean[0][k],
                   foreground = value - mean[1][k];
            odds += (background * background - foreground * foreground) / (2 * spread);
        }
        if (fabsf(self->unary[p]) < CERTAIN)
            self->unary[p] += COLOUR * fminf(fmaxf((float)odds, -CLIP), CLIP);
    }
}

static enum clv_status follow(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct border *border = context;
    OWNED(tile_release) struct tile tile = tile_at(border, index);
    (void)thread;
    if (!has_both(border, &tile))
        return CLV_OK;
    MUST(cut_out(&tile, border, err));
    struct clv_grid grid = {.width = tile.width, .height = tile.height, .n_neighbours = 8, .unary = tile.unary};
    memcpy(grid.coupling, tile.coupling, sizeof tile.coupling);
    score(&tile, border);
    MUST(clv_grid_map(tile.labels, &grid, err));
    for (int32_t y = tile.core[2]; y < tile.core[3]; y++)
        memcpy(border->labels + (size_t)(tile.y + y) * (size_t)border->image->width + (size_t)(tile.x + tile.core[0]),
               tile.labels + (size_t)y * (size_t)tile.width + (size_t)tile.core[0],
               (size_t)(tile.core[1] - tile.core[0]));
    return CLV_OK;
}

enum clv_status click_border_follow(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *seeds,
                                    int32_t reach_px, struct clv_error *err)
{
    const struct clv_image *image = couplings->image;
    size_t n_columns = ((size_t)image->width + TILE - 1) / TILE, n_rows = ((size_t)image->height + TILE - 1) / TILE;
    OWNED_ARRAY uint8_t *before = array_copy(labels, (size_t)image->width * (size_t)image->height, 1);
    NEED(before);
    struct border border = {labels, before, image, couplings, seeds, reach_px, (int32_t)n_columns};
    return parallel_for(n_columns * n_rows, 0, follow, &border, err);
}
