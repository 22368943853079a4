/* The inputs of pixel networks, plane by plane: lightness and its Gaussians (0..5), chroma (6..11), slope, curvatures and
 * the structure tensor at three scales (12..26), ranks and ranges (27..32), and the distance to the threshold (33). The
 * context follows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "pixel_net/pixel_net.h"
#include "support/support.h"

enum { WIDTH = 150, HEIGHT = 110 };

typedef int colour_at(int x, int y, int channel);

static struct clv_image image_of(colour_at *colour, int width, int height)
{
    struct clv_image image;
    must(clv_image_new(&image, width, height, 3, err));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                image.pixels[3 * (y * width + x) + c] = (uint8_t)colour(x, y, c);
    return image;
}

static struct pixel_bank bank_of(colour_at *colour, int width, int height, const struct pixel_light *light)
{
    struct pixel_bank bank;
    struct clv_image image = image_of(colour, width, height);
    must(pixel_bank_init(&bank, &image, light, err));
    clv_image_release(&image);
    return bank;
}

static double value_at(const struct pixel_bank *bank, int plane, int x, int y)
{
    return (double)bank->planes[((size_t)plane * (size_t)bank->height + (size_t)y) * (size_t)bank->width + (size_t)x];
}

/* Blobs of different sizes, colours and directions: nothing in it is symmetrical. */
static int blobs(int x, int y, int channel)
{
    double wide = exp(-(pow(x - 40, 2) / 300 + pow(y - 70, 2) / 90)),
           small = exp(-(pow(x - 100, 2) + pow(y - 30, 2)) / 30), edge = x + 2 * y > 260 ? 1 : 0;
    return (int)(20 + 120 * wide + (channel == 0 ? 70 : 20) * small + (channel == 2 ? 60 : 30) * edge +
                 3 * (x * y % 5));
}

static int blobs_turned(int x, int y, int channel)
{
    return blobs(y, x, channel);
}

static int blobs_mirrored(int x, int y, int channel)
{
    return blobs(WIDTH - 1 - x, y, channel);
}

/* Probabilities of background and of cores, from the blobs. */
static void add_context(struct pixel_bank *bank, colour_at *colour)
{
    size_t n = (size_t)bank->width * (size_t)bank->height;
    float *probability = calloc(OBJECT_CLASSES * n, sizeof *probability);
    for (int y = 0; y < bank->height; y++)
        for (int x = 0; x < bank->width; x++) {
            float object = (float)colour(x, y, 0) / 255;
            probability[OBJECT_BACKGROUND * n + (size_t)(y * bank->width + x)] = 1 - object;
            probability[OBJECT_CORE * n + (size_t)(y * bank->width + x)] = object * object;
        }
    must(pixel_bank_add_context(bank, probability, err));
    free(probability);
}

TEST(the_inputs_of_a_turned_or_mirrored_image_are_turned_or_mirrored)
{
    struct pixel_bank plain = bank_of(blobs, WIDTH, HEIGHT, NULL), turned = bank_of(blobs_turned, HEIGHT, WIDTH, NULL),
                      mirrored = bank_of(blobs_mirrored, WIDTH, HEIGHT, NULL);
    ck_assert_int_eq(plain.n_planes, PIXEL_BANK_SIZE);
    add_context(&plain, blobs);
    add_context(&turned, blobs_turned);
    add_context(&mirrored, blobs_mirrored);
    ck_assert_int_eq(plain.n_planes, PIXEL_CONTEXT_SIZE);
    for (int k = 0; k < PIXEL_CONTEXT_SIZE; k++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                double wanted = value_at(&plain, k, x, y), tolerance = 1e-4 * (1 + fabs(wanted));
                ck_assert_double_eq_tol(value_at(&turned, k, y, x), wanted, tolerance);
                ck_assert_double_eq_tol(value_at(&mirrored, k, WIDTH - 1 - x, y), wanted, tolerance);
            }
    pixel_bank_release(&plain);
    pixel_bank_release(&turned);
    pixel_bank_release(&mirrored);
}

static int ramp(int x, int y, int channel)
{
    (void)y, (void)channel;
    return x;
}

/* The sum of the three channels is (x - WIDTH / 2)^2 / 8, rounded down to a whole number. */
static int bowl(int x, int y, int channel)
{
    (void)y;
    return ((x - WIDTH / 2) * (x - WIDTH / 2) / 8 + channel) / 3;
}

static const struct pixel_light unstretched = {.low = 0, .range = 3 * 255, .threshold = 75.5F / 255};

TEST(a_ramp_has_one_slope_no_curvature_and_a_border_at_the_threshold)
{
    struct pixel_bank bank = bank_of(ramp, WIDTH, HEIGHT, &unstretched);
    const int x = 80, y = 50; /* far enough from the border for all scales */
    const double step = 1. / 255;
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq_tol(value_at(&bank, k, x, y), x * step, 1e-5);
    for (int k = 0; k < 3; k++) {
        const double scale = 1 << k, wanted[] = {scale * step, 0, 0, scale * step, 0};
        for (int i = 0; i < 5; i++) /* slope, two curvatures, changes along and across the gradient */
            ck_assert_double_eq_tol(value_at(&bank, 12 + 5 * k + i, x, y), wanted[i], 1e-5);
        const double reach = ((4 << k) - 1) * step;
        ck_assert_double_eq_tol(value_at(&bank, 27 + 2 * k, x, y), reach / (2 * reach + .05), 1e-4);
        ck_assert_double_eq_tol(value_at(&bank, 28 + 2 * k, x, y), 2 * reach, 1e-5);
    }
    const int columns[] = {40, 70, 75, 76, 80, 120};
    const double distances[] = {-15, -6, -1, 1, 5, 15};
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(value_at(&bank, 33, columns[i], y), distances[i], 1e-6);
    pixel_bank_release(&bank);
}

TEST(a_valley_bends_across_and_not_along)
{
    struct pixel_bank bank = bank_of(bowl, WIDTH, HEIGHT, &unstretched);
    const double second = 2. / 8 / (3 * 255);
    for (int k = 1; k < 3; k++) { /* at scale 1 the rounding to whole numbers is in the way */
        const double scale = 1 << k;
        ck_assert_double_eq_tol(value_at(&bank, 13 + 5 * k, WIDTH / 2 + 9, 50), scale * scale * second, .05 * second);
        ck_assert_double_eq_tol(value_at(&bank, 14 + 5 * k, WIDTH / 2 + 9, 50), 0, .05 * second);
    }
    pixel_bank_release(&bank);
}

static int orange(int x, int y, int channel)
{
    (void)x, (void)y;
    return channel == 0 ? 250 : channel == 1 ? 148 : 46;
}

TEST(chroma_is_what_red_and_blue_have_more_than_green)
{
    struct pixel_bank bank = bank_of(orange, 40, 30, NULL);
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq_tol(value_at(&bank, 6 + k, 20, 15), k % 2 ? -.4 : .4, 1e-5);
    pixel_bank_release(&bank);
}

/* Where everything is even, the context depends only on the probabilities of background and core and the lightness. */
TEST(the_context_of_an_even_image_is_its_probabilities)
{
    enum { SIDE = 40, N = SIDE * SIDE };
    const double light = 148. / 255, background = .25, core = .5;
    struct pixel_bank bank = bank_of(orange, SIDE, SIDE, &unstretched);
    float *probability = calloc(OBJECT_CLASSES * (size_t)N, sizeof *probability);
    for (int i = 0; i < N; i++) {
        probability[OBJECT_BACKGROUND * N + i] = (float)background;
        probability[OBJECT_CORE * N + i] = (float)core;
    }
    must(pixel_bank_add_context(&bank, probability, err));
    const double below = background * light / (background + .01),
                 above = (1 - background) * light / (1.01 - background);
    const double apart = above - below, position = (light - below) * apart / (apart * apart + .001);
    const double wanted[] = {background, core,     background, background, background, core,    core,
                             core,       0,        0,          0,          0,          15,      15. / 16,
                             apart,      position, apart,      position,   apart,      position};
    ck_assert_int_eq(bank.n_planes - PIXEL_BANK_SIZE, sizeof wanted / sizeof *wanted);
    for (int k = 0; k < PIXEL_CONTEXT_SIZE - PIXEL_BANK_SIZE; k++)
        ck_assert_double_eq_tol(value_at(&bank, PIXEL_BANK_SIZE + k, 20, 20), wanted[k], 1e-4);
    free(probability);
    pixel_bank_release(&bank);
}

TEST(lightness_is_stretched_between_the_percentiles_1_and_99_7)
{
    struct pixel_light light = {0};
    light.sums[0] = 10; /* 1 % */
    light.sums[100] = 980;
    light.sums[400] = 7;
    light.sums[765] = 3; /* .3 % */
    pixel_light_stretch(&light);
    ck_assert_double_eq(light.low, 100);
    ck_assert_double_eq(light.range, 300);
}

TEST(the_threshold_is_between_two_groups_of_values)
{
    struct pixel_light light = {0};
    for (int b = 0; b < 20; b++) {
        light.smooth[50 + b] = 5;
        light.smooth[180 + b] = 50;
    }
    pixel_light_divide(&light);
    /* Bins are of -.5..2; of equal divisions the first is taken, which ends the lower group. */
    ck_assert_float_eq_tol(light.threshold, 70 * 2.5F / PIXEL_LIGHT_BINS - .5F, 1e-6F);
}

TEST(the_threshold_of_a_whole_image_is_that_of_its_windows)
{
    struct clv_image image = image_of(blobs, WIDTH, HEIGHT);
    struct pixel_light whole = {0}, windows = {0};
    const struct image_part all = {.width = WIDTH, .height = HEIGHT};
    pixel_light_count(&whole, &image);
    pixel_light_stretch(&whole);
    must(pixel_light_count_smooth(&whole, &image, &all, err));
    pixel_light_divide(&whole);
    pixel_light_count(&windows, &image);
    pixel_light_stretch(&windows);
    for (int k = 0; k < 6; k++) {
        const struct image_part part = {.left = k % 3 * 50, .top = k / 3 * 55, .width = 50, .height = 55};
        must(pixel_light_count_smooth(&windows, &image, &part, err));
    }
    pixel_light_divide(&windows);
    ck_assert_mem_eq(windows.smooth, whole.smooth, sizeof whole.smooth);
    struct pixel_bank by_whole = bank_of(blobs, WIDTH, HEIGHT, &whole), by_itself = bank_of(blobs, WIDTH, HEIGHT, NULL);
    ck_assert_mem_eq(by_whole.planes, by_itself.planes,
                     (size_t)PIXEL_BANK_SIZE * WIDTH * HEIGHT * sizeof *by_whole.planes);
    pixel_bank_release(&by_whole);
    pixel_bank_release(&by_itself);
    clv_image_release(&image);
}
