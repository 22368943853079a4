/* What has to be made of an image for the features that a recipe keeps. */
#ifndef FEATURE_PLAN_H
#define FEATURE_PLAN_H

#include <stdbool.h>

#include "feature/recipe/layout.h"

struct plan {
    struct layout at;           /* blocks of which nothing is kept are off; n_features stays that of all */
    uint32_t measures;          /* bit k: measure k of contrast.h */
    bool words[CLV_MAX_SCALES]; /* whose words any feature looks at */
    bool texture;               /* the edges' texture similarity, which all histograms of words go into */
    int32_t *columns;           /* [n_columns] ascending: what rows hold; all words of histograms with texture */
    int32_t n_columns;
};
void plan_release(struct plan *plan);

/* O(features). */
enum clv_status plan_init(struct plan *plan, const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* plan.words[] alone. Without `kept` those of all scales, whatever the blocks. */
void plan_words(bool words[CLV_MAX_SCALES], const struct clv_recipe *recipe);

#endif
