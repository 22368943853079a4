/* Images of probabilities, by their definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "support/bands.h"
#include "support/images.h"
#include "support/support.h"

enum { WIDTH = 64, HEIGHT = 40, N = WIDTH * HEIGHT };

static double entropy_of(double p)
{
    return p <= 0 || p >= 1 ? 0 : -p * log2(p) - (1 - p) * log2(1 - p);
}

TEST(entropy_is_in_bits)
{
    ck_assert_double_eq(probability_entropy(0), 0);
    ck_assert_double_eq(probability_entropy(1), 0);
    ck_assert_double_eq(probability_entropy(-0.5), 0);
    ck_assert_double_eq(probability_entropy(1.5), 0);
    for (int v = 1; v < 255; v++)
        ck_assert_double_eq_tol(probability_entropy(v / 255.0), entropy_of(v / 255.0), 1e-12);
    ck_assert_double_eq_tol(probability_entropy(0.5), 1, 1e-12);
}

/* Grey, tinted by up to 80 % where the probability is a half; a line where it crosses one half. */
TEST(uncertain_pixels_are_tinted_in_their_grey_image)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    uint8_t probability[N], before[3 * N];
    uint32_t state = 5;
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int i = 0; i < 3 * N; i++)
        before[i] = image.pixels[i] = (uint8_t)noise(&state);
    for (int p = 0; p < N; p++)
        probability[p] = (uint8_t)(p % WIDTH < WIDTH / 2 ? noise(&state) % 128 : 128 + noise(&state) % 128);
    must(probability_draw(&image, probability, 1, err));
    for (int p = 0; p < N; p++) {
        if (abs(p % WIDTH - WIDTH / 2) < 6)
            continue;
        const uint8_t *pixel = before + 3 * p;
        double grey = (0.299 * pixel[0] + 0.587 * pixel[1]) + 0.114 * pixel[2];
        double share = 0.8 * entropy_of(probability[p] / 255.0);
        for (int c = 0; c < 3; c++) {
            double mixed = grey + share * (uncertain_colour[c] - grey);
            ck_assert_double_eq_tol(image.pixels[3 * p + c], mixed, 0.5 + 1e-9);
        }
    }
    int n_line = 0; /* light or dark, and no tint */
    for (int y = 0; y < HEIGHT; y++)
        for (int x = WIDTH / 2 - 2; x < WIDTH / 2 + 2; x++) {
            const uint8_t *pixel = image.pixels + 3 * (y * WIDTH + x);
            n_line += pixel[0] > 230 && pixel[2] > 230;
        }
    ck_assert_int_ge(n_line, HEIGHT - 2);
}

TEST(means_are_those_of_share_and_entropy)
{
    uint8_t probability[256];
    double share, entropy, expected = 0;
    for (int v = 0; v < 256; v++) {
        probability[v] = (uint8_t)(v / 2);
        expected += entropy_of(v / 2 / 255.0) / 256;
    }
    probability_means(&share, &entropy, probability, 256);
    ck_assert_double_eq_tol(share, 63.5 / 255, 1e-12);
    ck_assert_double_eq_tol(entropy, expected, 1e-12);
    probability_means(&share, &entropy, probability, 0);
    ck_assert(share == 0 && entropy == 0);
}

TEST(probabilities_by_bands_have_the_same_pixels)
{
    uint32_t state = 12;
    for (size_t s = 0; s < n_odd_sizes; s++) {
        struct clv_image image = {0};
        must(clv_image_new(&image, odd_sizes[s][0], odd_sizes[s][1], 3, err));
        size_t n = (size_t)image.width * (size_t)image.height;
        uint8_t *probability = malloc(n), *banded = malloc(3 * n), *drawn = malloc(3 * n);
        draw_labels(probability, image.width, image.height, 256, 220, &state);
        draw_noise(image.pixels, 3 * n, &state);
        memcpy(drawn, image.pixels, 3 * n);
        must(probability_draw(&image, probability, 3, err));
        const struct image_band all = image_band_of(&image, probability);
        for (size_t r = 0; r < n_band_rows; r++) {
            memcpy(banded, drawn, 3 * n);
            FOR_BANDS(band, &all, band_rows[r], overlay_halo(3))
            must(probability_draw_band(banded + 3 * (size_t)band.top * (size_t)band.width, &band, 3, err));
            ck_assert_mem_eq(banded, image.pixels, 3 * n);
        }
        free(probability);
        free(banded);
        free(drawn);
        clv_image_release(&image);
    }
}
