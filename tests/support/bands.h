/* Images that are handed out by bands, as a raster's rows are: each band in memory of its own, so that what reads
 * beyond its halo is found. */
#ifndef TESTS_BANDS_H
#define TESTS_BANDS_H

#include <stdint.h>

#include "image/image.h"

/* The band of n_rows rows from `top` on of an image, which `all` has as one band, with up to `halo` rows on both sides.
 * Release it with band_copy_release. */
struct image_band band_copy(const struct image_band *all, int32_t top, int32_t n_rows, int32_t halo);
void band_copy_release(struct image_band *band);

/* Goes through an image by bands of `rows` rows (fewer at its end). A `for` that leaves early leaks. */
#define FOR_BANDS(band, all, rows, halo)                                                                               \
    for (struct image_band band = band_copy(all, 0, rows, halo); band.n_rows > 0;                                      \
         band_copy_next(&band, all, rows, halo))
void band_copy_next(struct image_band *band, const struct image_band *all, int32_t rows, int32_t halo);

/* Labels below n_labels[height][width] of which neighbours are often equal: `share` of 256 pixels keep that to their
 * left or above. */
void draw_labels(uint8_t *labels, int32_t width, int32_t height, int n_labels, int share, uint32_t *state);
void draw_noise(uint8_t *pixels, size_t n, uint32_t *state);

/* Odd sizes, with one row, one column and one pixel among them. */
extern const int32_t odd_sizes[][2];
extern const size_t n_odd_sizes;

/* Rows of bands: 1, few, more than any of these images has. */
extern const int32_t band_rows[];
extern const size_t n_band_rows;

#endif
