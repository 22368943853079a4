/* Filters planes of floats: Gaussian, minimum and maximum over a square (all separable), and chamfer distance
 * (Borgefors 1986). */
#include "pixel_net/pixel_net.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

#define MAX_RADIUS 64

static int32_t within(int32_t at, int32_t size)
{
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

enum { TAPS = 4 }; /* rows added per pass, so that sums stay in registers */

/* Adds to sum[n] the weighted rows, in their order. */
FOR_EVERY_WIDTH static void add_weighted(float *restrict sum, const float *const rows[TAPS], const float *weights,
                                         size_t n)
{
    const float *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2], *restrict d = rows[3];
    float of_a = weights[0], of_b = weights[1], of_c = weights[2], of_d = weights[3];
    for (size_t i = 0; i < n; i++)
        sum[i] = sum[i] + of_a * a[i] + of_b * b[i] + of_c * c[i] + of_d * d[i];
}

/* Copies a row and repeats its first and last pixel `radius` times. */
static void pad(float *padded, const float *row, int32_t width, int32_t radius)
{
    for (int32_t x = -radius; x < width + radius; x++)
        padded[x + radius] = row[within(x, width)];
}

/* Returns the unscaled weight of a pixel k pixels away. */
static double gauss(int32_t k, double deviation)
{
    return k == 0 ? 1 : portable_exp(-k * k / (2 * deviation * deviation));
}

enum clv_status filter_gauss(float *out, const float *in, int32_t width, int32_t height, double deviation,
                             struct clv_error *err)
{
    int32_t radius = int32_within(ceil(3 * deviation), 0, MAX_RADIUS);
    float weight[2 * MAX_RADIUS + TAPS] = {0}; /* weights after the last one are 0 */
    double total = 0;
    for (int32_t k = -radius; k <= radius; k++)
        total += gauss(k, deviation);
    for (int32_t k = -radius; k <= radius; k++)
        weight[k + radius] = (float)(gauss(k, deviation) / total);
    size_t w = (size_t)width;
    OWNED_ARRAY float *between = array_zalloc((size_t)height, w * sizeof *between);
    OWNED_ARRAY float *padded = array_alloc(w + 2 * (size_t)radius, sizeof *padded);
    const float *rows[TAPS];
    NEED(between && padded);
    for (int32_t y = 0; y < height; y++) {
        pad(padded, in + (size_t)y * w, width, radius);
        for (int32_t k = 0; k <= 2 * radius; k += TAPS) {
            for (int32_t t = 0; t < TAPS; t++)
                rows[t] = padded + within(k + t, 2 * radius + 1);
            add_weighted(between + (size_t)y * w, rows, weight + k, w);
        }
    }
    memset(out, 0, (size_t)height * w * sizeof *out);
    for (int32_t y = 0; y < height; y++)
        for (int32_t k = 0; k <= 2 * radius; k += TAPS) {
            for (int32_t t = 0; t < TAPS; t++)
                rows[t] = between + (size_t)within(y + k + t - radius, height) * w;
            add_weighted(out + (size_t)y * w, rows, weight + k, w);
        }
    return CLV_OK;
}

FOR_EVERY_WIDTH static void take_greatest(float *restrict most, const float *restrict row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        most[i] = row[i] > most[i] ? row[i] : most[i];
}

FOR_EVERY_WIDTH static void take_least(float *restrict least, const float *restrict row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        least[i] = row[i] < least[i] ? row[i] : least[i];
}

enum clv_status filter_extremes(float *greatest, float *least, const float *in, int32_t width, int32_t height,
                                int32_t radius, struct clv_error *err)
{
    size_t w = (size_t)width, n = (size_t)height * w;
    OWNED_ARRAY float *high = array_copy(in, n, sizeof *high);
    OWNED_ARRAY float *low = array_copy(in, n, sizeof *low);
    OWNED_ARRAY float *padded = array_alloc(w + 2 * (size_t)radius, sizeof *padded);
    NEED(high && low && padded);
    for (int32_t y = 0; y < height; y++) {
        pad(padded, in + (size_t)y * w, width, radius);
        for (int32_t k = 0; k <= 2 * radius; k++) {
            take_greatest(high + (size_t)y * w, padded + k, w);
            take_least(low + (size_t)y * w, padded + k, w);
        }
    }
    memcpy(greatest, high, n * sizeof *greatest);
    memcpy(least, low, n * sizeof *least);
    for (int32_t y = 0; y < height; y++)
        for (int32_t k = -radius; k <= radius; k++) {
            size_t from = (size_t)within(y + k, height) * w;
            take_greatest(greatest + (size_t)y * w, high + from, w);
            take_least(least + (size_t)y * w, low + from, w);
        }
    return CLV_OK;
}

void filter_distance(float *distance, const int32_t *values, int32_t width, int32_t height, float most)
{
    static const int8_t steps[4][2] = {{-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    int32_t n = width * height;
    for (int32_t at = 0; at < n; at++)
        distance[at] = most;
    for (int pass = 0; pass < 2; pass++) /* forwards, then backwards with opposite steps */
        for (int32_t i = 0; i < n; i++) {
            int32_t at = pass ? n - 1 - i : i, x = at % width, y = at / width;
            for (int k = 0; k < 4; k++) {
                int32_t u = x + (pass ? -steps[k][0] : steps[k][0]), v = y + (pass ? -steps[k][1] : steps[k][1]);
                if (u < 0 || v < 0 || u >= width || v >= height)
                    continue;
                float step = k % 2 ? 1.4142135F : 1;
                float longer = values[v * width + u] == values[at] ? distance[v * width + u] + step : step;
                distance[at] = longer < distance[at] ? longer : distance[at];
            }
        }
}
