/* Maps of a set, read one at a time (item_maps.c), and what more recipe_maps.c has learned of them: principal components
 * (map_components.c), what is usual (map_statistics.c), groups of images (map_groups.c). */
#ifndef FEATURE_MAP_LEARNING_H
#define FEATURE_MAP_LEARNING_H

#include "cleave/features.h"
#include "data/maps/map_reader.h"

/* Whose maps are learned from. */
struct map_source {
    const struct clv_set *set;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
    float side_px; /* of a region at a fixed scale, pixels of the image; 0: no fixed scale */
};

/* The path of an item's map, NULL where it has none. */
const char *map_path(const struct clv_set *set, const struct clv_item *item, const char *name);

/* The item's map of wanted's name (map_reader_close); CLV_ERR_NO_INPUT where it has none, CLV_ERR_DATA for another
 * number of channels than wanted's, unless that is 0. */
enum clv_status map_of_item(struct map_reader *map, const struct clv_recipe_map *wanted, const struct clv_set *set,
                            const struct clv_item *item, const struct clv_image_limits *limits,
                            struct clv_error *err) CLV_CHECK;

/* map->components of features whose scale is learned, from pixels of all items (Pearson 1901; of the correlations).
 * Same bytes at any thread count. O(images x 256 x channels^2 + channels^3). */
enum clv_status map_learn_components(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* map->usual, and of features with masks of two labels n_groups, from up to 512 of the items, evenly spread. */
enum clv_status map_learn_statistics(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* How many groups unit vectors direction[n][n_values] fall into that are close together, each in a direction of its
 * own; 1 where they do not. O(n n_values). */
enum clv_status map_count_groups(int32_t *n_groups, const float *direction, size_t n, size_t n_values,
                                 struct clv_error *err) CLV_CHECK;

#endif
