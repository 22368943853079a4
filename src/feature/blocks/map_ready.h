/* What a recipe makes of a map's values: of probabilities their log-odds, of features their standardised values or what
 * principal components make of them, all clipped at +-MAP_CLIP. */
#ifndef FEATURE_MAP_READY_H
#define FEATURE_MAP_READY_H

#include "cleave/features.h"
#include "data/maps/map_reader.h"

#define MAP_CLIP 6.0F
/* Bytes of components that are made in one pass over the map, unless one alone takes more. */
#define MAP_SUMS ((size_t)64 << 20)
/* Numbers a pixel that it makes of a map. */
int32_t map_values(const struct clv_recipe_map *map);

/* One channel after the other, so that no more of the map need be in memory. */
struct map_ready {
    const struct map_reader *map;
    const struct clv_recipe_map *recipe_map;
    int32_t width, height, n_channels;
    size_t n;       /* pixels */
    float *channel; /* [n] */
    double *sums;   /* [at_once][n] of components from `first` on; NULL without them */
    int32_t first, at_once;
};
/* CLV_ERR_DATA for another number of channels than the recipe's; CLV_ERR_USAGE where the recipe's map has not been
 * learned. */
enum clv_status map_ready_init(struct map_ready *ready, const struct map_reader *map,
                               const struct clv_recipe_map *recipe_map, struct clv_error *err) CLV_CHECK;
void map_ready_release(struct map_ready *ready);

/* The channel's values[height][width], until the next one's. Components are best asked for in their order. */
enum clv_status map_ready_channel(const float **values, struct map_ready *ready, int32_t channel,
                                  struct clv_error *err) CLV_CHECK;

/* Of n pixels. */
double map_channel_mean(const float *values, size_t n);

#endif
