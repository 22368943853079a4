/* The recipe as a whole: its values (recipe.c) and their file (recipe_file.c), where each block's columns are (layout.c),
 * how much memory features take (memory_estimate.c), learning the codebooks (recipe_learn.c), and maps (recipe_maps.c;
 * map_drift.c warns of other networks' maps). Read layout.h first. This header declares the check of a recipe before it
 * is used. */
#ifndef FEATURE_RECIPE_H
#define FEATURE_RECIPE_H

#include <stdbool.h>

#include "cleave/features.h"

/* CLV_ERR_USAGE when a plain value is out of range (names it), or with need_codebooks when words are wanted but
 * their codebooks are not learned. O(features). */
enum clv_status recipe_check(const struct clv_recipe *recipe, bool need_codebooks, struct clv_error *err) CLV_CHECK;

/* A view that makes the same nodes of an image with hardly a feature; not to be released. */
struct clv_recipe recipe_of_nodes(const struct clv_recipe *recipe);

/* Describes feature `index` ("word 17 of scale 0", "border distance bin 3"), for `cleave inspect`. */
void recipe_feature_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);
const char *recipe_edge_feature_name(const struct clv_recipe *recipe, int32_t index);

/* clv_recipe_learn from images in memory, images[n] of 3 channels: the codebooks are those of the same images in
 * files. */
enum clv_status recipe_learn_images(struct clv_recipe *recipe, const struct clv_image *images, size_t n, uint64_t seed,
                                    int n_threads, const struct clv_progress *progress,
                                    struct clv_error *err) CLV_CHECK;

/* Learns what the recipe says of its maps, each of which the set has by name: channels, kind (where the values decide
 * it) and the scale of features, from the maps of all the set's items, one at a time. Same bytes at any thread count.
 * Errors name the map's file: missing, unreadable, another number of channels than the first. */
enum clv_status recipe_learn_maps(struct clv_recipe *recipe, const struct clv_set *set, int n_threads,
                                  const struct clv_image_limits *limits, const struct clv_progress *progress,
                                  struct clv_error *err) CLV_CHECK;

#endif
