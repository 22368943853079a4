/* Visual words: dense SIFT descriptors (sift.c), codebooks by k-means (seeding.c, codebook.c), and the exact nearest
 * centre of integer descriptors (nearest_centre.c), the hot loop of feature extraction and codebook learning. Read
 * sift.c first. */
#ifndef FEATURE_WORDS_WORDS_H
#define FEATURE_WORDS_WORDS_H

#include <stdbool.h>
#include <string.h>

#include "cleave/features.h"

/* Learning a codebook of descriptors by k-means in integers. */

struct codebook_options {
    int32_t n_words, n_iterations;
    int32_t kmeans; /* enum clv_kmeans: the implementation */
    uint64_t seed, stream;
    const struct clv_progress *progress; /* or NULL */
    int32_t search; /* enum clv_word_search; with groups, centres are sorted into groups at the end */
};

/* Learns the centres of descriptors[n][128], n >= 1: k-means++ seeding (Arthur & Vassilvitskii 2007), then at most
 * n_iterations of Lloyd's algorithm. Centres are rounded to bytes after each iteration, or by VLFeat at the end. If
 * there are fewer distinct descriptors than words, each is a word, and the remaining words repeat others; the exact
 * search assigns only the first of equal words. The same seed and stream give the same bytes. *distortion (may be NULL)
 * receives the mean squared distance to the nearest centre. The codebook is unchanged on failure. O(distinct
 * descriptors x n_words x n_iterations). */
enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* Initial centres of k-means (seeding.c). */

/* The distinct descriptors of a sample, in the order of their first occurrence. */
struct codebook_samples {
    size_t n, n_drawn;
    uint8_t *descriptors; /* [n][128] */
    uint32_t *weight;     /* [n] occurrences of each in the sample */
    uint32_t *which;      /* [n_drawn] index of each sampled one among the distinct ones */
};
void codebook_samples_release(struct codebook_samples *samples);

/* Finds the distinct ones of descriptors[n][128], 1 <= n < 2^31. O(n). */
enum clv_status codebook_samples_init(struct codebook_samples *samples, const uint8_t *descriptors, size_t n,
                                      struct clv_error *err) CLV_CHECK;

/* Returns the squared distance of two descriptors. */
static inline __attribute__((always_inline)) int32_t descriptor_distance(const uint8_t *a, const uint8_t *b)
{
    int32_t sum = 0;
    for (int k = 0; k < CLV_DESCRIPTOR_SIZE; k++) {
        int16_t difference = (int16_t)(a[k] - b[k]);
        sum += difference * difference;
    }
    return sum;
}

/* Codebooks by VLFeat's k-means, the reference implementation of codebook.c, which recipes can choose. */

/* Moves centres[n_words][128] by VLFeat's Lloyd algorithm over descriptors[n][128], 1 <= n_words <= n. Centres are
 * floats until they are rounded to bytes at the end; a centre without descriptors is moved to a random one. The same
 * seed and stream give the same bytes. One thread. O(n x n_words x n_iterations); memory O(n). CLV_ERR_MEMORY only if
 * our arrays cannot be allocated: VLFeat does not check its own. */
enum clv_status codebook_vlfeat_refine(uint8_t *centres, const uint8_t *descriptors, size_t n,
                                       const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* Gaussian mixtures of dense SIFT descriptors, from which Fisher vectors are computed. The points are the square roots
 * of L1-normalised descriptors (Arandjelovic & Zisserman 2012), projected on their first principal axes; covariances
 * are diagonal. */

enum {
    MIXTURE_DIMENSIONS = CLV_MIXTURE_DIMENSIONS,
    MIXTURE_COMPONENTS = CLV_MIXTURE_COMPONENTS,
    /* Offsets in the array of a mixture: mean[128], projection[DIMENSIONS][128], then for the components
     * weight[COMPONENTS], mean[COMPONENTS][DIMENSIONS] and variance[COMPONENTS][DIMENSIONS]. */
    MIXTURE_PROJECTION = CLV_DESCRIPTOR_SIZE,
    MIXTURE_WEIGHT = MIXTURE_PROJECTION + MIXTURE_DIMENSIONS * CLV_DESCRIPTOR_SIZE,
    MIXTURE_MEAN = MIXTURE_WEIGHT + MIXTURE_COMPONENTS,
    MIXTURE_VARIANCE = MIXTURE_MEAN + MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS,
};

/* Learns mixture[CLV_MIXTURE_SIZE] (free by array_free) from descriptors[n][128], n >= 1, by k-means and then
 * expectation maximisation, with the options' seed, stream and progress. O(n): the number of rounds is fixed. */
enum clv_status mixture_learn(float **mixture, const uint8_t *descriptors, size_t n,
                              const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* Returns whether all numbers are finite, and weights and variances in range. */
bool mixture_is_sound(const float *mixture);

/* A mixture with values that are computed once for all descriptors. */
struct mixture_view {
    const float *mixture;
    float constant[MIXTURE_COMPONENTS]; /* log of the weight over the root of the variances' product */
    float precision[MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS]; /* 1 / variance */
};
void mixture_view_init(struct mixture_view *view, const float *mixture);

/* Compute point[DIMENSIONS] of a descriptor, and the posteriors share[COMPONENTS] of the components at a point. */
void mixture_point(float *point, const float *mixture, const uint8_t *descriptor);
void mixture_shares(float *share, const struct mixture_view *view, const float *point);

/* Instruction sets of the assignment; every level gives the same words. */
enum words_level { WORDS_PLAIN, WORDS_AVX2, WORDS_AVX512_VNNI, WORDS_LEVELS };

/* The VNNI kernels multiply unsigned by signed bytes: 128 is subtracted from one side, d, and the other, c, is packed
 * in blocks of 16 vectors, [CLV_DESCRIPTOR_SIZE/4][16 lanes][4 coordinates]. Then 2<d,c> - |c|^2 = 2<d-128,c> + the
 * bias of c. */
enum { VNNI_LANES = 16 };

/* Writes a vector to a lane of a block and returns its bias, 256 sum(c) - |c|^2. */
static inline int32_t vnni_pack(uint8_t *block, size_t lane, const uint8_t *c)
{
    for (size_t k = 0; k < CLV_DESCRIPTOR_SIZE; k += 4)
        memcpy(block + k * VNNI_LANES + lane * 4, c + k, 4);
    int32_t bias = 0;
    for (size_t k = 0; k < CLV_DESCRIPTOR_SIZE; k++)
        bias += (int16_t)(256 - c[k]) * (int16_t)c[k];
    return bias;
}

/* Returns the best level that this processor supports. */
enum words_level words_best_level(void);

/* k-means++: centres[n_words][128] are samples. The first is drawn uniformly, each next one with probability
 * proportional to its squared distance to the nearest centre so far, by the options' seed and stream. Centres are the
 * same at every level, which the processor must support. O(n x n_words). */
enum clv_status centres_seed_at(enum words_level level, uint8_t *centres, const struct codebook_samples *samples,
                                const struct codebook_options *options, struct clv_error *err) CLV_CHECK;

/* A codebook packed for one way of searching and one instruction set, so that the calls for one image share the packing
 * (nearest_centre.c). A search has scratch memory: each thread needs its own. */
struct word_search {
    const struct clv_codebook *codebook; /* a view */
    enum words_level level;
    int32_t n_padded;              /* words of the exact search, with padding */
    void *packed;                  /* [n_padded][128], in the kernels' layout; NULL by groups and at WORDS_PLAIN */
    int32_t *bias;                 /* [n_padded]; NULL by groups */
    struct grouped_search *groups; /* NULL unless by groups */
};
void word_search_release(struct word_search *search);

/* Packs a codebook for the search `by` (enum clv_word_search) at a level that the processor supports. CLV_ERR_USAGE for
 * an empty codebook, or for one of more than WORDS_MAX_GROUPED words by groups. O(n_words x 128). */
enum clv_status word_search_init(struct word_search *search, const struct clv_codebook *codebook, int32_t by,
                                 enum words_level level, struct clv_error *err) CLV_CHECK;

/* word[i] = the centre nearest to descriptors[i] in Euclidean distance, the lowest on ties; by groups, the nearest one
 * in the four groups whose means are nearest, and on ties the lowest group. Words are the same at every level.
 * descriptors[n][128]. O(n x n_words x 128), by groups O(n x (n_words / 16 + 64) x 128). */
void word_search_find(struct word_search *search, int32_t *word, const uint8_t *descriptors, size_t n);

/* Finds the words of descriptors[n][128] by one search at the best level that the processor supports. */
enum clv_status words_find(int32_t *word, const struct clv_codebook *codebook, int32_t by, const uint8_t *descriptors,
                           size_t n, struct clv_error *err) CLV_CHECK;

/* Search by groups (grouped_words.c) in a codebook whose centres are sorted into groups: each WORDS_GROUP successive
 * ones are similar (the last group may be smaller). */
enum { WORDS_GROUP = VNNI_LANES, WORDS_MAX_GROUPED = CLV_MAX_GROUPED_WORDS };
struct grouped_search;
enum clv_status grouped_search_new(struct grouped_search **search, const struct clv_codebook *codebook,
                                   enum words_level level, struct clv_error *err) CLV_CHECK;
void grouped_search_find(struct grouped_search *search, int32_t *word, const uint8_t *descriptors, size_t n);
void grouped_search_free(struct grouped_search *search); /* NULL is allowed */

/* Dense SIFT on a grid that covers the whole image: every pixel has a nearest descriptor, even in an image of 1x1. */

enum { SIFT_ORIENTATIONS = 8, SIFT_LUMA_ONE = 256 };

/* Returns the luma in 1/SIFT_LUMA_ONE grey levels: ITU-R BT.601 in integers. */
static inline int32_t sift_luma(const uint8_t *rgb)
{
    return 77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2];
}

/* Returns by how many pixels descriptors of the recipe reach beyond the image on each side. */
int32_t sift_margin(const struct clv_recipe *recipe);

/* Running sums of gradients by orientation, computed once for all scales of an image, or the last rows of them. The sum
 * under a triangular window of any size takes nine reads. */
struct sift_integral {
    int32_t width, height; /* of the image */
    int32_t margin;        /* rows and columns before the image's first, and at least as many after its last */
    int32_t row_pixels;    /* columns with margins */
    int32_t n_stored;      /* rows in memory: all, with margins, or the last ones; row r is at r % n_stored */
    uint32_t *sum;         /* [n_stored][row_pixels][SIFT_ORIENTATIONS] */
};
void sift_integral_release(struct sift_integral *integral);

/* Sums the gradients of rgb[height][width][3] for the recipe's step and bins. O(pixels and margins). */
enum clv_status sift_integral_init(struct sift_integral *integral, const uint8_t *rgb, int32_t width, int32_t height,
                                   const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* The descriptor of cell (c, r) describes the pixels x in [c*step, (c+1)*step), y likewise, and is centred on that
 * cell. */
struct sift_grid {
    int32_t n_columns, n_rows;
    uint8_t *values; /* [n_rows][n_columns][128]: 4 x 4 spatial bins (rows first) of 8 orientations; 0 if flat */
};
void sift_grid_release(struct sift_grid *grid);

/* Computes the descriptors of one scale. O(margins and cells). */
enum clv_status sift_extract(struct sift_grid *grid, const struct sift_integral *integral, int32_t bin_px,
                             int32_t step_px, struct clv_error *err) CLV_CHECK;

/* An image prepared for dense SIFT by the implementation that its recipe chooses. */

struct sift_image {
    int32_t width, height;
    struct sift_integral integral; /* of CLV_SIFT_CLEAVE */
    float *luma;                   /* [height][width] in 0..255, of CLV_SIFT_VLFEAT; else NULL */
};
void sift_image_release(struct sift_image *image);

/* Prepares rgb[height][width][3] for the step and the bins of a recipe. O(pixels and margins). */
enum clv_status sift_image_init(struct sift_image *image, const uint8_t *rgb, int32_t width, int32_t height,
                                const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* Computes the descriptors of one scale. Every cell has one at any image size. */
enum clv_status sift_image_describe(struct sift_grid *grid, const struct sift_image *image, int32_t bin_px,
                                    int32_t step_px, struct clv_error *err) CLV_CHECK;

/* Rows of cells of one scale. */
struct sift_strip {
    int32_t scale, first_row, n_rows, n_columns;
    const uint8_t *values; /* [n_rows][n_columns][128] */
};
typedef enum clv_status sift_strip_use(void *context, const struct sift_strip *strip, struct clv_error *err);

/* Computes the descriptors of all scales of rgb[height][width][3], for callers that need each descriptor once: calls
 * use() with strips of rows, from top to bottom in each scale. A strip has about SIFT_STRIP_CELLS cells, so that
 * they and the running sums around them, which alone are in memory, fit into the processor's caches; with VLFeat a
 * strip has all rows of its scale. Values equal those of sift_image_describe. A failure of use() ends the call.
 * O(pixels and margins, and cells x n_scales). */
enum { SIFT_STRIP_CELLS = 2048 };
enum clv_status sift_describe_strips(const uint8_t *rgb, int32_t width, int32_t height, const struct clv_recipe *recipe,
                                     sift_strip_use *use, void *context, struct clv_error *err) CLV_CHECK;

/* Computes the descriptors values[n][128] of single cells of one scale. cells[n] are indices (row x n_columns + column)
 * below sift_image_n_cells. Values equal those of sift_image_describe. O(n); with VLFeat as sift_image_describe. */
int64_t sift_image_n_cells(const struct sift_image *image, int32_t step_px);
enum clv_status sift_image_sample(uint8_t *values, const struct sift_image *image, int32_t bin_px, int32_t step_px,
                                  const uint32_t *cells, size_t n, struct clv_error *err) CLV_CHECK;

/* Dense SIFT by VLFeat's vl_dsift, the reference implementation of sift.c, which recipes can choose. */

/* Computes one scale of a grey image, luma[height][width] in 0..255. Cells, bins, orientations and scale are those of
 * sift_extract (4 x 4 bins of bin_px, rows first, 8 orientations with y down; 512 times the unit vector, at most 255),
 * also without smoothing. Differences:
 *   - sums are floats, and angles VLFeat's approximation. If no window crosses the border, bytes differ by
 *     0.5 on average and by at most 10, and cosines are 0.9998 on average;
 *   - beyond the border, pixels of the border are repeated (sift.c has no gradients there), so that cells
 *     near it differ more: cosines are 0.9 on average;
 *   - VLFeat returns the sum of a descriptor's bins, not their norm, so whether one is flat, and set to 0, is an
 *     estimate.
 * One thread; deterministic. O((pixels and margins) x 8 + cells x 128). CLV_ERR_USAGE for an image of about 2^31
 * pixels, CLV_ERR_MEMORY only if our arrays cannot be allocated: VLFeat does not check its own. */
enum clv_status sift_vlfeat_extract(struct sift_grid *grid, const float *luma, int32_t width, int32_t height,
                                    int32_t bin_px, int32_t step_px, struct clv_error *err) CLV_CHECK;

#endif
