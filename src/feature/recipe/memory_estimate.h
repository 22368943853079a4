/* How much memory the features of images take, before any is extracted. */
#ifndef FEATURE_MEMORY_ESTIMATE_H
#define FEATURE_MEMORY_ESTIMATE_H

#include "cleave/features.h"

/* Bytes of a dataset's item of an image of that size, about: superpixels as many as asked for or as there are
 * pixels, each with as many different words as a square of its area meets. */
double memory_of_image(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

#endif
