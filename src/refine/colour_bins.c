/* Computes the bin of a Lab colour, and smooths histograms of colours by a binomial filter along one index or all
 * three. */
#include "refine/refine.h"

#include <string.h>

#define AB_RANGE 50            /* a and b beyond it share the last bins */
#define BLOCK    (12 * 1728UL) /* of the inner index, smoothed per pass */

static int32_t bin_of(float value, float low, float high, int32_t n_bins)
{
    int32_t bin = (int32_t)((value - low) * ((float)n_bins / (high - low)));
    return bin < 0 ? 0 : bin < n_bins ? bin : n_bins - 1;
}

int32_t colour_bin(const float lab[3], int32_t n_bins)
{
    int32_t colour = bin_of(lab[0], 0, 100.01F, n_bins);
    colour = colour * n_bins + bin_of(lab[1], -AB_RANGE, AB_RANGE, n_bins);
    colour = colour * n_bins + bin_of(lab[2], -AB_RANGE, AB_RANGE, n_bins);
    return colour;
}

void colour_bins_smooth(float *values, size_t n_outer, size_t n, size_t n_inner)
{
    float before[BLOCK]; /* unsmoothed values of the previous slice */
    for (size_t o = 0; o < n_outer; o++)
        for (size_t start = 0; start < n_inner; start += BLOCK) {
            size_t left = n_inner - start, block = left < BLOCK ? left : BLOCK;
            float *at = values + o * n * n_inner + start;
            memset(before, 0, block * sizeof *before);
            for (size_t k = 0; k < n; k++, at += n_inner)
                for (size_t i = 0; i < block; i++) {
                    float own = at[i], after = k + 1 < n ? at[n_inner + i] : 0;
                    at[i] = 0.5F * own + 0.25F * (before[i] + after);
                    before[i] = own;
                }
        }
}

void colour_bins_smooth_all(float *tables, size_t n_tables, size_t n_bins)
{
    colour_bins_smooth(tables, n_tables, n_bins, n_bins * n_bins);
    colour_bins_smooth(tables, n_tables * n_bins, n_bins, n_bins);
    colour_bins_smooth(tables, n_tables * n_bins * n_bins, n_bins, 1);
}
