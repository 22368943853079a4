/* Couplings of an image's pixels against their definition. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"
#include "support/support.h"

enum { MAX_PIXELS = 200 };

static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};

/* -1: across the image's border. */
static double squared(const struct clv_image *image, int p, int k)
{
    int x = p % image->width + dx[k], y = p / image->width + dy[k];
    double sum = 0;
    if (x < 0 || x >= image->width || y >= image->height)
        return -1;
    for (int c = 0; c < 3; c++)
        sum += pow(image->pixels[3 * p + c] - image->pixels[3 * (y * image->width + x) + c], 2);
    return sum;
}

/* 3 (0.1 + 0.9 exp(-|I_p - I_q|^2 / (2 mean))) / |p - q| at 256 x 256, contrasts below 1e-4 as 1e-4. */
static void define(double expected[4][MAX_PIXELS], const struct clv_image *image)
{
    int n = image->width * image->height;
    double mean = 0, n_pairs = 0;
    for (int p = 0; p < 2 * n; p++)
        if (squared(image, p / 2, p % 2) >= 0) {
            mean += squared(image, p / 2, p % 2);
            n_pairs++;
        }
    mean = n_pairs > 0 ? fmax(mean / n_pairs, 1) : 1;
    for (int p = 0; p < n; p++)
        for (int k = 0; k < 4; k++) {
            double d = squared(image, p, k);
            double contrast = fmax(exp(-d / (2 * mean)), 1e-4);
            expected[k][p] = d < 0 ? 0 : 3 * sqrt(n) / 256 * (0.1 + 0.9 * contrast) / (k < 2 ? 1 : sqrt(2));
        }
}

static void check(const struct clv_image *image)
{
    double expected[4][MAX_PIXELS];
    float rows[4][MAX_PIXELS], *const coupling[4] = {rows[0], rows[1], rows[2], rows[3]};
    OWNED(pixel_couplings_release) struct pixel_couplings couplings = {0};
    define(expected, image);
    must(pixel_couplings_init(&couplings, image, 3, err));
    double largest = 0;
    for (int p = 0; p < 4 * image->width * image->height; p++)
        largest = fmax(largest, expected[p % 4][p / 4]);
    ck_assert_double_eq_tol((double)pixel_couplings_largest(&couplings), largest, 2e-6);
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++)
            for (int32_t n = 1; x + n <= image->width; n++) {
                for (int k = 0; k < 4; k++)
                    for (int i = 0; i < MAX_PIXELS; i++)
                        rows[k][i] = -7;
                pixel_couplings_row(coupling, &couplings, x, y, n);
                for (int k = 0; k < 4; k++) {
                    for (int i = 0; i < n; i++)
                        ck_assert_double_eq_tol((double)rows[k][i], expected[k][y * image->width + x + i], 2e-6);
                    ck_assert_float_eq(rows[k][n], -7);
                }
            }
}

TEST(couplings_of_any_part_of_a_row_are_what_their_definition_says)
{
    static const int32_t sizes[][2] = {{1, 1}, {2, 1}, {1, 3}, {5, 4}, {13, 9}};
    static uint8_t pixels[MAX_PIXELS][3];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const struct clv_image image = {sizes[k][0], sizes[k][1], 3, &pixels[0][0]};
        for (uint32_t range = 1; range <= 256; range *= 16) {
            for (uint64_t i = 0; i < sizeof pixels; i++)
                pixels[i / 3][i % 3] = (uint8_t)rng_below(3, k, i, range);
            check(&image);
            if (sizes[k][0] < 13)
                continue;
            memset(pixels[6 * 13 + 7], 255, 3); /* far more contrast than the mean */
            check(&image);
        }
    }
}

TEST(where_all_is_alike_a_step_of_one_counts_as_much_as_the_mean)
{
    uint8_t pixels[3][3] = {{9, 9, 9}, {9, 9, 10}, {9, 9, 10}}; /* the mean is a half */
    check(&(struct clv_image){3, 1, 3, &pixels[0][0]});
    check(&(struct clv_image){1, 3, 3, &pixels[0][0]});
}

TEST(couplings_grow_with_the_side_of_an_image)
{
    ck_assert_double_eq(coupling_at(3, 256 * 256), 3);
    ck_assert_double_eq(coupling_at(3, 512 * 512), 6);
    ck_assert_double_eq(coupling_at(3, 1), 3.0 / 256);
}
