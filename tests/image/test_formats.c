/* WebP, TIFF, BMP and PNM, compared with the one image that the seeds of the fuzz target show in all of them. */
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "image/raster/raster.h"
#include "support/support.h"

#define CORPUS "tests/fuzz/corpus/image/"

enum { WIDTH = 20, HEIGHT = 13 };

static uint8_t colour_at(int x, int y, int c)
{
    return (uint8_t)(12 * x + 3 * y * c + 40 * c);
}

static uint8_t label_at(int x)
{
    return (uint8_t)(x / 5 % 3);
}

/* Largest difference from the image. */
static int distance_to_image(const struct clv_image *image)
{
    int largest = 0;
    ck_assert_int_eq(image->width, WIDTH);
    ck_assert_int_eq(image->height, HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++) {
                int difference = abs(image->pixels[3 * (y * WIDTH + x) + c] - colour_at(x, y, c));
                largest = difference > largest ? difference : largest;
            }
    return largest;
}

TEST(every_format_shows_the_same_image)
{
    static const char *const names[] = {
        "rgb.tif",       "rgb-tiles-lzw.tif", "rgb-big-deflate.tif", "rgb-separate-be.tif",
        "lossless.webp", "rgb24.bmp",         "rgb24-down.bmp",      "fields32.bmp",
        "rgb.ppm",       "plain.ppm",         "pages.tif",           "pages.tif#1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        int32_t width, height;
        const char *path = formatted(CORPUS "%s", names[i]);
        must(clv_image_read(&image, path, NULL, err));
        ck_assert_msg(distance_to_image(&image) == 0, "%s", names[i]);
        must(clv_image_read_size(&width, &height, path, NULL, err));
        ck_assert(width == WIDTH && height == HEIGHT);
    }
}

TEST(lossy_kinds_come_close)
{
    static const char *const names[] = {"rgb-jpeg.tif", "lossy.webp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_read(&image, formatted(CORPUS "%s", names[i]), NULL, err));
        ck_assert_int_le(distance_to_image(&image), 190); /* the image has jumps from 255 to 0 */
    }
}

/* Orientation 6: the stored rows are the columns, from the right. */
TEST(tiff_and_webp_are_turned_as_they_say)
{
    static const char *const names[] = {"rgb-turned.tif", "lossless-turned.webp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        int32_t width, height;
        const char *path = formatted(CORPUS "%s", names[i]);
        must(clv_image_read_size(&width, &height, path, NULL, err));
        must(clv_image_read(&image, path, NULL, err));
        ck_assert(width == HEIGHT && height == WIDTH && image.width == HEIGHT && image.height == WIDTH);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 3; c++)
                    ck_assert_int_eq(image.pixels[3 * (x * HEIGHT + HEIGHT - 1 - y) + c], colour_at(x, y, c));
    }
}

TEST(transparent_webp_is_on_white)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_read(&image, CORPUS "alpha.webp", NULL, err));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                ck_assert_int_eq(image.pixels[3 * (y * WIDTH + x) + c],
                                 (colour_at(x, y, c) * 13 * x + 255 * (255 - 13 * x) + 127) / 255);
}

static uint8_t scaled(int value, int low, int high)
{
    double share = (double)(value - low) / (high - low);
    return (uint8_t)(255 * (share < 0 ? 0 : share > 1 ? 1 : share) + 0.5);
}

TEST(deep_grey_is_scaled_by_a_range)
{
    static const char *const names[] = {"g16.tif", "g16-tiles.tif", "g16.pgm", "pages.tif#2"};
    static const int ranges[][2] = {{0, 65535}, {1000, 20000}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int r = 0; r < 2; r++) {
            struct clv_image_limits limits = {.grey16_low = ranges[r][0], .grey16_high = ranges[r][1]};
            OWNED(clv_image_release) struct clv_image image = {0};
            must(clv_image_read(&image, formatted(CORPUS "%s", names[i]), &limits, err));
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    ck_assert_int_eq(image.pixels[3 * (y * WIDTH + x) + 1],
                                     scaled(3000 * x + 500 * y, ranges[r][0], ranges[r][1]));
        }
}

TEST(deep_grey_png_takes_the_range_as_well)
{
    struct clv_image_limits whole = {.grey16_high = 65534}, half = {.grey16_high = 32768};
    OWNED(clv_image_release) struct clv_image all = {0}, some = {0};
    must(clv_image_read(&all, CORPUS "grey-16-interlaced.png", NULL, err));
    must(clv_image_read(&some, CORPUS "grey-16-interlaced.png", &half, err));
    for (size_t i = 0; i < (size_t)all.width * (size_t)all.height * 3; i++)
        ck_assert_int_le(abs(some.pixels[i] - (all.pixels[i] > 127 ? 255 : 2 * all.pixels[i])), 1);
    clv_image_release(&some);
    must(clv_image_read(&some, CORPUS "grey-16-interlaced.png", &whole, err));
    for (size_t i = 0; i < (size_t)all.width * (size_t)all.height * 3; i++)
        ck_assert_int_le(abs(some.pixels[i] - all.pixels[i]), 1);
}

TEST(masks_keep_their_values_in_every_format)
{
    static const char *const labels[] = {"labels.tif", "labels8.bmp", "labels4.bmp",
                                         "labels.pgm", "plain.pgm",   "pages.tif#3"};
    static const char *const bits[] = {"bits1.bmp", "bits.pbm", "plain.pbm"};
    for (int k = 0; k < 9; k++) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
        const char *name = k < 6 ? labels[k] : bits[k - 6];
        must(clv_indexed_image_read(&image, formatted(CORPUS "%s", name), NULL, err));
        ck_assert(image.width == WIDTH && image.height == HEIGHT);
        ck_assert_int_eq(image.palette_size, strstr(name, "labels4") || strstr(name, "labels8") ? 3 : 0);
        if (image.palette_size)
            ck_assert(image.palette[1][0] == 255 && image.palette[2][1] == 255 && image.palette[1][2] == 0);
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            ck_assert_int_eq(image.values[i], k < 6 ? label_at(i % WIDTH) : i % WIDTH / 5 % 2);
    }
    struct clv_indexed_image none;
    must_fail(CLV_ERR_DATA, "masks must be", clv_indexed_image_read(&none, CORPUS "rgb.tif", NULL, err));
    must_fail(CLV_ERR_DATA, "masks must", clv_indexed_image_read(&none, CORPUS "rgb.ppm", NULL, err));
    must_fail(CLV_ERR_DATA, "masks must", clv_indexed_image_read(&none, CORPUS "rgb24.bmp", NULL, err));
    must_fail(CLV_ERR_DATA, "a WebP, which", clv_indexed_image_read(&none, CORPUS "lossy.webp", NULL, err));
}

/* Reads a file's numbers, those of a mask in the corpus with these values. */
static void expect_numbers(const char *path, const int32_t values[3])
{
    OWNED(integer_image_release) struct integer_image image = {0};
    must(integer_image_read(&image, path, NULL, err));
    ck_assert(image.width == WIDTH && image.height == HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ck_assert_int_eq(image.values[i], values[label_at(i % WIDTH)]);
}

TEST(numbers_of_objects_are_read_as_they_are_stored)
{
    static const uint8_t palette[3][3] = {{9, 9, 9}, {200, 0, 0}, {0, 200, 0}};
    static const int32_t small[3] = {0, 1, 2}, of_16_bits[3] = {0, 65535, 300}, of_32_bits[3] = {0, 70000, 16777215};
    int32_t values[WIDTH * HEIGHT];
    uint8_t labels[WIDTH * HEIGHT];
    struct integer_image image = {.width = WIDTH, .height = HEIGHT, .values = values};
    const char *png = here("numbers.png"), *tiff = here("numbers.tif");
    expect_numbers(CORPUS "labels.tif", small);
    expect_numbers(CORPUS "pages.tif#3", small);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        labels[i] = (uint8_t)label_at(i % WIDTH);
    for (int is_grey = 0; is_grey < 2; is_grey++) {
        must(clv_png_write_labels(png, WIDTH, HEIGHT, labels, is_grey ? NULL : palette, is_grey ? 0 : 3, err));
        expect_numbers(png, small);
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        values[i] = of_16_bits[labels[i]];
    must(integer_image_write_png(png, &image, err));
    expect_numbers(png, of_16_bits);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        values[i] = of_32_bits[labels[i]];
    must(integer_image_write_tiff(tiff, &image, err));
    expect_numbers(tiff, of_32_bits);

    struct integer_image none = {.width = -7};
    must_fail(CLV_ERR_DATA, "labels8.bmp: BMP; objects are numbers",
              integer_image_read(&none, CORPUS "labels8.bmp", NULL, err));
    must_fail(CLV_ERR_DATA, "rgb-8.png: ", integer_image_read(&none, CORPUS "rgb-8.png", NULL, err));
    ck_assert_int_eq(none.width, -7);
}

/* Writes a TIFF of one row of samples of one byte, which are not said to be numbers. The colours are of 8 bits, as old
 * programs wrote them. */
static void write_old_palette(const char *path, const uint8_t *row, uint32_t width)
{
    uint16_t colours[3][256] = {{0, 200, 10}, {0, 100, 20}, {0, 50, 255}};
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_VOID);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours[0], colours[1], colours[2]);
    TIFFWriteEncodedStrip(tiff, 0, (void *)(uintptr_t)row, (tmsize_t)width);
    TIFFClose(tiff);
}

TEST(masks_of_old_tiffs_have_their_values_and_colours)
{
    static const uint8_t row[4] = {0, 2, 1, 2};
    static const uint8_t colours[3][3] = {{0, 0, 0}, {200, 100, 50}, {10, 20, 255}};
    const char *path = here("old.tif");
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    OWNED(integer_image_release) struct integer_image objects = {0};
    write_old_palette(path, row, 4);
    must(clv_indexed_image_read(&mask, path, NULL, err));
    must(integer_image_read(&objects, path, NULL, err));
    ck_assert_mem_eq(mask.values, row, 4);
    ck_assert_mem_eq(mask.palette, colours, sizeof colours);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(objects.values[i], row[i]);
}

TEST(objects_of_one_bit_are_those_of_a_png_as_well_as_of_a_tiff)
{
    static const uint8_t row = 0x60;
    const char *path = here("bits.tif");
    OWNED(integer_image_release) struct integer_image objects = {0};
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFWriteEncodedStrip(tiff, 0, (void *)(uintptr_t)&row, 1);
    TIFFClose(tiff);
    must(integer_image_read(&objects, path, NULL, err));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(objects.values[i], i == 1 || i == 2);
    must_fail(CLV_ERR_DATA, "rgb-8.png: a PNG with colours or alpha; objects are",
              integer_image_read(&objects, CORPUS "rgb-8.png", NULL, err));
}

TEST(pages_are_counted_and_bounded)
{
    uint32_t n = 0;
    struct clv_image image;
    must(clv_image_count(&n, CORPUS "pages.tif", err));
    ck_assert_uint_eq(n, 3);
    must(clv_image_count(&n, CORPUS "rgb.ppm", err));
    ck_assert_uint_eq(n, 1);
    must_fail(CLV_ERR_DATA, "pages.tif#4: has 3 pages, not 4", clv_image_read(&image, CORPUS "pages.tif#4", NULL, err));
    must_fail(CLV_ERR_NO_INPUT, "no.tif", clv_image_read(&image, CORPUS "no.tif#1", NULL, err));

    static const uint8_t loop[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 0};
    must_fail(CLV_ERR_DATA, "directory 1 is outside of the file or empty",
              clv_image_decode(&image, loop, sizeof loop, NULL, err));
}

/* Whatever is cut off, nothing but an error comes back; and the sizes in a header are refused before anything is taken
 * for them. */
TEST(truncated_files_fail_and_nothing_else)
{
    static const char *const names[] = {
        "rgb.tif",    "rgb-tiles-lzw.tif", "rgb-big-deflate.tif", "rgb-jpeg.tif",
        "g16.tif",    "labels.tif",        "lossy.webp",          "lossless-turned.webp",
        "alpha.webp", "rgb24.bmp",         "labels8.bmp",         "rgb.ppm",
        "plain.pgm",  "bits.pbm",          "plain.pbm",           "g16.pgm"};
    struct clv_image_limits limits = {.max_pixels = 1 << 20};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size, n_good = 0;
        OWNED_ARRAY char *bytes = slurp(formatted(CORPUS "%s", names[i]), &size);
        for (size_t kept = 0; kept < size; kept++) {
            OWNED_ARRAY char *exact = malloc(kept ? kept : 1);
            struct clv_image image;
            struct clv_indexed_image mask;
            struct clv_error error = {0};
            memcpy(exact, bytes, kept);
            if (clv_image_decode(&image, exact, kept, &limits, &error) == CLV_OK) {
                clv_image_release(&image);
                n_good++;
            } else {
                ck_assert_msg(error.message[0] && !strchr(error.message, '\n'), "%s", names[i]);
            }
            if (clv_indexed_image_decode(&mask, exact, kept, &limits, &error) == CLV_OK)
                clv_indexed_image_release(&mask);
        }
        /* The last byte may be a line's end; the last eight may be a BigTIFF's pointer to no further page. */
        ck_assert_msg(n_good <= (strstr(names[i], "big")    ? 8
                                 : strstr(names[i], ".tif") ? 4
                                                            : 1),
                      "%s: %zu cut files were read", names[i], n_good);
    }
}

TEST(sizes_are_refused_before_memory_is_taken)
{
    struct clv_image_limits limits = {.max_pixels = 200};
    static const char *const names[] = {"rgb.tif", "lossy.webp", "rgb24.bmp", "rgb.ppm", "g16.tif"};
    struct clv_image image;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        must_fail(CLV_ERR_DATA, "20x13 pixels are 260; the limit is 200",
                  clv_image_read(&image, formatted(CORPUS "%s", names[i]), &limits, err));
    must_fail(CLV_ERR_DATA, "truncated", clv_image_decode(&image, "P6 8000 8000 255\nabc", 20, NULL, err));
}

TEST(formats_that_are_not_read_are_called_by_name)
{
    static const struct {
        const char *bytes, *name;
        size_t size;
    } files[] = {
        {"\0\0\0\x18"
         "ftypheic\0\0\0\0",
         "HEIC", 16},
        {"\0\0\0\x18"
         "ftypavif\0\0\0\0",
         "AVIF", 16},
        {"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL", 12},
        {"GIF89a\1\0\1\0", "GIF", 10},
        {"8BPS\0\1", "Photoshop (PSD)", 6},
        {"II*\0\x10\0\0\0CR\2\0", "Canon CR2", 12},
    };
    struct clv_image image;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        must_fail(CLV_ERR_DATA, formatted(" %s file, which cleave does not read", files[i].name),
                  clv_image_decode(&image, files[i].bytes, files[i].size, NULL, err));
}

/* By what they hold, or else by their names. */
TEST(formats_of_gdal_name_the_build_that_reads_them)
{
    static const struct {
        const char *bytes, *file, *part;
        size_t size;
    } files[] = {
        {"\0\0\0\x0cjP  \r\n\x87\n....", "a.jp2", "a.jp2: a JPEG 2000 file, which cleave reads if it is built", 16},
        {"\xff\x4f\xff\x51............", "a.j2k", "a JPEG 2000 file, which cleave reads if", 16},
        {"<VRTDataset rasterXSize=\"9\">", "a.vrt", "a GDAL virtual raster (VRT) file, which cleave", 29},
        {"EHFA_HEADER_TAG\0", "a.img", "an ERDAS Imagine file, which cleave", 16},
        {"CDF\2............", "a.nc", "a netCDF file, which cleave reads if it is", 16},
        {"ncols 4\nnrows 3\n", "a.asc", "a raster file, which cleave reads if it is", 16}};
    struct clv_image image;
    int32_t width, height;
    for (size_t i = 0; i < sizeof files / sizeof *files && !raster_has_gdal(); i++) {
        const char *path = here("%s", files[i].file);
        spill(path, files[i].bytes, files[i].size);
        must_fail(CLV_ERR_DATA, files[i].part, clv_image_read(&image, path, NULL, err));
        must_fail(CLV_ERR_DATA, "with GDAL (make WITH_GDAL=1); or convert it: gdal_translate FILE OUT.tif",
                  clv_image_read_size(&width, &height, path, NULL, err));
    }
}

TEST(videos_are_told_from_images_and_how_their_frames_are_had)
{
    static const char *const files[] = {"\0\0\0\x20"
                                        "ftypisom....",
                                        "\x1a\x45\xdf\xa3............", "RIFF....AVI LIST"};
    struct clv_image image;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        must_fail(CLV_ERR_DATA, "of which cleave reads the frames: ffmpeg -i VIDEO FOLDER/%04d.png",
                  clv_image_decode(&image, files[i], 16, NULL, err));
}
