/* Where the blocks of node features are in a row. */
#ifndef FEATURE_LAYOUT_H
#define FEATURE_LAYOUT_H

#include "cleave/features.h"

/* The first column of each block; -1 when it is off. */
struct layout {
    int32_t words[CLV_MAX_SCALES], colour, position, size, contrast, surround, scene, rgb, word, hog, maps, fisher;
    int32_t n_features;
};
void layout_init(struct layout *layout, const struct clv_recipe *recipe);

#endif
