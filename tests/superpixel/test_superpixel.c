/* SLIC, its connectivity, and the degenerate cases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/support.h"

/* A picture of some structure: smooth colours, a disc, noise of the given strength. */
static struct clv_image picture(int32_t width, int32_t height, int noise)
{
    struct clv_image image = {width, height, 3, malloc((size_t)width * (size_t)height * 3)};
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            int inside = (x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2) < width * height / 9;
            int colour[3] = {inside ? 200 : 255 * x / width, inside ? 90 : 255 * y / height, inside ? 40 : 128};
            for (int c = 0; c < 3; c++) {
                int value = colour[c];
                if (noise)
                    value += (int)rng_below(1, RNG_TEST, 3 * at + (size_t)c, 2 * (uint32_t)noise + 1) - noise;
                image.pixels[3 * at + (size_t)c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
    return image;
}

/* Floods from each label's first pixel: every label must be one piece, and first pixels must be in order of labels. */
static void check_partition(const struct clv_superpixels *superpixels, int32_t width, int32_t height)
{
    ck_assert_int_eq(superpixels->width, width);
    ck_assert_int_eq(superpixels->height, height);
    ck_assert_int_ge(superpixels->n, 1);
    size_t n_pixels = (size_t)width * (size_t)height;
    char *seen = calloc(n_pixels, 1);
    size_t *stack = malloc(n_pixels * sizeof *stack);
    int32_t next = 0;
    for (size_t start = 0; start < n_pixels; start++) {
        if (seen[start])
            continue;
        ck_assert_int_eq(superpixels->labels[start], next);
        size_t depth = 0;
        stack[depth++] = start;
        seen[start] = 1;
        while (depth) {
            size_t at = stack[--depth];
            int32_t x = (int32_t)(at % (size_t)width), y = (int32_t)(at / (size_t)width);
            for (int d = 0; d < 4; d++) {
                int32_t u = x + (d == 0) - (d == 1), v = y + (d == 2) - (d == 3);
                size_t other = (size_t)v * (size_t)width + (size_t)u;
                if (u < 0 || v < 0 || u >= width || v >= height || seen[other] || superpixels->labels[other] != next)
                    continue;
                seen[other] = 1;
                stack[depth++] = other;
            }
        }
        next++;
    }
    ck_assert_int_eq(superpixels->n, next);
    free(seen);
    free(stack);
}

START_TEST(every_superpixel_is_one_piece_and_numbered_by_first_pixel)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 3}, {7, 200}, {8, 8}, {97, 61}, {160, 120}};
    static const int32_t wanted[] = {1, 2, 9, 100, 1000, 1000000};
    static const float compactness[] = {1e-6F, 1, 10, 1e9F};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int noise = 0; noise <= 255; noise += 85) {
            struct clv_image image = picture(sizes[s][0], sizes[s][1], noise);
            for (size_t i = 0; i < 6; i++)
                for (size_t m = 0; m < 4; m++) {
                    struct clv_slic_options options = {wanted[i], compactness[m], 3};
                    struct clv_superpixels superpixels = {0};
                    must(clv_slic(&superpixels, &image, &options, err));
                    check_partition(&superpixels, image.width, image.height);
                    ck_assert_int_le(superpixels.n, wanted[i]);
                    clv_superpixels_release(&superpixels);
                }
            free(image.pixels);
        }
}
END_TEST

START_TEST(bad_options_are_named)
{
    struct clv_image image = picture(10, 10, 0);
    struct clv_superpixels superpixels = {0};
    struct clv_slic_options options = {0, 10, 10};
    must_fail(CLV_ERR_USAGE, "wanted is 0", clv_slic(&superpixels, &image, &options, err));
    options.n_superpixels = -5;
    must_fail(CLV_ERR_USAGE, "wanted is -5", clv_slic(&superpixels, &image, &options, err));
    options = (struct clv_slic_options){5, NAN, 10};
    must_fail(CLV_ERR_USAGE, "compactness is", clv_slic(&superpixels, &image, &options, err));
    options.compactness = 0;
    must_fail(CLV_ERR_USAGE, "compactness is 0", clv_slic(&superpixels, &image, &options, err));
    options.compactness = -2.5F;
    must_fail(CLV_ERR_USAGE, "compactness is -2.5", clv_slic(&superpixels, &image, &options, err));
    options.compactness = INFINITY;
    must_fail(CLV_ERR_USAGE, "compactness is inf", clv_slic(&superpixels, &image, &options, err));
    options = (struct clv_slic_options){5, 10, 0};
    must_fail(CLV_ERR_USAGE, "iterations is 0", clv_slic(&superpixels, &image, &options, err));
    options.n_iterations = 101;
    must_fail(CLV_ERR_USAGE, "iterations is 101", clv_slic(&superpixels, &image, &options, err));
    image.channels = 1;
    must_fail(CLV_ERR_USAGE, "1 channel", clv_slic(&superpixels, &image, NULL, err));
    image.channels = 3;
    image.width = 0;
    must_fail(CLV_ERR_USAGE, "0x10", clv_slic(&superpixels, &image, NULL, err));
    ck_assert_ptr_null(superpixels.labels);
    free(image.pixels);
}
END_TEST

Suite *superpixel_suite(void)
{
    Suite *suite = suite_create("superpixel");
    TCase *tests = tcase_create("slic");
    tcase_add_test(tests, every_superpixel_is_one_piece_and_numbered_by_first_pixel);
    tcase_add_test(tests, bad_options_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
