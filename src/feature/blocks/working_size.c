/* Computes working sizes: the size to which an image is shrunk before features are computed, and its number of
 * superpixels. Start at working_image_of. */
#include "feature/blocks/blocks.h"

#include <math.h>

#include "base/base.h"

enum clv_status working_image(struct clv_image *working, const struct clv_image *image, int32_t max_pixels,
                              struct clv_error *err)
{
    double n_pixels = (double)image->width * image->height;
    double scale = n_pixels > max_pixels ? sqrt(max_pixels / n_pixels) : 1;
    int32_t width = int32_within(image->width * scale, 1, image->width);
    int32_t height = int32_within(image->height * scale, 1, image->height);
    return clv_image_resize(working, image, width, height, err);
}

enum clv_status working_image_of(struct clv_image *working, const struct clv_image *image,
                                 const struct clv_recipe *recipe, struct clv_error *err)
{
    if (!(recipe->scale > 0))
        return working_image(working, image, recipe->working_pixels, err);
    return clv_image_resize(working, image, scaled_size(image->width, recipe->scale),
                            scaled_size(image->height, recipe->scale), err);
}

double working_count(const struct clv_recipe *recipe, double n)
{
    double scale = (double)recipe->scale;
    return scale > 0 ? n / (scale * scale) : fmin(n, recipe->working_pixels);
}

int32_t working_superpixels(const struct clv_recipe *recipe, double n)
{
    double wanted = recipe->scale > 0 ? n / recipe->region_area + 0.5 : recipe->slic.n_superpixels;
    return int32_within(wanted, 1, INT32_MAX);
}

double working_unit(const struct clv_recipe *recipe, int32_t width, int32_t height)
{
    return sqrt(recipe->scale > 0 ? 600.0 * recipe->region_area : (double)width * (double)height);
}
