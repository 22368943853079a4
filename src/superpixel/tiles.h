/* An image in 8 x 8 tiles of Lab planes, and the inner loop of SLIC over one tile. */
#ifndef SUPERPIXEL_TILES_H
#define SUPERPIXEL_TILES_H

#include "cleave/image.h"

#define TILE_SIDE   8
#define TILE_PIXELS (TILE_SIDE * TILE_SIDE)
#define LAB_SCALE   32.0F /* plane values per Lab unit */

/* The colours of a tile are within. */
struct tile_box {
    int16_t low[3], high[3];
};

/* Tiles row by row, the pixels of a tile row by row. Pixels beyond the right and lower edge of the image have the
 * colours of the edge and labels without meaning. */
struct tiles {
    int32_t width, height; /* of the image */
    int32_t columns, rows; /* of tiles */
    size_t n;              /* columns x rows */
    int16_t *lab[3];       /* [n][TILE_PIXELS] */
    struct tile_box *boxes;
    int32_t *labels; /* [n][TILE_PIXELS] cluster, -1: none yet */
};

struct centre {
    float lab[3], x, y;
};

enum clv_status tiles_init(struct tiles *tiles, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
void tiles_release(struct tiles *tiles);

/* Copies the labels out, labels[height][width]. */
void tiles_read_labels(int32_t *labels, const struct tiles *tiles);

/* labels[TILE_PIXELS] = for each pixel of tile t the candidate (>= 1 of them) with the least
 * |lab - centre's|^2 + weight * |position - centre's|^2, the first among equals. changed[i] = whether it is another
 * one than the tile has. The same for every vector width. */
void tile_assign(int32_t *restrict labels, uint8_t *restrict changed, const struct tiles *restrict tiles, size_t t,
                 const struct centre *restrict centres, const int32_t *restrict candidates, size_t n_candidates,
                 float weight);

static inline size_t tile_offset(const struct tiles *tiles, int32_t x, int32_t y)
{
    size_t tile = (size_t)(y / TILE_SIDE) * (size_t)tiles->columns + (size_t)(x / TILE_SIDE);
    return tile * TILE_PIXELS + (size_t)(y % TILE_SIDE * TILE_SIDE + x % TILE_SIDE);
}

#endif
