/* Whether the maps that a recipe meets are like those that it was learned from. */
#ifndef FEATURE_MAP_DRIFT_H
#define FEATURE_MAP_DRIFT_H

#include <stdbool.h>

#include "cleave/features.h"
#include "data/maps/map_reader.h"

/* Sums over the images so far. */
struct map_drift {
    size_t n;
    double *sum; /* [map_drift_size] of images' means */
    bool is_reported[CLV_MAX_MAPS];
};
/* Of memory that is 0. */
enum clv_status map_drift_init(struct map_drift *drift, const struct clv_recipe *recipe,
                               struct clv_error *err) CLV_CHECK;
void map_drift_release(struct map_drift *drift);

/* Values a pixel of all maps of the recipe. */
size_t map_drift_size(const struct clv_recipe *recipe);

/* mean[map_drift_size] of one image's maps[recipe->n_maps]. */
enum clv_status map_drift_means(float *mean, const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* Adds an image. After 1, 2, 4, 8, .. images it returns the place among the recipe's maps of one that is not like those
 * learned from, once for each, else -1: the squared distance of the images' mean from the usual one, in squared
 * deviations among training images and meaned over channels, is above 1 + 8 / images. *deviations is its square root.
 * On the maps of 147 photos of horses held out from each other that happens in .7 % of samples of 2 images and hardly
 * ever for other numbers; with those of another network, from 8 images on, in 93 % and more. */
int32_t map_drift_add(double *deviations, struct map_drift *drift, const float *mean, const struct clv_recipe *recipe);

#endif
