/* How much memory the features of images take, before any is extracted. */
#ifndef FEATURE_MEMORY_ESTIMATE_H
#define FEATURE_MEMORY_ESTIMATE_H

#include "cleave/features.h"

/* Bytes of a dataset's item of an image of that size, about: superpixels as many as asked for or as there are
 * pixels, each with as many different words as a square of its area meets. */
double memory_of_image(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* An upper bound of the bytes that one thread takes while it makes the features of such an image, and of the images
 * that wait with it to be taken over. Measured by tests/feature/recipe/test_memory_estimate.c. */
double memory_of_extraction(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels);

/* How many of n_threads (0: all the machine's) may extract the set's images at a time, at least 1, so that what can be
 * had is enough. CLV_ERR_MEMORY names an image that does not fit alone. Images that cannot be read are left to who
 * reads them. */
enum clv_status memory_choose_threads(int *chosen, const struct clv_set *set, const struct clv_recipe *recipe,
                                      const struct clv_image_limits *limits, int n_threads,
                                      struct clv_error *err) CLV_CHECK;

/* The same for one of the set's images, of that size. */
enum clv_status memory_check_extraction(const struct clv_recipe *recipe, const struct clv_set *set,
                                        const struct clv_item *item, int32_t width, int32_t height,
                                        const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Before long work: CLV_ERR_MEMORY, naming both, if the features of a set's images, by an estimate from their sizes
 * (which are read from their headers) and the recipe, take more memory than can be had; clv_dataset_extract checks
 * the same. */
enum clv_status dataset_check_memory(const struct clv_set *set, const struct clv_recipe *recipe,
                                     const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
