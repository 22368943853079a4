/* Finds the parts of an image that a minimum cut of its pixels can leave out. A tile whose pixels all prefer one label
 * is quiet unless pixels that prefer the other are near. Quiet tiles are left out of the cut, with their couplings, and
 * get the label that they prefer. That is exact if each busy pixel next to a quiet tile gets the tile's label: the
 * maximum flow of the busy part is then a maximum flow of the whole image, since no residual arc leads from label 1 to
 * 0. Otherwise the tile is woken and the cut is repeated. Start at quiet_tiles_begin. */
#include "refine/refine.h"

#include <string.h>

#include "base/base.h"

#define TILE   8
#define REACH  1 /* at first, tiles within this distance of a mixed one are in the cut */
#define GROWTH 8 /* of the reach after each cut that wakes tiles, because another cut costs more than a larger one */

void quiet_tiles_release(struct quiet_tiles *self)
{
    arrays_free(self->n_ones, self->is_busy, self->is_woken);
    *self = (struct quiet_tiles){0};
}

static size_t count(const struct quiet_tiles *self)
{
    return (size_t)self->n_columns * (size_t)self->n_rows;
}

enum clv_status quiet_tiles_init(struct quiet_tiles *self, int32_t width, int32_t height, struct clv_error *err)
{
    *self = (struct quiet_tiles){.width = width,
                                 .height = height,
                                 .n_columns = (width - 1) / TILE + 1,
                                 .n_rows = (height - 1) / TILE + 1,
                                 .reach = REACH};
    self->n_ones = array_zalloc(count(self), sizeof *self->n_ones);
    self->is_busy = array_zalloc(count(self), 1);
    self->is_woken = array_zalloc(count(self), 1);
    NEED(self->n_ones && self->is_busy && self->is_woken);
    return CLV_OK;
}

void quiet_tiles_add(struct quiet_tiles *self, const float *unary, int32_t y)
{
    int32_t *n_ones = self->n_ones + (size_t)(y / TILE) * (size_t)self->n_columns;
    for (int32_t x = 0; x < self->width; x += TILE) {
        int32_t n = 0, end = x + TILE < self->width ? x + TILE : self->width;
        for (int32_t i = x; i < end; i++)
            n += unary[i] > 0;
        n_ones[x / TILE] += n;
    }
}

/* A rectangle of pixels or of tiles; right and bottom are exclusive. */
struct span {
    int32_t left, top, right, bottom;
};

static struct span span_of(const struct quiet_tiles *self, size_t tile)
{
    int32_t column = (int32_t)(tile % (size_t)self->n_columns), row = (int32_t)(tile / (size_t)self->n_columns);
    return (struct span){column * TILE, row * TILE, smaller((column + 1) * TILE, self->width),
                         smaller((row + 1) * TILE, self->height)};
}

/* Returns the tiles within `reach` of a tile, which is included. */
static struct span around(const struct quiet_tiles *self, size_t tile, int32_t reach)
{
    int32_t column = (int32_t)(tile % (size_t)self->n_columns), row = (int32_t)(tile / (size_t)self->n_columns);
    return (struct span){column > reach ? column - reach : 0, row > reach ? row - reach : 0,
                         smaller(column + reach + 1, self->n_columns), smaller(row + reach + 1, self->n_rows)};
}

static size_t tile_at(const struct quiet_tiles *self, int32_t column, int32_t row)
{
    return (size_t)row * (size_t)self->n_columns + (size_t)column;
}

/* Returns the label, 0 or 1, that all pixels of a tile prefer, or 2 if they differ. */
static int preferred(const struct quiet_tiles *self, size_t tile)
{
    struct span span = span_of(self, tile);
    int32_t n = (span.right - span.left) * (span.bottom - span.top);
    return self->n_ones[tile] == 0 ? 0 : self->n_ones[tile] == n ? 1 : 2;
}

/* Returns whether pixels of a tile differ in the label they prefer, or a tile next to it prefers the other label. */
static bool is_mixed(const struct quiet_tiles *self, size_t tile)
{
    struct span beside = around(self, tile, 1);
    int own = preferred(self, tile);
    bool is_mixed = own == 2;
    for (int32_t row = beside.top; row < beside.bottom && !is_mixed; row++)
        for (int32_t column = beside.left; column < beside.right; column++)
            is_mixed |= preferred(self, tile_at(self, column, row)) == 1 - own;
    return is_mixed;
}

/* Makes the tiles around woken tiles busy and resets is_woken. */
static void spread(struct quiet_tiles *self)
{
    for (size_t tile = 0; tile < count(self); tile++) {
        if (!self->is_woken[tile])
            continue;
        struct span beside = around(self, tile, self->reach);
        for (int32_t row = beside.top; row < beside.bottom; row++)
            memset(self->is_busy + tile_at(self, beside.left, row), 1, (size_t)(beside.right - beside.left));
        self->is_woken[tile] = 0;
    }
}

void quiet_tiles_begin(struct quiet_tiles *self)
{
    for (size_t tile = 0; tile < count(self); tile++)
        self->is_woken[tile] = is_mixed(self, tile);
    spread(self);
}

void quiet_tiles_begin_without(struct quiet_tiles *self)
{
    memset(self->is_busy, 1, count(self));
}

/* Returns whether a busy pixel next to a quiet tile has a different label than the tile prefers. */
static bool is_disturbed(const struct quiet_tiles *self, size_t tile, const uint8_t *labels)
{
    struct span span = span_of(self, tile);
    uint8_t own = (uint8_t)preferred(self, tile);
    for (int32_t y = span.top > 0 ? span.top - 1 : 0; y <= span.bottom && y < self->height; y++) {
        const uint8_t *row = labels + (size_t)y * (size_t)self->width;
        int32_t step = y < span.top || y == span.bottom || !span.left ? 1 : span.right - span.left + 1;
        for (int32_t x = span.left > 0 ? span.left - 1 : 0; x <= span.right && x < self->width; x += step)
            if (row[x] == !own)
                return true;
    }
    return false;
}

bool quiet_tiles_wake(struct quiet_tiles *self, const uint8_t *labels)
{
    bool is_any = false;
    for (size_t tile = 0; tile < count(self); tile++) {
        struct span beside = around(self, tile, 1);
        bool is_at_border = false;
        for (int32_t row = beside.top; row < beside.bottom && !self->is_busy[tile]; row++)
            is_at_border |= memchr(self->is_busy + tile_at(self, beside.left, row), 1,
                                   (size_t)(beside.right - beside.left)) != NULL;
        self->is_woken[tile] = is_at_border && is_disturbed(self, tile, labels);
        is_any |= self->is_woken[tile];
    }
    if (is_any) {
        self->reach *= GROWTH;
        spread(self);
    }
    return is_any;
}

size_t quiet_tiles_paint(uint8_t *labels, const struct quiet_tiles *self, uint8_t busy, uint8_t quiet)
{
    size_t n_busy = 0;
    for (int32_t y = 0; y < self->height; y++) {
        const uint8_t *is_busy = self->is_busy + tile_at(self, 0, y / TILE);
        uint8_t *row = labels + (size_t)y * (size_t)self->width;
        for (int32_t x = 0; x < self->width; x += TILE) {
            size_t n = (size_t)smaller(TILE, self->width - x);
            memset(row + x, is_busy[x / TILE] ? busy : quiet, n);
            n_busy += is_busy[x / TILE] ? n : 0;
        }
    }
    return n_busy;
}

void quiet_tiles_label(uint8_t *labels, const struct quiet_tiles *self)
{
    for (size_t tile = 0; tile < count(self); tile++) {
        struct span span = span_of(self, tile);
        for (int32_t y = span.top; y < span.bottom && !self->is_busy[tile]; y++)
            memset(labels + (size_t)y * (size_t)self->width + (size_t)span.left, preferred(self, tile),
                   (size_t)(span.right - span.left));
    }
}
