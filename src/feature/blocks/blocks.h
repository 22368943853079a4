/* This folder computes the features. A block fills its own stretch of one node's row (recipe/layout.c says where the
 * stretches are) from the scene: the image at working size and each node's pixels (scene.h). Every block has a norm
 * of about 1, so that one L2 regulariser fits them all. Read position.c first, the shortest block: three functions,
 * _size, _fill and _name, each declared below. contrast.c stands on zones.c and pairs.c, hog.c and kernel_map.c on
 * VLFeat; edges.c fills the edges' features. */
#ifndef FEATURE_BLOCKS_H
#define FEATURE_BLOCKS_H

#include <stdbool.h>

#include "feature/blocks/kernel_map.h"
#include "feature/blocks/scene.h"
#include "feature/words/sift_image.h"

/* Whether the recipe has words, so codebooks. */
bool has_words(const struct clv_recipe *recipe);

/* Histograms of words and colours are of shares, each of which the recipe's kernel map turns into kernel_map_size
 * numbers. */

/* words: histograms of dense-SIFT words, one per scale */
struct word_map {
    int32_t *word; /* [height * width]: of the descriptor nearest to each pixel */
    int32_t *met;  /* [n_words], scratch: the words of one region */
};
void word_map_release(struct word_map *map);
enum clv_status word_map_init(struct word_map *map, const struct sift_image *sift, const struct clv_recipe *recipe,
                              int32_t scale, struct clv_error *err) CLV_CHECK;
int32_t words_size(const struct clv_recipe *recipe); /* of one scale */
void words_fill(float *row, const struct scene *scene, struct word_map *map, const struct kernel_map *kernel_map,
                int32_t region);
void words_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                int32_t index);

/* word: 1 for the word in the middle of the region's bounding box, one a scale */
void word_fill(float *row, const struct scene *scene, const struct word_map *map, int32_t region);

/* colour: RGB histograms, joint histogram of a and b, Lab mean and deviation */
int32_t colour_size(const struct clv_recipe *recipe);
void colour_fill(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region);
void colour_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);

/* chroma: the joint histogram of a and b, the last part of the colour block */
int32_t chroma_size(const struct clv_recipe *recipe);
void chroma_fill(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region);

/* rgb: the RGB histograms of the colour block alone, which its first columns are */
int32_t rgb_size(const struct clv_recipe *recipe);
void rgb_fill(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region);
void rgb_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);

/* surround and scene: the joint histogram of a and b, then words per scale from first_scale on if the recipe has them,
 * of wider windows; scales without a map (of zeros) stay 0 */
int32_t surround_size(const struct clv_recipe *recipe, int32_t first_scale);
void surround_fill(float *row, const struct scene *windows, struct word_map *maps, const struct kernel_map *kernel_map,
                   const struct clv_recipe *recipe, int32_t first_scale, int32_t region);
void surround_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                   int32_t index);

/* position: bilinear weights over a grid of cells; they sum to 1 */
int32_t position_size(void);
void position_fill(float *row, const struct scene *scene, int32_t region);
void position_name(char *name, size_t size, int32_t index);

/* size: a bias of 1 and the region's pixels relative to the mean, at a fixed scale to the area wanted */
int32_t size_size(void);
void size_fill(float *row, const struct scene *scene, const struct clv_recipe *recipe, int32_t region);
void size_name(char *name, size_t size, int32_t index);

/* contrast: the measures of contrast.h, each spread over bins of its own */
int32_t contrast_size(const struct clv_recipe *recipe);
void contrast_fill(float *row, const float *measures, int32_t n_measures);
void contrast_name(char *name, size_t size, int32_t index);

#endif
