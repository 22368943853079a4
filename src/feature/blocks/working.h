/* Working size: features see a shrunken image, masks and volumes are counted at the original size. */
#ifndef FEATURE_WORKING_H
#define FEATURE_WORKING_H

#include "cleave/features.h"

/* The image shrunk (never enlarged) to at most max_pixels, its proportions kept; at least 1x1. A copy even when it
 * is small enough. */
enum clv_status working_image(struct clv_image *working, const struct clv_image *image, int32_t max_pixels,
                              struct clv_error *err) CLV_CHECK;

/* The same at a recipe's size: at its fixed scale, if it has one, else of its working_pixels. */
enum clv_status working_image_of(struct clv_image *working, const struct clv_image *image,
                                 const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;
/* How many pixels it has, of an image of n. */
double working_count(const struct clv_recipe *recipe, double n);
/* How many superpixels an image of n working pixels has, about. */
int32_t working_superpixels(const struct clv_recipe *recipe, double n);

/* What places of nodes are measured in, working pixels: the root of the image's area, so that distances are comparable
 * between images of any size and shape; at a fixed scale that of 600 regions, as an image usually has. */
double working_unit(const struct clv_recipe *recipe, int32_t width, int32_t height);

/* The working pixel under original pixel `at` along one axis: the one that holds its centre. */
static inline int32_t working_coordinate(int32_t at, int32_t original_size, int32_t working_size)
{
    return (int32_t)((2 * (int64_t)at + 1) * working_size / (2 * (int64_t)original_size));
}

#endif
