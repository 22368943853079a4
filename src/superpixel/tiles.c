#include "superpixel/tiles.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* Run-time choice of the vector width; sanitizers do not get along with it. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_WIDTH
#endif

static void rgb_to_lab(float *lab, const uint8_t *rgb, size_t n)
{
    static const float to_xyz[3][3] = {{0.4338962F, 0.3762149F, 0.1898889F},
                                       {0.2126729F, 0.7151522F, 0.0721750F},
                                       {0.0177565F, 0.1094681F, 0.8727754F}}; /* rows divided by the D65 white */
    for (size_t i = 0; i < n; i++, rgb += 3, lab += 3) {
        float linear[3], f[3];
        for (int c = 0; c < 3; c++) {
            float v = (float)rgb[c] / 255;
            linear[c] = v <= 0.04045F ? v / 12.92F : powf((v + 0.055F) / 1.055F, 2.4F);
        }
        for (int c = 0; c < 3; c++) {
            float t = to_xyz[c][0] * linear[0] + to_xyz[c][1] * linear[1] + to_xyz[c][2] * linear[2];
            f[c] = t > 0.008856452F ? cbrtf(t) : t * 7.787037F + 16.0F / 116;
        }
        lab[0] = 116 * f[1] - 16;
        lab[1] = 500 * (f[0] - f[1]);
        lab[2] = 200 * (f[1] - f[2]);
    }
}

void tiles_release(struct tiles *tiles)
{
    for (int c = 0; c < 3; c++)
        array_free(tiles->lab[c]);
    array_free(tiles->labels);
    *tiles = (struct tiles){0};
}

static void fill_row(struct tiles *tiles, const float *lab, int32_t y)
{
    size_t begin = tile_offset(tiles, 0, y);
    for (int32_t x = 0; x < tiles->width; x++) {
        size_t at = begin + (size_t)(x / TILE_SIDE) * TILE_PIXELS + (size_t)(x % TILE_SIDE);
        for (int c = 0; c < 3; c++)
            tiles->lab[c][at] = (int16_t)lrintf(lab[3 * x + c] * LAB_SCALE);
    }
}

enum clv_status tiles_init(struct tiles *tiles, const struct clv_image *image, struct clv_error *err)
{
    *tiles = (struct tiles){.width = image->width, .height = image->height};
    tiles->columns = (image->width - 1) / TILE_SIDE + 1;
    tiles->rows = (image->height - 1) / TILE_SIDE + 1;
    tiles->n = (size_t)tiles->columns * (size_t)tiles->rows;
    enum clv_status status = CLV_OK;
    float *lab = array_alloc((size_t)image->width, 3 * sizeof *lab);
    for (int c = 0; c < 3; c++)
        tiles->lab[c] = array_zalloc_aligned(tiles->n, TILE_PIXELS * sizeof *tiles->lab[c]);
    tiles->labels = array_zalloc_aligned(tiles->n, TILE_PIXELS * sizeof *tiles->labels);
    if (!lab || !tiles->lab[0] || !tiles->lab[1] || !tiles->lab[2] || !tiles->labels) {
        status = fail_memory(err);
        goto done;
    }
    memset(tiles->labels, 0xff, tiles->n * TILE_PIXELS * sizeof *tiles->labels); /* -1 */
    for (int32_t y = 0; y < image->height; y++) {
        rgb_to_lab(lab, image->pixels + 3 * (size_t)y * (size_t)image->width, (size_t)image->width);
        fill_row(tiles, lab, y);
    }
done:
    array_free(lab);
    if (status)
        tiles_release(tiles);
    return status;
}

void tiles_read_labels(int32_t *labels, const struct tiles *tiles)
{
    for (int32_t y = 0; y < tiles->height; y++)
        for (int32_t x = 0; x < tiles->width; x++)
            *labels++ = tiles->labels[tile_offset(tiles, x, y)];
}

#define CHUNK 64 /* candidates prepared at a time */
#define LANES 16 /* pixels in flight */

/* The squared distance without what all candidates share: constant + <factor, (L, a, b, x, y)>. */
struct line {
    float constant, factor[5];
    int32_t label;
};

EVERY_WIDTH static void least_lines(int32_t *restrict labels, float *restrict least, const int16_t *restrict l,
                                    const int16_t *restrict a, const int16_t *restrict b, const struct line *lines,
                                    size_t n_lines)
{
    for (int block = 0; block < TILE_PIXELS; block += LANES) {
        float x[LANES], y[LANES], best[LANES];
        float lf[LANES], af[LANES], bf[LANES];
        int32_t label[LANES];
        for (int i = 0; i < LANES; i++) {
            x[i] = (float)(i % TILE_SIDE);
            y[i] = (float)((block + i) / TILE_SIDE);
            lf[i] = l[block + i];
            af[i] = a[block + i];
            bf[i] = b[block + i];
            best[i] = least[block + i];
            label[i] = labels[block + i];
        }
        for (size_t k = 0; k < n_lines; k++) {
            const struct line line = lines[k];
            for (int i = 0; i < LANES; i++) {
                float d = (line.constant + line.factor[4] * y[i]) + line.factor[3] * x[i] + line.factor[0] * lf[i] +
                          line.factor[1] * af[i] + line.factor[2] * bf[i];
                label[i] = d < best[i] ? line.label : label[i];
                best[i] = d < best[i] ? d : best[i];
            }
        }
        for (int i = 0; i < LANES; i++) {
            least[block + i] = best[i];
            labels[block + i] = label[i];
        }
    }
}

void tile_assign(int32_t *labels, const struct tiles *tiles, size_t t, const struct centre *centres,
                 const int32_t *candidates, size_t n_candidates, float weight)
{
    float least[TILE_PIXELS], left = (float)(t % (size_t)tiles->columns * TILE_SIDE),
                              top = (float)(t / (size_t)tiles->columns * TILE_SIDE);
    for (int i = 0; i < TILE_PIXELS; i++) {
        least[i] = INFINITY;
        labels[i] = candidates[0];
    }
    for (size_t begin = 0; begin < n_candidates; begin += CHUNK) {
        struct line lines[CHUNK];
        size_t n = n_candidates - begin < CHUNK ? n_candidates - begin : CHUNK;
        for (size_t k = 0; k < n; k++) {
            const struct centre *centre = &centres[candidates[begin + k]];
            float l = centre->lab[0], a = centre->lab[1], b = centre->lab[2], x = centre->x - left, y = centre->y - top;
            lines[k] = (struct line){.constant = l * l + a * a + b * b + weight * (x * x + y * y),
                                     .factor = {-2 * l, -2 * a, -2 * b, -2 * weight * x, -2 * weight * y},
                                     .label = candidates[begin + k]};
        }
        least_lines(labels, least, tiles->lab[0] + t * TILE_PIXELS, tiles->lab[1] + t * TILE_PIXELS,
                    tiles->lab[2] + t * TILE_PIXELS, lines, n);
    }
}
