#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "support/images.h"
#include "support/support.h"

enum { WIDTH = 75, HEIGHT = 53 };

/* Smooth colours, which JPEG keeps to a few grey levels. */
static uint8_t *smooth_pixels(int channels)
{
    uint8_t *pixels = malloc((size_t)WIDTH * HEIGHT * (size_t)channels);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++)
                pixels[(y * WIDTH + x) * channels + c] =
                    (uint8_t)(128 + 100 * sin(x * (0.03 + 0.02 * c)) * cos(y * (0.05 - 0.01 * c)));
    return pixels;
}

static void must_be_near(const uint8_t *bytes, size_t size, const uint8_t *rgb, int tolerance, const char *what)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_decode(&image, bytes, size, NULL, err));
    ck_assert(image.width == WIDTH && image.height == HEIGHT && image.channels == 3);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        if (abs(image.pixels[i] - rgb[i]) > tolerance)
            ck_abort_msg("%s: sample %d is %d, not %d", what, i, image.pixels[i], rgb[i]);
}

TEST(every_way_of_coding_a_colour_jpeg_is_read)
{
    OWNED_ARRAY uint8_t *pixels = smooth_pixels(3);
    static const struct {
        const char *name;
        struct jpeg_recipe recipe;
        int tolerance;
    } ways[] = {{"baseline", {.kind = JPEG_YCC}, 4},
                {"halved chroma", {.kind = JPEG_YCC, .half_chroma = true}, 8},
                {"progressive", {.kind = JPEG_YCC, .progressive = true}, 4},
                {"progressive, halved chroma", {.kind = JPEG_YCC, .progressive = true, .half_chroma = true}, 8},
                {"arithmetic", {.kind = JPEG_YCC, .arithmetic = true}, 4},
                {"restart markers", {.kind = JPEG_YCC, .restarts = true}, 4},
                {"stored as RGB", {.kind = JPEG_RGB}, 4},
                {"far behind other markers", {.kind = JPEG_YCC, .n_padding = 3}, 4}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct jpeg_recipe recipe = ways[i].recipe;
        recipe.width = WIDTH;
        recipe.height = HEIGHT;
        recipe.quality = 98;
        recipe.pixels = pixels;
        size_t size;
        OWNED_ARRAY uint8_t *bytes = make_jpeg(&size, &recipe);
        must_be_near(bytes, size, pixels, ways[i].tolerance, ways[i].name);
        const char *path = here("way.jpg");
        spill(path, bytes, size);
        int32_t width, height;
        must(clv_image_read_size(&width, &height, path, NULL, err));
        ck_assert(width == WIDTH && height == HEIGHT);
    }
}

TEST(a_grey_jpeg_becomes_three_equal_channels)
{
    OWNED_ARRAY uint8_t *grey = smooth_pixels(1), *rgb = malloc(WIDTH * HEIGHT * 3);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        rgb[i] = grey[i / 3];
    for (int progressive = 0; progressive < 2; progressive++) {
        struct jpeg_recipe recipe = {.width = WIDTH,
                                     .height = HEIGHT,
                                     .quality = 98,
                                     .kind = JPEG_GREY,
                                     .pixels = grey,
                                     .progressive = progressive};
        size_t size;
        OWNED_ARRAY uint8_t *bytes = make_jpeg(&size, &recipe);
        must_be_near(bytes, size, rgb, 3, "grey");
    }
}

/* Adobe writes light where ink is meant: 255 is a blank sheet. Without its marker 0 is. */
TEST(cmyk_is_converted_with_and_without_adobes_inversion)
{
    OWNED_ARRAY uint8_t *inks = smooth_pixels(4), *rgb = malloc(WIDTH * HEIGHT * 3);
    for (int adobe = 0; adobe < 2; adobe++)
        for (int ycck = 0; ycck < 2; ycck++) {
            if (ycck && !adobe)
                continue; /* only the Adobe marker distinguishes YCCK from CMYK */
            for (int i = 0; i < WIDTH * HEIGHT; i++)
                for (int c = 0; c < 3; c++) {
                    double ink = inks[4 * i + c] / 255.0, black = inks[4 * i + 3] / 255.0;
                    rgb[3 * i + c] = (uint8_t)lround(255 * (adobe ? ink * black : (1 - ink) * (1 - black)));
                }
            struct jpeg_recipe recipe = {.width = WIDTH,
                                         .height = HEIGHT,
                                         .quality = 98,
                                         .kind = ycck ? JPEG_YCCK : JPEG_CMYK,
                                         .pixels = inks,
                                         .without_adobe = !adobe};
            size_t size;
            OWNED_ARRAY uint8_t *bytes = make_jpeg(&size, &recipe);
            must_be_near(bytes, size, rgb, 5, ycck ? "YCCK" : adobe ? "Adobe CMYK" : "CMYK");
        }
}

/* Six flat blocks of 8x8 pixels: ABC above DEF. */
static uint8_t *block_jpeg(size_t *size, const uint8_t *exif, size_t exif_size)
{
    static uint8_t pixels[16][24];
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 24; x++)
            pixels[y][x] = (uint8_t)(20 + 40 * (y / 8 * 3 + x / 8));
    struct jpeg_recipe recipe = {.width = 24,
                                 .height = 16,
                                 .quality = 95,
                                 .kind = JPEG_GREY,
                                 .pixels = pixels[0],
                                 .exif = exif,
                                 .exif_size = exif_size};
    return make_jpeg(size, &recipe);
}

/* The blocks as letters, row after row. */
static void must_show(const uint8_t *bytes, size_t size, const char *letters, int columns, const char *what)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_decode(&image, bytes, size, NULL, err));
    int rows = 6 / columns;
    ck_assert_msg(image.width == 8 * columns && image.height == 8 * rows, "%s: %dx%d", what, image.width, image.height);
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++) {
            int shown = 'A' + (image.pixels[3 * (y * image.width + x)]) / 40;
            if (shown != letters[y / 8 * columns + x / 8])
                ck_abort_msg("%s: %c at (%d, %d)", what, shown, x, y);
        }
}

TEST(exif_orientation_turns_the_image_and_its_size)
{
    /* EXIF 2.32: which side of the upright image the stored first row and first column are. */
    static const char *const upright[9] = {"ABCDEF", "ABCDEF", "CBAFED", "FEDCBA", "DEFABC",
                                           "ADBECF", "DAEBFC", "FCEBDA", "CFBEAD"};
    for (int orientation = 0; orientation <= 9; orientation++)
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            uint8_t exif[32];
            size_t size;
            make_exif(exif, orientation, big_endian);
            OWNED_ARRAY uint8_t *bytes = block_jpeg(&size, exif, sizeof exif);
            bool turned = orientation >= 5 && orientation <= 8;
            must_show(bytes, size, upright[orientation % 9], turned ? 2 : 3, formatted("orientation %d", orientation));
            const char *path = here("turned.jpg");
            spill(path, bytes, size);
            int32_t width, height;
            must(clv_image_read_size(&width, &height, path, NULL, err));
            ck_assert(width == (turned ? 16 : 24) && height == (turned ? 24 : 16));
        }
}

TEST(malformed_exif_is_ignored)
{
    static const struct {
        int at, value;
    } damage[] = {{0, 'x'}, {6, 'X'}, {7, 'I'}, {8, 1},    {10, 255}, {13, 31}, {13, 26},  {15, 0},  {17, 0x13},
                  {19, 4},  {23, 2},  {24, 1},  {25, 200}, {10, 127}, {12, 1},  {13, 255}, {20, 255}};
    uint8_t exif[32];
    size_t size;
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        make_exif(exif, 6, true);
        exif[damage[i].at] = (uint8_t)damage[i].value;
        OWNED_ARRAY uint8_t *bytes = block_jpeg(&size, exif, sizeof exif);
        must_show(bytes, size, "ABCDEF", 3, formatted("byte %d made %d", damage[i].at, damage[i].value));
    }
    for (size_t length = 0; length < 26; length++) { /* the value ends at byte 26 */
        OWNED_ARRAY uint8_t *part = malloc(length + 1);
        make_exif(exif, 6, true);
        memcpy(part, exif, length);
        ck_assert_int_eq(exif_orientation(part, length), 1);
    }
    make_exif(exif, 6, true);
    ck_assert_int_eq(exif_orientation(exif, 26), 6);
}

TEST(exif_entries_claimed_beyond_the_segment_are_not_read)
{
    uint8_t exif[6 + 8 + 2 + 5 * 12];
    memset(exif, 0, sizeof exif);
    memcpy(exif, "Exif\0\0II\x2a\0\x08\0\0\0\xff\xff", 16);
    OWNED_ARRAY uint8_t *exact = malloc(sizeof exif);
    memcpy(exact, exif, sizeof exif);
    ck_assert_int_eq(exif_orientation(exact, sizeof exif), 1);
    memcpy(exact + 16 + 4 * 12, "\x12\x01\x03\0\x01\0\0\0\x08\0", 10); /* the fifth entry */
    ck_assert_int_eq(exif_orientation(exact, sizeof exif), 8);
}

static uint8_t *noisy_jpeg(size_t *size, int width, int height, bool progressive)
{
    OWNED_ARRAY uint8_t *pixels = malloc((size_t)(width * height * 3));
    uint32_t state = 9;
    for (int i = 0; i < width * height * 3; i++)
        pixels[i] = (uint8_t)noise(&state);
    struct jpeg_recipe recipe = {.width = width,
                                 .height = height,
                                 .quality = 80,
                                 .kind = JPEG_YCC,
                                 .pixels = pixels,
                                 .progressive = progressive,
                                 .half_chroma = true};
    return make_jpeg(size, &recipe);
}

TEST(a_jpeg_cut_anywhere_is_refused)
{
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t size;
        OWNED_ARRAY uint8_t *bytes = noisy_jpeg(&size, 19, 21, progressive);
        for (size_t cut = 0; cut < size; cut++) {
            OWNED_ARRAY uint8_t *part = malloc(cut + 1);
            memcpy(part, bytes, cut);
            struct clv_image image = {.width = 7};
            struct clv_error error = {0};
            ck_assert_msg(clv_image_decode(&image, part, cut, NULL, &error) == CLV_ERR_DATA,
                          "%zu of %zu bytes were accepted", cut, size);
            ck_assert(error.message[0] && !strchr(error.message, '\n'));
            ck_assert(image.width == 7 && !image.pixels);
        }
    }
}

TEST(a_large_jpeg_cut_at_every_997th_byte_is_refused)
{
    const char *path = here("cut.jpg");
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t size;
        OWNED_ARRAY uint8_t *bytes = noisy_jpeg(&size, 160, 120, progressive);
        ck_assert_uint_gt(size, 10000);
        struct clv_image back = {0};
        for (size_t cut = 0; cut < size; cut += 997) {
            spill(path, bytes, cut);
            must_fail(CLV_ERR_DATA, "cut.jpg: ", clv_image_read(&back, path, NULL, err));
            ck_assert_ptr_null(back.pixels);
        }
        must_fail(CLV_ERR_DATA, "truncated", clv_image_decode(&back, bytes, size - 1, NULL, err));
    }
}

/* Before the end of the image, where nothing is missing. */
TEST(stray_bytes_before_the_end_of_a_jpeg_are_passed_over)
{
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t size;
        OWNED_ARRAY uint8_t *bytes = noisy_jpeg(&size, 19, 21, progressive), *padded = malloc(size + 100);
        OWNED(clv_image_release) struct clv_image whole = {0}, image = {0};
        must(clv_image_decode(&whole, bytes, size, NULL, err));
        memcpy(padded, bytes, size - 2);
        memset(padded + size - 2, 7, 100);
        memcpy(padded + size + 98, bytes + size - 2, 2);
        must(clv_image_decode(&image, padded, size + 100, NULL, err));
        ck_assert_mem_eq(image.pixels, whole.pixels, 19 * 21 * 3);
        must_fail(CLV_ERR_DATA, "truncated", clv_image_decode(&image, padded, size + 98, NULL, err));
    }
}

/* Before any segment of the header but the first, by which a JPEG is known; what follows the first scan is another
 * matter. */
TEST(stray_bytes_between_segments_of_the_header_are_passed_over)
{
    OWNED_ARRAY uint8_t *pixels = smooth_pixels(3);
    struct jpeg_recipe recipe = {
        .kind = JPEG_YCC, .width = WIDTH, .height = HEIGHT, .quality = 98, .pixels = pixels, .progressive = true};
    size_t size, n_segments = 0;
    OWNED_ARRAY uint8_t *bytes = make_jpeg(&size, &recipe);
    size_t at = 4 + ((size_t)bytes[4] << 8 | bytes[5]);
    bool is_scan = false;
    for (; at + 4 < size && !is_scan; n_segments++) {
        OWNED_ARRAY uint8_t *strayed = malloc(size + 3);
        int32_t width, height;
        memcpy(strayed, bytes, at);
        memcpy(strayed + at, "\0\1\2", 3);
        memcpy(strayed + at + 3, bytes + at, size - at);
        must_be_near(strayed, size + 3, pixels, 4, "stray bytes");
        spill(here("stray.jpg"), strayed, size + 3);
        must(clv_image_read_size(&width, &height, here("stray.jpg"), NULL, err));
        ck_assert(width == WIDTH && height == HEIGHT);
        is_scan = bytes[at + 1] == 0xda;
        at += 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]);
    }
    ck_assert_uint_gt(n_segments, 3);
    for (at += 1; at + 1 < size && !(bytes[at] == 0xff && bytes[at + 1] >= 0xc0); at++)
        ;
    OWNED_ARRAY uint8_t *strayed = malloc(size + 3);
    memcpy(strayed, bytes, at);
    memcpy(strayed + at, "\1\2\3", 3);
    memcpy(strayed + at + 3, bytes + at, size - at);
    struct clv_image image;
    must_fail(CLV_ERR_DATA, "extraneous", clv_image_decode(&image, strayed, size + 3, NULL, err));
}

TEST(a_lossless_jpeg_is_not_called_corrupt)
{
    OWNED_ARRAY uint8_t *pixels = smooth_pixels(3);
    struct jpeg_recipe recipe = {.kind = JPEG_YCC, .width = WIDTH, .height = HEIGHT, .quality = 98, .pixels = pixels};
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_jpeg(&size, &recipe);
    struct clv_image image;
    for (size_t k = 0; k + 1 < size; k++)
        if (bytes[k] == 0xff && bytes[k + 1] == 0xc0)
            bytes[k + 1] = 0xc3;
    must_fail(CLV_ERR_DATA, "a JPEG of a kind that is not read (", clv_image_decode(&image, bytes, size, NULL, err));
}

/* JPEG has no checksums: a flip may pass, as another image of a lawful size, or be refused; nothing else. */
TEST(flipped_bits_give_an_image_or_an_error)
{
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t size, n_refused = 0;
        OWNED_ARRAY uint8_t *bytes = noisy_jpeg(&size, 19, 21, progressive);
        struct clv_image_limits limits = {.max_pixels = 1 << 20};
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            OWNED(clv_image_release) struct clv_image image = {0};
            struct clv_error error = {0};
            enum clv_status status = clv_image_decode(&image, bytes, size, &limits, &error);
            if (status == CLV_OK)
                ck_assert((int64_t)image.width * image.height <= 1 << 20 && image.pixels);
            else
                ck_assert(status == CLV_ERR_DATA && error.message[0] && !strchr(error.message, '\n') && !image.pixels);
            n_refused += status != CLV_OK;
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        ck_assert_uint_gt(n_refused, size); /* more than one in eight */
    }
}

/* Where the frame header's height and width stand. */
static uint8_t *frame_size(uint8_t *bytes, size_t size)
{
    for (size_t at = 2; at + 9 < size; at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]))
        if (bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xc2)
            return bytes + at + 5;
    ck_abort_msg("no frame header");
}

static void set_frame_size(uint8_t *bytes, size_t size, int width, int height)
{
    uint8_t *frame = frame_size(bytes, size);
    frame[0] = (uint8_t)(height >> 8);
    frame[1] = (uint8_t)height;
    frame[2] = (uint8_t)(width >> 8);
    frame[3] = (uint8_t)width;
}

TEST(limits_are_checked_in_the_jpeg_header)
{
    size_t size;
    OWNED_ARRAY uint8_t *bytes = noisy_jpeg(&size, 19, 21, true);
    OWNED(clv_image_release) struct clv_image image = {0};
    set_frame_size(bytes, size, 65500, 65500);
    must_fail(CLV_ERR_DATA, "65500x65500 pixels are 4290250000; the limit is 67108864 pixels",
              clv_image_decode(&image, bytes, size, NULL, err));
    set_frame_size(bytes, size, 65535, 2);
    must_fail(CLV_ERR_DATA, "65535x2 pixels; libjpeg's limit is 65500",
              clv_image_decode(&image, bytes, size, NULL, err));
    set_frame_size(bytes, size, 19, 0);
    must_fail(CLV_ERR_DATA, "corrupt JPEG", clv_image_decode(&image, bytes, size, NULL, err));
    set_frame_size(bytes, size, 19, 21);
    struct clv_image_limits limits = {.max_side_px = 20};
    must_fail(CLV_ERR_DATA, "19x21 pixels; the limit is 20 pixels a side",
              clv_image_decode(&image, bytes, size, &limits, err));
    limits.max_side_px = 21;
    must(clv_image_decode(&image, bytes, size, &limits, err));
}

TEST(a_jpeg_of_too_many_scans_is_refused)
{
    OWNED_ARRAY uint8_t *pixels = smooth_pixels(3);
    struct jpeg_recipe recipe = {
        .width = WIDTH, .height = HEIGHT, .quality = 98, .kind = JPEG_YCC, .pixels = pixels, .many_scans = true};
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_jpeg(&size, &recipe);
    OWNED(clv_image_release) struct clv_image image = {0};
    must_fail(CLV_ERR_DATA, "190 scans; the limit is 100", clv_image_decode(&image, bytes, size, NULL, err));
    struct clv_image_limits limits = {.max_jpeg_scans = 189};
    must_fail(CLV_ERR_DATA, "190 scans; the limit is 189", clv_image_decode(&image, bytes, size, &limits, err));
    limits.max_jpeg_scans = 190;
    must(clv_image_decode(&image, bytes, size, &limits, err));
}

TEST(a_jpeg_is_no_mask)
{
    size_t size;
    OWNED_ARRAY uint8_t *bytes = noisy_jpeg(&size, 19, 21, false);
    struct clv_indexed_image mask = {0};
    must_fail(CLV_ERR_DATA, "JPEG, which does not keep label values; masks must be 8-bit grey or palette PNG",
              clv_indexed_image_decode(&mask, bytes, size, NULL, err));
}

TEST(written_jpegs_return_nearly_the_same_pixels)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        struct clv_image image = {WIDTH, HEIGHT, channels, smooth_pixels(channels)};
        OWNED_ARRAY uint8_t *rgb = malloc(WIDTH * HEIGHT * 3);
        uint8_t *bytes;
        for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
            rgb[i] = image.pixels[channels == 3 ? i : i / 3];
        size_t size, coarse_size;
        must(clv_jpeg_encode(&bytes, &size, &image, 97, err));
        must_be_near(bytes, size, rgb, 5, "quality 97");
        clv_free(bytes);
        must(clv_jpeg_encode(&bytes, &coarse_size, &image, 40, err));
        must_be_near(bytes, coarse_size, rgb, 30, "quality 40");
        ck_assert_uint_lt(coarse_size, size);
        clv_free(bytes);
        must_fail(CLV_ERR_USAGE, "quality is 0", clv_jpeg_encode(&bytes, &size, &image, 0, err));
        must_fail(CLV_ERR_USAGE, "quality is 101", clv_jpeg_encode(&bytes, &size, &image, 101, err));
        free(image.pixels);
    }
}

/* Of the frame header's first component: samples across and down, against one of the others. */
TEST(from_quality_90_on_chroma_is_not_halved)
{
    struct clv_image image = {WIDTH, HEIGHT, 3, smooth_pixels(3)};
    for (int quality = 89; quality <= 90; quality++) {
        uint8_t *bytes, *frame;
        size_t size;
        must(clv_jpeg_encode(&bytes, &size, &image, quality, err));
        frame = memmem(bytes, size, "\xff\xc0", 2);
        ck_assert_ptr_nonnull(frame);
        ck_assert_mem_eq(frame + 10, quality < 90 ? "\1\x22" : "\1\x11", 2);
        ck_assert_mem_eq(frame + 13, "\2\x11", 2);
        clv_free(bytes);
    }
    free(image.pixels);
}

TEST(a_large_jpeg_grows_its_buffer)
{
    OWNED(clv_image_release) struct clv_image image = {0}, back = {0};
    must(clv_image_new(&image, 400, 400, 3, err));
    uint32_t state = 4;
    for (int i = 0; i < 400 * 400 * 3; i++)
        image.pixels[i] = (uint8_t)noise(&state);
    uint8_t *bytes;
    size_t size;
    must(clv_jpeg_encode(&bytes, &size, &image, 100, err));
    ck_assert_uint_gt(size, 200000);
    must(clv_image_decode(&back, bytes, size, NULL, err));
    clv_free(bytes);
    OWNED(clv_image_release) struct clv_image wide = {0};
    must(clv_image_new(&wide, 65501, 1, 1, err));
    must_fail(CLV_ERR_USAGE, "65501x1", clv_jpeg_encode(&bytes, &size, &wide, 90, err));
}
