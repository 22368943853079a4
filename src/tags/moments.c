/* Computes spatial colour moments of an image in CIE L*u*v*, a nearly perceptually uniform colour space. Start at
 * clv_colour_moments. */
#include <math.h>

#include "base/base.h"
#include "tags/tags.h"

enum { CELLS = CLV_MOMENT_CELLS, BANDS = 3 };

/* Linear light of an sRGB byte (IEC 61966-2-1). */
static double light(uint8_t byte)
{
    double v = byte / 255.0;
    return v <= 0.04045 ? v / 12.92 : portable_pow((v + 0.055) / 1.055, 2.4);
}

/* Converts RGB to L*, u*, v* (CIE 15, white point D65): u' = 4X / (X + 15Y + 3Z), v' = 9Y / (X + 15Y + 3Z), u* = 13 L*
 * (u' - u'_n), v* = 13 L* (v' - v'_n). */
static void luv_of(double luv[BANDS], const uint8_t *rgb, const double table[256])
{
    double r = table[rgb[0]], g = table[rgb[1]], b = table[rgb[2]];
    double x = 0.4124564 * r + 0.3575761 * g + 0.1804375 * b;
    double y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
    double z = 0.0193339 * r + 0.1191920 * g + 0.9503041 * b;
    double sum = x + 15 * y + 3 * z;
    double u = sum > 0 ? 4 * x / sum : 0, v = sum > 0 ? 9 * y / sum : 0;
    luv[0] = y > 216.0 / 24389 ? 116 * portable_cbrt(y) - 16 : 24389.0 / 27 * y;
    luv[1] = sum > 0 ? 13 * luv[0] * (u - 0.19783) : 0;
    luv[2] = sum > 0 ? 13 * luv[0] * (v - 0.46834) : 0;
}

/* The first row or column of a cell; that of the next cell is its end. */
static int32_t cell_start(int32_t cell, int32_t size)
{
    return (int32_t)((int64_t)cell * size / CELLS);
}

void clv_colour_moments(double moments[CLV_MOMENTS], const struct clv_image *image)
{
    double table[256];
    for (int i = 0; i < 256; i++)
        table[i] = light((uint8_t)i);
    for (int32_t cell = 0; cell < CELLS * CELLS; cell++) {
        int32_t y0 = cell_start(cell / CELLS, image->height), y1 = cell_start(cell / CELLS + 1, image->height);
        int32_t x0 = cell_start(cell % CELLS, image->width), x1 = cell_start(cell % CELLS + 1, image->width);
        double sum[BANDS] = {0}, square[BANDS] = {0}, luv[BANDS], first[BANDS];
        y1 = y1 > y0 ? y1 : y0 + 1;
        x1 = x1 > x0 ? x1 : x0 + 1;
        /* Sums differences from the first pixel, so that the variance of a single colour is exactly zero. A rounding
         * error would be amplified, because features are divided by their largest magnitude. */
        luv_of(first, image->pixels + ((size_t)y0 * (size_t)image->width + (size_t)x0) * 3, table);
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = x0; x < x1; x++) {
                luv_of(luv, image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * 3, table);
                for (int c = 0; c < BANDS; c++) {
                    double difference = luv[c] - first[c];
                    sum[c] += difference;
                    square[c] += difference * difference;
                }
            }
        double n = (double)(y1 - y0) * (double)(x1 - x0), *cell_moments = moments + (size_t)cell * 2 * BANDS;
        for (int c = 0; c < BANDS; c++) {
            double mean = sum[c] / n;
            cell_moments[c] = first[c] + mean;
            cell_moments[BANDS + c] = fmax(0, square[c] / n - mean * mean);
        }
    }
}
