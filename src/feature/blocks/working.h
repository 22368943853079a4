/* Working size: features see a shrunken image, masks and volumes are counted at the original size. */
#ifndef FEATURE_WORKING_H
#define FEATURE_WORKING_H

#include "cleave/features.h"

/* The image shrunk (never enlarged) to at most max_pixels, its proportions kept; at least 1x1. A copy even when it
 * is small enough. */
enum clv_status working_image(struct clv_image *working, const struct clv_image *image, int32_t max_pixels,
                              struct clv_error *err) CLV_CHECK;

/* The working pixel under original pixel `at` along one axis: the one that holds its centre. */
static inline int32_t working_coordinate(int32_t at, int32_t original_size, int32_t working_size)
{
    return (int32_t)((2 * (int64_t)at + 1) * working_size / (2 * (int64_t)original_size));
}

#endif
