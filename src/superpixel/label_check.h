/* Trust, but verify: label maps may come from anywhere. */
#ifndef SUPERPIXEL_LABELS_H
#define SUPERPIXEL_LABELS_H

#include "cleave/superpixel.h"

/* CLV_ERR_USAGE unless every label is in 0..n-1. */
enum clv_status labels_check(const struct clv_superpixels *superpixels, struct clv_error *err) CLV_CHECK;

#endif
