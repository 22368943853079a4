/* Edge features: all >= 0, so that couplings >= 0 make cuts. */
#ifndef FEATURE_EDGES_H
#define FEATURE_EDGES_H

#include "feature/blocks/scene.h"

enum { EDGE_TEXTURE = 4 }; /* of superpixels: the feature that needs words */

int32_t edge_feature_count(const struct clv_recipe *recipe);
const char *edge_feature_name(const struct clv_recipe *recipe, int32_t index);

/* What differences and lengths are measured by: that of the scene, image by image, or that of a fixed scale. */
struct edge_units {
    float likeness; /* squared distances of colours are multiplied by it */
    float side;     /* of a region, about */
};
struct edge_units edge_units_of(const struct clv_adjacency *adjacency, const struct scene *scene,
                                const struct clv_recipe *recipe);

/* Sum over the edges of the squared distances between their ends' colours. */
double edge_contrast(const struct clv_adjacency *adjacency, const struct region *regions);

/* features[n_edges][stride], stride = edge_feature_count(recipe), but for those of maps, which come last, from the
 * regions' colours. problem's rows hold the word histograms in columns 0..n_word_features-1 (n_scales of them, the
 * product of one with itself about 1; 0 scales: texture counts as equal). O(edges x words of a node). */
void edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct region *regions,
                struct edge_units units, const struct clv_problem *problem, int32_t n_word_features, int32_t n_scales);

/* The same for the 4-neighbours of a grid of patches, whose edges run along rows or along columns: full tables can
 * distinguish above from below. O(edges). */
void patch_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency,
                      const struct scene *scene);

#endif
