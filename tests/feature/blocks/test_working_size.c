/* The size at which features are computed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feature/blocks/blocks.h"
#include "support/support.h"

TEST(images_are_shrunk_to_the_pixels_of_the_recipe_and_never_enlarged)
{
    static const int32_t sizes[][3] = {{300, 200, 60000}, {300, 200, 59999}, {300, 200, 15000}, {37, 911, 1000},
                                       {1, 5000, 256},    {5000, 1, 256},    {10, 10, 1000000}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int32_t width = sizes[k][0], height = sizes[k][1], most = sizes[k][2];
        OWNED(clv_image_release) struct clv_image image = {0}, working = {0}, by_recipe = {0};
        struct clv_recipe recipe;
        must(clv_image_new(&image, width, height, 3, err));
        for (int32_t i = 0; i < 3 * width * height; i++)
            image.pixels[i] = (uint8_t)(i * 7);
        must(working_image(&working, &image, most, err));
        const double scale = fmin(1, sqrt((double)most / width / height));
        ck_assert_int_eq(working.width, (int32_t)fmax(1, scale * width));
        ck_assert_int_eq(working.height, (int32_t)fmax(1, scale * height));
        if (scale == 1)
            ck_assert_mem_eq(working.pixels, image.pixels, (size_t)(3 * width * height));
        clv_recipe_init(&recipe);
        recipe.working_pixels = most;
        must(working_image_of(&by_recipe, &image, &recipe, err));
        ck_assert(by_recipe.width == working.width && by_recipe.height == working.height);
        ck_assert_mem_eq(by_recipe.pixels, working.pixels, (size_t)(3 * working.width * working.height));
        ck_assert_double_eq(working_count(&recipe, (double)width * height), fmin(most, (double)width * height));
    }
}

TEST(a_fixed_scale_shrinks_every_image_alike)
{
    OWNED(clv_image_release) struct clv_image image = {0}, working = {0};
    struct clv_recipe recipe;
    must(clv_image_new(&image, 1000, 300, 3, err));
    memset(image.pixels, 90, 3 * 1000 * 300);
    clv_recipe_init(&recipe);
    clv_recipe_fix_scale(&recipe, 4);
    must(working_image_of(&working, &image, &recipe, err));
    ck_assert(working.width == 250 && working.height == 75);
    ck_assert_double_eq(working_count(&recipe, 1e6), 1e6 / 16);
    ck_assert_int_eq(working_superpixels(&recipe, 1e6), 10000); /* of 100 pixels */
    ck_assert_int_eq(working_superpixels(&recipe, 149), 1);
    ck_assert_int_eq(working_superpixels(&recipe, 150), 2);
    ck_assert_int_eq(working_superpixels(&recipe, 1), 1);
    ck_assert_double_eq_tol(working_unit(&recipe, 1000, 300), sqrt(600 * 100), 1e-9); /* of any image */
    clv_recipe_init(&recipe);
    ck_assert_int_eq(working_superpixels(&recipe, 1e6), 600);
    ck_assert_double_eq_tol(working_unit(&recipe, 90, 40), 60, 1e-9);
}

TEST(a_pixel_is_where_its_centre_is_in_the_working_copy)
{
    for (int32_t original = 1; original < 40; original++)
        for (int32_t working = 1; working <= original; working++)
            for (int32_t at = 0; at < original; at++)
                ck_assert_int_eq(working_coordinate(at, original, working),
                                 (int32_t)floor((at + 0.5) * working / original));
    ck_assert_int_eq(working_coordinate(65534, 65535, 60000), 59999);
    ck_assert_int_eq(working_coordinate(2000000000, 2000000001, 2000000001), 2000000000);
}
