/* An image made ready for dense SIFT, by whichever implementation its recipe asks for. */
#ifndef FEATURE_SIFT_IMAGE_H
#define FEATURE_SIFT_IMAGE_H

#include "feature/words/sift.h"

struct sift_image {
    int32_t width, height;
    struct sift_integral integral; /* of CLV_SIFT_CLEAVE */
    float *luma;                   /* [height][width] in 0..255, of CLV_SIFT_VLFEAT; else NULL */
};
void sift_image_release(struct sift_image *image);

/* rgb[height][width][3], for the step and the bins of a recipe. O(pixels and margins). */
enum clv_status sift_image_init(struct sift_image *image, const uint8_t *rgb, int32_t width, int32_t height,
                                const struct clv_recipe *recipe, struct clv_error *err) CLV_CHECK;

/* The descriptors of one scale: every cell has one, whatever the image's size. */
enum clv_status sift_image_describe(struct sift_grid *grid, const struct sift_image *image, int32_t bin_px,
                                    int32_t step_px, struct clv_error *err) CLV_CHECK;

#endif
