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

/* Lab values (L, a, b)[TILE_SIDE] to one row of a tile. */
FOR_EVERY_WIDTH static void fill_tiles(int16_t *restrict l, int16_t *restrict a, int16_t *restrict b,
                                       const float *restrict lab, int32_t n)
{
    const float half_up = 16384.5F; /* so that the truncation rounds, below zero too */
    for (int32_t t = 0; t < n; t++, lab += 3 * TILE_SIDE, l += TILE_PIXELS, a += TILE_PIXELS, b += TILE_PIXELS)
        for (int i = 0; i < TILE_SIDE; i++) {
            l[i] = (int16_t)((int32_t)(lab[3 * i] * LAB_SCALE + half_up) - 16384);
            a[i] = (int16_t)((int32_t)(lab[3 * i + 1] * LAB_SCALE + half_up) - 16384);
            b[i] = (int16_t)((int32_t)(lab[3 * i + 2] * LAB_SCALE + half_up) - 16384);
        }
}

/* Pixels beyond the right and lower edge repeat the last ones, so that they widen no tile's box. */
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
    *tiles = (struct tiles){.width = image->width, .height = image->height};
    tiles->columns = (image->width - 1) / TILE_SIDE + 1;
    tiles->rows = (image->height - 1) / TILE_SIDE + 1;
    tiles->n = (size_t)tiles->columns * (size_t)tiles->rows;
    float *lab = array_alloc((size_t)tiles->columns * TILE_SIDE, 3 * sizeof *lab);
    for (int c = 0; c < 3; c++)
        tiles->lab[c] = array_zalloc_aligned(tiles->n, TILE_PIXELS * sizeof *tiles->lab[c]);
    tiles->boxes = array_alloc(tiles->n, sizeof *tiles->boxes);
    tiles->labels = array_zalloc_aligned(tiles->n, TILE_PIXELS * sizeof *tiles->labels);
    if (!lab || !tiles->lab[0] || !tiles->lab[1] || !tiles->lab[2] || !tiles->boxes || !tiles->labels) {
        array_free(lab);
        tiles_release(tiles);
        return fail_memory(err);
    }
    memset(tiles->labels, 0xff, tiles->n * TILE_PIXELS * sizeof *tiles->labels); /* -1 */
    fill_planes(tiles, image, lab);
    for (int c = 0; c < 3; c++)
        fill_boxes(tiles->boxes, tiles->lab[c], c, tiles->n);
    array_free(lab);
    return CLV_OK;
}

void tiles_read_labels(int32_t *labels, const struct tiles *tiles)
{
    for (int32_t y = 0; y < tiles->height; y++)
        for (int32_t x = 0; x < tiles->width; x++)
            *labels++ = tiles->labels[tile_offset(tiles, x, y)];
}
