/* Lab colours in bins, and counts smoothed over neighbouring bins. */
#ifndef REFINE_COLOUR_BINS_H
#define REFINE_COLOUR_BINS_H

#include "cleave/image.h"

/* Which of n_bins of each of lightness, a and b a colour is in, as one number below n_bins^3. */
int32_t colour_bin(const float lab[3], int32_t n_bins);

/* Binomial smoothing (1 2 1) / 4 along the middle index of values[n_outer][n][n_inner]; nothing comes from beyond the
 * ends. */
void colour_bins_smooth(float *values, size_t n_outer, size_t n, size_t n_inner);

/* The same along all three of n_tables[n_bins][n_bins][n_bins]. */
void colour_bins_smooth_all(float *tables, size_t n_tables, size_t n_bins);

#endif
