/* Dense SIFT by VLFeat's vl_dsift: the reference implementation of sift.h, for recipes that ask for it. */
#ifndef FEATURE_SIFT_VLFEAT_H
#define FEATURE_SIFT_VLFEAT_H

#include "feature/words/sift.h"

/* One scale of an image in grey, luma[height][width] in 0..255: the cells, bins, orientations and scale of sift_extract
 * (4 x 4 bins of bin_px, rows first, 8 orientations with y down; 512 times the unit vector, at most 255), no smoothing
 * either. What differs:
 *   - sums are floats and angles VLFeat's approximation. Where no window reaches past the border, bytes differ by
 *     0.5 on average and by at most 10, and cosines are 0.9998 on average;
 *   - past its border the image is continued by the border's pixels (sift.c has no gradients there), so that cells
 *     near it differ more: cosines are 0.9 on average;
 *   - VLFeat returns the sum of a descriptor's bins, not their norm, so that which ones are flat, and zero, is by an
 *     estimate.
 * One thread; deterministic. O((pixels and margins) x 8 + cells x 128). CLV_ERR_USAGE for an image of about 2^31
 * pixels, CLV_ERR_MEMORY for our arrays: VLFeat does not check its own. */
enum clv_status sift_vlfeat_extract(struct sift_grid *grid, const float *luma, int32_t width, int32_t height,
                                    int32_t bin_px, int32_t step_px, struct clv_error *err) CLV_CHECK;

#endif
