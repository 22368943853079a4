/* Makes every region of a label map 4-connected. */
#ifndef SUPERPIXEL_CONNECTIVITY_H
#define SUPERPIXEL_CONNECTIVITY_H

#include "cleave/status.h"

/* labels[height][width] in 0..n_labels-1, some perhaps unused or in several pieces. The largest 4-connected piece of
 * each label (the first one in raster order among equals) stays; every other piece joins the region it shares most
 * border with, pieces that touch a region first, those enclosed by other pieces after them. On return the labels are
 * 0..*n_regions-1, numbered by first pixel in raster order. O(pixels). Labels are unchanged on failure
 * (CLV_ERR_MEMORY). */
enum clv_status regions_connect(int32_t *labels, int32_t *n_regions, int32_t width, int32_t height, int32_t n_labels,
                                struct clv_error *err) CLV_CHECK;

#endif
