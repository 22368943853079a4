/* Filling polygons.
 *
 * The rule: a pixel belongs to a polygon if its centre (x + 1/2, y + 1/2) is inside by the even-odd rule over all
 * rings, so that a ring inside another is a hole. A centre on a left or upper edge is inside, one on a right or lower
 * edge is not: polygons that share an edge share no pixel and leave no gap. */
#ifndef DATA_POLYGON_H
#define DATA_POLYGON_H

#include "cleave/status.h"

#define POLYGON_MAX_CROSSINGS ((size_t)1 << 24) /* of edges and rows of pixels, for one polygon */

/* Writes `value` to mask[height][width] inside of points[ring_ends[n_rings - 1]]; ring k ends before point ring_ends[k]
 * and is closed of itself. Points may be outside. CLV_ERR_DATA: coordinates that are not finite, or more crossings
 * than allowed. O(crossings log(crossings of a row) + pixels inside). */
enum clv_status polygon_fill(uint8_t *mask, int32_t width, int32_t height, const double (*points)[2],
                             const size_t *ring_ends, size_t n_rings, uint8_t value, struct clv_error *err) CLV_CHECK;

#endif
