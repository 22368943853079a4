/* Samples and blurs planes of floats, and computes distances from a border by a chamfer transform: one sweep forwards,
 * one backwards. */
#include "sequence/sequence.h"

#include <math.h>
#include <string.h>

#define DIAGONAL 1.41421356F

static float clamp(float value, float high)
{
    return value > 0 ? value < high ? value : high : 0;
}

void plane_sample(float *out, const float *plane, int32_t channels, int32_t width, int32_t height, float x, float y)
{
    x = clamp(x, (float)(width - 1));
    y = clamp(y, (float)(height - 1));
    int32_t left = int32_within((double)x, 0, width - 1), top = int32_within((double)y, 0, height - 1);
    float fx = x - (float)left, fy = y - (float)top;
    ptrdiff_t right = left + 1 < width ? channels : 0, down = top + 1 < height ? (ptrdiff_t)width * channels : 0;
    const float *at = plane + ((ptrdiff_t)top * width + left) * channels;
    for (int32_t k = 0; k < channels; k++, at++)
        out[k] = (1 - fy) * ((1 - fx) * at[0] + fx * at[right]) + fy * ((1 - fx) * at[down] + fx * at[down + right]);
}

/* Replaces n values, `step` apart, by the means of the 2 radius + 1 values around each, zeros outside, by a running
 * sum. */
static void blur_line(float *line, int32_t n, ptrdiff_t step, int32_t radius, float *copy)
{
    for (int32_t i = 0; i < n; i++)
        copy[i] = line[i * step];
    double sum = 0, scale = 1.0 / (2 * radius + 1);
    for (int32_t i = 0; i < radius && i < n; i++)
        sum += (double)copy[i];
    for (int32_t i = 0; i < n; i++) {
        sum += i + radius < n ? (double)copy[i + radius] : 0;
        line[i * step] = (float)(sum * scale);
        sum -= i >= radius ? (double)copy[i - radius] : 0;
    }
}

void plane_blur(float *plane, int32_t width, int32_t height, int32_t radius, int32_t passes, float *scratch)
{
    for (int32_t pass = 0; pass < passes; pass++) {
        for (int32_t y = 0; y < height; y++)
            blur_line(plane + (ptrdiff_t)y * width, width, 1, radius, scratch);
        for (int32_t x = 0; x < width; x++)
            blur_line(plane + x, height, width, radius, scratch);
    }
}

/* Lowers each distance to that of a neighbour plus the step to it, if this is less. The neighbours are those to the
 * left and above or, backwards, to the right and below. */
static void grow(float *distance, int32_t width, int32_t height, bool backwards)
{
    static const int32_t dx[4] = {-1, -1, 0, 1}, dy[4] = {0, -1, -1, -1};
    static const float length[4] = {1, DIAGONAL, 1, DIAGONAL};
    int32_t sign = backwards ? -1 : 1, n = width * height;
    for (int32_t k = 0; k < n; k++) {
        int32_t i = backwards ? n - 1 - k : k, x = i % width, y = i / width;
        for (int32_t j = 0; j < 4; j++) {
            int32_t u = x + sign * dx[j], v = y + sign * dy[j];
            if (u >= 0 && v >= 0 && u < width && v < height)
                distance[i] = fminf(distance[i], distance[(ptrdiff_t)v * width + u] + length[j]);
        }
    }
}

void plane_distance(float *distance, const float *plane, int32_t width, int32_t height, float none)
{
    int32_t n = width * height;
    for (int32_t i = 0; i < n; i++) {
        bool is_in = plane[i] > 0.5F, right = i % width + 1 < width && (plane[i + 1] > 0.5F) != is_in;
        bool left = i % width > 0 && (plane[i - 1] > 0.5F) != is_in;
        bool above = i >= width && (plane[i - width] > 0.5F) != is_in;
        bool below = i + width < n && (plane[i + width] > 0.5F) != is_in;
        distance[i] = left || right || above || below ? 1 : none;
    }
    /* A pixel is never farther from the pixels of distance 1 on its own side than from those on the other side, so one
     * pair of sweeps serves both sides. */
    grow(distance, width, height, false);
    grow(distance, width, height, true);
    for (int32_t i = 0; i < n; i++)
        distance[i] = fminf(distance[i], none) * (plane[i] > 0.5F ? 1.0F : -1.0F);
}
