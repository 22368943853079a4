/* Truth near the borders of labels, for measures of how well borders are met (Kohli, Ladicky & Torr 2009: a "trimap"). */
#ifndef SCORE_BAND_H
#define SCORE_BAND_H

#include "cleave/data.h"

enum { BAND_MAX_PX = 1000 };

/* Makes void what is further than radius_px, 1..BAND_MAX_PX, from every border: a pixel keeps its label if the square
 * of pixels that reaches radius_px to each side holds two labels or more. Void is no label, so that borders that were
 * left void are borders, too. Pixels that are void stay so. O(pixels radius_px). */
enum clv_status band_keep(struct clv_mask *mask, int32_t radius_px, struct clv_error *err) CLV_CHECK;

#endif
