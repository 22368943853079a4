/* The border of labels that were cut at a smaller size, at the pixels of a large image. */
#ifndef CLICK_CLICK_BORDER_H
#define CLICK_CLICK_BORDER_H

#include "click/click.h"
#include "refine/pixel_couplings.h"

/* Moves the border of labels[height][width] by up to reach_px pixels to the edges of the couplings' image: minimum cuts
 * of tiles that it goes through, in which all that is further away is certain. seeds are kept to. On all processors,
 * the same labels at any number. */
enum clv_status click_border_follow(uint8_t *labels, const struct pixel_couplings *couplings, const uint8_t *seeds,
                                    int32_t reach_px, struct clv_error *err) CLV_CHECK;

#endif
