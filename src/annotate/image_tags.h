/* Tagged images: from a set whose manifest has a column `tags` (names, separated by commas) to examples that can be
 * learned from. An image's features are its spatial colour moments and, with words in the recipe, the histogram of its
 * visual words. */
#ifndef ANNOTATE_IMAGE_TAGS_H
#define ANNOTATE_IMAGE_TAGS_H

#include "annotate/tags.h"
#include "cleave/features.h"

#define CLV_MOMENT_CELLS 7   /* a side */
#define CLV_MOMENTS      294 /* 7 x 7 cells x (L, u, v) x (mean, variance) */

/* Spatial colour moments (Boutell et al., Pattern Recognition 37, 2004): the image is cut into 7 x 7 cells; for each,
 * row by row, the means of CIE L*, u*, v* (D65) and then their variances. An image with fewer than 7 pixels a side
 * shares them between cells. O(pixels). */
void clv_colour_moments(double moments[CLV_MOMENTS], const struct clv_image *image);

/* Features of an image under a recipe, of which only working_pixels, the words and their codebooks count: the moments,
 * and with CLV_BLOCK_WORDS for each scale the roots of the words' shares of the pixels, whatever its kernel map. */
int32_t clv_image_tag_features(const struct clv_recipe *recipe);

/* All items of a set, in its order, in parallel, same bytes at any number of threads. names[n_names] are the tags a
 * model knows: another one is CLV_ERR_DATA, naming image and tag; NULL: the tags that occur, sorted by bytes.
 * set->names are always there. The first image in order that fails, fails the whole; an empty `tags` is no tag. */
enum clv_status clv_image_tags_extract(struct clv_tag_set *tags, const struct clv_set *set,
                                       const struct clv_recipe *recipe, const char *const *names, int32_t n_names,
                                       int n_threads, const struct clv_image_limits *limits,
                                       const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
