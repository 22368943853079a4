/* Watershed of a map: every pixel of interest belongs to the peak that it leads up to, and peaks that rise less than
 * `rise` above their saddle to a higher one are one with it (the peak's dynamics, Grimaud 1992). */
#ifndef OBJECT_BASINS_H
#define OBJECT_BASINS_H

#include "cleave/status.h"

#include <stdint.h>

/* regions[height][width] = 1..n_regions where is_inside, by the first pixels of the regions in row order, else 0; each in
 * one piece by sides of pixels. Of equal pixels the first counts as higher. O(pixels log pixels). */
enum clv_status basins_find(int32_t *regions, int32_t *n_regions, const float *map, const uint8_t *is_inside,
                            int32_t width, int32_t height, double rise, struct clv_error *err) CLV_CHECK;

#endif
