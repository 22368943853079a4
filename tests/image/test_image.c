#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/images.h"
#include "support/support.h"

TEST(a_new_image_is_black)
{
    struct clv_image image;
    must(clv_image_new(&image, 5, 3, 3, err));
    ck_assert(image.width == 5 && image.height == 3 && image.channels == 3);
    for (int i = 0; i < 45; i++)
        ck_assert_uint_eq(image.pixels[i], 0);
    clv_image_release(&image);
    ck_assert(!image.pixels && !image.width);
    clv_image_release(&image); /* twice is harmless */
}

TEST(pixels_in_memory_become_colours_over_white)
{
    static const uint8_t pixels[4] = {10, 0, 200, 51};
    static const uint8_t expected[4][6] = {
        {10, 10, 10, 0, 0, 0}, {255, 255, 255, 244, 244, 244}, {10, 0, 200}, {206, 204, 244}};
    for (int32_t channels = 1; channels <= 4; channels++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        int32_t width = channels < 3 ? 2 : 1;
        must(clv_image_from_pixels(&image, pixels, width, 1, channels, err));
        ck_assert_int_eq(image.width, width);
        ck_assert_int_eq(image.channels, 3);
        ck_assert_mem_eq(image.pixels, expected[channels - 1], 3 * (size_t)width);
    }
    struct clv_image image = {0};
    must_fail(CLV_ERR_USAGE, "5 channels", clv_image_from_pixels(&image, pixels, 1, 1, 5, err));
    must_fail(CLV_ERR_USAGE, "0x1", clv_image_from_pixels(&image, pixels, 0, 1, 3, err));
}

TEST(impossible_images_are_refused_and_leave_the_output_alone)
{
    struct clv_image image = {.width = 7};
    must_fail(CLV_ERR_USAGE, "0x3", clv_image_new(&image, 0, 3, 3, err));
    must_fail(CLV_ERR_USAGE, "3x-1", clv_image_new(&image, 3, -1, 3, err));
    must_fail(CLV_ERR_USAGE, "0 channels", clv_image_new(&image, 3, 3, 0, err));
    must_fail(CLV_ERR_MEMORY, "memory", clv_image_new(&image, INT32_MAX, INT32_MAX, INT32_MAX, err));
    ck_assert(image.width == 7 && !image.pixels);
}

/* All readers must give the status and a message that begins with the path and has the part. */
static void must_not_read(const char *path, enum clv_status expected, const char *part)
{
    struct clv_image image = {.width = 7};
    struct clv_indexed_image mask = {.width = 7};
    int32_t width = 7, height = 7;
    struct clv_error errors[3] = {{0}};
    enum clv_status status[3] = {clv_image_read(&image, path, NULL, &errors[0]),
                                 clv_indexed_image_read(&mask, path, NULL, &errors[1]),
                                 clv_image_read_size(&width, &height, path, NULL, &errors[2])};
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(status[i] == expected && errors[i].status == expected, "reader %d: %s", i, errors[i].message);
        ck_assert_msg(strncmp(errors[i].message, path, strlen(path)) == 0, "message is \"%s\"", errors[i].message);
        ck_assert_msg(strstr(errors[i].message, part) != NULL, "message is \"%s\"", errors[i].message);
        ck_assert_ptr_null(strchr(errors[i].message, '\n'));
    }
    ck_assert(image.width == 7 && !image.pixels && mask.width == 7 && !mask.values && width == 7 && height == 7);
}

TEST(what_cannot_be_opened_is_named)
{
    const char *folder = temporary_folder();
    must_not_read(here("absent.png"), CLV_ERR_NO_INPUT, strerror(ENOENT));
    must_not_read(folder, CLV_ERR_NO_INPUT, "is a folder");
    must_not_read("/dev/zero", CLV_ERR_NO_INPUT, "not a regular file");
}

TEST(a_fifo_is_refused_without_blocking)
{
    const char *path = here("fifo.png");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    must_not_read(path, CLV_ERR_NO_INPUT, "not a regular file");
}

TEST(an_unreadable_file_is_refused)
{
    const char *path = here("secret.png");
    spill(path, "x", 1);
    ck_assert(chmod(path, 0) == 0 && chmod(temporary_folder(), 0755) == 0);
    uid_t owner = geteuid();
    if (owner == 0)
        ck_assert_int_eq(seteuid(65534), 0); /* root may read anything */
    must_not_read(path, CLV_ERR_NO_INPUT, strerror(EACCES));
    if (owner == 0)
        ck_assert_int_eq(seteuid(0), 0);
}

TEST(files_are_recognised_by_content)
{
    const char *path = here("a.png");
    spill(path, "", 0);
    must_not_read(path, CLV_ERR_DATA, "empty file");
    static const char *const others[] = {"x", "\xff\xd8", "\x89PNG\r\n\x1a\r", "\xff\xd8x"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        spill(path, others[i], strlen(others[i]));
        must_not_read(path, CLV_ERR_DATA, "not a PNG, JPEG, WebP, TIFF, BMP or PNM image");
    }

    OWNED(clv_image_release) struct clv_image image = {0}, back = {0};
    must(clv_image_new(&image, 4, 4, 3, err));
    must(clv_jpeg_write(path, &image, 90, err));
    must(clv_image_read(&back, path, NULL, err)); /* a JPEG for all its name */
}

/* A file larger than any image within the limits is refused before it is read. */
TEST(a_file_far_too_large_is_refused_unread)
{
    const char *path = here("video.png");
    spill(path, "x", 1);
    ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0);
    struct clv_image image;
    int32_t width, height;
    must_fail(CLV_ERR_DATA, "1099511627776 bytes, the limit is 603979776", clv_image_read(&image, path, NULL, err));
    must_fail(CLV_ERR_DATA, "not a PNG, JPEG, WebP, TIFF, BMP or PNM image",
              clv_image_read_size(&width, &height, path, NULL, err));
}

TEST(writers_report_what_they_cannot_do)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 40, 30, 3, err));
    uint8_t labels[12] = {0};
    must_fail(CLV_ERR_IO, "/dev/full", clv_png_write("/dev/full", &image, err));
    must_fail(CLV_ERR_IO, "/dev/full", clv_jpeg_write("/dev/full", &image, 90, err));
    must_fail(CLV_ERR_IO, "/dev/full", clv_png_write_labels("/dev/full", 4, 3, labels, NULL, 0, err));
    must_fail(CLV_ERR_CREATE, "/absent/a.png", clv_png_write("/absent/a.png", &image, err));
    must_fail(CLV_ERR_CREATE, "is a folder", clv_png_write(temporary_folder(), &image, err));
    image.channels = 2;
    const char *path = here("never.png");
    must_fail(CLV_ERR_USAGE, "never.png", clv_png_write(path, &image, err));
    must_fail(CLV_ERR_USAGE, "never.png", clv_jpeg_write(path, &image, 90, err));
    ck_assert_int_ne(access(path, F_OK), 0);
}

TEST(the_libraries_print_nothing)
{
    const char *path = here("stderr");
    fflush(stderr);
    int kept = dup(STDERR_FILENO), fd = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert(kept >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    uint16_t samples[64] = {0};
    struct png_recipe png = {.width = 8, .height = 8, .bit_depth = 8, .samples = samples, .has_extras = true};
    struct jpeg_recipe jpeg = {
        .width = 8, .height = 8, .quality = 90, .kind = JPEG_YCC, .pixels = (uint8_t[192]){0}, .progressive = true};
    for (int kind = 0; kind < 2; kind++) {
        size_t size;
        OWNED_ARRAY uint8_t *bytes = kind ? make_jpeg(&size, &jpeg) : make_png(&size, &png);
        for (size_t at = 0; at < size; at++) {
            OWNED(clv_image_release) struct clv_image image = {0};
            bytes[at] ^= 0xff;
            enum clv_status status = clv_image_decode(&image, bytes, at % 2 ? size : at, NULL, NULL);
            ck_assert(status == CLV_OK || status == CLV_ERR_DATA);
            bytes[at] ^= 0xff;
        }
    }
    fflush(stderr);
    ck_assert(dup2(kept, STDERR_FILENO) >= 0);
    struct stat info;
    ck_assert_int_eq(fstat(fd, &info), 0);
    ck_assert_int_eq(info.st_size, 0);
    close(fd);
    close(kept);
}

/* sRGB to CIE L*a*b* by the book, in double. */
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

TEST(lab_is_exact_to_a_fiftieth_over_the_colour_cube)
{
    double worst = 0;
    for (int r = 0; r < 256; r += r < 16 ? 1 : 5)
        for (int g = 0; g < 256; g += g < 16 ? 1 : 5) {
            uint8_t rgb[256][3];
            float lab[256][3];
            for (int b = 0; b < 256; b++)
                memcpy(rgb[b], (uint8_t[]){(uint8_t)r, (uint8_t)g, (uint8_t)b}, 3);
            clv_rgb_to_lab(lab[0], rgb[0], 256);
            for (int b = 0; b < 256; b += 3) {
                double exact[3];
                exact_lab(exact, rgb[b]);
                for (int c = 0; c < 3; c++)
                    worst = fmax(worst, fabs(exact[c] - (double)lab[b][c]));
            }
        }
    ck_assert_double_lt(worst, 0.02);
}

TEST(greys_have_no_colour_in_lab)
{
    uint8_t rgb[256][3];
    float lab[256][3];
    for (int i = 0; i < 256; i++)
        memset(rgb[i], i, 3);
    clv_rgb_to_lab(lab[0], rgb[0], 256);
    for (int i = 0; i < 256; i++) {
        ck_assert_float_lt(fabsf(lab[i][1]), 1e-3f);
        ck_assert_float_lt(fabsf(lab[i][2]), 1e-3f);
        ck_assert(i == 0 || lab[i][0] > lab[i - 1][0]);
    }
    ck_assert_float_lt(fabsf(lab[0][0]), 1e-3f);
    ck_assert_float_lt(fabsf(lab[255][0] - 100), 1e-2f);
}

TEST(lab_of_a_pixel_does_not_depend_on_its_place)
{
    enum { N = 700 };
    static uint8_t rgb[N * 3];
    static float all[N * 3], one[3];
    uint32_t state = 8;
    for (int i = 0; i < N * 3; i++)
        rgb[i] = (uint8_t)noise(&state);
    clv_rgb_to_lab(all, rgb, N);
    for (int i = 0; i < N; i++) {
        clv_rgb_to_lab(one, rgb + 3 * i, 1);
        ck_assert_mem_eq(one, all + 3 * i, sizeof one);
    }
}

TEST(the_default_palette_is_pascals)
{
    uint8_t palette[256][3];
    clv_default_palette(palette);
    static const uint8_t first[8][3] = {{0, 0, 0},   {128, 0, 0},   {0, 128, 0},   {128, 128, 0},
                                        {0, 0, 128}, {128, 0, 128}, {0, 128, 128}, {128, 128, 128}};
    ck_assert_mem_eq(palette, first, sizeof first);
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < a; b++)
            if (memcmp(palette[a], palette[b], 3) == 0)
                ck_abort_msg("labels %d and %d look the same", a, b);
}

TEST(the_real_horses_are_read)
{
    const char *folder = real_data("the_real_horses_are_read", "horses/images");
    if (!folder)
        return;
    OWNED_ARRAY char *path = strdup(formatted("%s/horse001.jpg", folder));
    OWNED(clv_image_release) struct clv_image image = {0};
    int32_t width, height;
    must(clv_image_read(&image, path, NULL, err));
    must(clv_image_read_size(&width, &height, path, NULL, err));
    ck_assert(image.width == width && image.height == height && width > 100 && image.channels == 3);
}
