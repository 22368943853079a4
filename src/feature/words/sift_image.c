#include "feature/words/words.h"

#include "base/base.h"

void sift_image_release(struct sift_image *image)
{
    sift_integral_release(&image->integral);
    array_free(image->luma);
    *image = (struct sift_image){0};
}

enum clv_status sift_image_init(struct sift_image *image, const uint8_t *rgb, int32_t width, int32_t height,
                                const struct clv_recipe *recipe, struct clv_error *err)
{
    *image = (struct sift_image){.width = width, .height = height};
    if (recipe->sift == CLV_SIFT_CLEAVE)
        return sift_integral_init(&image->integral, rgb, width, height, recipe, err);
    size_t n = (size_t)width * (size_t)height;
    image->luma = array_alloc(n, sizeof *image->luma);
    if (!image->luma)
        return fail_memory(err);
    for (size_t k = 0; k < n; k++)
        image->luma[k] = (float)sift_luma(rgb + 3 * k) / SIFT_LUMA_ONE;
    return CLV_OK;
}

enum clv_status sift_image_describe(struct sift_grid *grid, const struct sift_image *image, int32_t bin_px,
                                    int32_t step_px, struct clv_error *err)
{
    return image->luma ? sift_vlfeat_extract(grid, image->luma, image->width, image->height, bin_px, step_px, err)
                       : sift_extract(grid, &image->integral, bin_px, step_px, err);
}
