#include <math.h>
#include <string.h>

#include "base/base.h"
#include "refine/bin_kernel.h"
#include "refine/refine.h"
#include "support/support.h"

enum { W = 20, H = 10, N = W * H };

static uint8_t pixels[N][3], labels[N];
static float ratio[N];

/* Red in foreground (the left half), blue in background, and grey in every fifth column of both. */
static struct clv_image drawn(void)
{
    for (int p = 0; p < N; p++) {
        static const uint8_t red[3] = {200, 30, 30}, blue[3] = {30, 30, 200}, grey[3] = {128, 128, 128};
        labels[p] = p % W < W / 2;
        memcpy(pixels[p], p % 5 == 0 ? grey : labels[p] ? red : blue, 3);
    }
    return (struct clv_image){.width = W, .height = H, .channels = 3, .pixels = &pixels[0][0]};
}

TEST(a_side_s_own_colours_speak_for_it_and_shared_ones_for_neither)
{
    const struct clv_image image = drawn();
    must(fine_colours_ratio(ratio, &image, labels, err));
    for (int p = 0; p < N; p++)
        if (p % 5 == 0)
            ck_assert_float_eq_tol(ratio[p], 0, 0.5F);
        else
            ck_assert_float_gt(labels[p] ? ratio[p] : -ratio[p], 5);
    ck_assert_float_eq_tol(ratio[1], logf((float)(1e-5 + 0.8 / 8) / 1e-5F), 3); /* of its bin: at least an eighth */
}

TEST(the_first_and_the_last_row_teach_like_all_others)
{
    const struct clv_image image = drawn();
    memset(pixels, 128, sizeof pixels);
    for (int x = 0; x < W / 2; x++) {
        memcpy(pixels[x], (const uint8_t[]){200, 30, 30}, 3);
        memcpy(pixels[(H - 1) * W + x], (const uint8_t[]){30, 200, 30}, 3);
    }
    must(fine_colours_ratio(ratio, &image, labels, err));
    for (int x = 0; x < W / 2; x++) {
        ck_assert_float_gt(ratio[x], 5);
        ck_assert_float_gt(ratio[(H - 1) * W + x], 5);
    }
}

TEST(one_side_alone_says_nothing)
{
    const struct clv_image image = drawn();
    for (uint8_t side = 0; side < 2; side++) {
        memset(labels, side, sizeof labels);
        must(fine_colours_ratio(ratio, &image, labels, err));
        for (int p = 0; p < N; p++)
            ck_assert_float_eq(ratio[p], 0);
    }
}

TEST(ratios_are_of_shares_of_smoothed_counts)
{
    enum { BINS = 24 };
    int32_t colour[N];
    for (uint64_t i = 0; i < 3 * N; i++)
        pixels[i / 3][i % 3] = (uint8_t)(40 * rng_below(5, 0, i, 6));
    for (uint64_t p = 0; p < N; p++) {
        float lab[3];
        labels[p] = (uint8_t)rng_below(5, 1, p, 3); /* 0 and 2 are background */
        clv_rgb_to_lab(lab, pixels[p], 1);
        colour[p] = colour_bin(lab, BINS);
    }
    must(fine_colours_ratio(ratio, &(struct clv_image){W, H, 3, &pixels[0][0]}, labels, err));
    for (int p = 0; p < N; p++) {
        double alike[2] = {0, 0}, all[2] = {0, 0};
        for (int q = 0; q < N; q++) {
            alike[labels[q] == 1] += colour_kernel(colour[q], colour[p], BINS);
            all[labels[q] == 1] += colour_mass(colour[q], BINS);
        }
        ck_assert_double_eq_tol((double)ratio[p], log((alike[1] / all[1] + 1e-5) / (alike[0] / all[0] + 1e-5)), 1e-4);
    }
}

/* A float stays at 2^24 when 1 is added. */
TEST(more_than_2_to_the_24_pixels_of_a_colour_count)
{
    enum { WIDTH = 4096, HEIGHT = 6144, BLACK = 5 * 1024 }; /* rows; all other rows are white */
    const size_t n = (size_t)WIDTH * HEIGHT, n_black = (size_t)WIDTH * BLACK;
    OWNED_ARRAY uint8_t *rgb = array_zalloc(n, 3), *of_pixel = array_zalloc(n, 1);
    OWNED_ARRAY float *found = array_alloc(n, sizeof *found);
    ck_assert(rgb && of_pixel && found);
    memset(rgb + 3 * n_black, 255, 3 * (n - n_black));
    memset(of_pixel, 1, WIDTH); /* foreground: one black row */
    must(fine_colours_ratio(found, &(struct clv_image){WIDTH, HEIGHT, 3, rgb}, of_pixel, err));
    /* Both colours are corners of the histogram in lightness, which smoothing keeps two thirds of there, and in the
     * middle of a and b, where it keeps a half of a half. */
    double kept = 2.0 / 3 / 4, black = (double)(n_black - WIDTH) / (double)(n - WIDTH);
    ck_assert_double_eq_tol((double)found[0], log((kept + 1e-5) / (kept * black + 1e-5)), 1e-4);
    ck_assert_double_eq_tol((double)found[n - 1], log(1e-5 / (kept * (1 - black) + 1e-5)), 1e-4);
}
