/* Places and colours of pixels, and how often they occur, by their definitions. */
#include <math.h>

#include "base/base.h"
#include "refine/bin_kernel.h"
#include "refine/refine.h"
#include "support/support.h"

TEST(places_cover_an_image_and_none_is_left_over)
{
    static const int32_t sizes[][2] = {{1, 1}, {8, 8}, {9, 16}, {90, 61}, {640, 426}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int32_t width = sizes[k][0], height = sizes[k][1];
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(near_colours_release) struct near_colours places = {0};
        must(clv_image_new(&image, width, height, 3, err));
        must(near_colours_init(&places, &image, err));
        ck_assert_int_eq(places.column_of[0], 0);
        ck_assert_int_eq(places.row_of[0], 0);
        ck_assert_int_eq(places.column_of[width - 1], places.n_columns - 1);
        ck_assert_int_eq(places.row_of[height - 1], places.n_rows - 1);
        double side = fmax(sqrt(width * height) / 15, 8);
        for (int32_t x = 1; x < width; x++)
            ck_assert_int_eq(places.column_of[x], (int32_t)(x / side));
        for (int32_t y = 1; y < height; y++)
            ck_assert_int_eq(places.row_of[y], (int32_t)(y / side));
        ck_assert_uint_eq(places.n_cells, (size_t)places.n_columns * (size_t)places.n_rows * NEAR_COLOURS_ALL);
    }
}

enum { W = 30, H = 20, N = W * H };

static uint8_t pixels[N][3], labels[N];

/* Noise of few colours, and of labels 0, 1 and 2. */
static struct clv_image draw(void)
{
    for (uint64_t i = 0; i < 3 * N; i++)
        pixels[i / 3][i % 3] = (uint8_t)(40 * rng_below(5, 0, i, 6));
    for (uint64_t p = 0; p < N; p++)
        labels[p] = (uint8_t)rng_below(5, 1, p, 3);
    return (struct clv_image){W, H, 3, &pixels[0][0]};
}

/* Of pixels of the foreground, or of all others, around a pixel: in its cell, and the share that its colour is of
 * all. */
static void count_around(double *near, double *share, const struct near_colours *places, int p, bool of_foreground)
{
    double all = 0, alike = 0;
    *near = 0;
    for (int q = 0; q < N; q++) {
        if ((labels[q] == 2) != of_foreground)
            continue;
        double same = colour_kernel(places->colour[q], places->colour[p], NEAR_COLOURS_BINS);
        alike += same;
        all += colour_mass(places->colour[q], NEAR_COLOURS_BINS);
        *near += same * kernel(places->column_of[q % W], places->column_of[p % W]) *
                 kernel(places->row_of[q / W], places->row_of[p / W]);
    }
    *share = alike / all;
}

TEST(counts_are_of_like_colours_nearby_and_ratios_of_all)
{
    const struct clv_image image = draw();
    OWNED(near_colours_release) struct near_colours places = {0};
    must(near_colours_init(&places, &image, err));
    near_colours_learn(&places, labels, 2);
    for (int p = 0; p < N; p++) {
        double background, foreground, background_share, foreground_share;
        float lab[3];
        size_t cell = near_colours_cell(&places, p % W, p / W);
        clv_rgb_to_lab(lab, pixels[p], 1);
        ck_assert_int_eq(places.colour[p], colour_bin(lab, NEAR_COLOURS_BINS));
        ck_assert_uint_eq(cell, ((size_t)(p / W / 8) * 4 + (size_t)(p % W / 8)) * 1728 + places.colour[p]);
        count_around(&background, &background_share, &places, p, false);
        count_around(&foreground, &foreground_share, &places, p, true);
        ck_assert_double_eq_tol((double)places.counts[cell], background, 1e-5);
        ck_assert_double_eq_tol((double)places.counts[places.n_cells + cell], foreground, 1e-5);
        ck_assert_double_eq_tol((double)places.overall[places.colour[p]],
                                log((foreground_share + 1e-4) / (background_share + 1e-4)), 1e-4);
    }
}

/* The doubt is a 256th of a place's pixels, at least of 64. */
static void check_scores(int32_t width, int32_t height, double doubt)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(near_colours_release) struct near_colours places = {0};
    size_t n_known = 0, n_pixels = (size_t)width * (size_t)height;
    must(clv_image_new(&image, width, height, 3, err));
    for (size_t i = 0; i < 3 * n_pixels; i++)
        image.pixels[i] = (uint8_t)(40 * rng_below(5, 2, i, 6));
    must(near_colours_init(&places, &image, err));
    OWNED_ARRAY uint8_t *sides = calloc(n_pixels, 1);
    OWNED_ARRAY float *score = calloc(places.n_cells, sizeof *score);
    OWNED_ARRAY bool *is_there = calloc(places.n_cells, sizeof *is_there);
    for (size_t p = 0; p < n_pixels; p++)
        sides[p] = (uint8_t)rng_below(5, 3, p, 2);
    near_colours_learn(&places, sides, 1);
    near_colours_score(score, &places, 0.75, 0.5);
    for (int32_t p = 0; p < width * height; p++)
        is_there[near_colours_cell(&places, p % width, p / width)] = true;
    for (size_t cell = 0; cell < places.n_cells; cell++) {
        double foreground = (double)places.counts[places.n_cells + cell], background = (double)places.counts[cell];
        double overall = (double)places.overall[cell % NEAR_COLOURS_ALL];
        ck_assert_int_eq(isnan(score[cell]), !is_there[cell]);
        n_known += is_there[cell];
        if (is_there[cell])
            ck_assert_double_eq_tol((double)score[cell],
                                    0.75 * log((foreground + doubt) / (background + doubt)) + 0.5 * overall, 1e-5);
    }
    ck_assert(n_known > 100 && n_known < places.n_cells);
}

TEST(scores_are_log_ratios_with_a_doubt_and_only_of_what_is_there)
{
    check_scores(30, 20, 0.25);
    check_scores(225, 100, 100 / 256.0);
}
