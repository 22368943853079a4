/* Borders of large images against cuts of each tile, worked out pixel by pixel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"
#include "support/support.h"

enum { W = 150, H = 70, N = W * H, TILE = 64 };

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* What a tile and all within reach of it looks like: pixels from (x, y) on. */
struct window {
    int32_t x, y, width, height;
    float unary[N], coupling[4][N];
    uint8_t labels[N];
};

/* Which side most pixels within reach are on, and by 100 where all are or a stroke says so. */
static float lean(const struct window *window, const uint8_t *before, const uint8_t *seeds, int32_t at, int32_t reach)
{
    int32_t x = at % window->width + window->x, y = at / window->width + window->y, n = 0, n_foreground = 0;
    for (int32_t row = most(y - reach, window->y); row <= least(y + reach, window->y + window->height - 1); row++)
        for (int32_t column = most(x - reach, window->x); column <= least(x + reach, window->x + window->width - 1);
             column++, n++)
            n_foreground += before[row * W + column];
    if (seeds[y * W + x])
        return seeds[y * W + x] == FIXED_ONE ? 100 : -100;
    return n_foreground == 0 ? -100 : n_foreground == n ? 100 : 2 * (2 * (float)n_foreground / (float)n - 1);
}

/* Log odds of two Gaussians with the means of what is certain on both sides and one spread, at most 2. */
static void add_colours(struct window *window, const struct clv_image *image)
{
    double mean[2][3] = {{0}}, n[2] = {0, 0}, spread = 0;
    for (int pass = 0; pass < 3; pass++)
        for (int32_t p = 0; p < window->width * window->height; p++) {
            const uint8_t *pixel =
                image->pixels + 3 * ((p / window->width + window->y) * W + p % window->width + window->x);
            int side = window->unary[p] > 0;
            bool is_certain = fabsf(window->unary[p]) >= 100;
            double odds = 0;
            n[side] += pass == 0 && is_certain;
            for (int c = 0; c < 3; c++) {
                mean[side][c] += pass == 1 && is_certain ? pixel[c] / n[side] : 0;
                odds += pow(pixel[c] - mean[0][c], 2) - pow(pixel[c] - mean[1][c], 2);
            }
            if (pass == 2 && is_certain)
                for (int c = 0; c < 3; c++)
                    spread += pow(pixel[c] - mean[side][c], 2) / (n[0] + n[1]);
            else if (pass == 2)
                window->labels[p] = 2; /* not certain */
        }
    for (int32_t p = 0; p < window->width * window->height && n[0] >= 64 && n[1] >= 64; p++) {
        const uint8_t *pixel =
            image->pixels + 3 * ((p / window->width + window->y) * W + p % window->width + window->x);
        double odds = 0;
        for (int c = 0; c < 3; c++)
            odds += (pow(pixel[c] - mean[0][c], 2) - pow(pixel[c] - mean[1][c], 2)) / (2 * (spread + 10));
        if (window->labels[p] == 2)
            window->unary[p] += (float)fmin(fmax(odds, -2), 2);
    }
}

static void follow_slowly(uint8_t *labels, const uint8_t *before, const struct pixel_couplings *couplings,
                          const uint8_t *seeds, int32_t reach)
{
    static struct window window;
    for (int32_t top = 0; top < H; top += TILE)
        for (int32_t left = 0; left < W; left += TILE) {
            int32_t right = least(left + TILE, W), bottom = least(top + TILE, H);
            window.x = most(left - reach, 0);
            window.y = most(top - reach, 0);
            window.width = least(right + reach, W) - window.x;
            window.height = least(bottom + reach, H) - window.y;
            struct clv_grid grid = {
                .width = window.width, .height = window.height, .n_neighbours = 8, .unary = window.unary};
            for (int k = 0; k < 4; k++)
                grid.coupling[k] = window.coupling[k];
            for (int32_t y = 0; y < window.height; y++) {
                float *rows[4];
                for (int k = 0; k < 4; k++)
                    rows[k] = window.coupling[k] + (ptrdiff_t)y * window.width;
                pixel_couplings_row(rows, couplings, window.x, window.y + y, window.width);
            }
            memset(window.labels, 0, sizeof window.labels);
            for (int32_t p = 0; p < window.width * window.height; p++)
                window.unary[p] = lean(&window, before, seeds, p, reach);
            add_colours(&window, couplings->image);
            must(clv_grid_map(window.labels, &grid, err));
            for (int32_t y = top; y < bottom; y++)
                for (int32_t x = left; x < right; x++)
                    labels[y * W + x] = window.labels[(y - window.y) * window.width + x - window.x];
        }
}

/* A disc of noise whose labels are a few pixels off; strokes here and there. */
TESTS(a_border_is_cut_tile_by_tile_within_reach, 1, 10)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(pixel_couplings_release) struct pixel_couplings couplings = {0};
    static uint8_t labels[N], before[N], expected[N], seeds[N];
    int n_moved = 0, n_other = 0;
    must(clv_image_new(&image, W, H, 3, err));
    for (uint64_t p = 0; p < N; p++) {
        double x = (double)(p % W) - 70, y = (double)(p / W) - 50;
        bool is_in = hypot(x, y) < 34;
        before[p] = hypot(x - 3, y + 2) < 33;
        seeds[p] = (uint8_t)(rng_below(6, 1, p, 200) ? FIXED_NOT
                             : is_in                 ? FIXED_ONE
                                                     : FIXED_ZERO + 2 * rng_below(6, 2, p, 2));
        for (uint64_t c = 0; c < 3; c++)
            image.pixels[3 * p + c] = (uint8_t)((is_in ? 110 : 80) + rng_below(6, 3 + c, p, 60));
    }
    must(pixel_couplings_init(&couplings, &image, 3, err));
    memcpy(labels, before, N);
    must(border_follow(labels, &couplings, seeds, _i, err));
    follow_slowly(expected, before, &couplings, seeds, _i);
    for (int p = 0; p < N; p++) {
        n_moved += labels[p] != before[p];
        n_other += labels[p] != expected[p];
    }
    ck_assert_int_gt(n_moved, 20);
    ck_assert_int_le(n_other, 2); /* but for rounding */
}

/* A square of 40 x 40 from a cut of a quarter of the sides, two pixels of the image too far to the left. */
TEST(a_small_cut_is_enlarged_and_follows_the_edges_of_the_image)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(pixel_couplings_release) struct pixel_couplings couplings = {0};
    static uint8_t labels[N], fixed[N], cut[(W / 4 + 1) * (H / 4 + 1)];
    enum { WIDTH = 38, HEIGHT = 18 };
    must(clv_image_new(&image, W, H, 3, err));
    for (int p = 0; p < N; p++) {
        bool is_in = p % W >= 42 && p % W < 82 && p / W >= 20 && p / W < 60;
        memset(image.pixels + 3 * p, is_in ? 200 : 50, 3);
    }
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        cut[p] = p % WIDTH >= 10 && p % WIDTH < 20 && p / WIDTH >= 5 && p / WIDTH < 15;
    fixed[40 * W + 60] = FIXED_ZERO;
    fixed[5 * W + 5] = FIXED_ONE;
    fixed[6 * W + 5] = 3;
    must(border_couplings_init(&couplings, &image, err));
    must(border_enlarge(labels, &couplings, cut, WIDTH, HEIGHT, fixed, err));
    int n_wrong = 0;
    for (int p = 0; p < N; p++)
        n_wrong += labels[p] != (image.pixels[3 * p] == 200) && !fixed[p];
    ck_assert_int_le(n_wrong, 8); /* at the corners */
    ck_assert_int_eq(labels[40 * W + 60], 0);
    ck_assert_int_eq(labels[5 * W + 5], 1);
    ck_assert_int_eq(labels[6 * W + 5], 0);
}

TEST(tiles_without_a_border_keep_their_labels_whatever_strokes_say)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(pixel_couplings_release) struct pixel_couplings couplings = {0};
    static uint8_t labels[N], seeds[N];
    must(clv_image_new(&image, W, H, 3, err));
    must(pixel_couplings_init(&couplings, &image, 3, err));
    for (int side = 0; side < 2; side++) {
        memset(labels, side, N);
        memset(seeds, side ? FIXED_ZERO : FIXED_ONE, N);
        must(border_follow(labels, &couplings, seeds, 4, err));
        for (int p = 0; p < N; p++)
            ck_assert_int_eq(labels[p], side);
    }
}
