/* Refining a map without a model: a border that the map knows stays, a soft one moves to the image's edge. */
#include <math.h>
#include <string.h>

#include "support/support.h"

#define SIDE 64
#define N    (SIDE * SIDE)

/* A bright disc on dark ground, and a map of its place that is a few pixels off, soft by `blur`. */
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

START_TEST(what_a_map_knows_to_the_pixel_stays)
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
END_TEST

START_TEST(a_soft_border_moves_to_the_edge)
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
END_TEST

/* Between blurs of 2 and 5 pixels the share of colours rises. */
START_TEST(colours_count_the_more_the_softer_the_border_is)
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
END_TEST

START_TEST(a_map_without_a_border_is_taken_as_it_is)
{
    static struct scene s;
    draw(&s, 8);
    for (int32_t p = 0; p < N; p++)
        s.map[p] = 0.7F;
    must(clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    for (int32_t p = 0; p < N; p++)
        ck_assert_int_eq(s.labels[p], 1);
}
END_TEST

START_TEST(what_is_no_probability_is_named_and_changes_nothing)
{
    static struct scene s;
    draw(&s, 8);
    memset(s.labels, 7, N);
    s.map[3 * SIDE + 5] = NAN;
    must_fail(CLV_ERR_DATA, "pixel (5, 3): its probability of label 1 is",
              clv_refine_probabilities(s.labels, &s.image, s.map, 2, NULL, err));
    s.map[3 * SIDE + 5] = 1.5F;
    must_fail(CLV_ERR_DATA, "pixel (5, 3): its probability of label 0 is 1.5",
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
END_TEST

Suite *refine_probabilities_suite(void);
Suite *refine_probabilities_suite(void)
{
    Suite *suite = suite_create("refine_probabilities");
    TCase *tests = tcase_create("refine_probabilities");
    tcase_add_test(tests, what_a_map_knows_to_the_pixel_stays);
    tcase_add_test(tests, a_soft_border_moves_to_the_edge);
    tcase_add_test(tests, colours_count_the_more_the_softer_the_border_is);
    tcase_add_test(tests, a_map_without_a_border_is_taken_as_it_is);
    tcase_add_test(tests, what_is_no_probability_is_named_and_changes_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
