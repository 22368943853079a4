#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "support/bands.h"
#include "support/images.h"
#include "support/support.h"

static uint8_t palette[256][3];

static struct clv_image flat_image(int width, int height, int value)
{
    struct clv_image image;
    clv_default_palette(palette);
    must(clv_image_new(&image, width, height, 3, err));
    memset(image.pixels, value, (size_t)(width * height * 3));
    return image;
}

static const uint8_t *pixel_at(const struct clv_image *image, int x, int y)
{
    return image->pixels + 3 * (y * image->width + x);
}

TEST(regions_are_tinted_and_the_background_is_left)
{
    OWNED(clv_image_release) struct clv_image image = flat_image(10, 6, 100);
    uint8_t labels[60] = {0};
    memset(labels + 30, 1, 30); /* the lower half */
    clv_overlay_draw(&image, labels, palette, 0.5, 0, -1);
    for (int i = 0; i < 60; i++) {
        ck_assert_int_le(abs(image.pixels[3 * i] - (i < 30 ? 100 : 114)), 1); /* colour 1 is (128, 0, 0) */
        ck_assert_int_le(abs(image.pixels[3 * i + 1] - (i < 30 ? 100 : 50)), 1);
    }
}

TEST(opacity_is_clamped_and_zero_changes_nothing)
{
    uint8_t labels[16];
    memset(labels, 2, sizeof labels);
    static const struct {
        double opacity;
        int green;
    } cases[] = {{-3, 50}, {0, 50}, {NAN, 50}, {1, 128}, {7, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(clv_image_release) struct clv_image image = flat_image(4, 4, 50);
        clv_overlay_draw(&image, labels, palette, cases[i].opacity, 3, -1); /* one label: no border */
        for (int k = 0; k < 16; k++)
            ck_assert_int_eq(image.pixels[3 * k + 1], cases[i].green);
    }
}

/* Labels 0 left of `border`, 1 from there on. */
static uint8_t *two_halves(int width, int height, int border)
{
    uint8_t *labels = malloc((size_t)(width * height));
    for (int i = 0; i < width * height; i++)
        labels[i] = i % width >= border;
    return labels;
}

/* W white, d dark, . untouched: what a row looks like. */
static void must_look_like(const struct clv_image *image, int y, int from, const char *row)
{
    for (int i = 0; row[i]; i++) {
        const uint8_t *pixel = pixel_at(image, from + i, y);
        int low = row[i] == 'W' ? 255 : row[i] == 'd' ? 20 : 100, high = row[i] == 'W' ? 255 : row[i] == 'd' ? 40 : 100;
        for (int c = 0; c < 3; c++)
            if (pixel[c] < low || pixel[c] > high)
                ck_abort_msg("pixel (%d, %d) is %d, meant '%c'", from + i, y, pixel[c], row[i]);
    }
}

TEST(a_straight_border_is_crisp_and_whole)
{
    static const struct {
        int outline_px;
        const char *row; /* from 6 pixels left of the border */
    } cases[] = {
        {0, "............"}, {1, ".....dWd...."}, {2, "....dWWd...."}, {4, "..ddWWWWdd.."}, {6, "dddWWWWWWddd"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int border = 6; border <= 194; border += 47) { /* also next to the seams of the painter's tiles */
            OWNED(clv_image_release) struct clv_image image = flat_image(200, 130, 100);
            OWNED_ARRAY uint8_t *labels = two_halves(200, 130, border);
            clv_overlay_draw(&image, labels, palette, 0, cases[i].outline_px, -1);
            for (int y = 0; y < 130; y++)
                must_look_like(&image, y, border - 6, cases[i].row);
            const char *rest = "....................";
            if (border < 100)
                must_look_like(&image, 64, 170, rest);
        }
}

/* A disc, a band and a void patch, with slanted borders. */
static uint8_t *scene(int width, int height, int dx, int dy)
{
    uint8_t *labels = malloc((size_t)(width * height));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int u = x + dx, v = y + dy;
            int label = (u - 70) * (u - 70) + (v - 60) * (v - 60) < 45 * 45 ? 1 : 0;
            if (3 * v - u > 200)
                label = 2;
            if (u > 110 && v < 40)
                label = 255;
            labels[y * width + x] = (uint8_t)label;
        }
    return labels;
}

/* The same scene, drawn whole and drawn as a part: apart from the part's rim, the same pixels. */
TEST(outlines_do_not_depend_on_where_the_image_begins)
{
    for (int outline_px = 1; outline_px <= 5; outline_px++) {
        OWNED(clv_image_release) struct clv_image whole = flat_image(170, 150, 90), part = flat_image(120, 100, 90);
        OWNED_ARRAY uint8_t *labels = scene(170, 150, 0, 0), *part_labels = scene(120, 100, 23, 31);
        clv_overlay_draw(&whole, labels, palette, 0.4, outline_px, -1);
        clv_overlay_draw(&part, part_labels, palette, 0.4, outline_px, -1);
        for (int y = 12; y < 88; y++)
            ck_assert_mem_eq(pixel_at(&part, 12, y), pixel_at(&whole, 12 + 23, y + 31), 3 * 96);
    }
}

TEST(void_is_hatched_grey)
{
    OWNED(clv_image_release) struct clv_image image = flat_image(40, 40, 0);
    for (int i = 0; i < 1600; i++)
        image.pixels[3 * i] = 255; /* a red background */
    uint8_t labels[1600];
    memset(labels, 9, sizeof labels);
    clv_overlay_draw(&image, labels, palette, 1, 2, 9);
    int darkest = 255, lightest = 0;
    for (int i = 0; i < 1600; i++) {
        const uint8_t *pixel = image.pixels + 3 * i;
        darkest = pixel[1] < darkest ? pixel[1] : darkest;
        lightest = pixel[1] > lightest ? pixel[1] : lightest;
        ck_assert_uint_eq(pixel[1], pixel[2]);
        ck_assert_int_lt(pixel[0] - pixel[1], 100);
    }
    ck_assert_int_gt(lightest - darkest, 40);
    for (int y = 1; y < 40; y++)
        for (int x = 0; x < 39; x++)
            ck_assert_mem_eq(pixel_at(&image, x, y), pixel_at(&image, x + 1, y - 1), 3); /* diagonal */
}

/* An eighth of a period is a pixel for a side of 400. */
TEST(stripes_are_as_wide_as_the_shorter_side_asks_for)
{
    static const int sides[][3] = {{1600, 100, 1}, {100, 1600, 1}, {1600, 900, 2}, {900, 1600, 2}};
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
        int width = sides[k][0], height = sides[k][1], period = 8 * sides[k][2];
        OWNED(clv_image_release) struct clv_image image = flat_image(width, height, 0);
        OWNED_ARRAY uint8_t *labels = malloc((size_t)(width * height));
        memset(labels, 9, (size_t)(width * height));
        clv_overlay_draw(&image, labels, palette, 1, 0, 9);
        for (int x = 0; x + period < 100; x++)
            ck_assert_mem_eq(pixel_at(&image, x, 50), pixel_at(&image, x + period, 50), 3);
        ck_assert_mem_ne(pixel_at(&image, 0, 0), pixel_at(&image, period / 2, 0), 3);
    }
}

TEST(tiny_and_odd_images_are_drawn)
{
    for (int width = 1; width <= 3; width++)
        for (int height = 1; height <= 3; height++) {
            OWNED(clv_image_release) struct clv_image image = flat_image(width, height, 100);
            uint8_t labels[9] = {0, 1, 2, 255, 0, 1, 3, 3, 0};
            clv_overlay_draw(&image, labels, palette, 0.5, 1000000, 255);
        }
    OWNED(clv_image_release) struct clv_image grey = {0};
    must(clv_image_new(&grey, 2, 1, 1, err));
    clv_overlay_draw(&grey, (uint8_t[]){0, 1}, palette, 1, 2, -1); /* not 3 channels: left alone */
    ck_assert(grey.pixels[0] == 0 && grey.pixels[1] == 0);

    /* Borders one pixel wide reach the image's edges: a column of two labels has its line across. */
    OWNED(clv_image_release) struct clv_image column = flat_image(1, 8, 100);
    clv_overlay_draw(&column, (uint8_t[]){0, 0, 0, 0, 1, 1, 1, 1}, palette, 0, 2, -1);
    ck_assert(pixel_at(&column, 0, 3)[0] == 255 && pixel_at(&column, 0, 4)[0] == 255);
    ck_assert(pixel_at(&column, 0, 2)[0] < 40 && pixel_at(&column, 0, 5)[0] < 40);
    ck_assert(pixel_at(&column, 0, 1)[0] == 100 && pixel_at(&column, 0, 6)[0] == 100);
}

/* CLEAVE_WRITE_GOLDEN=1 writes the image anew; look at it before it is committed. */
TEST(an_overlay_looks_as_it_did)
{
    const char *path = "tests/golden/image-overlay.png";
    OWNED(clv_image_release) struct clv_image image = flat_image(160, 120, 0), golden = {0};
    for (int i = 0; i < 160 * 120; i++) {
        image.pixels[3 * i] = (uint8_t)(90 + i % 160);
        image.pixels[3 * i + 1] = (uint8_t)(60 + i / 160);
        image.pixels[3 * i + 2] = 120;
    }
    OWNED_ARRAY uint8_t *labels = scene(160, 120, 0, 0);
    clv_overlay_draw(&image, labels, palette, 0.45, 2, 255);
    if (getenv("CLEAVE_WRITE_GOLDEN"))
        must(clv_png_write(path, &image, err));
    must(clv_image_read(&golden, path, NULL, err));
    ck_assert(golden.width == 160 && golden.height == 120);
    ck_assert_mem_eq(image.pixels, golden.pixels, 160 * 120 * 3);
}

/* Bands of one row to more than all, of images with void labels, against the image painted at once. */
TEST(an_overlay_by_bands_has_the_same_pixels)
{
    static const int32_t outlines[] = {0, 1, 2, 3, 4, 9};
    uint32_t state = 5;
    clv_default_palette(palette);
    for (size_t s = 0; s < n_odd_sizes; s++)
        for (size_t o = 0; o < sizeof outlines / sizeof *outlines; o++) {
            struct clv_image image = flat_image(odd_sizes[s][0], odd_sizes[s][1], 0), whole = image, banded = image;
            size_t n = (size_t)image.width * (size_t)image.height;
            uint8_t *labels = malloc(n);
            draw_labels(labels, image.width, image.height, 4, 230, &state);
            for (size_t p = 0; p < n; p++)
                labels[p] = labels[p] == 3 ? CLV_VOID : labels[p];
            draw_noise(image.pixels, 3 * n, &state);
            whole.pixels = malloc(3 * n);
            memcpy(whole.pixels, image.pixels, 3 * n);
            clv_overlay_draw(&whole, labels, (const uint8_t(*)[3])palette, 0.4, outlines[o], CLV_VOID);
            const struct image_band all = image_band_of(&image, labels);
            for (size_t r = 0; r < n_band_rows; r++) {
                banded.pixels = malloc(3 * n);
                memcpy(banded.pixels, image.pixels, 3 * n);
                FOR_BANDS(band, &all, band_rows[r], overlay_halo(outlines[o]))
                overlay_band(banded.pixels + 3 * (size_t)band.top * (size_t)band.width, &band,
                             (const uint8_t(*)[3])palette, 0.4, outlines[o], CLV_VOID);
                ck_assert_msg(memcmp(whole.pixels, banded.pixels, 3 * n) == 0, "%dx%d, outline %d, bands of %d",
                              image.width, image.height, outlines[o], band_rows[r]);
                free(banded.pixels);
            }
            free(whole.pixels);
            free(labels);
            clv_image_release(&image);
        }
}
