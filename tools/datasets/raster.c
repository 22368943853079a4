/* Draws rasters of any size with known truth, and counts the wrong pixels of a mask near the borders of tiles and
 * elsewhere.
 *
 * Usage: raster draw IMAGE.tif TRUTH.tif WIDTH HEIGHT SEED
 *        raster score TRUTH MASK TILE
 *
 * `draw' writes 4 bands of 16 bits in tiles of 400 x 400 pixels (BigTIFF beyond 4 GB), one tile after the other, and the
 * truth of two classes: whether a smooth random field, of bumps of about 90 and 35 pixels, is above 0. A pixel's values
 * mix the spectra of both classes by the field's distance from 0, times a field of light, plus noise. The raster repeats
 * after 4,000 pixels. `score' reads windows and prints the fraction of wrong pixels of all, of those within 8 pixels of
 * the tiles' borders and of the others, and the ratio of the latter two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "image/raster/raster.h"

enum { N_BANDS = 4, SIDE = 400, PERIOD = 10, NEAR = 8 };

static uint64_t seed;

/* 64 random bits of a place. */
static uint64_t bits_at(uint64_t x, uint64_t y, uint64_t kind)
{
    uint64_t z =
        seed * 0x9e3779b97f4a7c15u + x * 0xbf58476d1ce4e5b9u + y * 0x94d049bb133111ebu + kind * 0xd6e8feb86659fd93u;
    for (int i = 0; i < 2; i++) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    }
    return z ^ (z >> 31);
}

/* Of mean 0 and deviation 1, about normal. */
static double noise_at(uint64_t x, uint64_t y, uint64_t kind)
{
    uint64_t bits = bits_at(x, y, kind);
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += (double)(bits >> 16 * k & 0xffff) / 65535 - 0.5;
    return sum * sqrt(3);
}

/* A smooth field: noise of the corners of squares, blended. */
static double field_at(uint32_t x, uint32_t y, uint32_t side, uint64_t kind)
{
    uint32_t u = x / side, v = y / side;
    double s = (double)(x % side) / side, t = (double)(y % side) / side;
    s = s * s * (3 - 2 * s);
    t = t * t * (3 - 2 * t);
    return (1 - t) * ((1 - s) * noise_at(u, v, kind) + s * noise_at(u + 1, v, kind)) +
           t * ((1 - s) * noise_at(u, v + 1, kind) + s * noise_at(u + 1, v + 1, kind));
}

static uint8_t draw_pixel(uint16_t values[N_BANDS], uint32_t x, uint32_t y)
{
    static const double spectra[2][N_BANDS] = {{1500, 1700, 2100, 1900}, {1750, 1900, 1950, 2350}};
    double field = field_at(x, y, 90, 0) + 0.5 * field_at(x, y, 35, 1), share = 1 / (1 + exp(-8 * field));
    double light = 1 + 0.1 * field_at(x, y, 400, 2);
    for (uint64_t b = 0; b < N_BANDS; b++) {
        double value = light * ((1 - share) * spectra[0][b] + share * spectra[1][b]);
        value += 120 * field_at(x, y, 9, 3 + b) + 250 * noise_at(x, y, 3 + N_BANDS + b);
        values[b] = (uint16_t)fmin(fmax(value, 0), 65535);
    }
    return field > 0;
}

static TIFF *create(const char *path, uint32_t width, uint32_t height, uint16_t n_samples, uint16_t bits)
{
    TIFF *tiff = TIFFOpen(path, (double)width * height * n_samples * bits / 8 > 4e9 ? "w8" : "w");
    if (!tiff)
        exit(73);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, n_samples);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, bits == 8 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, SIDE);
    if (n_samples > 1) {
        uint16_t extra[N_BANDS - 1] = {0};
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, n_samples - 1, extra);
    }
    return tiff;
}

/* A square of both images, which repeats. */
struct square {
    uint16_t values[SIDE][SIDE][N_BANDS];
    uint8_t truth[SIDE][SIDE];
};

static struct square *draw_squares(void)
{
    struct square *squares = malloc((size_t)PERIOD * PERIOD * sizeof *squares);
    for (uint32_t k = 0; squares && k < PERIOD * PERIOD; k++)
        for (uint32_t y = 0; y < SIDE; y++)
            for (uint32_t x = 0; x < SIDE; x++)
                squares[k].truth[y][x] =
                    draw_pixel(squares[k].values[y][x], k % PERIOD * SIDE + x, k / PERIOD * SIDE + y);
    return squares;
}

static int draw(const char *image_path, const char *truth_path, uint32_t width, uint32_t height)
{
    TIFF *image = create(image_path, width, height, N_BANDS, 16), *mask = create(truth_path, width, height, 1, 8);
    struct square *squares = draw_squares();
    int is_written = squares != NULL;
    for (uint32_t row = 0; row * SIDE < height; row++)
        for (uint32_t column = 0; column * SIDE < width && is_written; column++) {
            struct square *square = &squares[row % PERIOD * PERIOD + column % PERIOD];
            uint32_t number = TIFFComputeTile(image, column * SIDE, row * SIDE, 0, 0);
            is_written = TIFFWriteEncodedTile(image, number, square->values, sizeof square->values) > 0 &&
                         TIFFWriteEncodedTile(mask, number, square->truth, sizeof square->truth) > 0;
        }
    free(squares);
    TIFFClose(image);
    TIFFClose(mask);
    return is_written ? 0 : 74;
}

static int is_near(int32_t at, int32_t size, int32_t tile)
{
    int32_t in = at % tile;
    return (in < NEAR && at >= NEAR) || (in >= tile - NEAR && at + NEAR < size);
}

static int score(const char *truth_path, const char *mask_path, int32_t tile)
{
    struct raster truth, mask;
    struct clv_error error;
    double wrong[2] = {0}, all[2] = {0}; /* elsewhere, near a border */
    const struct clv_image_limits limits = {.max_pixels = UINT64_MAX, .max_side_px = INT32_MAX};
    if (raster_open(&truth, truth_path, &limits, &error) || raster_open(&mask, mask_path, &limits, &error))
        return fprintf(stderr, "%s\n", error.message), 66;
    if (truth.width != mask.width || truth.height != mask.height)
        return fprintf(stderr, "%s: is of another size than %s\n", mask_path, truth_path), 65;
    float *values[2];
    for (int k = 0; k < 2; k++)
        values[k] = malloc((size_t)truth.width * SIDE * 3 * sizeof **values);
    for (int32_t top = 0; top < truth.height; top += SIDE) {
        int32_t rows = truth.height - top < SIDE ? truth.height - top : SIDE;
        if (raster_read(values[0], &truth, &(struct image_part){.top = top, .width = truth.width, .height = rows},
                        &error) ||
            raster_read(values[1], &mask, &(struct image_part){.top = top, .width = truth.width, .height = rows},
                        &error))
            return fprintf(stderr, "%s\n", error.message), 65;
        raster_forget(&truth);
        raster_forget(&mask);
        for (int32_t y = 0; y < rows; y++)
            for (int32_t x = 0; x < truth.width; x++) {
                size_t at = (size_t)y * (size_t)truth.width + (size_t)x;
                int near = is_near(x, truth.width, tile) || is_near(top + y, truth.height, tile);
                all[near]++;
                wrong[near] +=
                    (values[0][at * (size_t)truth.n_bands] != 0) != (values[1][at * (size_t)mask.n_bands] != 0);
            }
    }
    double near = wrong[1] / fmax(all[1], 1), elsewhere = wrong[0] / fmax(all[0], 1);
    printf("wrong %.4f%%  near borders %.4f%%  elsewhere %.4f%%  ratio %.3f\n",
           100 * (wrong[0] + wrong[1]) / (all[0] + all[1]), 100 * near, 100 * elsewhere, near / elsewhere);
    raster_close(&truth);
    raster_close(&mask);
    free(values[0]);
    free(values[1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "draw") == 0) {
        seed = strtoull(argv[6], NULL, 10);
        return draw(argv[2], argv[3], (uint32_t)atol(argv[4]), (uint32_t)atol(argv[5]));
    }
    if (argc == 5 && strcmp(argv[1], "score") == 0)
        return score(argv[2], argv[3], atoi(argv[4]));
    return fprintf(stderr, "usage: raster draw IMAGE.tif TRUTH.tif WIDTH HEIGHT SEED | score TRUTH MASK TILE\n"), 64;
}
