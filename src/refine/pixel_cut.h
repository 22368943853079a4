/* Minimum cuts of all pixels of an image, large ones in parts: the labels are those of one cut of everything. */
#ifndef REFINE_PIXEL_CUT_H
#define REFINE_PIXEL_CUT_H

#include "cleave/status.h"

/* Unary scores and couplings, the planes of clv_grid with 8 neighbours, of pixels (x, y) to (x + n - 1, y): finite,
 * couplings not negative and 0 across the image's border. Asked for several times. */
typedef void pixel_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n);

struct pixel_energy {
    int32_t width, height; /* at most 2^26 pixels */
    pixel_row *row;
    const void *context;
};

/* Larger images are cut in parts. */
#define PIXEL_CUT_WHOLE ((int64_t)1 << 20)

/* labels[height][width] = argmax with the fewest 1s, as clv_grid_map; of an image of more than `whole` pixels found by
 * windows of at most a sixteenth of it. estimate[height][width] (NULL: all 0) is only an estimate, for speed; it may
 * not be `labels`.
 *
 * A window with all unknown pixels around it fixed at 0 has label 1 only where the whole has, with 1 label 0 only where
 * the whole has (labels of minimum cuts never fall when others rise). What both leave open, other windows decide, whose
 * surroundings are known by then. *n_open counts pixels that no window decides: they have the best labels that windows
 * find from the estimate, so that no change within a window would be better.
 *
 * Memory: about 76 bytes a pixel of a window, 1 a pixel of the image. */
enum clv_status pixel_cut(uint8_t *labels, size_t *n_open, const struct pixel_energy *energy, const uint8_t *estimate,
                          int64_t whole, struct clv_error *err) CLV_CHECK;

/* The most pixels that a window has. */
int64_t pixel_cut_window(int32_t width, int32_t height, int64_t whole);

#endif
