/* Recipes in tensor files: plain values as JSON, codebooks as tensors. Models and feature files carry them. */
#ifndef FEATURE_RECIPE_FILE_H
#define FEATURE_RECIPE_FILE_H

#include <stdbool.h>

#include "base/text.h"
#include "cleave/features.h"
#include "data/tensors.h"

#define RECIPE_CODEBOOK_PREFIX "codebook." /* + scale: u8 [n_words][128] */
#define RECIPE_MIXTURE_PREFIX  "mixture."  /* + scale: f32 [CLV_MIXTURE_SIZE] */
#define RECIPE_KEPT            "kept"      /* of models that left features out, which are not read any more */
#define RECIPE_MAPS_PREFIX     "maps."     /* + place among the maps: f32 [2][n_channels] of features */
#define RECIPE_PCA_PREFIX      "pca."      /* + place among the maps: f32 [n_components][n_channels] */
#define RECIPE_USUAL_PREFIX    "usual."    /* + place among the maps: f32 [2][values a pixel], in newer files */
#define RECIPE_BANDS           "bands"     /* f32: the numbers of struct clv_bands, from low on */
#define RECIPE_TENSORS         (CLV_MAX_SCALES + 3 * CLV_MAX_MAPS + CLV_MAX_SCALES + 1)

/* Appends the plain values as one JSON object. */
void recipe_put_json(struct text *text, const struct clv_recipe *recipe);

/* The codebooks that are looked at and what is kept as tensors (views of the recipe; names are static); returns how
 * many. */
size_t recipe_tensors(struct clv_tensor tensors[RECIPE_TENSORS], const struct clv_recipe *recipe);

/* Whether a tensor of that name may be a recipe's, by the prefixes above. */
bool recipe_tensor_is_known(const char *name);

/* The recipe of an open file from its JSON (metadata) and its codebook tensors. `name` is the file, for messages;
 * every value is checked. The recipe owns its codebooks; unchanged on failure. */
enum clv_status recipe_read(struct clv_recipe *recipe, const char *json, const struct clv_tensors *tensors,
                            const char *name, struct clv_error *err) CLV_CHECK;

/* Of enum clv_map_kind; ends with NULL. */
extern const char *const map_kind_names[];

#endif
