/* The inner loop of SLIC over one tile: bounds rule out most centres, then every pixel is compared with the few
 * that remain. Start at tile_assign. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/machine.h"
#include "superpixel/superpixel.h"

#define CHUNK_BITS 6
#define CHUNK      (1 << CHUNK_BITS) /* candidates prepared at a time */
#define GROUP      16                /* candidates or pixels per vector loop: two rows of a tile */

/* Squared distances to at most CHUNK centres without |pixel|^2, which they share: constant + <factor, (L, a, b, x, y)>,
 * relative to the middle of the tile. They are linear in the pixel, so comparing two of them at the corners of the
 * tile's box decides whether one centre is nearer in the whole box. */
struct lines {
    float constant[CHUNK], factor[5][CHUNK];
    int32_t label[CHUNK];
};

/* The middle and half the sides of a tile's box in (L, a, b, x, y). */
struct bounds {
    float middle[5], reach[5];
    float offset; /* larger than |pixel|^2 in the box, which makes every line positive there */
};

INLINE struct bounds bounds_of(const struct tiles *tiles, size_t t, float weight)
{
    const float half = 0.5F * (TILE_SIDE - 1);
    struct bounds bounds = {.reach[3] = half, .reach[4] = half, .offset = 1 + 2 * weight * half * half};
    bounds.middle[3] = (float)(t % (size_t)tiles->columns * TILE_SIDE) + half;
    bounds.middle[4] = (float)(t / (size_t)tiles->columns * TILE_SIDE) + half;
    for (int c = 0; c < 3; c++) {
        float reach = 0.5F * (float)(tiles->boxes[t].high[c] - tiles->boxes[t].low[c]);
        bounds.middle[c] = (float)tiles->boxes[t].low[c] + reach;
        bounds.reach[c] = reach;
        bounds.offset += reach * reach;
    }
    return bounds;
}

INLINE void lines_set(struct lines *lines, const struct centre *centres, const int32_t *labels, size_t n,
                      const struct bounds *bounds, float weight)
{
    for (size_t k = 0; k < n; k++) {
        const struct centre *centre = &centres[labels[k]];
        float l = centre->lab[0] - bounds->middle[0], a = centre->lab[1] - bounds->middle[1],
              b = centre->lab[2] - bounds->middle[2], x = centre->x - bounds->middle[3],
              y = centre->y - bounds->middle[4];
        lines->constant[k] = bounds->offset + l * l + a * a + b * b + weight * (x * x + y * y);
        lines->factor[0][k] = -2 * l;
        lines->factor[1][k] = -2 * a;
        lines->factor[2][k] = -2 * b;
        lines->factor[3][k] = -2 * weight * x;
        lines->factor[4][k] = -2 * weight * y;
        lines->label[k] = labels[k];
    }
    for (size_t k = n; k % GROUP; k++) {
        lines->constant[k] = 0;
        for (int d = 0; d < 5; d++)
            lines->factor[d][k] = 0;
    }
}

/* Lists, in order, the lines that are below the reference somewhere in the box. The reference is the lowest line in the
 * middle of the box. Returns their number. */
INLINE size_t list_unbeaten(uint8_t *unbeaten, const struct lines *lines, size_t n, const struct bounds *bounds)
{
    size_t reference = 0, kept = 0;
    for (size_t k = 1; k < n; k++)
        reference = lines->constant[k] < lines->constant[reference] ? k : reference;
    float lead[CHUNK], constant = lines->constant[reference],
                       factor[5]; /* lead[k]: minimum over the box of line k minus the reference */
    for (int d = 0; d < 5; d++)
        factor[d] = lines->factor[d][reference];
    for (size_t from = 0; from < n; from += GROUP)
        for (size_t k = from; k < from + GROUP; k++) {
            float sum = lines->constant[k] - constant;
            for (int d = 0; d < 5; d++)
                sum -= fabsf(lines->factor[d][k] - factor[d]) * bounds->reach[d];
            lead[k] = sum;
        }
    for (size_t k = 0; k < n; k++) {
        unbeaten[kept] = (uint8_t)k;
        kept += lead[k] <= 0;
    }
    return kept;
}

/* Returns a key that is ordered as the positive distance and holds the line's index in its last bits, so the least key
 * also identifies its line. */
INLINE int32_t key_of(float distance, int32_t k)
{
    int32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return (bits & -CHUNK) | k;
}

/* keys[TILE_PIXELS] = the least key of the n chosen lines at each pixel lab[3][TILE_PIXELS]. */
INLINE void least_keys(int32_t *restrict keys, const float (*restrict lab)[TILE_PIXELS],
                       const struct lines *restrict lines, const uint8_t *restrict chosen, size_t n)
{
    for (int i = 0; i < TILE_PIXELS; i++)
        keys[i] = INT32_MAX;
    for (size_t c = 0; c < n; c++) {
        size_t k = chosen[c];
        float l = lines->factor[0][k], a = lines->factor[1][k], b = lines->factor[2][k], position[GROUP];
        for (int i = 0; i < GROUP; i++) {
            float x = (float)(i % TILE_SIDE) - 0.5F * (TILE_SIDE - 1),
                  y = (float)(i / TILE_SIDE) - 0.5F * (TILE_SIDE - 1);
            position[i] = lines->constant[k] + lines->factor[3][k] * x + lines->factor[4][k] * y;
        }
        for (int from = 0; from < TILE_PIXELS; from += GROUP) {
            float down = lines->factor[4][k] * (float)(from / TILE_SIDE);
            for (int i = 0; i < GROUP; i++) {
                float distance =
                    (position[i] + down) + l * lab[0][from + i] + a * lab[1][from + i] + b * lab[2][from + i];
                int32_t key = key_of(distance, (int32_t)k);
                keys[from + i] = key < keys[from + i] ? key : keys[from + i];
            }
        }
    }
}

INLINE void take_all(int32_t *restrict labels, int32_t *restrict least, const int32_t *restrict keys,
                     const int32_t *restrict label)
{
    for (int i = 0; i < TILE_PIXELS; i++) {
        labels[i] = label[keys[i] & (CHUNK - 1)];
        least[i] = keys[i];
    }
}

/* Among equal distances the earlier chunk wins: keys order lines only within a chunk. */
INLINE void take_lower(int32_t *restrict labels, int32_t *restrict least, const int32_t *restrict keys,
                       const int32_t *restrict label)
{
    for (int i = 0; i < TILE_PIXELS; i++) {
        bool lower = (keys[i] & -CHUNK) < (least[i] & -CHUNK);
        labels[i] = lower ? label[keys[i] & (CHUNK - 1)] : labels[i];
        least[i] = lower ? keys[i] : least[i];
    }
}

FOR_EVERY_WIDTH void tile_assign(int32_t *restrict labels, uint8_t *restrict changed,
                                 const struct tiles *restrict tiles, size_t t, const struct centre *restrict centres,
                                 const int32_t *restrict candidates, size_t n_candidates, float weight)
{
    struct bounds bounds = bounds_of(tiles, t, weight);
    float lab[3][TILE_PIXELS];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < TILE_PIXELS; i++)
            lab[c][i] = (float)tiles->lab[c][t * TILE_PIXELS + (size_t)i] - bounds.middle[c];

    int32_t least[TILE_PIXELS], keys[TILE_PIXELS];
    for (size_t begin = 0; begin < n_candidates; begin += CHUNK) {
        struct lines lines;
        uint8_t unbeaten[CHUNK];
        size_t n = n_candidates - begin < CHUNK ? n_candidates - begin : CHUNK;
        lines_set(&lines, centres, candidates + begin, n, &bounds, weight);
        n = list_unbeaten(unbeaten, &lines, n, &bounds);
        least_keys(keys, lab, &lines, unbeaten, n);
        if (begin == 0)
            take_all(labels, least, keys, lines.label);
        else
            take_lower(labels, least, keys, lines.label);
    }
    const int32_t *old = tiles->labels + t * TILE_PIXELS;
    for (int i = 0; i < TILE_PIXELS; i++)
        changed[i] = labels[i] != old[i];
}
