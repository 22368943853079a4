#include "refine/pixel_couplings.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/maths.h"

#define FLOOR          0.1   /* e: what a border along the strongest edge still costs */
#define NO_CONTRAST    1e-4  /* contrasts that weigh less count as none */
#define REFERENCE_SIDE 256.0 /* of the image that a coupling is meant for */

static inline int32_t square_distance(const uint8_t *a, const uint8_t *b)
{
    int32_t red = a[0] - b[0], green = a[1] - b[1], blue = a[2] - b[2];
    return red * red + green * green + blue * blue;
}

/* Of neighbours side by side and one above the other; at least 1. */
static double mean_contrast(const struct clv_image *image)
{
    size_t width = (size_t)image->width, height = (size_t)image->height;
    uint64_t sum = 0, n_pairs = (uint64_t)(width - 1) * height + (uint64_t)width * (height - 1);
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = image->pixels + 3 * y * width;
        for (size_t x = 0; x + 1 < width; x++)
            sum += (uint64_t)square_distance(row + 3 * x, row + 3 * x + 3);
        for (size_t x = 0; x < width && y + 1 < height; x++)
            sum += (uint64_t)square_distance(row + 3 * x, row + 3 * (x + width));
    }
    double mean = n_pairs ? (double)sum / (double)n_pairs : 1;
    return mean > 1 ? mean : 1;
}

/* weight[d] = e + (1 - e) exp(-d / (2 mean)) of squared distances d; the last one stands for all above, too. */
static float *contrast_weights(int32_t *last, double mean)
{
    double highest = fmin(-2 * mean * portable_log(NO_CONTRAST), 3 * 255 * 255);
    *last = (int32_t)highest;
    float *weight = array_alloc((size_t)*last + 1, sizeof *weight);
    for (int32_t d = 0; weight && d <= *last; d++)
        weight[d] = (float)(FLOOR + (1 - FLOOR) * portable_exp(-d / (2 * mean)));
    return weight;
}

double coupling_at(double coupling, size_t n_pixels)
{
    return coupling * sqrt((double)n_pixels) / REFERENCE_SIDE;
}

void pixel_couplings_release(float *coupling[4])
{
    for (int k = 0; k < 4; k++) {
        array_free(coupling[k]);
        coupling[k] = NULL;
    }
}

enum clv_status pixel_couplings_init(float *coupling[4], const struct clv_image *image, double strength,
                                     struct clv_error *err)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    int32_t last, width = image->width, height = image->height;
    size_t n = (size_t)width * (size_t)height;
    float *weight = contrast_weights(&last, mean_contrast(image));
    for (int k = 0; k < 4; k++)
        coupling[k] = array_alloc(n, sizeof *coupling[k]);
    if (!weight || !coupling[0] || !coupling[1] || !coupling[2] || !coupling[3]) {
        array_free(weight);
        pixel_couplings_release(coupling);
        return fail_memory(err);
    }
    strength = coupling_at(strength, n);
    for (int k = 0; k < 4; k++) {
        float scale = (float)(k < 2 ? strength : strength / sqrt(2));
        for (int32_t y = 0; y + dy[k] < height; y++) {
            size_t row = (size_t)y * (size_t)width;
            const uint8_t *here = image->pixels + 3 * row, *there = here + 3 * (dy[k] * width + dx[k]);
            for (int32_t x = dx[k] < 0; x < width - (dx[k] > 0); x++) {
                int32_t d = square_distance(here + 3 * x, there + 3 * x);
                coupling[k][row + (size_t)x] = scale * weight[d < last ? d : last];
            }
        }
    }
    array_free(weight);
    return CLV_OK;
}
