/* The regular grid of overlapping patches. */
#ifndef SUPERPIXEL_PATCH_GRID_H
#define SUPERPIXEL_PATCH_GRID_H

#include "cleave/superpixel.h"

/* The grid of an image of that size. CLV_ERR_USAGE for what is not positive, and more than 2^31 pixels. */
enum clv_status patch_grid_init(struct clv_patch_grid *grid, int32_t width, int32_t height, int32_t size_px,
                                int32_t step_px, struct clv_error *err) CLV_CHECK;

/* The grid's edges; boundary_length as it is between the areas of patch_grid_partition. O(patches + sides). */
enum clv_status patch_grid_adjacency(struct clv_adjacency *adjacency, const struct clv_patch_grid *grid,
                                     struct clv_error *err) CLV_CHECK;

/* The partition of the image into the pixels nearest to each patch's centre, the upper left one among equals: labels
 * are nodes. */
enum clv_status patch_grid_partition(struct clv_superpixels *superpixels, const struct clv_patch_grid *grid,
                                     struct clv_error *err) CLV_CHECK;

#endif
