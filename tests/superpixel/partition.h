/* What the superpixel tests share: label maps of every kind, and an independent look at their pieces. */
#ifndef TESTS_SUPERPIXEL_PARTITION_H
#define TESTS_SUPERPIXEL_PARTITION_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

/* An image of some structure (smooth colours, a disc) under noise of the given strength 0..255; free() its pixels. */
static inline struct clv_image draw_image(int32_t width, int32_t height, int noise)
{
    struct clv_image image = {width, height, 3, malloc((size_t)width * (size_t)height * 3)};
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            bool inside = (x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2) < width * height / 9;
            int colour[3] = {inside ? 200 : 255 * x / width, inside ? 90 : 255 * y / height, inside ? 40 : 128};
            for (int c = 0; c < 3; c++) {
                int value = colour[c];
                if (noise)
                    value += (int)rng_below(1, RNG_TEST, 3 * at + (size_t)c, 2 * (uint32_t)noise + 1) - noise;
                image.pixels[3 * at + (size_t)c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
    return image;
}

/* Random labels in 0..n_labels-1, in blocks of block x block pixels; free() them. */
static inline int32_t *random_labels(int32_t width, int32_t height, int32_t n_labels, int32_t block, uint64_t stream)
{
    int32_t *labels = malloc((size_t)width * (size_t)height * sizeof *labels);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            labels[y * width + x] = (int32_t)rng_below(7, RNG_STREAM(RNG_TEST, stream),
                                                       (uint64_t)(y / block * width + x / block), (uint32_t)n_labels);
    return labels;
}

/* Floods each piece of equal labels from its first pixel: pieces[height][width] receives their numbers in raster order
 * of first pixels. Returns how many there are. */
static inline int32_t flood_pieces(int32_t *pieces, const int32_t *labels, int32_t width, int32_t height)
{
    int32_t n_pixels = width * height, n_pieces = 0;
    OWNED_ARRAY int32_t *stack = malloc((size_t)n_pixels * sizeof *stack);
    memset(pieces, 0xff, (size_t)n_pixels * sizeof *pieces);
    for (int32_t start = 0; start < n_pixels; start++) {
        if (pieces[start] >= 0)
            continue;
        int32_t depth = 0;
        stack[depth++] = start;
        pieces[start] = n_pieces;
        while (depth) {
            int32_t at = stack[--depth], x = at % width, y = at / width;
            for (int d = 0; d < 4; d++) {
                int32_t u = x + (d == 0) - (d == 1), v = y + (d == 2) - (d == 3), other = v * width + u;
                if (u < 0 || v < 0 || u >= width || v >= height || pieces[other] >= 0 || labels[other] != labels[at])
                    continue;
                pieces[other] = n_pieces;
                stack[depth++] = other;
            }
        }
        n_pieces++;
    }
    return n_pieces;
}

/* Fails unless the labels are their own pieces: connected, compact, numbered by first pixel. */
static inline void check_partition(const struct clv_superpixels *superpixels, int32_t width, int32_t height)
{
    ck_assert_int_eq(superpixels->width, width);
    ck_assert_int_eq(superpixels->height, height);
    size_t n_pixels = (size_t)width * (size_t)height;
    OWNED_ARRAY int32_t *pieces = malloc(n_pixels * sizeof *pieces);
    ck_assert_int_eq(superpixels->n, flood_pieces(pieces, superpixels->labels, width, height));
    ck_assert_mem_eq(pieces, superpixels->labels, n_pixels * sizeof *pieces);
}

#endif
