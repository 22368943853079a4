#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* A smooth colour picture that JPEG keeps well. */
static struct clv_image smooth_picture(int32_t width, int32_t height)
{
    struct clv_image image;
    must(clv_image_new(&image, width, height, 3, err));
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            uint8_t *pixel = image.pixels + 3 * (y * width + x);
            pixel[0] = (uint8_t)(255 * x / width);
            pixel[1] = (uint8_t)(255 * y / height);
            pixel[2] = (uint8_t)(128 + 100 * sin(x * 0.05) * cos(y * 0.07));
        }
    return image;
}

START_TEST(png_files_return_what_was_written)
{
    const char *path = formatted("%s/a.png", temporary_folder());
    struct clv_image image = smooth_picture(61, 43), back;
    must(clv_png_write(path, &image, err));
    must(clv_image_read(&back, path, NULL, err));
    ck_assert_int_eq(back.width, 61);
    ck_assert_int_eq(back.height, 43);
    ck_assert_int_eq(back.channels, 3);
    ck_assert_mem_eq(back.pixels, image.pixels, 61 * 43 * 3);
    clv_image_release(&image);
    clv_image_release(&back);
}
END_TEST

START_TEST(jpeg_files_return_nearly_what_was_written)
{
    const char *path = formatted("%s/a.jpg", temporary_folder());
    struct clv_image image = smooth_picture(161, 143), back;
    must(clv_jpeg_write(path, &image, 95, err));
    must(clv_image_read(&back, path, NULL, err));
    ck_assert_int_eq(back.width, 161);
    ck_assert_int_eq(back.height, 143);
    for (int i = 0; i < 161 * 143 * 3; i++)
        ck_assert_int_le(abs(image.pixels[i] - back.pixels[i]), 12);
    int32_t width, height;
    must(clv_image_read_size(&width, &height, path, NULL, err));
    ck_assert_int_eq(width, 161);
    ck_assert_int_eq(height, 143);
    clv_image_release(&image);
    clv_image_release(&back);
}
END_TEST

/* The exact formula, in double. */
static void exact_lab(double lab[3], const uint8_t rgb[3])
{
    static const double matrix[3][3] = {
        {0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1, 1.08883};
    double f[3];
    for (int i = 0; i < 3; i++) {
        double t = 0;
        for (int c = 0; c < 3; c++) {
            double v = rgb[c] / 255.0;
            t += matrix[i][c] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
        }
        t /= white[i];
        f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

START_TEST(lab_is_exact_to_a_twentieth_over_the_colour_cube)
{
    enum { STEP = 3, SIDE = 255 / STEP + 1 };
    uint8_t rgb[SIDE][3];
    float lab[SIDE][3];
    double worst = 0;
    for (int r = 0; r < 256; r += STEP)
        for (int g = 0; g < 256; g += STEP) {
            for (int b = 0; b < SIDE; b++) {
                rgb[b][0] = (uint8_t)r;
                rgb[b][1] = (uint8_t)g;
                rgb[b][2] = (uint8_t)(b * STEP);
            }
            clv_rgb_to_lab(lab[0], rgb[0], SIDE);
            for (int b = 0; b < SIDE; b++) {
                double exact[3];
                exact_lab(exact, rgb[b]);
                for (int c = 0; c < 3; c++)
                    worst = fmax(worst, fabs(exact[c] - lab[b][c]));
            }
        }
    ck_assert_double_lt(worst, 0.05);
}
END_TEST

Suite *image_suite(void)
{
    Suite *suite = suite_create("image");
    TCase *tests = tcase_create("image");
    tcase_add_test(tests, png_files_return_what_was_written);
    tcase_add_test(tests, jpeg_files_return_nearly_what_was_written);
    tcase_add_test(tests, lab_is_exact_to_a_twentieth_over_the_colour_cube);
    suite_add_tcase(suite, tests);
    return suite;
}
