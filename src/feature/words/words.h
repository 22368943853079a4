/* This folder makes visual words: dense SIFT descriptors (sift.c), codebooks of them by k-means (seeding.c, codebook.c), and
 * nearest_centre.c, the exact nearest centre of integer descriptors, the hot loop of feature extraction and of
 * codebook learning. Read sift.c first. */
#ifndef FEATURE_WORDS_WORDS_H
#define FEATURE_WORDS_WORDS_H

#include <stdbool.h>

#include "cleave/features.h"

/* Learning a codebook of descriptors: k-means in whole numbers. */

struct codebook_options {
    int32_t n_words, n_iterations;
    int32_t kmeans; /* enum clv_kmeans: who moves the centres */
    uint64_t seed, stream;
    const struct clv_progress *progress; /* or NULL */
    int32_t search; /* enum clv_word_search: with groups the centres are sorted into groups at the end */
};

/* Centres of descriptors[n][128], n >= 1: k-means++ seeding (Arthur & Vassilvitskii 2007), then at most n_iterations of
 * Lloyd's algorithm, with centres rounded to bytes after each (VLFeat's: at the end). With fewer distinct descriptors
 * than words, each is a word, and the words left over repeat earlier ones and are never assigned. Same seed and stream,
 * same bytes. *distortion (may be NULL) receives the mean squared distance to the nearest centre. On failure the
 * codebook is untouched. O(distinct descriptors x n_words x n_iterations). */
enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* Where k-means begins (seeding.c). */

/* The distinct descriptors among those that were drawn, in the order in which they were drawn first. */
struct codebook_samples {
    size_t n, n_drawn;
    uint8_t *descriptors; /* [n][128] */
    uint32_t *weight;     /* [n] how often each was drawn */
    uint32_t *which;      /* [n_drawn] the distinct one that each drawn one is */
};
void codebook_samples_release(struct codebook_samples *samples);

/* Finds them in descriptors[n][128], 1 <= n < 2^31. O(n). */
enum clv_status codebook_samples_init(struct codebook_samples *samples, const uint8_t *descriptors, size_t n,
                                      struct clv_error *err) CLV_CHECK;

/* The squared distance of two descriptors. */
static inline __attribute__((always_inline)) int32_t descriptor_distance(const uint8_t *a, const uint8_t *b)
{
    int32_t sum = 0;
    for (int k = 0; k < CLV_DESCRIPTOR_SIZE; k++) {
        int16_t difference = (int16_t)(a[k] - b[k]);
        sum += difference * difference;
    }
    return sum;
}

/* Codebooks by VLFeat's k-means: the reference implementation of codebook.c's rounds, for recipes that ask for it. */

/* Moves centres[n_words][128] by VLFeat's Lloyd algorithm over descriptors[n][128]. Centres are floats on the way and
 * rounded to bytes at the end; one that loses all its descriptors goes to a random one. Same seed and stream, same
 * bytes. One thread. 1 <= n_words <= n. O(n x n_words x n_iterations); memory O(n). CLV_ERR_MEMORY for our arrays:
 * VLFeat does not check its own. */
enum clv_status codebook_vlfeat_refine(uint8_t *centres, const uint8_t *descriptors, size_t n,
                                       const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* Gaussian mixtures of dense SIFT descriptors, which Fisher vectors are taken against: a descriptor's L1-normalised
 * roots (Arandjelovic & Zisserman 2012) on their first principal components, under Gaussians with diagonal
 * covariances. */

enum {
    MIXTURE_DIMENSIONS = CLV_MIXTURE_DIMENSIONS,
    MIXTURE_COMPONENTS = CLV_MIXTURE_COMPONENTS,
    /* Where its numbers are: mean[128], projection[DIMENSIONS][128], then of the components weight[COMPONENTS],
     * mean[COMPONENTS][DIMENSIONS] and variance[COMPONENTS][DIMENSIONS]. */
    MIXTURE_PROJECTION = CLV_DESCRIPTOR_SIZE,
    MIXTURE_WEIGHT = MIXTURE_PROJECTION + MIXTURE_DIMENSIONS * CLV_DESCRIPTOR_SIZE,
    MIXTURE_MEAN = MIXTURE_WEIGHT + MIXTURE_COMPONENTS,
    MIXTURE_VARIANCE = MIXTURE_MEAN + MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS,
};

/* mixture[CLV_MIXTURE_SIZE] (array_free it) from descriptors[n][128], n >= 1, by expectation maximisation from centres
 * of k-means, with the options' seed, stream and progress. O(n): a fixed number of rounds. */
enum clv_status mixture_learn(float **mixture, const uint8_t *descriptors, size_t n,
                              const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* Whether weights and variances are in range, and all is finite. */
bool mixture_is_sound(const float *mixture);

/* Logarithms and the like that every descriptor needs. */
struct mixture_view {
    const float *mixture;
    float constant[MIXTURE_COMPONENTS]; /* log of the weight over the root of the variances' product */
    float precision[MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS]; /* 1 / variance */
};
void mixture_view_init(struct mixture_view *view, const float *mixture);

/* point[DIMENSIONS] of a descriptor, and share[COMPONENTS], the components' posteriors. */
void mixture_point(float *point, const float *mixture, const uint8_t *descriptor);
void mixture_shares(float *share, const struct mixture_view *view, const float *point);

/* Instruction sets of the assignment; every level gives the same words. */
enum words_level { WORDS_PLAIN, WORDS_AVX2, WORDS_AVX512_VNNI, WORDS_LEVELS };

/* The best level this processor has. */
enum words_level words_best_level(void);

/* k-means++: centres[n_words][128] are samples as they were drawn, the first one evenly, each next one with probability
 * proportional to its squared distance to the nearest centre so far, by the options' seed and stream. The same centres
 * at every level, which must be one that the processor has. O(n x n_words). */
enum clv_status centres_seed_at(enum words_level level, uint8_t *centres, const struct codebook_samples *samples,
                                const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* word[i] = the centre nearest to descriptors[i] in Euclidean distance, the lowest on ties; descriptors[n][128].
 * `level` must be one that the processor has. O(n x n_words x 128); memory O(n_words). */
enum clv_status words_assign_at(enum words_level level, int32_t *word, const struct clv_codebook *codebook,
                                const uint8_t *descriptors, size_t n, struct clv_error *err) CLV_CHECK;

/* Assigns words at the best level that the processor has. */
enum clv_status words_assign(int32_t *word, const struct clv_codebook *codebook, const uint8_t *descriptors, size_t n,
                             struct clv_error *err) CLV_CHECK;

/* Codebooks whose centres stand in groups: each WORDS_GROUP in a row are similar (the last ones may be fewer). */
enum { WORDS_GROUP = 16, WORDS_MAX_GROUPED = CLV_MAX_GROUPED_WORDS };

/* word[i] = the nearest centre to descriptors[i] among those of the four groups whose means are nearest to it: the
 * lowest on ties, of words and of groups; the same at every level. At most WORDS_MAX_GROUPED words. O(n x (n_words / 16
 * + 64) x 128); memory O(n_words). */
enum clv_status words_assign_grouped_at(enum words_level level, int32_t *word, const struct clv_codebook *codebook,
                                        const uint8_t *descriptors, size_t n, struct clv_error *err) CLV_CHECK;

/* Finds words as `search` says (enum clv_word_search), at the best level that the processor has. */
enum clv_status words_find(int32_t *word, const struct clv_codebook *codebook, int32_t search,
                           const uint8_t *descriptors, size_t n, struct clv_error *err) CLV_CHECK;

/* Dense SIFT on a grid that covers the whole image: every pixel has a nearest descriptor, images down to 1x1
 * included. */

enum { SIFT_ORIENTATIONS = 8, SIFT_LUMA_ONE = 256 };

/* Brightness in 1/SIFT_LUMA_ONE grey levels: ITU-R BT.601 in whole numbers. */
static inline int32_t sift_luma(const uint8_t *rgb)
{
    return 77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2];
}

/* Gradients by orientation, summed up so that the sum under any triangular window costs nine looks, whatever its
 * size: made once for all scales of an image. */
struct sift_integral {
    int32_t width, height; /* of the image */
    int32_t margin;        /* rows and columns before the image's first, as many (and a few) after its last */
    int32_t row_pixels;    /* columns with margins */
    uint32_t *sum;         /* [rows with margins][row_pixels][SIFT_ORIENTATIONS] */
};
void sift_integral_release(struct sift_integral *integral);

/* rgb[height][width][3], for the recipe's step and bins. O(pixels and margins). */
enum clv_status sift_integral_init(struct sift_integral *integral, const uint8_t *rgb, int32_t width, int32_t height,
                                   const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* The descriptor of cell (c, r) describes the pixels x in [c*step, (c+1)*step), y likewise, and is centred on that
 * cell. */
struct sift_grid {
    int32_t n_columns, n_rows;
    uint8_t *values; /* [n_rows][n_columns][128]: 4 x 4 bins of space (rows first) of 8 orientations; 0 where flat */
};
void sift_grid_release(struct sift_grid *grid);

/* One scale of the recipe. O(margins and cells). */
enum clv_status sift_extract(struct sift_grid *grid, const struct sift_integral *integral, int32_t bin_px,
                             int32_t step_px, struct clv_error *err) CLV_CHECK;

/* An image made ready for dense SIFT, by whichever implementation its recipe asks for. */

struct sift_image {
    int32_t width, height;
    struct sift_integral integral; /* of CLV_SIFT_CLEAVE */
    float *luma;                   /* [height][width] in 0..255, of CLV_SIFT_VLFEAT; else NULL */
};
void sift_image_release(struct sift_image *image);

/* rgb[height][width][3], for the step and the bins of a recipe. O(pixels and margins). */
enum clv_status sift_image_init(struct sift_image *image, const uint8_t *rgb, int32_t width, int32_t height,
                                const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* The descriptors of one scale: every cell has one, whatever the image's size. */
enum clv_status sift_image_describe(struct sift_grid *grid, const struct sift_image *image, int32_t bin_px,
                                    int32_t step_px, struct clv_error *err) CLV_CHECK;

/* The descriptors of one scale for those who need each once, some rows of cells after the others: about
 * SIFT_STRIP_CELLS of them, which stay in the processor's caches, or, of VLFeat's, all. The bytes are those of
 * sift_image_describe. The image must outlive the strips. */
enum { SIFT_STRIP_CELLS = 8192 };
struct sift_strips {
    const uint8_t *values; /* [rows of the strip][columns][128] */
    const struct sift_image *image;
    int32_t bin_px, step_px, at_once, n_rows_left;
    uint8_t *own;
    uint32_t *band;
    struct sift_grid whole; /* VLFeat's */
};
void sift_strips_release(struct sift_strips *strips);
enum clv_status sift_strips_init(struct sift_strips *strips, const struct sift_image *image, int32_t bin_px,
                                 int32_t step_px, struct clv_error *err) CLV_CHECK;
/* Goes on to the next strip, of *n_cells descriptors; false behind the last. */
bool sift_strips_next(struct sift_strips *strips, size_t *n_cells);

/* Descriptors of single cells of one scale: values[n][128] of cells[n], each row of the grid x n_columns + column, below
 * sift_image_n_cells. The bytes are those of sift_image_describe. O(n); of VLFeat's as sift_image_describe. */
int64_t sift_image_n_cells(const struct sift_image *image, int32_t step_px);
enum clv_status sift_image_sample(uint8_t *values, const struct sift_image *image, int32_t bin_px, int32_t step_px,
                                  const uint32_t *cells, size_t n, struct clv_error *err) CLV_CHECK;

/* Dense SIFT by VLFeat's vl_dsift: the reference implementation of sift.c, for recipes that ask for it. */

/* One scale of an image in grey, luma[height][width] in 0..255: the cells, bins, orientations and scale of sift_extract
 * (4 x 4 bins of bin_px, rows first, 8 orientations with y down; 512 times the unit vector, at most 255), no smoothing
 * either. What differs:
 *   - sums are floats and angles VLFeat's approximation. Where no window reaches past the border, bytes differ by
 *     0.5 on average and by at most 10, and cosines are 0.9998 on average;
 *   - past its border the image is continued by the border's pixels (sift.c has no gradients there), so that cells
 *     near it differ more: cosines are 0.9 on average;
 *   - VLFeat returns the sum of a descriptor's bins, not their norm, so that which ones are flat, and zero, is by an
 *     estimate.
 * One thread; deterministic. O((pixels and margins) x 8 + cells x 128). CLV_ERR_USAGE for an image of about 2^31
 * pixels, CLV_ERR_MEMORY for our arrays: VLFeat does not check its own. */
enum clv_status sift_vlfeat_extract(struct sift_grid *grid, const float *luma, int32_t width, int32_t height,
                                    int32_t bin_px, int32_t step_px, struct clv_error *err) CLV_CHECK;

#endif
