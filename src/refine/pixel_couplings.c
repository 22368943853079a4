/* Contrast-sensitive couplings between neighbouring pixels (Boykov & Jolly 2001), computed row by row instead of being
 * stored. Start at pixel_couplings_row. */
#include "refine/refine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

#define FLOOR          0.1   /* e: relative coupling across the strongest edge */
#define NO_CONTRAST    1e-4  /* smaller values of the exponential all count as this one */
#define REFERENCE_SIDE 256.0 /* side of the image that a coupling is meant for */

static inline int32_t square_distance(const uint8_t *a, const uint8_t *b)
{
    int32_t red = a[0] - b[0], green = a[1] - b[1], blue = a[2] - b[2];
    return red * red + green * green + blue * blue;
}

enum { BLOCK = 1 << 15 }; /* the sum of so many squared differences of bytes stays below 2^31 */

/* Returns the sum of n squared differences. */
FOR_EACH_MACHINE static uint64_t sum_of_squares(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint64_t sum = 0;
    for (; n; a += BLOCK, b += BLOCK) {
        size_t block = n < BLOCK ? n : BLOCK;
        int32_t of_block = 0;
        for (size_t i = 0; i < block; i++) {
            int16_t difference = (int16_t)(a[i] - b[i]);
            of_block += difference * difference;
        }
        sum += (uint64_t)of_block;
        n -= block;
    }
    return sum;
}

/* Returns the mean squared difference of horizontal and vertical neighbours, at least 1. */
static double mean_contrast(const struct clv_image *image)
{
    size_t width = (size_t)image->width, height = (size_t)image->height;
    uint64_t sum = 0, n_pairs = (uint64_t)(width - 1) * height + (uint64_t)width * (height - 1);
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = image->pixels + 3 * y * width;
        sum += sum_of_squares(row, row + 3, 3 * (width - 1));
        sum += y + 1 < height ? sum_of_squares(row, row + 3 * width, 3 * width) : 0;
    }
    double mean = n_pairs ? (double)sum / (double)n_pairs : 1;
    return mean > 1 ? mean : 1;
}

/* Returns weight[d] = e + (1 - e) exp(-d / (2 mean)) for squared distances d <= *last, or NULL without memory. Larger
 * distances use the last weight. */
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

void pixel_couplings_release(struct pixel_couplings *self)
{
    array_free(self->weight);
    self->weight = NULL;
}

enum clv_status pixel_couplings_init(struct pixel_couplings *self, const struct clv_image *image, double strength,
                                     struct clv_error *err)
{
    struct pixel_couplings result = {.image = image};
    result.weight = contrast_weights(&result.last, mean_contrast(image));
    NEED(result.weight);
    strength = coupling_at(strength, (size_t)image->width * (size_t)image->height);
    result.straight = (float)strength;
    result.slanting = (float)(strength / sqrt(2));
    *self = result;
    return CLV_OK;
}

float pixel_couplings_largest(const struct pixel_couplings *self)
{
    const struct clv_image *image = self->image;
    size_t width = (size_t)image->width, height = (size_t)image->height;
    int32_t straight = INT32_MAX, slanting = INT32_MAX;
    for (size_t y = 0; y < height && straight; y++)
        for (size_t x = 0; x < width && straight; x++) {
            const uint8_t *here = image->pixels + 3 * (y * width + x), *below = here + 3 * width;
            bool has_right = x + 1 < width, has_below = y + 1 < height;
            straight = has_right ? smaller(straight, square_distance(here, here + 3)) : straight;
            straight = has_below ? smaller(straight, square_distance(here, below)) : straight;
            slanting = has_below && has_right ? smaller(slanting, square_distance(here, below + 3)) : slanting;
            slanting = has_below && x > 0 ? smaller(slanting, square_distance(here, below - 3)) : slanting;
        }
    float most = straight < INT32_MAX ? self->straight * self->weight[smaller(straight, self->last)] : 0;
    return slanting < INT32_MAX ? fmaxf(most, self->slanting * self->weight[smaller(slanting, self->last)]) : most;
}

void pixel_couplings_row(float *const coupling[4], const struct pixel_couplings *self, int32_t x, int32_t y, int32_t n)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    const struct clv_image *image = self->image;
    for (int k = 0; k < 4; k++) {
        float scale = k < 2 ? self->straight : self->slanting;
        int32_t first = x + dx[k] < 0, last = x + n - 1 + dx[k] < image->width ? n : n - 1;
        memset(coupling[k], 0, (size_t)n * sizeof *coupling[k]);
        if (y + dy[k] >= image->height)
            continue;
        const uint8_t *here = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
        const uint8_t *there = here + 3 * (dy[k] * image->width + dx[k]);
        for (int32_t i = first; i < last; i++) {
            int32_t d = square_distance(here + 3 * (ptrdiff_t)i, there + 3 * (ptrdiff_t)i);
            coupling[k][i] = scale * self->weight[d < self->last ? d : self->last];
        }
    }
}
