/* Refining a map without a model: a border that the map knows stays, a soft one moves to the image's edge. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

#define SIDE 64
#define N    (SIDE * SIDE)

/* A bright disc on dark background, and a map of its place that is a few pixels off, soft by `blur`. */
struct scene {
    uint8_t pixels[N * 3], truth[N], labels[N];
    float map[3 * N];
    struct clv_image image;
};

static void draw(struct scene *s, double blur)
{
    for (int32_t p = 0; p < N; p++) {
        double x = p % SIDE - 31.5, y = p / SIDE - 31.5;
        s->truth[p] = x * x + y * y < 16 * 16;
        memset(s->pixels + 3 * p, s->truth[p] ? 190 : 60, 3);
        double beyond = 18 - sqrt(x * x + y * y); /* the map's disc has a radius of 18 */
        s->map[p] = blur > 0 ? (float)(0.5 * (1 + erf(beyond / (1.4142135623730951 * blur)))) : beyond > 0;
    }
    s->image = (struct clv_image){SIDE, SIDE, 3, s->pixels};
}

static int32_t count_wrong(const struct scene *s)
{
    int32_t n = 0;
    for (int32_t p = 0; p < N; p++)
        n += s->labels[p] != s->truth[p];
    return n;
}

TEST(what_a_map_knows_to_the_pixel_stays)
{
    static struct scene s;
    static const double blurs[] = {0, 1};
    for (int k = 0; k < 2; k++) {
        draw(&s, blurs[k]);
        must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
        for (int32_t p = 0; p < N; p++)
            ck_assert_int_eq(s.labels[p], s.map[p] > 0.5F);
        ck_assert_int_gt(count_wrong(&s), 200);
    }
}

TEST(a_soft_border_moves_to_the_edge)
{
    static struct scene s;
    draw(&s, 8);
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    ck_assert_int_le(count_wrong(&s), 8);
    /* The same of three labels, of which the last is nowhere. */
    memcpy(s.map + N, s.map, N * sizeof *s.map);
    for (int32_t p = 0; p < N; p++) {
        s.map[p] = 1 - s.map[N + p];
        s.map[2 * N + p] = 0;
    }
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 3, NULL, err));
    ck_assert_int_le(count_wrong(&s), 8);
}

/* Between blurs of 2 and 5 pixels the share of colours rises. */
TEST(colours_count_the_more_the_softer_the_border_is)
{
    static struct scene s;
    int32_t before = N;
    for (int blur = 2; blur <= 8; blur += 2) {
        draw(&s, blur);
        must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
        ck_assert_int_le(count_wrong(&s), before);
        before = count_wrong(&s);
    }
}

/* A straight edge blurred by a Gaussian: no share up to 2 pixels, all of it from 5 on. */
TEST(the_share_of_colours_is_that_of_the_blur)
{
    static struct scene s;
    double share;
    for (double blur = 0.5; blur < 7; blur += 0.5) {
        for (int32_t p = 0; p < N; p++) {
            s.map[p] = (float)(0.5 * (1 + erf((p % SIDE - 31.5) / (1.4142135623730951 * blur))));
            s.map[2 * N + p] = 0; /* a third label that is nowhere */
        }
        must(clv_refine_share(&share, s.map, 2, SIDE, SIDE, err));
        ck_assert_double_eq_tol(share, fmin(fmax((blur - 2) / 3, 0), 1), 0.001);
        for (int32_t p = 0; p < N; p++)
            s.map[N + p] = 1 - s.map[p];
        must(clv_refine_share(&share, s.map, 3, SIDE, SIDE, err));
        ck_assert_double_eq_tol(share, fmin(fmax((blur - 2) / 3, 0), 1), 0.001);
    }
    s.map[7] = NAN;
    must_fail(CLV_ERR_DATA, "pixel (7, 0)", clv_refine_share(&share, s.map, 2, SIDE, SIDE, err));
    must_fail(CLV_ERR_USAGE, "not 0x64", clv_refine_share(&share, s.map, 2, 0, SIDE, err));
    must_fail(CLV_ERR_USAGE, "256 labels", clv_refine_share(&share, s.map, 256, SIDE, SIDE, err));
}

/* Values that rounding and cubic resizing move out of 0..1 are clipped; logits are not probabilities. */
TEST(values_just_outside_of_probabilities_are_clipped)
{
    static struct scene s, inside;
    double share[2];
    draw(&s, 8);
    for (uint64_t p = 0; p < N; p++)
        s.map[p] += 0.6F * (s.map[p] - 0.5F);
    inside = s;
    for (int p = 0; p < N; p++)
        inside.map[p] = fminf(fmaxf(s.map[p], 0), 1);
    s.map[9] = inside.map[9] > 0.5F ? 1.00000012F : -1e-12F;
    inside.map[9] = inside.map[9] > 0.5F;
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    must(clv_refine_probabilities(inside.labels, &s.image, inside.map, 2, NULL, err));
    ck_assert_mem_eq(s.labels, inside.labels, N);
    must(clv_refine_share(&share[0], s.map, 2, SIDE, SIDE, err));
    must(clv_refine_share(&share[1], inside.map, 2, SIDE, SIDE, err));
    ck_assert(share[0] == share[1]);
    for (int p = 0; p < N; p++) {
        s.map[N + p] = 1 - s.map[p];
        inside.map[N + p] = 1 - inside.map[p];
        s.map[2 * N + p] = inside.map[2 * N + p] = 0;
    }
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 3, NULL, err));
    must(clv_refine_probabilities(inside.labels, &s.image, inside.map, 3, NULL, err));
    ck_assert_mem_eq(s.labels, inside.labels, N);
    s.map[5] = -0.51F;
    must_fail(CLV_ERR_DATA, "pixel (5, 0): its probability of label 1 is -0.51, not in 0..1",
              clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
}

/* Such as a margin that a network did not cover. The map is soft, so colours count. */
TEST(pixels_without_any_probability_follow_their_neighbours)
{
    static struct scene s;
    double share;
    draw(&s, 8);
    for (int p = 0; p < N; p++) {
        s.map[N + p] = s.map[p];
        s.map[p] = 1 - s.map[p];
        s.map[2 * N + p] = 0;
    }
    s.map[5] = s.map[N + 5] = 0;
    s.map[32 * SIDE + 32] = s.map[N + 32 * SIDE + 32] = 0; /* the middle of the disc */
    must(clv_refine_share(&share, s.map, 3, SIDE, SIDE, err));
    ck_assert_double_gt(share, 0);
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 3, NULL, err));
    ck_assert_int_eq(s.labels[5], 0);
    ck_assert_int_eq(s.labels[32 * SIDE + 32], 1);
    ck_assert(s.map[5] == 0 && s.map[N + 5] == 0);
}

/* A staircase of 45 degrees counts as its diagonal. */
TEST(the_blur_is_what_is_unsure_by_the_length_of_the_border)
{
    static struct scene s;
    double share, unsure = 0;
    for (int32_t p = 0; p < N; p++) {
        double beyond = (p % SIDE + p / SIDE - SIDE + 0.5) / 1.4142135623730951;
        s.map[p] = (float)(0.5 * (1 + erf(beyond / (1.4142135623730951 * 3.5))));
        unsure += 4 * (double)s.map[p] * (1 - (double)s.map[p]);
    }
    must(clv_refine_share(&share, s.map, 2, SIDE, SIDE, err));
    double blur = unsure / ((SIDE - 1) * 1.4142135623730951 + 1) / (4 / sqrt(acos(-1)));
    ck_assert_double_eq_tol(share, (blur - 2) / 3, 0.01);
}

/* A tenth of the pixels turned round in a map that is sharp. */
TEST(weights_of_the_caller_count_however_sharp_the_map_is)
{
    static struct scene s;
    struct clv_refine_options options;
    draw(&s, 0);
    for (uint64_t p = 0; p < N; p++)
        s.map[p] = rng_below(3, 0, p, 10) ? 0.8F * s.truth[p] + 0.1F : 0.9F - 0.8F * s.truth[p];
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    ck_assert_int_gt(count_wrong(&s), 300);
    clv_refine_probabilities_defaults(&options, 2);
    options.prior = 1;
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, &options, err));
    ck_assert_int_lt(count_wrong(&s), 20);
    options.coupling = options.nearby = options.overall = 0;
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, &options, err));
    for (int32_t p = 0; p < N; p++)
        ck_assert_int_eq(s.labels[p], s.map[p] > 0.5F);
    for (int32_t p = 0; p < N; p++) {
        s.map[N + p] = s.map[p];
        s.map[p] = 1 - s.map[p];
        s.map[2 * N + p] = 0;
    }
    clv_refine_probabilities_defaults(&options, 3);
    options.coupling = 3;
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 3, &options, err));
    ck_assert_int_lt(count_wrong(&s), 20);
}

/* A soft map with noise in its image: the share scales the weights of colours and couplings, of two labels and of
 * three, and the map's own stays. */
TEST(a_share_of_colours_is_that_share_of_their_weights)
{
    static struct scene s;
    uint8_t expected[N];
    for (int32_t n_labels = 2; n_labels <= 3; n_labels++) {
        struct clv_refine_options options, shared;
        double share;
        int n_unlike[4] = {0};
        draw(&s, 3.5);
        for (uint64_t p = 0; p < N; p++) {
            for (int c = 0; c < 3; c++)
                s.pixels[3 * p + (size_t)c] =
                    (uint8_t)(s.pixels[3 * p + (size_t)c] - 50 + rng_below(5, 0, 3 * p + (size_t)c, 100));
            if (n_labels == 3) {
                s.map[N + p] = s.map[p] * 0.9F;
                s.map[2 * N + p] = s.map[p] * 0.1F;
                s.map[p] = 1 - s.map[p];
            }
        }
        must(clv_refine_share(&share, s.map, n_labels, SIDE, SIDE, err));
        ck_assert(share > 0.2 && share < 0.8);
        clv_refine_probabilities_defaults(&options, n_labels);
        shared = options;
        shared.nearby *= share;
        shared.overall *= share;
        shared.coupling *= share;
        must(clv_refine_probabilities(expected, &s.image, s.map, n_labels, &shared, err));
        must(clv_refine_probabilities(s.labels, &s.image, s.map, n_labels, NULL, err));
        ck_assert_mem_eq(s.labels, expected, N);
        for (int k = 0; k < 4; k++) { /* of two labels each weight matters here */
            struct clv_refine_options other = shared;
            double *weights[] = {&other.nearby, &other.overall, &other.coupling, &other.prior};
            *weights[k] = k < 3 ? *weights[k] / share : *weights[k] * share;
            must(clv_refine_probabilities(s.labels, &s.image, s.map, n_labels, &other, err));
            for (int32_t p = 0; p < N; p++)
                n_unlike[k] += s.labels[p] != expected[p];
            ck_assert_msg(n_unlike[k] > 0 || n_labels > 2, "weight %d does not matter", k);
        }
    }
}

TEST(a_map_without_a_border_is_taken_as_it_is)
{
    static struct scene s;
    draw(&s, 8);
    for (int32_t p = 0; p < N; p++)
        s.map[p] = 0.7F;
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    for (int32_t p = 0; p < N; p++)
        ck_assert_int_eq(s.labels[p], 1);
}

TEST(what_is_no_probability_is_named_and_changes_nothing)
{
    static struct scene s;
    draw(&s, 8);
    memset(s.labels, 7, N);
    s.map[3 * SIDE + 5] = NAN;
    must_fail(CLV_ERR_DATA, "pixel (5, 3): its probability of label 1 is",
              clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    s.map[3 * SIDE + 5] = 1.75F;
    must_fail(CLV_ERR_DATA, "pixel (5, 3): its probability of label 0 is 1.75",
              clv_refine_probabilities(s.labels, &s.image, s.map, 3, NULL, err));
    must_fail(CLV_ERR_USAGE, "1 labels", clv_refine_probabilities(s.labels, &s.image, s.map, 1, NULL, err));
    s.map[3 * SIDE + 5] = 0.5F;
    struct clv_refine_options options;
    clv_refine_probabilities_defaults(&options, 2);
    options.coupling = -1;
    must_fail(CLV_ERR_USAGE, "coupling is -1", clv_refine_probabilities(s.labels, &s.image, s.map, 2, &options, err));
    for (int32_t p = 0; p < N; p++)
        ck_assert_int_eq(s.labels[p], 7);
}

/* A map without borders has no blur, and its labels are the likeliest. */
TEST(of_equal_labels_the_first_is_taken)
{
    static const float maps[][3] = {{0.25F, 0.375F, 0.375F}, {0.25F, 0.25F, 0.25F}, {0.375F, 0.25F, 0.375F}, {0, 0, 1}};
    static const uint8_t expected[] = {1, 0, 0, 2};
    uint8_t pixels[12] = {9, 80, 7}, labels[4];
    float map[12];
    const struct clv_image image = {2, 2, 3, pixels};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 12; i++)
            map[i] = maps[k][i / 4];
        must(clv_refine_probabilities(labels, &image, map, 3, NULL, err));
        for (int p = 0; p < 4; p++)
            ck_assert_int_eq(labels[p], expected[k]);
    }
    for (int p = 0; p < 4; p++)
        map[p] = 0.5F;
    must(clv_refine_probabilities(labels, &image, map, 2, NULL, err));
    for (int p = 0; p < 4; p++)
        ck_assert_int_eq(labels[p], 0);
}

TEST(as_many_labels_as_there_may_be_have_a_share)
{
    static float map[2 * CLV_MAX_LABELS];
    double share = -1;
    map[0] = map[2 * 254 + 1] = 1;
    must(clv_refine_share(&share, map, CLV_MAX_LABELS, 2, 1, err));
    ck_assert_double_eq(share, 0);
    must_fail(CLV_ERR_USAGE, "1 labels", clv_refine_share(&share, map, 1, 2, 1, err));
    must_fail(CLV_ERR_USAGE, "not 2x0", clv_refine_share(&share, map, 2, 2, 0, err));
    must_fail(CLV_ERR_USAGE, "not 8192x8193", clv_refine_share(&share, map, 2, 8192, 8193, err));
}

/* Of three labels, a step at which a third counts: 4 q (1 - q) by the length of the border, q against the next best. */
TEST(how_sure_a_map_is_of_a_label_is_against_the_next_best)
{
    static float map[3 * N];
    uint8_t likeliest[N];
    double share, unsure = 0, length = 0;
    for (int32_t p = 0; p < N; p++) {
        double right = fmin(fmax((p % SIDE + 0.3 * (p / SIDE) - 30) / 7, 0), 1);
        map[2 * N + p] = 0.02F;
        map[p] = (float)(0.98 * (1 - right));
        map[N + p] = (float)(0.98 * right);
        likeliest[p] = map[N + p] > map[p];
        double best = (double)fmaxf(map[p], map[N + p]), next = (double)fmaxf(fminf(map[p], map[N + p]), 0.02F);
        unsure += 4 * best * next / pow(best + next, 2);
    }
    for (int32_t p = 0; p < N; p++) {
        bool across = p % SIDE < SIDE - 1 && likeliest[p] != likeliest[p + 1];
        bool down = p / SIDE < SIDE - 1 && likeliest[p] != likeliest[p + SIDE];
        length += across && down ? sqrt(2) : across || down;
    }
    must(clv_refine_share(&share, map, 3, SIDE, SIDE, err));
    ck_assert(share > 0.2 && share < 0.8);
    ck_assert_double_eq_tol(share, (unsure / length / (4 / sqrt(acos(-1))) - 2) / 3, 1e-5);
}

/* clv_refine of log odds, clipped at 0.0025 and 0.9975, in units of their mean size and softly at 3. */
TEST(a_map_s_log_odds_are_the_prior)
{
    static struct scene s;
    static float prior[N];
    uint8_t expected[N];
    struct clv_refine_options options = {.prior = 1, .nearby = 0.5, .overall = 0.25, .rounds = 1};
    int n_other = 0;
    double size = 0;
    draw(&s, 8);
    for (uint64_t p = 0; p < N; p++) {
        s.map[p] = (float)fmin(fmax((double)s.map[p] + 0.8 * rng_uniform(3, 1, p) - 0.4, 0), 1); /* 0 and 1, too */
        expected[p] = s.map[p] > 0.5F;
        prior[p] = (float)log(fmin(fmax((double)s.map[p], 0.0025), 0.9975) /
                              (1 - fmin(fmax((double)s.map[p], 0.0025), 0.9975)));
        size += fabs((double)prior[p]) / N;
    }
    for (int p = 0; p < N; p++)
        prior[p] = (float)(3 * tanh((double)prior[p] / (3 * size)));
    options.coupling = 3;
    must(clv_refine(expected, &s.image, prior, NULL, &options, err));
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, &options, err));
    for (int p = 0; p < N; p++)
        n_other += s.labels[p] != expected[p];
    ck_assert_int_le(n_other, 1); /* but for rounding */
}
