/* Filters of planes[height][width]: what lies past the border is the nearest pixel within. */
#ifndef OBJECT_FILTERS_H
#define OBJECT_FILTERS_H

#include "cleave/status.h"

#include <stddef.h>
#include <stdint.h>

/* out = in smoothed by a Gaussian of that deviation in pixels, cut off at three deviations. out may be in. O(pixels x
 * deviation). */
enum clv_status filter_gauss(float *out, const float *in, int32_t width, int32_t height, double deviation,
                             struct clv_error *err) CLV_CHECK;

/* The greatest and the least value of the square of side 2 radius + 1 around each pixel. O(pixels x radius). */
enum clv_status filter_extremes(float *greatest, float *least, const float *in, int32_t width, int32_t height,
                                int32_t radius, struct clv_error *err) CLV_CHECK;

/* distance[height][width] to the nearest pixel of another value, 1 next to one, steps of 1 and sqrt 2 (Borgefors 1986);
 * no more than `most`. O(pixels). */
void filter_distance(float *distance, const int32_t *values, int32_t width, int32_t height, float most);

#endif
