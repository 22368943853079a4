/* Refinement without an array of scores for every pixel: the scores come from the nodes of an example. Read refine.c
 * first (two labels), then refine_labels.c (any number); near_colours.c has the colour models, pixel_cut.c cuts
 * large images in windows. */
#ifndef REFINE_REFINE_H
#define REFINE_REFINE_H

#include <stdbool.h>
#include <string.h>

#include "base/machine.h"
#include "cleave/image.h"
#include "cleave/refine.h"
#include "cleave/status.h"
#include "image/image.h"

/* Lab colours in bins, and counts smoothed over neighbouring bins. */

/* Returns the bin of a colour, with n_bins for each of lightness, a and b, as one number below n_bins^3. */
int32_t colour_bin(const float lab[3], int32_t n_bins);

/* Binomial smoothing (1 2 1) / 4 along the middle index of values[n_outer][n][n_inner]; nothing comes from beyond the
 * ends. */
void colour_bins_smooth(float *values, size_t n_outer, size_t n, size_t n_inner);

/* Smooths along all three indices of n_tables[n_bins][n_bins][n_bins]. */
void colour_bins_smooth_all(float *tables, size_t n_tables, size_t n_bins);

/* Cutting an object out of its image: colours with soft borders on transparency. */

/* rgba[height][width][4], colours not multiplied by alpha. */
struct cutout {
    int32_t width, height;
    uint8_t *rgba;
};
void cutout_release(struct cutout *self);

/* The object is what is labelled so: is_object[labels[height][width]]. Pixels farther than a few from its border
 * (2, and 1 more for every 1,000 pixels of the longer side) are opaque with their own colour, or transparent. In
 * between alpha is the expected share of the object in the pixel, by a linear model: the pixel's colour is
 *     alpha F + (1 - alpha) B + noise,
 * F and B the mean colours of what is surely inside and outside nearby, the noise their spread; before its colour is
 * seen, alpha has the mean a of the labels smoothed over the band, and the variance a (1 - a). The posterior mean
 *     (a / v_a + t s) / (1 / v_a + s),   v_a = a (1 - a),  s = |F - B|^2 / noise,  t = (I - B)(F - B) / |F - B|^2
 * follows the colours where they separate the sides, and the smoothed labels where they do not; it is stretched so
 * that 0.1 becomes 0 and 0.9 becomes 1, since faint remains show as a halo. A pixel that is
 * neither gets the most probable colour of its object's part (Chuang et al. 2001, "A Bayesian approach to digital
 * matting", eq. 9 with spreads in place of covariances), so that nothing of the background shines through on another
 * one; transparent pixels next to the border carry F, for programs that scale the image.
 *
 * Image of 3 channels. One thread, whole numbers until the last step. O(pixels); 5 bytes a pixel. */
enum clv_status cutout_make(struct cutout *self, const struct clv_image *image, const uint8_t *labels,
                            const bool is_object[256], struct clv_error *err) CLV_CHECK;

/* Cuts a band of rows out of an image: the pixels of cutout_make, whatever the bands. rgba[n_rows][width][4]; rows->pixels
 * and rows->labels have a halo of cutout_halo rows. O(pixels of the band and its halo). */
enum clv_status cutout_band(uint8_t *rgba, const struct image_band *rows, const bool is_object[256],
                            struct clv_error *err) CLV_CHECK;
int32_t cutout_halo(int32_t width, int32_t height);

/* The smallest rectangle around all that is not transparent, x in left..right - 1 and y in top..bottom - 1; zeros: there
 * is nothing. Adds rows from `top` on, rgba[n_rows][width][4], to it. */
struct cutout_box {
    int32_t left, top, right, bottom;
};
void cutout_box_add(struct cutout_box *box, const uint8_t *rgba, int32_t width, int32_t top, int32_t n_rows);

/* Leaves the smallest rectangle around all that is not transparent; a cut-out of nothing stays as it is. */
void cutout_crop(struct cutout *self);

/* How much more often each pixel's colour occurs in all of the foreground than in all of the background. The bins
 * are finer than those of near_colours, whose counts are kept for every square of the image. */

/* ratio[height][width] = log of the share of the pixel's colour in foreground (labels 1) over that in background
 * (others); 0 throughout where there is no foreground or no background. Image of 3 channels. O(pixels); 4 bytes a row's
 * number besides. */
enum clv_status fine_colours_ratio(float *ratio, const struct clv_image *image, const uint8_t *labels,
                                   struct clv_error *err) CLV_CHECK;

/* Colour models near each pixel: how often each colour occurs in the foreground and in the background, in the squares
 * around it and in the whole image. They are counts over a coarse grid of squares and Lab colours, smoothed over
 * neighbouring cells in all five directions. */

#define NEAR_COLOURS_BINS 12 /* of lightness, a and b */
#define NEAR_COLOURS_ALL  (NEAR_COLOURS_BINS * NEAR_COLOURS_BINS * NEAR_COLOURS_BINS)

struct near_colours {
    int32_t width, height;
    int32_t n_columns, n_rows;   /* of squares */
    uint16_t *colour;            /* [height][width] */
    int32_t *column_of, *row_of; /* [width], [height] of the square that a pixel is in */
    size_t n_cells;              /* squares * colours */
    float *counts;               /* [2][n_cells] background, foreground */
    float *overall;              /* log-likelihood ratio of each colour */
};
void near_colours_release(struct near_colours *self);

/* How many cells an image of that size has. */
size_t near_colours_count(int32_t width, int32_t height);

/* Assigns pixels to cells. O(pixels); 2 bytes per pixel. */
enum clv_status near_colours_init(struct near_colours *self, const struct clv_image *image,
                                  struct clv_error *err) CLV_CHECK;

/* Learns from labels[height][width], of which `foreground` is one side and all others are the other; there are both.
 * O(pixels + cells). */
void near_colours_learn(struct near_colours *self, const uint8_t *labels, uint8_t foreground);

/* The cell of pixel (x, y). */
INLINE size_t near_colours_cell(const struct near_colours *self, int32_t x, int32_t y)
{
    size_t square = (size_t)self->row_of[y] * (size_t)self->n_columns + (size_t)self->column_of[x];
    return square * NEAR_COLOURS_ALL + self->colour[(size_t)y * (size_t)self->width + (size_t)x];
}

/* score[n_cells] = near log((foreground + a) / (background + a)) of a cell + overall times the ratio of its colour; of
 * cells with a pixel. */
void near_colours_score(float *score, const struct near_colours *self, double near, double overall);

/* Couplings between the pixels of an image: borders are cheap along its edges. */

/* strength (e + (1 - e) exp(-|I_p - I_q|^2 / (2 mean))) / |p - q| as clv_refine has it. */
struct pixel_couplings {
    const struct clv_image *image;
    float *weight; /* of squared distances up to last, which stands for all above, too */
    int32_t last;
    float straight, slanting; /* strengths */
};

/* O(pixels), next to no memory. */
enum clv_status pixel_couplings_init(struct pixel_couplings *self, const struct clv_image *image, double strength,
                                     struct clv_error *err) CLV_CHECK;
void pixel_couplings_release(struct pixel_couplings *self);

/* Returns the largest coupling. O(1) on images with two equal neighbours near the top, else O(pixels). */
float pixel_couplings_largest(const struct pixel_couplings *self);

/* coupling[4][n], the planes of clv_grid (right, below, below right, below left), of pixels (x, y) to (x + n - 1, y); 0
 * across the image's border. */
void pixel_couplings_row(float *const coupling[4], const struct pixel_couplings *self, int32_t x, int32_t y, int32_t n);

/* A coupling, which is meant for an image of 256 x 256, in one of n_pixels: borders grow with the side, areas with its
 * square. */
double coupling_at(double coupling, size_t n_pixels);

/* Labels that were cut on a smaller copy of a large image, at the image's own pixels. */

/* Pixels of fixed[height][width]: FIXED_NOT, or of certain label. Other values are FIXED_ZERO, too. */
enum { FIXED_NOT, FIXED_ZERO, FIXED_ONE };

/* Whether a row of n > 0 pixels has no certain label, as most rows of large images do. */
static inline bool row_is_free(const uint8_t *fixed, size_t n)
{
    return *fixed == FIXED_NOT && memcmp(fixed, fixed + 1, n - 1) == 0;
}

/* Couplings for border_follow and border_enlarge. O(pixels). */
enum clv_status border_couplings_init(struct pixel_couplings *couplings, const struct clv_image *image,
                                      struct clv_error *err) CLV_CHECK;

/* Moves the border of labels[height][width] by up to reach_px pixels to the edges of the couplings' image: minimum cuts
 * of tiles that it goes through, in which pixels that are further away keep their labels. The labels agree with what is
 * fixed, which may be NULL. Uses all processors; the labels are the same at any number of them. */
enum clv_status border_follow(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *fixed,
                              int32_t reach_px, struct clv_error *err) CLV_CHECK;

/* Enlarges cut[height][width] to labels of the couplings' image: the nearest pixel's, and then the border at most a
 * pixel of the cut further. They are unchanged on failure (CLV_ERR_MEMORY). */
enum clv_status border_enlarge(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *cut,
                               int32_t width, int32_t height, const uint8_t *fixed, struct clv_error *err) CLV_CHECK;

/* Minimum cuts of all pixels of an image, large ones in parts: the labels are those of one cut of everything. */

/* Unary scores and couplings, the planes of clv_grid with 8 neighbours, of pixels (x, y) to (x + n - 1, y): finite,
 * couplings not negative and 0 across the image's border. Asked for several times. */
typedef void pixel_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n);

/* Unary scores alone. */
typedef void pixel_unaries(const void *context, float *unary, int32_t x, int32_t y, int32_t n);

struct pixel_energy {
    int32_t width, height; /* at most 2^26 pixels */
    pixel_row *row;
    const void *context;
    pixel_unaries *scores; /* or NULL: only `row` knows them */
    float largest;         /* coupling; of energies with `scores` */
};

/* Tiles of an image in which all pixels prefer one label, and those around them, too. */
struct quiet_tiles {
    int32_t width, height, n_columns, n_rows;
    int32_t reach;               /* tiles that become busy around one that is woken */
    int32_t *n_ones;             /* [n] pixels whose score is above 0 */
    uint8_t *is_busy, *is_woken; /* [n] */
};
void quiet_tiles_release(struct quiet_tiles *self);
enum clv_status quiet_tiles_init(struct quiet_tiles *self, int32_t width, int32_t height,
                                 struct clv_error *err) CLV_CHECK;

/* Adds the scores of row y. */
void quiet_tiles_add(struct quiet_tiles *self, const float *unary, int32_t y);

/* Finds the tiles that are busy, after all rows; or makes all busy. */
void quiet_tiles_begin(struct quiet_tiles *self);
void quiet_tiles_begin_without(struct quiet_tiles *self);

/* labels[height][width] of the busy tiles' pixels are those of a minimum cut without any others. Makes quiet tiles busy
 * that may have other labels in a cut of everything, and tiles near them; returns whether there are any. Labels that
 * are neither 0 nor 1 are not looked at. */
bool quiet_tiles_wake(struct quiet_tiles *self, const uint8_t *labels);

/* Writes two values for the pixels of busy and of quiet tiles. Returns how many pixels are in busy ones. */
size_t quiet_tiles_paint(uint8_t *labels, const struct quiet_tiles *self, uint8_t busy, uint8_t quiet);

/* Writes the labels of quiet tiles. */
void quiet_tiles_label(uint8_t *labels, const struct quiet_tiles *self);

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

#define REFINE_MAX_PIXELS (1 << 26)

/* The prior of clv_refine: of every pixel, or of the node under it. */
struct refine_prior {
    int32_t width;
    const float *of_pixels; /* [height][width]; NULL: by nodes */
    const struct clv_example *example;
    float *of_nodes; /* [n_nodes] */
    int32_t *column; /* [width] working pixels under columns */
};

/* Does what clv_refine does with the prior of clv_refine_prior, but needs 4 bytes per pixel less. */
enum clv_status refine_by_margins(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                  const double *margin, const struct clv_refine_options *options,
                                  struct clv_error *err) CLV_CHECK;

/* Does what clv_example_vote and then clv_refine_labels with its votes do, but needs 4 bytes per pixel and label
 * less. */
enum clv_status refine_by_votes(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                const int32_t *y, int32_t n_labels, const struct clv_refine_options *options,
                                struct clv_error *err) CLV_CHECK;

/* Does what clv_refine does, in parts of images of more than `whole` pixels; prior may be NULL. */
enum clv_status refine_two(uint8_t *labels, const struct clv_image *image, const struct refine_prior *prior,
                           const uint8_t *is_fixed, const struct clv_refine_options *options, int64_t whole,
                           struct clv_error *err) CLV_CHECK;

/* Does what clv_refine_labels does, likewise. */
enum clv_status refine_many(uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                            const struct clv_refine_options *options, int64_t whole, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE naming a value that is out of range. */
enum clv_status refine_check_options(const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

#endif
