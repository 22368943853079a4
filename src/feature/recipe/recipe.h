/* Checking a recipe before it is used. */
#ifndef FEATURE_RECIPE_H
#define FEATURE_RECIPE_H

#include <stdbool.h>

#include "cleave/features.h"

/* CLV_ERR_USAGE when a plain value is out of range (names it), or with need_codebooks when words are wanted but their codebooks
 * are not learned. O(features). */
enum clv_status recipe_check(const struct clv_recipe *recipe, bool need_codebooks, struct clv_error *err) CLV_CHECK;

#endif
