/* The recipe as a whole: its values (recipe.c) and their file (recipe_file.c), where each block's columns are (layout.c),
 * how much memory features take (memory_estimate.c), learning the codebooks (recipe_learn.c), and maps (recipe_maps.c;
 * map_watch.c warns of other networks' maps). Read layout.h first. This header declares the check of a recipe before it
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

#endif
