/* Stores an image as 8 x 8 tiles of Lab planes for SLIC, with the colour range of each tile. Start at tiles_init. */
#include "superpixel/superpixel.h"

#include <string.h>

#include "base/base.h"
#include "base/machine.h"

void tiles_release(struct tiles *tiles)
{
    for (int c = 0; c < 3; c++)
        array_free(tiles->lab[c]);
    arrays_free(tiles->boxes, tiles->labels);
    *tiles = (struct tiles){0};
}

/* Writes lab[n][TILE_SIDE][3] to one row of n neighbouring tiles. */
FOR_EVERY_WIDTH static void fill_tiles(int16_t *restrict l, int16_t *restrict a, int16_t *restrict b,
                                       const float *restrict lab, int32_t n)
{
    const float half_up = 16384.5F; /* makes the truncation round, also for negative values */
    for (int32_t t = 0; t < n; t++, lab += 3 * TILE_SIDE, l += TILE_PIXELS, a += TILE_PIXELS, b += TILE_PIXELS)
        for (int i = 0; i < TILE_SIDE; i++) {
            l[i] = (int16_t)((int32_t)(lab[3 * i] * LAB_SCALE + half_up) - 16384);
            a[i] = (int16_t)((int32_t)(lab[3 * i + 1] * LAB_SCALE + half_up) - 16384);
            b[i] = (int16_t)((int32_t)(lab[3 * i + 2] * LAB_SCALE + half_up) - 16384);
        }
}

/* Pixels beyond the right and lower edge repeat the last ones, so they do not enlarge the box of a tile. */
static void fill_planes(struct tiles *tiles, const struct clv_image *image, float *lab)
{
    size_t width = (size_t)image->width, padded = (size_t)tiles->columns * TILE_SIDE;
    for (int32_t y = 0; y < tiles->rows * TILE_SIDE; y++) {
        if (y < image->height) {
            clv_rgb_to_lab(lab, image->pixels + 3 * (size_t)y * width, width);
            for (size_t x = width; x < padded; x++)
                memcpy(lab + 3 * x, lab + 3 * (width - 1), 3 * sizeof *lab);
        }
        size_t at = tile_offset(tiles, 0, y);
        fill_tiles(tiles->lab[0] + at, tiles->lab[1] + at, tiles->lab[2] + at, lab, tiles->columns);
    }
}

FOR_EVERY_WIDTH static void fill_boxes(struct tile_box *restrict boxes, const int16_t *restrict plane, int channel,
                                       size_t n)
{
    for (size_t t = 0; t < n; t++, plane += TILE_PIXELS) {
        int16_t low = plane[0], high = plane[0];
        for (int i = 0; i < TILE_PIXELS; i++) {
            low = plane[i] < low ? plane[i] : low;
            high = plane[i] > high ? plane[i] : high;
        }
        boxes[t].low[channel] = low;
        boxes[t].high[channel] = high;
    }
}

enum clv_status tiles_init(struct tiles *tiles, const struct clv_image *image, struct clv_error *err)
{
    OWNED(tiles_release) struct tiles result = {.width = image->width, .height = image->height};
    result.columns = (image->width - 1) / TILE_SIDE + 1;
    result.rows = (image->height - 1) / TILE_SIDE + 1;
    result.n = (size_t)result.columns * (size_t)result.rows;
    OWNED_ARRAY float *lab = array_alloc((size_t)result.columns * TILE_SIDE, 3 * sizeof *lab);
    for (int c = 0; c < 3; c++)
        result.lab[c] = array_zalloc_aligned(result.n, TILE_PIXELS * sizeof *result.lab[c]);
    result.boxes = array_alloc(result.n, sizeof *result.boxes);
    result.labels = array_zalloc_aligned(result.n, TILE_PIXELS * sizeof *result.labels);
    NEED(lab && result.lab[0] && result.lab[1] && result.lab[2] && result.boxes && result.labels);
    memset(result.labels, 0xff, result.n * TILE_PIXELS * sizeof *result.labels); /* -1 */
    fill_planes(&result, image, lab);
    for (int c = 0; c < 3; c++)
        fill_boxes(result.boxes, result.lab[c], c, result.n);
    *tiles = TAKE(result);
    return CLV_OK;
}

void tiles_read_labels(int32_t *labels, const struct tiles *tiles)
{
    for (int32_t y = 0; y < tiles->height; y++)
        for (int32_t x = 0; x < tiles->width; x++)
            *labels++ = tiles->labels[tile_offset(tiles, x, y)];
}
