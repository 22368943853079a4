/* What the feature blocks look at, made of one image. */
#ifndef FEATURE_VIEWS_H
#define FEATURE_VIEWS_H

#include "feature/blocks/blocks.h"
#include "feature/blocks/fisher.h"
#include "feature/blocks/hog.h"
#include "feature/blocks/map_pool.h"
#include "feature/recipe/layout.h"

/* Each node's own pixels, for patches more of the image around them, and what blocks share between nodes. */
struct views {
    struct scene image;                   /* pixels by the partition */
    struct scene windows;                 /* by patch; zeros for superpixels */
    struct scene surround, whole;         /* by wider windows, where a block wants them */
    struct word_map maps[CLV_MAX_SCALES]; /* zeros where no block looks at a scale */
    struct kernel_map kernel_map;
    struct hog hog;         /* zeros without the block */
    struct fisher fisher;   /* zeros without the block */
    struct map_pool pooled; /* of maps of networks; zeros without them */
    float *measures;        /* [n_nodes][n_measures] of contrast.h; NULL without the block */
    float *of_whole;        /* the scene block, the same for all nodes; NULL without it */
    int32_t n_measures;
};
void views_release(struct views *views);

/* Nodes and grid of `example` are there; working image and example outlive the views. maps[recipe->n_maps] and their window, or NULL.
 * O(pixels x scales). */
enum clv_status views_init(struct views *views, const struct clv_image *working, const struct clv_example *example,
                           const struct clv_adjacency *adjacency, const struct map_reader *maps,
                           const struct map_window *window, const struct clv_recipe *recipe, const struct layout *at,
                           struct clv_error *err) CLV_CHECK;

/* What a node's own pixels are. */
const struct scene *views_own(const struct views *views);

#endif
