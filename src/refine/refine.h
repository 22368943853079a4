/* Refinement of borders at the pixels. Scores may come from the nodes of an example instead of an array with one for
 * every pixel. Read refine.c first (two labels), then refine_labels.c (any number). near_colours.c has the colour
 * models, and pixel_cut.c cuts large images in windows. */
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

/* Returns the index, below n_bins^3, of a colour's bin, with n_bins bins for each of lightness, a and b. */
int32_t colour_bin(const float lab[3], int32_t n_bins);

/* Smooths values[n_outer][n][n_inner] along the middle index by (1 2 1) / 4. Values beyond the ends are 0. */
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

/* Cuts out the pixels with is_object[labels[y][x]]. The band reaches 2 pixels from the object's border, and 1 more for
 * every 1,000 pixels of the longer side. Pixels outside the band are opaque with their own colour, or transparent. In
 * the band alpha is the expected share of the object in the pixel, by a linear model in which the pixel's colour is
 *     alpha F + (1 - alpha) B + noise,
 * where F and B are the mean colours of nearby pixels inside and outside the object, mostly of those outside the band,
 * and the noise has their mean variance. The prior of alpha has mean a, the labels smoothed over the band, and variance
 * a (1 - a). The posterior mean
 *     (a / v_a + t s) / (1 / v_a + s),   v_a = a (1 - a),  s = |F - B|^2 / noise,  t = (I - B)(F - B) / |F - B|^2
 * follows the colours where they separate the sides, and the smoothed labels elsewhere. It is stretched so that 0.1
 * becomes 0 and 0.9 becomes 1, because faint remains show as a halo. A pixel of the band gets the most probable colour
 * of its object part (Chuang et al. 2001, "A Bayesian approach to digital matting", eq. 9 with variances in place of
 * covariances), so that the old background does not show on a new one. Transparent pixels next to the border have
 * colour F, for programs that scale the image.
 *
 * The image has 3 channels. Runs in one thread, and all sums are integers. O(pixels); 5 bytes per pixel. */
enum clv_status cutout_make(struct cutout *self, const struct clv_image *image, const uint8_t *labels,
                            const bool is_object[256], struct clv_error *err) CLV_CHECK;

/* Computes some rows of a cut-out, rgba[n_rows][width][4], with the same values as cutout_make. rows->pixels and
 * rows->labels include cutout_halo more rows above and below. O(pixels of the rows and their halo). */
enum clv_status cutout_band(uint8_t *rgba, const struct image_band *rows, const bool is_object[256],
                            struct clv_error *err) CLV_CHECK;
int32_t cutout_halo(int32_t width, int32_t height);

/* The smallest rectangle that contains all pixels that are not transparent: x in left..right - 1, y in top..bottom - 1,
 * all 0 if there are none. cutout_box_add extends it by rgba[n_rows][width][4], whose first row is row `top`; rows are
 * added from top to bottom. */
struct cutout_box {
    int32_t left, top, right, bottom;
};
void cutout_box_add(struct cutout_box *box, const uint8_t *rgba, int32_t width, int32_t top, int32_t n_rows);

/* Crops the cut-out to the smallest rectangle with all pixels that are not transparent. A cut-out without such pixels
 * is unchanged. */
void cutout_crop(struct cutout *self);

/* Frequency of each pixel's colour in the whole foreground compared with the whole background. The bins are finer than
 * those of near_colours, which has counts for every square of the image. */

/* ratio[height][width] = log of the frequency of the pixel's colour in the foreground (label 1) divided by that in the
 * background (other labels). All ratios are 0 if the image has no foreground or no background. The image has 3
 * channels. O(pixels); scratch memory for one row and the histograms. */
enum clv_status fine_colours_ratio(float *ratio, const struct clv_image *image, const uint8_t *labels,
                                   struct clv_error *err) CLV_CHECK;

/* Colour models near each pixel: frequencies of each colour in the foreground and in the background, in the squares
 * around the pixel and in the whole image. They are counts over a coarse grid of squares and Lab colours, smoothed
 * along all five axes. */

#define NEAR_COLOURS_BINS 12 /* of lightness, a and b */
#define NEAR_COLOURS_ALL  (NEAR_COLOURS_BINS * NEAR_COLOURS_BINS * NEAR_COLOURS_BINS)

struct near_colours {
    int32_t width, height;
    int32_t n_columns, n_rows;   /* of squares */
    uint16_t *colour;            /* [height][width] */
    int32_t *column_of, *row_of; /* [width], [height] column and row of a pixel's square */
    size_t n_cells;              /* squares * colours */
    float *counts;               /* [2][n_cells] background, foreground */
    float *overall;              /* log-likelihood ratio of each colour */
};
void near_colours_release(struct near_colours *self);

/* Returns the number of cells of an image of width x height pixels. */
size_t near_colours_count(int32_t width, int32_t height);

/* Assigns pixels to cells. O(pixels); 2 bytes per pixel. */
enum clv_status near_colours_init(struct near_colours *self, const struct clv_image *image,
                                  struct clv_error *err) CLV_CHECK;

/* Counts the colours under labels[height][width]: label `foreground` against all others. Both sides must occur.
 * O(pixels + cells). */
void near_colours_learn(struct near_colours *self, const uint8_t *labels, uint8_t foreground);

/* Returns the index of the cell of pixel (x, y). */
INLINE size_t near_colours_cell(const struct near_colours *self, int32_t x, int32_t y)
{
    size_t square = (size_t)self->row_of[y] * (size_t)self->n_columns + (size_t)self->column_of[x];
    return square * NEAR_COLOURS_ALL + self->colour[(size_t)y * (size_t)self->width + (size_t)x];
}

/* Computes score[n_cells] = near log((foreground + a) / (background + a)) + overall r, where the counts are the cell's,
 * a is a pseudo-count, and r is the log ratio of the cell's colour in the whole image. Cells without pixels get NAN. */
void near_colours_score(float *score, const struct near_colours *self, double near, double overall);

/* Couplings between neighbouring pixels of an image, which are small across its edges. */

/* strength (e + (1 - e) exp(-|I_p - I_q|^2 / (2 mean))) / |p - q|, as in clv_refine. */
struct pixel_couplings {
    const struct clv_image *image;
    float *weight; /* [last + 1] by squared distance; larger distances use the last one */
    int32_t last;
    float straight, slanting; /* strengths */
};

/* Computes the weights from the image's mean contrast. The image must outlive self. O(pixels), 0.8 MB at most. */
enum clv_status pixel_couplings_init(struct pixel_couplings *self, const struct clv_image *image, double strength,
                                     struct clv_error *err) CLV_CHECK;
void pixel_couplings_release(struct pixel_couplings *self);

/* Returns the largest coupling. O(pixels), but stops at the first two equal neighbours side by side or one above the
 * other. */
float pixel_couplings_largest(const struct pixel_couplings *self);

/* Fills coupling[4][n], the planes of clv_grid (right, below, below right, below left), for n pixels of row y from x; 0
 * across the image's border. */
void pixel_couplings_row(float *const coupling[4], const struct pixel_couplings *self, int32_t x, int32_t y, int32_t n);

/* Scales a coupling that is meant for an image of 256 x 256 to one of n_pixels: lengths of borders grow with the side
 * of an image, areas with its square. */
double coupling_at(double coupling, size_t n_pixels);

/* Labels of a large image from a cut of a smaller copy of it. */

/* Values of fixed[height][width]: not fixed, or the fixed label. Other values count as FIXED_ZERO. */
enum { FIXED_NOT, FIXED_ZERO, FIXED_ONE };

/* Returns whether a row of n > 0 pixels has no fixed label, which is so for most rows of large images. */
static inline bool row_is_free(const uint8_t *fixed, size_t n)
{
    return *fixed == FIXED_NOT && memcmp(fixed, fixed + 1, n - 1) == 0;
}

/* Computes the couplings for border_follow and border_enlarge. O(pixels). */
enum clv_status border_couplings_init(struct pixel_couplings *couplings, const struct clv_image *image,
                                      struct clv_error *err) CLV_CHECK;

/* Moves the border of labels[height][width] by up to reach_px pixels to edges of the couplings' image, by minimum cuts
 * of the tiles that the border crosses. Pixels farther than reach_px from the border keep their labels, and fixed
 * pixels get their fixed label; `fixed` may be NULL. Uses all processors; the labels do not depend on their number. */
enum clv_status border_follow(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *fixed,
                              int32_t reach_px, struct clv_error *err) CLV_CHECK;

/* Enlarges cut[height][width] to labels of the couplings' image by the nearest pixel, then moves the border by about
 * one pixel of the cut at most (border_follow). Labels are unchanged on failure (CLV_ERR_MEMORY). */
enum clv_status border_enlarge(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *cut,
                               int32_t width, int32_t height, const uint8_t *fixed, struct clv_error *err) CLV_CHECK;

/* Minimum cuts of all pixels of an image. Large images are cut in windows, with the labels of one cut of the whole
 * image. */

/* Computes unary scores and couplings, the planes of clv_grid with 8 neighbours, of pixels (x, y) to (x + n - 1, y).
 * All are finite; couplings are >= 0, and 0 across the image's border. It is called several times for the same
 * pixels. */
typedef void pixel_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n);

/* Computes only the unary scores. */
typedef void pixel_unaries(const void *context, float *unary, int32_t x, int32_t y, int32_t n);

struct pixel_energy {
    int32_t width, height; /* at most 2^26 pixels */
    pixel_row *row;
    const void *context;
    pixel_unaries *scores; /* or NULL: use `row` */
    float largest;         /* largest coupling; only used with `scores` */
};

/* Tiles of an image in which all pixels, and all pixels of the tiles around, prefer the same label. */
struct quiet_tiles {
    int32_t width, height, n_columns, n_rows;
    int32_t reach;               /* a woken tile makes the tiles within this distance busy */
    int32_t *n_ones;             /* [n] pixels whose score is above 0 */
    uint8_t *is_busy, *is_woken; /* [n] */
};
void quiet_tiles_release(struct quiet_tiles *self);
enum clv_status quiet_tiles_init(struct quiet_tiles *self, int32_t width, int32_t height,
                                 struct clv_error *err) CLV_CHECK;

/* Counts the scores of row y. */
void quiet_tiles_add(struct quiet_tiles *self, const float *unary, int32_t y);

/* After all rows were added: quiet_tiles_begin finds the busy tiles, quiet_tiles_begin_without makes all tiles busy. */
void quiet_tiles_begin(struct quiet_tiles *self);
void quiet_tiles_begin_without(struct quiet_tiles *self);

/* On entry labels[height][width] of busy tiles come from a minimum cut of their pixels alone. Makes quiet tiles busy
 * whose labels may differ in a cut of the whole image, and the tiles near them. Returns whether there were any. Labels
 * other than 0 and 1 are ignored. */
bool quiet_tiles_wake(struct quiet_tiles *self, const uint8_t *labels);

/* Writes one value to the pixels of busy tiles and another to those of quiet tiles. Returns the number of pixels in
 * busy tiles. */
size_t quiet_tiles_paint(uint8_t *labels, const struct quiet_tiles *self, uint8_t busy, uint8_t quiet);

/* Writes the preferred labels of quiet tiles. */
void quiet_tiles_label(uint8_t *labels, const struct quiet_tiles *self);

/* Images with more pixels are cut in windows. */
#define PIXEL_CUT_WHOLE ((int64_t)1 << 20)

/* labels[height][width] = the MAP labelling with the fewest 1s, as by clv_grid_map. An image of more than `whole`
 * pixels is solved in windows of about a sixteenth of it at most. estimate[height][width] (NULL: all 0) guesses the
 * labels: good guesses save time, and pixels that no window decides start from them. It must not be `labels`.
 *
 * If the undecided pixels around a window are fixed at 0, every 1 in the window is a 1 of the whole cut; if they are
 * fixed at 1, every 0 is a 0 of the whole cut (labels of minimum cuts do not fall when others rise). Pixels that
 * neither decides are left to later windows, around which more pixels are decided. *n_open counts pixels that no window
 * decides. They start from the estimate and are improved window by window, in a few sweeps or until no window changes
 * them.
 *
 * Memory: about 76 bytes per pixel of a window, 1 per pixel of the image. */
enum clv_status pixel_cut(uint8_t *labels, size_t *n_open, const struct pixel_energy *energy, const uint8_t *estimate,
                          int64_t whole, struct clv_error *err) CLV_CHECK;

/* Returns the largest number of pixels of a window. */
int64_t pixel_cut_window(int32_t width, int32_t height, int64_t whole);

#define REFINE_MAX_PIXELS (1 << 26)

/* The prior of clv_refine: a value for every pixel, or for the node under it. */
struct refine_prior {
    int32_t width;
    const float *of_pixels; /* [height][width]; NULL: by nodes */
    const struct clv_example *example;
    float *of_nodes; /* [n_nodes] */
    int32_t *column; /* [width] x of the working pixel under each column */
};

/* Equals clv_refine with the prior of clv_refine_prior, but takes 4 bytes per pixel less. */
enum clv_status refine_by_margins(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                  const double *margin, const struct clv_refine_options *options,
                                  struct clv_error *err) CLV_CHECK;

/* Equals clv_example_vote followed by clv_refine_labels with its votes, but takes 4 bytes per pixel and label less. On
 * failure labels are unchanged. */
enum clv_status refine_by_votes(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                const int32_t *y, int32_t n_labels, const struct clv_refine_options *options,
                                struct clv_error *err) CLV_CHECK;

/* Equals clv_refine, but cuts images of more than `whole` pixels in windows. prior may be NULL. */
enum clv_status refine_two(uint8_t *labels, const struct clv_image *image, const struct refine_prior *prior,
                           const uint8_t *is_fixed, const struct clv_refine_options *options, int64_t whole,
                           struct clv_error *err) CLV_CHECK;

/* Equals clv_refine_labels, but cuts images of more than `whole` pixels in windows. */
enum clv_status refine_many(uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                            const struct clv_refine_options *options, int64_t whole, struct clv_error *err) CLV_CHECK;

/* Both return CLV_ERR_USAGE and name the value if one is out of range. */
enum clv_status refine_check_options(const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;
enum clv_status refine_check_size(int32_t width, int32_t height, int32_t n_channels, int32_t n_labels,
                                  struct clv_error *err) CLV_CHECK;

/* Returns the label with the largest value at pixel p in planes[n_labels][n], the first at ties. */
static inline size_t refine_most_probable(const float *planes, size_t n_labels, size_t n, size_t p)
{
    size_t best = 0;
    for (size_t a = 1; a < n_labels; a++)
        best = planes[a * n + p] > planes[best * n + p] ? a : best;
    return best;
}

#endif
