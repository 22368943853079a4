#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"
#include "support/support.h"

#define SIDE 48

static const struct clv_refine_options nothing = {.rounds = 1};

/* A bright disc on dark background, both noisy, and a labelling of it by blocks of 8 x 8. */
struct disc {
    uint8_t pixels[SIDE * SIDE * 3], truth[SIDE * SIDE], blocks[SIDE * SIDE];
    struct clv_image image;
};

static void draw_disc(struct disc *d)
{
    for (int32_t p = 0; p < SIDE * SIDE; p++) {
        int32_t x = p % SIDE - 24, y = p / SIDE - 22;
        d->truth[p] = x * x + y * y < 15 * 15;
        for (int c = 0; c < 3; c++)
            d->pixels[3 * p + c] =
                (uint8_t)((d->truth[p] ? 150 : 90) + (int)rng_below(3, 0, (uint64_t)(3 * p + c), 24));
    }
    for (int32_t p = 0; p < SIDE * SIDE; p++) {
        int32_t corner = p / SIDE / 8 * 8 * SIDE + p % SIDE / 8 * 8, n_foreground = 0;
        for (int32_t k = 0; k < 64; k++)
            n_foreground += d->truth[corner + k / 8 * SIDE + k % 8];
        d->blocks[p] = n_foreground > 32;
    }
    d->image = (struct clv_image){SIDE, SIDE, 3, d->pixels};
}

static int32_t count_different(const uint8_t *a, const uint8_t *b, int32_t n)
{
    int32_t different = 0;
    for (int32_t p = 0; p < n; p++)
        different += a[p] != b[p];
    return different;
}

TEST(a_blocky_border_moves_to_the_edge)
{
    static struct disc d;
    uint8_t labels[SIDE * SIDE];
    draw_disc(&d);
    memcpy(labels, d.blocks, sizeof labels);
    must(clv_refine(labels, &d.image, NULL, NULL, NULL, err));
    ck_assert_int_gt(count_different(d.blocks, d.truth, SIDE * SIDE), 80);
    ck_assert_int_le(count_different(labels, d.truth, SIDE * SIDE), 4);
}

/* The documented energy of a labelling by prior and coupling alone. */
static double energy_of(const uint8_t *labels, const struct clv_image *image, const float *prior, double coupling)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    int32_t w = image->width, h = image->height, n_pairs = 0;
    double energy = 0, mean = 0, squares[4][16];
    for (int32_t p = 0; p < w * h; p++)
        for (int k = 0; k < 4; k++) {
            int32_t x = p % w + dx[k], y = p / w + dy[k];
            squares[k][p] = 0;
            if (x < 0 || x >= w || y >= h)
                continue;
            for (int c = 0; c < 3; c++)
                squares[k][p] += pow(image->pixels[3 * p + c] - image->pixels[3 * (y * w + x) + c], 2);
            mean += k < 2 ? squares[k][p] : 0;
            n_pairs += k < 2;
        }
    mean /= n_pairs;
    for (int32_t p = 0; p < w * h; p++) {
        energy += labels[p] ? 0 : (double)prior[p];
        for (int k = 0; k < 4; k++) {
            int32_t x = p % w + dx[k], y = p / w + dy[k];
            if (x < 0 || x >= w || y >= h || labels[p] == labels[y * w + x])
                continue;
            energy += coupling * sqrt(w * h) / 256 * (0.1 + 0.9 * exp(-squares[k][p] / (2 * mean))) /
                      sqrt(dx[k] * dx[k] + dy[k] * dy[k]);
        }
    }
    return energy;
}

TEST(the_result_is_the_minimum_of_the_documented_energy)
{
    struct clv_refine_options options = {.prior = 1, .coupling = 40, .rounds = 1};
    for (uint64_t t = 0; t < 20; t++) {
        uint8_t pixels[12 * 3], labels[12], best[12] = {0}, candidate[12];
        float prior[12];
        struct clv_image image = {4, 3, 3, pixels};
        double least = INFINITY;
        for (uint64_t k = 0; k < 36; k++)
            pixels[k] = (uint8_t)rng_below(4, t, k, 256);
        for (uint64_t p = 0; p < 12; p++) {
            prior[p] = (float)rng_normal(4, t, 100 + p);
            labels[p] = p % 2;
        }
        must(clv_refine(labels, &image, prior, NULL, &options, err));
        for (int32_t code = 0; code < 1 << 12; code++) {
            for (int p = 0; p < 12; p++)
                candidate[p] = code >> p & 1;
            double energy = energy_of(candidate, &image, prior, options.coupling);
            if (energy < least)
                memcpy(best, candidate, sizeof best);
            least = energy < least ? energy : least;
        }
        ck_assert_double_lt(energy_of(labels, &image, prior, options.coupling), least + 1e-5);
    }
}

TEST(a_prior_alone_decides_by_its_sign)
{
    static struct disc d;
    struct clv_refine_options options = nothing;
    float prior[SIDE * SIDE];
    uint8_t labels[SIDE * SIDE];
    options.prior = 2;
    draw_disc(&d);
    for (int32_t p = 0; p < SIDE * SIDE; p++)
        prior[p] = (float)rng_normal(5, 0, (uint64_t)p);
    memcpy(labels, d.blocks, sizeof labels);
    must(clv_refine(labels, &d.image, prior, NULL, &options, err));
    for (int32_t p = 0; p < SIDE * SIDE; p++)
        ck_assert_int_eq(labels[p], prior[p] > 0);
}

TEST(fixed_pixels_keep_their_labels_against_everything)
{
    static struct disc d;
    struct clv_refine_options options;
    uint8_t labels[SIDE * SIDE], is_fixed[SIDE * SIDE] = {0};
    clv_refine_defaults(&options);
    options.coupling = 500;
    options.rounds = 3;
    draw_disc(&d);
    memcpy(labels, d.blocks, sizeof labels);
    labels[24 * SIDE + 24] = 0; /* in the middle of the disc */
    labels[0] = 1;
    is_fixed[24 * SIDE + 24] = is_fixed[0] = 1;
    must(clv_refine(labels, &d.image, NULL, is_fixed, &options, err));
    ck_assert_int_eq(labels[24 * SIDE + 24], 0);
    ck_assert_int_eq(labels[0], 1);
    must(clv_refine(labels, &d.image, NULL, NULL, &options, err)); /* as it would be otherwise */
    ck_assert_int_eq(labels[24 * SIDE + 24], labels[0]);
}

TEST(a_labelling_without_foreground_or_background_stays)
{
    static struct disc d;
    uint8_t labels[SIDE * SIDE];
    draw_disc(&d);
    for (int value = 0; value < 2; value++) {
        memset(labels, value, sizeof labels);
        must(clv_refine(labels, &d.image, NULL, NULL, NULL, err));
        for (int32_t p = 0; p < SIDE * SIDE; p++)
            ck_assert_int_eq(labels[p], value);
    }
}

TEST(a_single_pixel_is_an_image)
{
    uint8_t pixel[3] = {1, 2, 3}, label = 1;
    struct clv_image image = {1, 1, 3, pixel};
    must(clv_refine(&label, &image, NULL, NULL, NULL, err));
    ck_assert_int_eq(label, 1);
}

TEST(unsound_arguments_are_refused_by_name_and_leave_the_labels)
{
    static struct disc d;
    struct clv_refine_options options;
    static float prior[SIDE * SIDE];
    uint8_t labels[SIDE * SIDE];
    draw_disc(&d);
    memcpy(labels, d.blocks, sizeof labels);
    prior[SIDE + 5] = NAN;
    must_fail(CLV_ERR_DATA, "pixel (5, 1): its prior is", clv_refine(labels, &d.image, prior, NULL, NULL, err));
    clv_refine_defaults(&options);
    options.coupling = -1;
    must_fail(CLV_ERR_USAGE, "coupling is -1", clv_refine(labels, &d.image, NULL, NULL, &options, err));
    clv_refine_defaults(&options);
    options.nearby = NAN;
    must_fail(CLV_ERR_USAGE, "nearby is", clv_refine(labels, &d.image, NULL, NULL, &options, err));
    clv_refine_defaults(&options);
    options.rounds = 0;
    must_fail(CLV_ERR_USAGE, "0 rounds", clv_refine(labels, &d.image, NULL, NULL, &options, err));
    d.image.channels = 1;
    must_fail(CLV_ERR_USAGE, "48x48 with 1 channels", clv_refine(labels, &d.image, NULL, NULL, NULL, err));
    d.image.channels = 3;
    ck_assert_mem_eq(labels, d.blocks, sizeof labels);
    labels[2 * SIDE + 7] = 2;
    must_fail(CLV_ERR_USAGE, "pixel (7, 2) has 2", clv_refine(labels, &d.image, NULL, NULL, NULL, err));
}

TEST(a_prior_has_the_margins_signs_and_unit_mean_where_they_are_alike)
{
    int32_t nodes[] = {0, 1, 2, 0};
    float area[] = {4, 2, 2};
    struct clv_example example = {.width = 4, .height = 2, .area = area};
    example.superpixels = (struct clv_superpixels){.width = 4, .height = 1, .n = 3, .labels = nodes};
    float prior[8];
    must(clv_refine_prior(prior, &example, (double[]){2e-6, -2e-6, 2e-6}, err));
    for (int p = 0; p < 8; p++) {
        ck_assert_int_eq(prior[p] > 0, p % 4 != 1);
        ck_assert_double_eq_tol(fabs(prior[p]), 3 * tanh(1 / 3.0), 1e-6);
    }
    must(clv_refine_prior(prior, &example, (double[]){1, -2, 4}, err)); /* of 2 in the mean */
    for (int p = 0; p < 8; p++)
        ck_assert_double_eq_tol((double)prior[p], 3 * tanh((double[]){1, -2, 4, 1}[p % 4] / 6), 1e-6);
    must(clv_refine_prior(prior, &example, (double[]){0, 0, 0}, err));
    ck_assert_float_eq(prior[0], 0);
}

/* No set of pixels gains by going over to one label: 4 x 3 pixels, every label, every one of the 4096 sets. */
TEST(no_expansion_improves_refined_labels)
{
    struct clv_refine_options options = {.prior = 1, .rounds = 1};
    static const float zeros[12];
    for (uint64_t t = 0; t < 16; t++) {
        uint8_t pixels[12 * 3], labels[12], moved[12];
        float votes[4 * 12] = {0}; /* label 3 has none */
        struct clv_image image = {4, 3, 3, pixels};
        options.coupling = t % 4 == 0 ? 0 : 20 * (double)(t % 4);
        for (uint64_t k = 0; k < 36; k++)
            pixels[k] = (uint8_t)rng_below(4, t, k, 256);
        for (uint64_t p = 0; p < 12; p++) {
            labels[p] = (uint8_t)rng_below(4, t, 200 + p, 3);
            votes[labels[p] * 12 + p] = (float)rng_uniform(4, t, 300 + p);
            votes[(labels[p] + 1) % 3 * 12 + p] = 1 - votes[labels[p] * 12 + p];
        }
        must(clv_refine_labels(labels, &image, votes, 4, &options, err));
        double least = INFINITY, lost = 0;
        for (int32_t code = -1; code < 3 << 12; code++) { /* -1: the result itself */
            double other = 0;
            for (int p = 0; p < 12; p++) {
                moved[p] = code >= 0 && code >> p & 1 ? (uint8_t)(code >> 12) : labels[p];
                other -= (double)votes[moved[p] * 12 + p];
            }
            other += energy_of(moved, &image, zeros, options.coupling);
            least = other < least ? other : least;
            lost = code < 0 ? other : lost;
        }
        ck_assert_double_lt(lost, least + 1e-5);
    }
}

TEST(borders_of_three_labels_move_to_the_edges)
{
    static uint8_t pixels[SIDE * SIDE * 3], truth[SIDE * SIDE], labels[SIDE * SIDE];
    static float votes[3 * SIDE * SIDE];
    static const uint8_t colours[3][3] = {{40, 60, 160}, {60, 140, 50}, {180, 60, 50}};
    struct clv_image image = {SIDE, SIDE, 3, pixels};
    for (int32_t p = 0; p < SIDE * SIDE; p++) {
        int32_t x = p % SIDE - 20, y = p / SIDE - 26;
        truth[p] = x * x + y * y < 150 ? 2 : p / SIDE < 26;
        labels[p] = x / 6 * 6 * (x / 6 * 6) + y / 6 * 6 * (y / 6 * 6) < 150 ? 2 : p / SIDE < 29;
        for (int a = 0; a < 3; a++)
            votes[a * SIDE * SIDE + p] = labels[p] == a ? 0.6F : 0.2F;
        for (int c = 0; c < 3; c++)
            pixels[3 * p + c] = (uint8_t)(colours[truth[p]][c] + (int)rng_below(3, 0, (uint64_t)(3 * p + c), 24));
    }
    ck_assert_int_gt(count_different(labels, truth, SIDE * SIDE), 150);
    must(clv_refine_labels(labels, &image, votes, 3, NULL, err));
    ck_assert_int_le(count_different(labels, truth, SIDE * SIDE), 8);
}

TEST(wrong_votes_are_named_and_change_nothing)
{
    static struct disc d;
    static float votes[2 * SIDE * SIDE];
    uint8_t labels[SIDE * SIDE];
    draw_disc(&d);
    memcpy(labels, d.blocks, sizeof labels);
    must_fail(CLV_ERR_USAGE, "pixel (0, 0) has label 0, which has no vote",
              clv_refine_labels(labels, &d.image, votes, 2, NULL, err));
    for (int32_t p = 0; p < SIDE * SIDE; p++)
        votes[p] = votes[SIDE * SIDE + p] = 0.5F;
    votes[SIDE * SIDE + 3 * SIDE + 7] = NAN;
    must_fail(CLV_ERR_DATA, "pixel (7, 3): its vote for label 1",
              clv_refine_labels(labels, &d.image, votes, 2, NULL, err));
    must_fail(CLV_ERR_USAGE, "1 labels", clv_refine_labels(labels, &d.image, votes, 1, NULL, err));
    struct clv_refine_options options = {.rounds = 0};
    must_fail(CLV_ERR_USAGE, "0 rounds", clv_refine_labels(labels, &d.image, votes, 2, &options, err));
    ck_assert_mem_eq(labels, d.blocks, sizeof labels);
}

/* Each pixel by itself: a prior's weight, and the balance of log 3, of a foreground that is a quarter of the image. */
TEST(without_couplings_a_pixel_is_foreground_where_its_terms_sum_to_more_than_0)
{
    static const struct clv_refine_options options = {.prior = 2, .balance = 0.5, .rounds = 1}; /* 0.549 */
    static const uint8_t expected[] = {1, 0, 1, 0};
    uint8_t pixels[12] = {0}, labels[] = {0, 1, 0, 0};
    const struct clv_image image = {4, 1, 3, pixels};
    must(clv_refine(labels, &image, (float[]){-0.27F, -0.28F, -0.274F, -0.275F}, NULL, &options, err));
    ck_assert_mem_eq(labels, expected, 4);
}

/* The terms of colours are those of near_colours, whose tests define them. */
TEST(colours_count_by_their_weights_and_are_learned_from_the_labels_before)
{
    static struct disc d;
    OWNED(near_colours_release) struct near_colours colours = {0};
    struct clv_refine_options options = {.nearby = 0.7, .overall = 0.4, .balance = 0.3, .rounds = 2};
    uint8_t expected[SIDE * SIDE], labels[SIDE * SIDE];
    draw_disc(&d);
    memcpy(labels, d.blocks, sizeof labels);
    memcpy(expected, d.blocks, sizeof labels);
    must(near_colours_init(&colours, &d.image, err));
    OWNED_ARRAY float *score = calloc(colours.n_cells, sizeof *score);
    for (int round = 0; round < 2; round++) {
        int n_foreground = 0;
        for (int p = 0; p < SIDE * SIDE; p++)
            n_foreground += expected[p];
        near_colours_learn(&colours, expected, 1);
        near_colours_score(score, &colours, 0.7, 0.4);
        for (int p = 0; p < SIDE * SIDE; p++)
            expected[p] = (double)score[near_colours_cell(&colours, p % SIDE, p / SIDE)] +
                              0.3 * log((SIDE * SIDE - n_foreground) / (double)n_foreground) >
                          0;
    }
    must(clv_refine(labels, &d.image, NULL, NULL, &options, err));
    ck_assert_mem_eq(labels, expected, sizeof labels);
    ck_assert_int_gt(count_different(labels, d.blocks, SIDE * SIDE), 50);
}

TEST(rounds_are_refining_again)
{
    static struct disc d;
    struct clv_refine_options options;
    uint8_t at_once[SIDE * SIDE], by_turns[SIDE * SIDE];
    clv_refine_defaults(&options);
    options.coupling = 12;
    draw_disc(&d);
    memcpy(at_once, d.blocks, sizeof at_once);
    memcpy(by_turns, d.blocks, sizeof by_turns);
    for (int round = 0; round < 3; round++)
        must(clv_refine(by_turns, &d.image, NULL, NULL, &options, err));
    options.rounds = 3;
    must(clv_refine(at_once, &d.image, NULL, NULL, &options, err));
    ck_assert_mem_eq(at_once, by_turns, sizeof at_once);
}

TEST(weights_are_taken_up_to_a_million_and_images_up_to_their_most_pixels)
{
    struct clv_refine_options options;
    static const char *const names[] = {"prior", "nearby", "overall", "balance", "coupling"};
    double *const weights[] = {&options.prior, &options.nearby, &options.overall, &options.balance, &options.coupling};
    uint8_t pixel[3] = {1, 2, 3}, label = 1;
    const struct clv_image image = {1, 1, 3, pixel}, none = {0, 1, 3, pixel}, flat = {1, 0, 3, pixel};
    const struct clv_image large = {1 << 13, (1 << 13) + 1, 3, pixel};
    for (int k = 0; k < 5; k++) {
        clv_refine_defaults(&options);
        *weights[k] = 1e6;
        must(clv_refine(&label, &image, NULL, NULL, &options, err));
        *weights[k] = 1000001;
        must_fail(CLV_ERR_USAGE, formatted("%s is 1e+06, must be 0..1e6", names[k]),
                  clv_refine(&label, &image, NULL, NULL, &options, err));
        *weights[k] = -1e-6;
        must_fail(CLV_ERR_USAGE, formatted("%s is -1e-06", names[k]),
                  clv_refine(&label, &image, NULL, NULL, &options, err));
        *weights[k] = 0;
        must(clv_refine(&label, &image, NULL, NULL, &options, err));
    }
    must_fail(CLV_ERR_USAGE, "not 0x1", clv_refine(&label, &none, NULL, NULL, NULL, err));
    must_fail(CLV_ERR_USAGE, "not 1x0", clv_refine(&label, &flat, NULL, NULL, NULL, err));
    must_fail(CLV_ERR_USAGE, "not 8192x8193", clv_refine(&label, &large, NULL, NULL, NULL, err));
    must_fail(CLV_ERR_USAGE, "not 0x1", clv_refine_labels(&label, &none, NULL, 2, NULL, err));
    must_fail(CLV_ERR_USAGE, "not 1x0", clv_refine_labels(&label, &flat, NULL, 2, NULL, err));
    must_fail(CLV_ERR_USAGE, "not 8192x8193", clv_refine_labels(&label, &large, NULL, 2, NULL, err));
}

/* score_a = prior votes_a + half the log ratios of colours in label a against all others. */
TEST(of_many_labels_without_couplings_a_pixel_has_the_one_of_the_highest_score)
{
    enum { W = 24, H = 20, N = W * H, VOTED = 5 };
    static const struct clv_refine_options options = {.prior = 1.5, .nearby = 0.6, .overall = 0.8, .rounds = 1};
    static uint8_t pixels[3 * N];
    static float votes[(VOTED + 1) * N], scores[VOTED][N]; /* no pixel votes for the last label */
    const struct clv_image image = {W, H, 3, pixels};
    uint8_t labels[N], expected[N];
    OWNED(near_colours_release) struct near_colours colours = {0};
    for (uint64_t i = 0; i < 3 * N; i++)
        pixels[i] = (uint8_t)rng_below(4, 7, i, 256);
    for (uint64_t p = 0; p < N; p++) {
        labels[p] = (uint8_t)rng_below(4, 8, p, 3);
        for (uint64_t a = 0; a < VOTED; a++)
            votes[a * N + p] = (float)(0.01 + 0.98 * rng_uniform(4, 9, VOTED * p + a));
    }
    labels[0] = 3; /* colours of one pixel */
    labels[N - 1] = 4;
    must(near_colours_init(&colours, &image, err));
    OWNED_ARRAY float *score = calloc(colours.n_cells, sizeof *score);
    for (uint8_t a = 0; a < VOTED; a++) {
        near_colours_learn(&colours, labels, a);
        near_colours_score(score, &colours, 0.3, 0.4);
        for (int p = 0; p < N; p++)
            scores[a][p] = 1.5F * votes[a * N + p] + score[near_colours_cell(&colours, p % W, p / W)];
    }
    for (int p = 0; p < N; p++) {
        expected[p] = 0;
        for (uint8_t a = 1; a < VOTED; a++)
            expected[p] = scores[a][p] > scores[expected[p]][p] ? a : expected[p];
    }
    must(clv_refine_labels(labels, &image, votes, VOTED + 1, &options, err));
    ck_assert_mem_eq(labels, expected, N);
}

TEST(as_many_labels_as_there_may_be_are_refined)
{
    static float votes[2 * CLV_MAX_LABELS];
    uint8_t pixels[6] = {0, 0, 0, 255, 255, 255}, labels[2] = {254, 0};
    const struct clv_image image = {2, 1, 3, pixels};
    votes[2 * 254] = votes[1] = 1;
    must(clv_refine_labels(labels, &image, votes, CLV_MAX_LABELS, NULL, err));
    ck_assert(labels[0] == 254 && labels[1] == 0);
    must_fail(CLV_ERR_USAGE, "256 labels", clv_refine_labels(labels, &image, votes, 256, NULL, err));
    votes[1] = 1.01F;
    must_fail(CLV_ERR_DATA, "pixel (1, 0): its vote for label 0 is 1.01",
              clv_refine_labels(labels, &image, votes, CLV_MAX_LABELS, NULL, err));
    votes[1] = 1;
    must_fail(CLV_ERR_USAGE, "pixel (0, 0) has label 254, which has no vote",
              clv_refine_labels(labels, &image, votes, 254, NULL, err));
}
