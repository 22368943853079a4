/* The maps that a recipe wants of an item, one channel after the other. */
#ifndef FEATURE_ITEM_MAPS_H
#define FEATURE_ITEM_MAPS_H

#include "cleave/features.h"
#include "data/maps/map_reader.h"

/* *maps[recipe->n_maps] (item_maps_close), NULL if it wants none. Errors: as clv_map_read, but for
 * what channels of large maps hold. */
enum clv_status item_maps_open(struct map_reader **maps, const struct clv_recipe *recipe, const struct clv_set *set,
                               const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;
void item_maps_close(struct map_reader *maps, const struct clv_recipe *recipe);

/* Bytes of memory that the item's maps take while they are used. */
double item_maps_memory(const struct clv_recipe *recipe, const struct clv_set *set, const struct clv_item *item,
                        const struct clv_image_limits *limits);

#endif
