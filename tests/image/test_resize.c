#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "support/images.h"
#include "support/support.h"

static struct clv_image noisy_image(int width, int height, int channels)
{
    struct clv_image image;
    uint32_t state = 11;
    must(clv_image_new(&image, width, height, channels, err));
    for (int i = 0; i < width * height * channels; i++)
        image.pixels[i] = (uint8_t)noise(&state);
    return image;
}

/* How much source sample j counts in target sample i: overlap when shrinking, a hat of width one when enlarging. */
static double weight(int i, int j, int source, int target)
{
    double scale = (double)source / target;
    if (target < source)
        return fmax(0, fmin(j + 1, (i + 1) * scale) - fmax(j, i * scale)) / scale;
    double centre = fmin(fmax((i + 0.5) * scale - 0.5, 0), source - 1);
    return fmax(0, 1 - fabs(centre - j));
}

static void check_against_the_definition(int width, int height, int to_width, int to_height, int channels)
{
    OWNED(clv_image_release) struct clv_image source = noisy_image(width, height, channels), target = {0};
    must(clv_image_resize(&target, &source, to_width, to_height, err));
    ck_assert(target.width == to_width && target.height == to_height && target.channels == channels);
    for (int y = 0; y < to_height; y++)
        for (int x = 0; x < to_width; x++)
            for (int c = 0; c < channels; c++) {
                double sum = 0;
                for (int v = 0; v < height; v++)
                    for (int u = 0; u < width; u++)
                        sum += weight(y, v, height, to_height) * weight(x, u, width, to_width) *
                               source.pixels[(v * width + u) * channels + c];
                double got = target.pixels[(y * to_width + x) * channels + c];
                ck_assert_msg(fabs(got - sum) < 0.502, "%dx%d to %dx%d at (%d, %d): %g, not %g", width, height,
                              to_width, to_height, x, y, got, sum);
            }
}

TEST(resizing_averages_areas_and_interpolates)
{
    static const int sizes[][4] = {{17, 13, 5, 4},   {16, 12, 8, 4},   {5, 4, 17, 13}, {17, 4, 5, 13}, {4, 17, 13, 5},
                                   {1, 1, 3, 2},     {9, 7, 1, 1},     {20, 3, 19, 3}, {3, 20, 3, 21}, {100, 2, 3, 2},
                                   {31, 29, 30, 28}, {23, 11, 23, 11}, {7, 7, 14, 14}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int channels = 1; channels <= 4; channels++)
            check_against_the_definition(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], channels);
}

TEST(resizing_to_the_same_size_copies)
{
    OWNED(clv_image_release) struct clv_image source = noisy_image(33, 21, 3), target = {0};
    must(clv_image_resize(&target, &source, 33, 21, err));
    ck_assert_mem_eq(target.pixels, source.pixels, 33 * 21 * 3);
}

TEST(a_flat_image_stays_flat)
{
    for (int value = 0; value < 256; value += 5) {
        OWNED(clv_image_release) struct clv_image source = {0};
        struct clv_image target;
        must(clv_image_new(&source, 37, 41, 1, err));
        memset(source.pixels, value, 37 * 41);
        for (int to = 3; to < 100; to += 31) {
            must(clv_image_resize(&target, &source, to, to + 7, err));
            int n_other = 0;
            for (int i = 0; i < to * (to + 7); i++)
                n_other += target.pixels[i] != value;
            ck_assert_int_eq(n_other, 0);
            clv_image_release(&target);
        }
    }
}

TEST(impossible_sizes_are_refused)
{
    OWNED(clv_image_release) struct clv_image source = noisy_image(4, 4, 3);
    struct clv_image target = {.width = 7}, nothing = {0};
    must_fail(CLV_ERR_USAGE, "0x4", clv_image_resize(&target, &source, 0, 4, err));
    must_fail(CLV_ERR_USAGE, "4x-4", clv_image_resize(&target, &source, 4, -4, err));
    must_fail(CLV_ERR_USAGE, "0x0", clv_image_resize(&target, &nothing, 4, 4, err));
    ck_assert(target.width == 7 && !target.pixels);
}

TEST(labels_take_the_nearest_value)
{
    static const int sizes[][4] = {{17, 13, 5, 4}, {5, 4, 17, 13}, {17, 4, 5, 13}, {1, 1, 3, 2},     {9, 7, 1, 1},
                                   {20, 3, 19, 3}, {3, 20, 3, 21}, {8, 8, 8, 8},   {31, 29, 62, 58}, {6, 6, 4, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int width = sizes[i][0], height = sizes[i][1], to_width = sizes[i][2], to_height = sizes[i][3];
        OWNED(clv_image_release) struct clv_image source = noisy_image(width, height, 1);
        OWNED_ARRAY uint8_t *target = malloc((size_t)(to_width * to_height));
        clv_labels_resize(target, to_width, to_height, source.pixels, width, height);
        for (int y = 0; y < to_height; y++)
            for (int x = 0; x < to_width; x++) {
                int u = (2 * x + 1) * width / (2 * to_width), v = (2 * y + 1) * height / (2 * to_height);
                ck_assert_uint_eq(target[y * to_width + x], source.pixels[v * width + u]);
            }
    }
}

TEST(a_part_is_that_of_the_whole_copy)
{
    OWNED(clv_image_release) struct clv_image source = noisy_image(97, 61, 3);
    struct clv_image whole;
    static const int32_t sizes[][2] = {{97, 61}, {57, 36}, {33, 20}, {1, 1}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int32_t width = sizes[k][0], height = sizes[k][1];
        must(clv_image_resize(&whole, &source, width, height, err));
        for (int32_t left = 0; left < width; left += 13) {
            const struct image_part wanted = {
                left, height / 3, width - left < 17 ? width - left : 17, height - height / 3, width, height};
            struct image_part from = resize_source(&wanted, 97, 61);
            OWNED(clv_image_release) struct clv_image seen = {0}, part = {0};
            must(clv_image_new(&seen, from.width, from.height, 3, err));
            for (int32_t y = 0; y < from.height; y++)
                memcpy(seen.pixels + y * from.width * 3, source.pixels + ((from.top + y) * 97 + from.left) * 3,
                       (size_t)from.width * 3);
            must(image_resize_part(&part, &wanted, &seen, &from, err));
            for (int32_t y = 0; y < wanted.height; y++)
                ck_assert_int_eq(memcmp(part.pixels + y * wanted.width * 3,
                                        whole.pixels + ((wanted.top + y) * width + left) * 3, (size_t)wanted.width * 3),
                                 0);
        }
        clv_image_release(&whole);
    }
}
