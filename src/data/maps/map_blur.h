/* Maps made smoother. */
#ifndef DATA_MAP_BLUR_H
#define DATA_MAP_BLUR_H

#include "cleave/maps.h"

/* Blurs all channels in place, nearly by a Gaussian of so many of the map's pixels across and down (three boxes each,
 * Wells, PAMI 1986); beyond the border values stay the border's. Spreads below half a pixel change nothing. O(values),
 * whatever the spread. */
enum clv_status map_blur(struct clv_map *map, double across, double down, struct clv_error *err) CLV_CHECK;

#endif
