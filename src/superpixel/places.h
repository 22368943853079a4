/* Where the regions of a label map are. */
#ifndef SUPERPIXEL_PLACES_H
#define SUPERPIXEL_PLACES_H

#include "cleave/status.h"

/* place[n][2] = x and y of each region's centre of mass, in units of so many pixels. labels[height][width] are in 0..n-1; a region without pixels is at 0, 0.
 * O(pixels). */
enum clv_status region_places(float *place, const int32_t *labels, int32_t width, int32_t height, int32_t n,
                              double unit, struct clv_error *err) CLV_CHECK;

#endif
