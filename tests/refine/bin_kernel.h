/* How much a pixel counts in bins of colours after smoothing (1 2 1) / 4 in lightness, a and b: the definition, bin by
 * bin. */
#ifndef TESTS_BIN_KERNEL_H
#define TESTS_BIN_KERNEL_H

#include <stdint.h>
#include <stdlib.h>

/* Of what stands at `a` in `b`, along one direction. */
static inline double kernel(int32_t a, int32_t b)
{
    return a == b ? 0.5 : abs(a - b) == 1 ? 0.25 : 0;
}

static inline double colour_kernel(int32_t a, int32_t b, int32_t n_bins)
{
    return kernel(a / n_bins / n_bins, b / n_bins / n_bins) * kernel(a / n_bins % n_bins, b / n_bins % n_bins) *
           kernel(a % n_bins, b % n_bins);
}

/* What is left of a colour in all bins together: a quarter gets lost beyond each end. */
static inline double colour_mass(int32_t colour, int32_t n_bins)
{
    double mass = 1;
    for (int direction = 0; direction < 3; direction++, colour /= n_bins)
        mass *= colour % n_bins == 0 || colour % n_bins == n_bins - 1 ? 0.75 : 1;
    return mass;
}

#endif
