/* Cut-outs against images whose true shares of object and background are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "refine/refine.h"
#include "support/bands.h"
#include "support/images.h"
#include "support/support.h"

enum { SIDE = 96 };

static const bool first_is_object[256] = {false, true};

/* A disc over a background with a sharp, antialiased border: share[SIDE * SIDE] of the disc, by 8 x 8 points a
 * pixel. */
static void draw(struct clv_image *image, uint8_t *labels, double *share, const int object[3], const int background[3])
{
    uint32_t state = 9;
    for (int p = 0; p < SIDE * SIDE; p++) {
        int n = 0;
        for (int k = 0; k < 64; k++)
            n += hypot(p % SIDE + (k % 8 + 0.5) / 8 - 47.3, p / SIDE + (k / 8 + 0.5) / 8 - 45.1) < 30;
        share[p] = n / 64.0;
        labels[p] = share[p] >= 0.5;
        for (int c = 0; c < 3; c++) {
            int value =
                (int)lround(share[p] * object[c] + (1 - share[p]) * background[c]) + (int)(noise(&state) % 7) - 3;
            image->pixels[3 * p + c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

TEST(alpha_is_the_objects_share_and_the_background_does_not_shine_through)
{
    static const int colours[][3] = {{200, 40, 30}, {30, 160, 60}, {250, 250, 250}, {10, 10, 10}};
    OWNED(clv_image_release) struct clv_image image = {0};
    static uint8_t labels[SIDE * SIDE];
    static double share[SIDE * SIDE];
    must(clv_image_new(&image, SIDE, SIDE, 3, err));
    for (int a = 0; a < 4; a++) {
        const int *object = colours[a], *background = colours[(a + 1) % 4];
        OWNED(cutout_release) struct cutout cutout = {0};
        double soft_error = 0, hard_error = 0, colour_error = 0;
        int n_mixed = 0;
        draw(&image, labels, share, object, background);
        must(cutout_make(&cutout, &image, labels, first_is_object, err));
        for (int p = 0; p < SIDE * SIDE; p++) {
            double alpha = cutout.rgba[4 * p + 3] / 255.0;
            if (share[p] == 0 || share[p] == 1) {
                ck_assert_msg(fabs(alpha - share[p]) < 0.2, "pixel %d, %d: alpha %g of %g", p % SIDE, p / SIDE, alpha,
                              share[p]);
                continue;
            }
            n_mixed++;
            soft_error += fabs(alpha - share[p]);
            hard_error += fabs(labels[p] - share[p]);
            for (int c = 0; c < 3 && alpha > 0; c++)
                colour_error += fabs(cutout.rgba[4 * p + c] - (double)object[c]) / 3;
        }
        ck_assert_int_gt(n_mixed, 150);
        ck_assert_msg(soft_error < 0.4 * hard_error, "%d: alpha is off by %g, labels by %g", a, soft_error / n_mixed,
                      hard_error / n_mixed);
        ck_assert_msg(colour_error / n_mixed < 12, "%d: colours are off by %g", a, colour_error / n_mixed);
    }
}

/* Where colours are uninformative the border is the labels', smoothed: no step larger than half. */
static void check_uniform(const struct clv_image *image, const uint8_t *labels)
{
    OWNED(cutout_release) struct cutout cutout = {0};
    must(cutout_make(&cutout, image, labels, first_is_object, err));
    for (int p = 0; p < SIDE * SIDE; p++) {
        if ((p + 1) % SIDE)
            ck_assert_int_le(abs(cutout.rgba[4 * p + 3] - cutout.rgba[4 * p + 7]), 140);
        ck_assert(cutout.rgba[4 * p + 3] < 255 || cutout.rgba[4 * p] == 90);
    }
}

TEST(borders_between_like_colours_are_smooth)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    static uint8_t labels[SIDE * SIDE];
    must(clv_image_new(&image, SIDE, SIDE, 3, err));
    memset(image.pixels, 90, 3 * SIDE * SIDE);
    for (int p = 0; p < SIDE * SIDE; p++)
        labels[p] = p % SIDE > 30 + (p / SIDE) / 3;
    check_uniform(&image, labels);
}

TEST(any_labels_and_sizes_make_a_cutout_that_crops_to_what_shows)
{
    static const int32_t sides[][2] = {{1, 1}, {1, 9}, {3, 2}, {40, 7}};
    uint32_t state = 4;
    uint8_t labels[40 * 7];
    for (int round = 0; round < 40; round++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(cutout_release) struct cutout cutout = {0}, cropped = {0};
        const int32_t *side = sides[round % 4];
        must(clv_image_new(&image, side[0], side[1], 3, err));
        for (int p = 0; p < side[0] * side[1]; p++) {
            labels[p] = round < 8 ? (uint8_t)(round / 4) : (uint8_t)(noise(&state) % 5 == 0);
            for (int c = 0; c < 3; c++)
                image.pixels[3 * p + c] = (uint8_t)noise(&state);
        }
        must(cutout_make(&cutout, &image, labels, first_is_object, err));
        must(cutout_make(&cropped, &image, labels, first_is_object, err));
        cutout_crop(&cropped);
        int n_seen = 0, n_left = 0;
        for (int p = 0; p < side[0] * side[1]; p++) {
            n_seen += cutout.rgba[4 * p + 3] > 0;
            ck_assert(round >= 8 || cutout.rgba[4 * p + 3] == (round / 4 ? 255 : 0));
        }
        for (int p = 0; p < cropped.width * cropped.height; p++)
            n_left += cropped.rgba[4 * p + 3] > 0;
        ck_assert_int_eq(n_seen, n_left);
        ck_assert(cropped.width <= side[0] && cropped.height <= side[1]);
        ck_assert(n_seen || (cropped.width == side[0] && cropped.height == side[1]));
    }
}

enum { W = 26, H = 19, BAND = 2, REACH = 6 };

static int clamped(int at, int n)
{
    return at < 0 ? 0 : at < n ? at : n - 1;
}

/* Both sides are within BAND pixels, those of the border counting on beyond it. */
static bool is_mixed(const uint8_t *labels, int x, int y)
{
    int n = 0, side = 2 * BAND + 1;
    for (int k = 0; k < side * side; k++)
        n += labels[clamped(y + k / side - BAND, H) * W + clamped(x + k % side - BAND, W)];
    return n > 0 && n < side * side;
}

/* Weight, mean colour and mean variance of a side's channels within REACH; what is not mixed counts 64 times. */
static double describe(double mean[3], double *spread, const struct clv_image *image, const uint8_t *labels, int side,
                       int x, int y)
{
    double weight = 0, square = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (int p = 0; p < W * H; p++) {
        if (labels[p] != side || abs(p % W - x) > REACH || abs(p / W - y) > REACH)
            continue;
        double counts = is_mixed(labels, p % W, p / W) ? 1 : 64;
        weight += counts;
        for (int c = 0; c < 3; c++) {
            mean[c] += counts * image->pixels[3 * p + c];
            square += counts * image->pixels[3 * p + c] * image->pixels[3 * p + c];
        }
    }
    *spread = weight > 0 ? square / weight : 0;
    for (int c = 0; c < 3; c++) {
        mean[c] = weight > 0 ? mean[c] / weight : 0;
        *spread -= mean[c] * mean[c];
    }
    *spread = fmax(*spread, 0) / 3 + 25;
    return weight;
}

static void expect_mixed(double rgba[4], const struct clv_image *image, const uint8_t *labels, int x, int y)
{
    const uint8_t *pixel = image->pixels + 3 * (y * W + x);
    double mean[2][3], spread[2], between = 0, along = 0, prior = 0, all = 0;
    for (int side = 0; side < 2; side++)
        describe(mean[side], &spread[side], image, labels, side, x, y);
    for (int dy = -BAND; dy <= BAND; dy++)
        for (int dx = -BAND; dx <= BAND; dx++) {
            double weight = (BAND + 1 - abs(dx)) * (BAND + 1 - abs(dy));
            all += weight;
            prior += weight * labels[clamped(y + dy, H) * W + clamped(x + dx, W)];
        }
    prior /= all;
    for (int c = 0; c < 3; c++) {
        between += pow(mean[1][c] - mean[0][c], 2);
        along += (pixel[c] - mean[0][c]) * (mean[1][c] - mean[0][c]);
    }
    double share = between > 0 ? fmin(fmax(along / between, 0), 1) : prior;
    double trust = prior * (1 - prior) * between / ((spread[0] + spread[1]) / 2);
    double alpha = fmin(fmax(((prior + trust * share) / (1 + trust) - 0.1) / 0.8, 0), 1);
    /* The object's colour, likeliest of two Gaussians whose mixture is the pixel with a variance of 25. */
    double of_object = alpha * spread[1], of_background = (1 - alpha) * spread[0];
    double gain = of_object / (alpha * of_object + (1 - alpha) * of_background + 25);
    for (int c = 0; c < 3; c++)
        rgba[c] = fmin(fmax(mean[1][c] + gain * (pixel[c] - alpha * mean[1][c] - (1 - alpha) * mean[0][c]), 0), 255);
    rgba[3] = 255 * alpha;
}

TEST(every_pixel_is_what_its_definition_says)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    uint32_t state = 21;
    uint8_t labels[W * H];
    must(clv_image_new(&image, W, H, 3, err));
    for (int round = 0; round < 6; round++) {
        OWNED(cutout_release) struct cutout cutout = {0};
        int n_mixed = 0, n_filled = 0, n_partly = 0;
        for (int p = 0; p < W * H; p++) {
            labels[p] = pow(p % W - 8.0, 2) + pow(p / W - 9.0, 2) < 30 + 5 * round || p % W > 24 - round % 2;
            for (int c = 0; c < 3; c++)
                image.pixels[3 * p + c] = (uint8_t)((labels[p] ? 150 : 60 + 20 * c) + (int)(noise(&state) % 90));
        }
        must(cutout_make(&cutout, &image, labels, first_is_object, err));
        for (int p = 0; p < W * H; p++) {
            double expected[4] = {0}, spread;
            if (is_mixed(labels, p % W, p / W)) {
                expect_mixed(expected, &image, labels, p % W, p / W);
                n_mixed++;
                n_partly += expected[3] > 30 && expected[3] < 225;
            } else if (labels[p]) {
                for (int c = 0; c < 4; c++)
                    expected[c] = c < 3 ? image.pixels[3 * p + c] : 255;
            } else if (describe(expected, &spread, &image, labels, 1, p % W, p / W) > 0) {
                n_filled++; /* the object's colour goes on where nothing of it shows */
            }
            for (int c = 0; c < 4; c++)
                ck_assert_msg(fabs(cutout.rgba[4 * p + c] - expected[c]) <= 0.5 + 1e-6,
                              "pixel %d, %d: [%d] is %d of %g", p % W, p / W, c, cutout.rgba[4 * p + c], expected[c]);
        }
        ck_assert_int_gt(n_mixed, 100);
        ck_assert_int_gt(n_partly, 30);
        ck_assert_int_gt(n_filled, 30);
    }
}

/* Of one colour the border is the labels' share alone, by a tent, stretched: a straight one has that of its columns. */
static void check_band(int32_t width, int32_t height, const int *alpha)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(cutout_release) struct cutout cutout = {0};
    bool is_wide = width > height;
    int32_t length = is_wide ? width : height, middle = length / 2;
    must(clv_image_new(&image, width, height, 3, err));
    OWNED_ARRAY uint8_t *labels = calloc((size_t)length * 3, 1);
    memset(image.pixels, 90, (size_t)length * 9);
    for (int32_t p = 0; p < 3 * length; p++)
        labels[p] = (is_wide ? p % width : p / width) < middle;
    must(cutout_make(&cutout, &image, labels, first_is_object, err));
    for (int32_t p = 0; p < 3 * length; p++) {
        int32_t away = middle - 1 - (is_wide ? p % width : p / width);
        int expected = away >= 3 ? 255 : away >= 0 ? alpha[away] : away >= -3 ? 255 - alpha[-1 - away] : 0;
        ck_assert_msg(cutout.rgba[4 * p + 3] == expected, "%d: %d, not %d", away, cutout.rgba[4 * p + 3], expected);
    }
}

TEST(the_band_is_two_pixels_and_one_more_for_each_thousand_of_the_longer_side)
{
    static const int two[] = {181, 251, 255};   /* 6 and 8 of 9 */
    static const int three[] = {167, 227, 255}; /* 10, 13 and 15 of 16 */
    check_band(999, 3, two);
    check_band(3, 999, two);
    check_band(1000, 3, three);
    check_band(3, 1000, three);
}

TEST(cropping_leaves_the_smallest_rectangle_and_its_pixels)
{
    static const uint8_t seen[2][2] = {{3, 1}, {1, 2}}; /* x, y */
    uint8_t pixels[4 * 5 * 4];
    for (int touches = 0; touches < 2; touches++) { /* or reaches to all sides */
        struct cutout cutout = {.width = 5, .height = 4, .rgba = malloc(sizeof pixels)};
        for (int i = 0; i < (int)sizeof pixels; i++)
            pixels[i] = (uint8_t)(i % 4 == 3 ? 0 : i);
        for (int k = 0; k < 2; k++)
            pixels[4 * (seen[k][1] * 5 + seen[k][0]) + 3] = 1;
        if (touches)
            pixels[3] = pixels[4 * 19 + 3] = 255;
        memcpy(cutout.rgba, pixels, sizeof pixels);
        cutout_crop(&cutout);
        ck_assert_int_eq(cutout.width, touches ? 5 : 3);
        ck_assert_int_eq(cutout.height, touches ? 4 : 2);
        for (int y = 0; y < cutout.height; y++)
            ck_assert_mem_eq(cutout.rgba + (ptrdiff_t)4 * y * cutout.width,
                             pixels + (touches ? 20 * y : 4 * (5 * (y + 1) + 1)), 4 * (size_t)cutout.width);
        free(cutout.rgba);
    }
}

/* Images longer than 1,000 pixels have a wider band around the border. */
TEST(a_cut_out_by_bands_has_the_same_pixels_and_box)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 61}, {67, 1}, {33, 29}, {70, 131}, {2, 2100}, {1001, 3}};
    uint32_t state = 5;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int share = 200; share < 257; share += 28) {
            struct clv_image image = {0};
            struct cutout whole = {0};
            must(clv_image_new(&image, sizes[s][0], sizes[s][1], 3, err));
            size_t n = (size_t)image.width * (size_t)image.height;
            uint8_t *labels = malloc(n), *rgba = malloc(4 * n);
            draw_labels(labels, image.width, image.height, 2, share, &state);
            draw_noise(image.pixels, 3 * n, &state);
            must(cutout_make(&whole, &image, labels, first_is_object, err));
            const struct image_band all = image_band_of(&image, labels);
            for (size_t r = 0; r < n_band_rows; r++) {
                struct cutout_box box = {0};
                memset(rgba, 99, 4 * n);
                FOR_BANDS(band, &all, band_rows[r], cutout_halo(image.width, image.height))
                {
                    uint8_t *to = rgba + 4 * (size_t)band.top * (size_t)band.width;
                    must(cutout_band(to, &band, first_is_object, err));
                    cutout_box_add(&box, to, band.width, band.top, band.n_rows);
                }
                ck_assert_msg(memcmp(whole.rgba, rgba, 4 * n) == 0, "%dx%d, bands of %d", image.width, image.height,
                              band_rows[r]);
                struct cutout cropped = {image.width, image.height, malloc(4 * n)};
                memcpy(cropped.rgba, rgba, 4 * n);
                cutout_crop(&cropped);
                bool is_empty = !box.bottom;
                ck_assert_int_eq(cropped.width, is_empty ? image.width : box.right - box.left);
                ck_assert_int_eq(cropped.height, is_empty ? image.height : box.bottom - box.top);
                size_t first = (size_t)box.top * (size_t)image.width + (size_t)box.left;
                ck_assert_mem_eq(cropped.rgba, rgba + 4 * first, 4);
                free(cropped.rgba);
            }
            free(labels);
            free(rgba);
            cutout_release(&whole);
            clv_image_release(&image);
        }
}
