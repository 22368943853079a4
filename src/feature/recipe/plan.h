/* What has to be made of an image for the features that a recipe keeps. */
#ifndef FEATURE_NEEDS_H
#define FEATURE_NEEDS_H

#include <stdbool.h>

#include "feature/blocks/blocks.h"

struct needs {
    struct layout at;           /* blocks of which nothing is kept are off; n_features stays that of all */
    uint32_t measures;          /* bit k: measure k of contrast.h */
    bool words[CLV_MAX_SCALES]; /* whose words any feature looks at */
    bool texture;               /* the edges' texture similarity, which all histograms of words go into */
    int32_t *columns;           /* [n_columns] ascending: what rows hold; all words of histograms with texture */
    int32_t n_columns;
};
void needs_release(struct needs *needs);

/* O(features). */
enum clv_status needs_init(struct needs *needs, const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* needs.words[] alone. Without `kept` those of all scales, whatever the blocks. */
void needs_words(bool words[CLV_MAX_SCALES], const struct clv_recipe *recipe);

#endif
