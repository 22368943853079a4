/* Sums over the pixels of each superpixel: its mean colour, its place, its roughness. */
#ifndef SUPERPIXEL_REGION_SUMS_H
#define SUPERPIXEL_REGION_SUMS_H

#include "cleave/superpixel.h"

struct region_sums {
    double lab[3], square;   /* of Lab, and of L squared */
    double x, y, n;          /* of the pixels' centres; how many pixels */
    int32_t low[2], high[2]; /* x and y of the pixels' first and one past the last */
};

/* sums[map->n], zeroed by the caller; lab[height][width][3] of the map's pixels. O(pixels). */
void region_sums_fill(struct region_sums *sums, const struct clv_superpixels *map, const float *lab);
/* lab[3]: the mean colour. Returns the standard deviation of L. */
float region_sums_colour(float *lab, const struct region_sums *sums);

#endif
