/* How much more often each pixel's colour occurs in all of a figure than in all of the ground: finer than near_colours,
 * whose counts are of every place. */
#ifndef REFINE_FINE_COLOURS_H
#define REFINE_FINE_COLOURS_H

#include "cleave/image.h"

/* ratio[height][width] = log of the share of the pixel's colour in figure (labels 1) over that in ground (others); 0
 * throughout where there is no figure or no ground. Image of 3 channels. O(pixels); 4 bytes a row's number besides. */
enum clv_status fine_colours_ratio(float *ratio, const struct clv_image *image, const uint8_t *labels,
                                   struct clv_error *err) CLV_CHECK;

#endif
