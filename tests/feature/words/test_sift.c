#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <vl/dsift.h>

#include "base/rng.h"
#include "feature/words/sift.h"
#include "support/support.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static struct clv_recipe recipe_of(int32_t bin_px, int32_t step_px)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.n_scales = 1;
    recipe.bin_size_px[0] = bin_px;
    recipe.step_px = step_px;
    return recipe;
}

static struct sift_grid describe(const uint8_t *rgb, int32_t width, int32_t height, int32_t bin_px, int32_t step_px)
{
    struct clv_recipe recipe = recipe_of(bin_px, step_px);
    struct sift_integral integral;
    struct sift_grid grid;
    must(sift_integral_init(&integral, rgb, width, height, &recipe, (const bool[CLV_MAX_SCALES]){true}, err));
    must(sift_extract(&grid, &integral, bin_px, step_px, err));
    sift_integral_release(&integral);
    return grid;
}

/* Blobs of several sizes with a little noise: gradients of every direction and strength. */
static uint8_t *textured(int32_t width, int32_t height)
{
    uint8_t *rgb = malloc((size_t)width * (size_t)height * 3);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            double v = 127 + 50 * sin(x * 0.31 + 3 * sin(y * 0.07)) + 40 * cos(y * 0.23 + x * 0.11) +
                       20 * rng_uniform(1, RNG_STREAM(RNG_TEST, 0), (uint64_t)(y * width + x));
            memset(rgb + (y * width + x) * 3, v < 0 ? 0 : v > 255 ? 255 : (int)v, 3);
        }
    return rgb;
}

/* VLFeat's descriptors lie at first + step k in x and y. Returns the mean cosine to ours of the same places. */
static double mean_cosine_to_vlfeat(const uint8_t *rgb, int32_t width, int32_t height, int32_t bin_px, int32_t step_px)
{
    float *grey = malloc((size_t)width * (size_t)height * sizeof *grey);
    for (int32_t k = 0; k < width * height; k++)
        grey[k] = (float)rgb[k * 3] / 255;
    struct sift_grid grid = describe(rgb, width, height, bin_px, step_px);
    VlDsiftFilter *filter = vl_dsift_new_basic(width, height, step_px, bin_px);
    int32_t centre = (step_px - 1) / 2, first = ((centre - 3 * bin_px / 2) % step_px + step_px) % step_px;
    vl_dsift_set_bounds(filter, first, first, width - 1, height - 1);
    vl_dsift_set_flat_window(filter, VL_TRUE);
    vl_dsift_process(filter, grey);
    int n = vl_dsift_get_keypoint_num(filter);
    ck_assert_int_gt(n, 50);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const float *theirs = vl_dsift_get_descriptors(filter) + (size_t)i * SIZE;
        int x = (int)floor(vl_dsift_get_keypoints(filter)[i].x), y = (int)floor(vl_dsift_get_keypoints(filter)[i].y);
        ck_assert_int_eq(x % step_px, centre);
        ck_assert_int_eq(y % step_px, centre);
        const uint8_t *ours = grid.values + (size_t)(y / step_px * grid.n_columns + x / step_px) * SIZE;
        double product = 0, a = 0, b = 0;
        for (int k = 0; k < SIZE; k++) {
            product += ours[k] * theirs[k];
            a += ours[k] * ours[k];
            b += theirs[k] * theirs[k];
        }
        sum += product / sqrt(a * b);
    }
    vl_dsift_delete(filter);
    sift_grid_release(&grid);
    free(grey);
    return sum / n;
}

START_TEST(descriptors_are_those_of_vlfeat_up_to_rounding)
{
    uint8_t *rgb = textured(200, 150);
    static const int32_t bins[] = {2, 3, 4, 6, 12};
    for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
        for (int32_t step = 2; step <= 5; step++)
            ck_assert_double_gt(mean_cosine_to_vlfeat(rgb, 200, 150, bins[k], step), 0.995);
    free(rgb);
}
END_TEST

START_TEST(descriptors_of_real_images_are_those_of_vlfeat)
{
    const char *path = real_data("descriptors_of_real_images_are_those_of_vlfeat", "horses/images/horse001.jpg");
    if (!path)
        return;
    struct clv_image image = {0};
    must(clv_image_read(&image, path, NULL, err));
    for (int32_t k = 0; k < image.width * image.height; k++) /* VLFeat's side reads one channel */
        memset(image.pixels + k * 3, image.pixels[k * 3 + 1], 3);
    ck_assert_double_gt(mean_cosine_to_vlfeat(image.pixels, image.width, image.height, 4, 3), 0.995);
    clv_image_release(&image);
}
END_TEST

START_TEST(a_ramp_points_one_way)
{
    /* Brighter to the right: orientation 0 only. Brighter downwards: orientation 2 (90 degrees, y down). */
    uint8_t right[60 * 40 * 3], down[60 * 40 * 3];
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++) {
            memset(right + (y * 60 + x) * 3, 4 * x, 3);
            memset(down + (y * 60 + x) * 3, 4 * y, 3);
        }
    struct sift_grid a = describe(right, 60, 40, 3, 3), b = describe(down, 60, 40, 3, 3);
    const uint8_t *middle_a = a.values + (6 * a.n_columns + 10) * SIZE,
                  *middle_b = b.values + (6 * b.n_columns + 10) * SIZE;
    for (int k = 0; k < SIZE; k++) {
        ck_assert_int_eq(middle_a[k] > 0, k % 8 == 0);
        ck_assert_int_eq(middle_b[k] > 0, k % 8 == 2);
    }
    sift_grid_release(&a);
    sift_grid_release(&b);
}
END_TEST

START_TEST(every_cell_of_any_image_has_a_descriptor)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 3}, {17, 5}, {40, 31}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int32_t step = 1; step <= 7; step += 3) {
            uint8_t *rgb = textured(sizes[k][0], sizes[k][1]);
            struct sift_grid grid = describe(rgb, sizes[k][0], sizes[k][1], 12, step);
            ck_assert_int_eq(grid.n_columns, (sizes[k][0] + step - 1) / step);
            ck_assert_int_eq(grid.n_rows, (sizes[k][1] + step - 1) / step);
            for (int32_t c = 0; c < grid.n_columns * grid.n_rows; c++) {
                double square = 0;
                for (int v = 0; v < SIZE; v++)
                    square += grid.values[c * SIZE + v] * grid.values[c * SIZE + v];
                ck_assert(square == 0 || (sqrt(square) > 450 && sqrt(square) < 540));
            }
            free(rgb);
            sift_grid_release(&grid);
        }
}
END_TEST

START_TEST(flat_images_have_zero_descriptors)
{
    uint8_t rgb[30 * 20 * 3];
    memset(rgb, 200, sizeof rgb);
    struct sift_grid grid = describe(rgb, 30, 20, 6, 3);
    for (int32_t k = 0; k < grid.n_columns * grid.n_rows * SIZE; k++)
        ck_assert_int_eq(grid.values[k], 0);
    sift_grid_release(&grid);
}
END_TEST

START_TEST(the_largest_windows_of_the_strongest_gradients_do_not_overflow)
{
    /* Stripes of 2 black, 2 white pixels have the largest gradient everywhere. A wrapped sum would break the symmetry. */
    enum { SIDE = 200 };
    uint8_t *rgb = malloc(SIDE * SIDE * 3);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            memset(rgb + (y * SIDE + x) * 3, x / 2 % 2 ? 255 : 0, 3);
    struct sift_grid grid = describe(rgb, SIDE, SIDE, CLV_MAX_BIN_PX, 8);
    const uint8_t *middle = grid.values + (12 * grid.n_columns + 12) * SIZE;
    for (int b = 0; b < 16; b++) {
        ck_assert_int_gt(middle[b * 8], 20);
        ck_assert_int_le(abs(middle[b * 8] - middle[b * 8 + 4]), 1);
        ck_assert_int_eq(middle[b * 8 + 2], 0);
    }
    sift_grid_release(&grid);
    free(rgb);
}
END_TEST

START_TEST(large_windows_do_not_depend_on_what_lies_elsewhere)
{
    /* Running sums wrap around many times over a large noisy image; cells far from a change must not notice it. */
    enum { W = 900, H = 700 };
    uint8_t *rgb = malloc((size_t)W * H * 3);
    for (size_t k = 0; k < (size_t)W * H * 3; k++)
        rgb[k] = (uint8_t)rng_below(1, RNG_STREAM(RNG_TEST, 3), k, 256);
    struct sift_grid before = describe(rgb, W, H, 12, 3);
    memset(rgb, 0, (size_t)W * 100 * 3);
    struct sift_grid after = describe(rgb, W, H, 12, 3);
    size_t row_bytes = (size_t)before.n_columns * SIZE, first = 132 / 3; /* 100 + 2.5 bins and the gradient's reach */
    ck_assert_mem_eq(before.values + first * row_bytes, after.values + first * row_bytes,
                     ((size_t)before.n_rows - first) * row_bytes);
    ck_assert_mem_ne(before.values, after.values, 20 * row_bytes);
    sift_grid_release(&before);
    sift_grid_release(&after);
    free(rgb);
}
END_TEST

Suite *sift_suite(void)
{
    Suite *suite = suite_create("sift");
    TCase *tc = tcase_create("sift");
    tcase_add_test(tc, descriptors_are_those_of_vlfeat_up_to_rounding);
    tcase_add_test(tc, descriptors_of_real_images_are_those_of_vlfeat);
    tcase_add_test(tc, a_ramp_points_one_way);
    tcase_add_test(tc, every_cell_of_any_image_has_a_descriptor);
    tcase_add_test(tc, flat_images_have_zero_descriptors);
    tcase_add_test(tc, the_largest_windows_of_the_strongest_gradients_do_not_overflow);
    tcase_add_test(tc, large_windows_do_not_depend_on_what_lies_elsewhere);
    suite_add_tcase(suite, tc);
    return suite;
}
