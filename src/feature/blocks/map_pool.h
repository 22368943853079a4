/* Maps of networks, pooled over the pixels of each node. */
#ifndef FEATURE_MAP_POOL_H
#define FEATURE_MAP_POOL_H

#include "feature/blocks/map_ready.h"
#include "feature/blocks/scene.h"

/* Statistics of every node over all channels of all maps: [n_nodes][n_channels] each, NULL where the recipe does not
 * pool by it (means are always there). */
struct map_pool {
    int32_t n_channels;
    float *mean, *largest, *deviation;
};
void map_pool_release(struct map_pool *pool);

/* The part of an image, (x, y) on, that a scene shows; width and height are the image's, over which maps are spread. */
struct map_window {
    int32_t x, y, width, height;
};

/* maps[recipe->n_maps]; window NULL: the scene shows all of the image. O(pixels of all nodes x channels), memory for one channel of the scene. */
enum clv_status map_pool_init(struct map_pool *pool, const struct scene *scene, const struct map_reader *maps,
                              const struct map_window *window, const struct clv_recipe *recipe,
                              struct clv_error *err) CLV_CHECK;

/* maps: a bias of 1; of each channel the mean, for probabilities also its soft bins, and what else is pooled */
int32_t maps_size(const struct clv_recipe *recipe);
void maps_fill(float *row, const struct map_pool *pool, const struct clv_recipe *recipe, int32_t region);
/* Where in the block the mean of a map's channel stands, and what the mean is multiplied by there. */
int32_t maps_mean_column(float *unit, const struct clv_recipe *recipe, int32_t map, int32_t channel);
void maps_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index);

/* edges: how alike two nodes' means are in each map, times the boundary's length where there is one */
int32_t map_edge_count(const struct clv_recipe *recipe);
/* features[n_edges][stride], of which each edge's last map_edge_count are filled; side is the length that boundaries
 * are measured by. */
void map_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct map_pool *pool,
                    const struct clv_recipe *recipe, float side);

#endif
