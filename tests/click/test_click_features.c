/* What interactive cutting knows of superpixels, worked out anew from pixels by its definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "click/click.h"
#include "superpixel/superpixel.h"
#include "support/support.h"

enum { W = 60, H = 45, N = W * H };

/* An image that is its own working copy, and a request with all that there can be. */
struct scene {
    struct clv_image image;
    struct click_scene *scene;
    int32_t n;
    uint8_t seeds[N], before[N];
    float prior[N];
    struct click_press press;
    struct click_request request;
};

static void begin(struct scene *self)
{
    memset(self, 0, sizeof *self);
    must(clv_image_new(&self->image, W, H, 3, err));
    for (uint64_t p = 0; p < N; p++) {
        bool is_in = hypot((double)(p % W) - 25, (double)(p / W) - 20) < 14;
        for (uint64_t c = 0; c < 3; c++)
            self->image.pixels[3 * p + c] = (uint8_t)((is_in ? 150 - 30 * c : 60 + 20 * c) + rng_below(5, c, p, 50));
        self->before[p] = hypot((double)(p % W) - 28, (double)(p / W) - 22) < 12;
        self->prior[p] = (float)(rng_normal(5, 4, p) + (is_in ? 1 : -1));
    }
    must(click_scene_new(&self->scene, &self->image, err));
    self->n = self->scene->superpixels.n;
    ck_assert_int_eq(self->scene->superpixels.width, W);
    ck_assert_int_gt(self->n, 200);
    for (int x = 20; x < 30; x++) {
        self->seeds[20 * W + x] = CLICK_FOREGROUND;
        self->seeds[(x % 2 ? 20 : 40) * W + x + 20] = CLICK_BACKGROUND;
        self->seeds[21 * W + x] = x < 25 ? CLICK_BACKGROUND : CLICK_FREE; /* some superpixels have both */
    }
    self->press = (struct click_press){25, 20, true};
    self->request = (struct click_request){
        .seeds = self->seeds, .before = self->before, .latest = &self->press, .n_strokes = 2, .prior = self->prior};
}

static void end(struct scene *self)
{
    click_scene_free(self->scene);
    clv_image_release(&self->image);
}

static int32_t region_of(const struct scene *self, int p)
{
    return self->scene->superpixels.labels[p];
}

TEST(regions_are_their_pixels)
{
    static struct scene s;
    begin(&s);
    static float lab[3 * N];
    const double unit = sqrt(N);
    ck_assert_double_eq_tol((double)s.scene->unit_px, unit, 1e-5);
    clv_rgb_to_lab(lab, s.image.pixels, N);
    for (int32_t i = 0; i < s.n; i++) {
        double sum[5] = {0}, n = 0, square = 0;
        for (int p = 0; p < N; p++) {
            if (region_of(&s, p) != i)
                continue;
            const double values[] = {lab[3 * p], lab[3 * p + 1], lab[3 * p + 2], p % W + 0.5, p / W + 0.5};
            for (int k = 0; k < 5; k++)
                sum[k] += values[k];
            square += values[0] * values[0];
            n++;
        }
        const struct click_region *region = &s.scene->regions[i];
        double x = sum[3] / n, y = sum[4] / n;
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol((double)region->lab[k], sum[k] / n, 1e-4);
        ck_assert_double_eq_tol((double)region->roughness, sqrt(fmax(0, square / n - pow(sum[0] / n, 2))), 1e-2);
        ck_assert_double_eq_tol((double)region->x, x / unit, 1e-6);
        ck_assert_double_eq_tol((double)region->y, y / unit, 1e-6);
        ck_assert_double_eq_tol((double)region->to_border, fmin(fmin(x, W - x), fmin(y, H - y)) / unit, 1e-6);
        ck_assert_double_eq_tol((double)region->share, n / N, 1e-7);
    }
    for (int p = 0; p < N; p++)
        ck_assert_int_eq(click_scene_at(s.scene, p % W, p / W), region_of(&s, p));
    end(&s);
}

TEST(couplings_and_steps_between_regions_are_of_their_colours_and_places)
{
    static struct scene s;
    begin(&s);
    const struct clv_adjacency *adjacency = &s.scene->adjacency;
    double sum = 0, length = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t e = 0; e < adjacency->n_edges; e++) {
            const struct click_region *a = &s.scene->regions[adjacency->edges[e][0]],
                                      *b = &s.scene->regions[adjacency->edges[e][1]];
            double border = (double)adjacency->boundary_length[e];
            double contrast = (double)lab_square_distance(a->lab, b->lab, 1);
            if (!pass) {
                sum += border * contrast;
                length += border;
                continue;
            }
            double mean = sum / length, side = sqrt((double)N / s.n);
            ck_assert_double_eq_tol((double)s.scene->coupling[e],
                                    border / side * (0.1 + 0.9 * exp(-contrast / (0.5 * mean))), 1e-4);
            ck_assert_double_eq_tol(
                (double)s.scene->step[e],
                fmax(0, sqrt(contrast) - 2) + 12 * hypot((double)(a->x - b->x), (double)(a->y - b->y)), 1e-4);
        }
    end(&s);
}

/* The shortest ways from where `distance` is 0. */
static void walk_slowly(double *distance, const struct scene *self)
{
    const struct clv_adjacency *adjacency = &self->scene->adjacency;
    for (int32_t k = 0; k < self->n; k++)
        for (int32_t e = 0; e < 2 * adjacency->n_edges; e++) {
            int32_t from = adjacency->edges[e / 2][e % 2], to = adjacency->edges[e / 2][1 - e % 2];
            distance[to] = fmin(distance[to], distance[from] + (double)self->scene->step[e / 2]);
        }
}

/* Distances of one sort of seeds over steps and straight, and the similarity of colours. */
struct reach {
    double steps[N], distance[N], like[N];
};

static void reach_slowly(struct reach *reach, const struct scene *self, uint8_t sort)
{
    bool is_any = false;
    for (int32_t i = 0; i < self->n; i++) {
        reach->steps[i] = reach->distance[i] = 1000;
        reach->like[i] = 0;
    }
    for (int32_t s = 0; s < self->n; s++) {
        bool has[4] = {false};
        for (int p = 0; p < N; p++)
            if (region_of(self, p) == s)
                has[self->seeds[p]] = true;
        if (!has[sort] || has[CLICK_FOREGROUND + CLICK_BACKGROUND - sort])
            continue;
        is_any = true;
        reach->steps[s] = 0;
        for (int32_t i = 0; i < self->n; i++) {
            const struct click_region *a = &self->scene->regions[s], *b = &self->scene->regions[i];
            reach->distance[i] = fmin(reach->distance[i], hypot((double)(a->x - b->x), (double)(a->y - b->y)));
            reach->like[i] = fmax(reach->like[i], 1 / (1 + (double)lab_square_distance(a->lab, b->lab, 0.43F) / 36));
        }
    }
    for (int32_t i = 0; i < self->n && !is_any; i++) {
        reach->distance[i] = (double)self->scene->regions[i].to_border + 0.15;
        reach->steps[i] = self->scene->regions[i].to_border < 0.02F ? 10 : 1000;
    }
    walk_slowly(reach->steps, self);
}

static double balance(double background, double foreground)
{
    return (background - foreground) / (background + foreground + 1e-3);
}

/* The features of all rounds, of seeds, border and the labels before, and of the latest stroke, away by its radius. */
static void define(double (*f)[CLICK_FEATURES], const struct scene *self)
{
    static struct reach background, foreground;
    static double steps[N], before[N], prior[N];
    const struct click_region *regions = self->scene->regions, *at = &regions[region_of(self, 20 * W + 25)];
    double unit = sqrt(N), nearest = INFINITY;
    reach_slowly(&background, self, CLICK_BACKGROUND);
    reach_slowly(&foreground, self, CLICK_FOREGROUND);
    for (int32_t i = 0; i < self->n; i++) {
        steps[i] = &regions[i] == at ? 0 : 1000;
        before[i] = prior[i] = 0;
    }
    walk_slowly(steps, self);
    for (int p = 0; p < N; p++) {
        int32_t i = region_of(self, p);
        before[i] += self->before[p] / ((double)regions[i].share * N);
        prior[i] += (double)self->prior[p] / ((double)regions[i].share * N);
        if (self->before[p] == self->press.is_foreground)
            nearest = fmin(nearest, hypot(p % W - self->press.x, p / W - self->press.y));
    }
    double radius = fmax(nearest / unit, 0.01), sign = self->press.is_foreground ? 1 : -1;
    for (int32_t i = 0; i < self->n; i++) {
        double away = hypot((double)regions[i].x - (self->press.x + 0.5) / unit,
                            (double)regions[i].y - (self->press.y + 0.5) / unit) /
                      radius;
        double like = 1 / (1 + (double)lab_square_distance(regions[i].lab, at->lab, 0.43F) / 36);
        double close = exp(-0.5 * away * away), known = 2 * before[i] - 1, kernel[2] = {1, 1}, sum[2];
        sum[0] = sum[1] = prior[i] * (double)regions[i].share;
        kernel[0] = kernel[1] = (double)regions[i].share;
        for (int32_t j = 0; j < self->n; j++)
            for (int k = 0; k < 2; k++) {
                const float *of = k ? self->scene->wide_kernel : self->scene->near_kernel;
                double weight = (double)(of[i * self->n + j] * regions[j].share);
                sum[k] += weight * prior[j];
                kernel[k] += weight;
            }
        const double expected[CLICK_FEATURES] = {
            [CLICK_ONE] = 1,
            [CLICK_STEPS_RATIO] = balance(background.steps[i], foreground.steps[i]),
            [CLICK_STEPS_FOREGROUND] = log(1 + foreground.steps[i] / 10),
            [CLICK_STEPS_BACKGROUND] = log(1 + background.steps[i] / 10),
            [CLICK_DISTANCE_RATIO] = balance(background.distance[i], foreground.distance[i]),
            [CLICK_DISTANCE_FOREGROUND] = fmin(foreground.distance[i], 1),
            [CLICK_DISTANCE_BACKGROUND] = fmin(background.distance[i], 1),
            [CLICK_BORDER] = fmin((double)regions[i].to_border, 0.4),
            [CLICK_BORDER_NEAR] = regions[i].to_border < 0.04F,
            [CLICK_LIKE_FOREGROUND] = foreground.like[i],
            [CLICK_LIKE_BACKGROUND] = background.like[i],
            [CLICK_BEFORE] = known,
            [CLICK_PRIOR] = prior[i],
            [CLICK_PRIOR_NEAR] = sum[0] / kernel[0],
            [CLICK_PRIOR_WIDE] = sum[1] / kernel[1],
            [CLICK_BEFORE_FAR] = known * fmin(away, 4) / 4,
            [CLICK_LATEST_NEAR] = sign * close,
            [CLICK_LATEST_LIKE] = sign * close * like,
            [CLICK_LATEST_STEPS] = sign * exp(-steps[i] / 12),
            [CLICK_LATEST_WIDE] = sign * like / (1 + away * away / 9),
            [CLICK_LATEST_AGAINST] = close * known,
            [CLICK_LATEST_FIRM] = sign * (away < 1 ? 1 - away * away : 0),
        };
        memcpy(f[i], expected, sizeof expected);
    }
}

/* With strokes on both sides, and with those of one. */
TESTS(features_of_strokes_are_what_their_definitions_say, 0, 3)
{
    static struct scene s;
    static double expected[N][CLICK_FEATURES];
    OWNED(click_view_release) struct click_view view = {0};
    begin(&s);
    for (int p = 0; p < N; p++)
        s.seeds[p] = _i && s.seeds[p] == _i ? CLICK_FREE : s.seeds[p];
    s.press.is_foreground = _i == CLICK_BACKGROUND;
    define(expected, &s);
    must(click_view_init(&view, s.scene, &s.request, err));
    OWNED_ARRAY float *features = calloc((size_t)s.n, CLICK_FEATURES * sizeof *features);
    must(click_features_fill(features, &view, NULL, err));
    for (int32_t i = 0; i < s.n; i++)
        for (int k = 0; k < CLICK_FEATURES; k++)
            ck_assert_msg(fabs((double)features[i * CLICK_FEATURES + k] - expected[i][k]) < 2e-4,
                          "region %d, feature %d: %g, not %g", i, k, (double)features[i * CLICK_FEATURES + k],
                          expected[i][k]);
    end(&s);
}

TEST(densities_of_like_colours_are_by_the_round_before)
{
    static struct scene s;
    static float q[N];
    OWNED(click_view_release) struct click_view view = {0};
    begin(&s);
    double mass[2] = {1e-5, 1e-5};
    for (int32_t i = 0; i < s.n; i++) {
        q[i] = (float)rng_uniform(5, 9, (uint64_t)i) * (s.scene->regions[i].x > 0.6F ? 0.02F : 1);
        mass[0] += (double)(s.scene->regions[i].share * (1 - q[i]));
        mass[1] += (double)(s.scene->regions[i].share * q[i]);
    }
    must(click_view_init(&view, s.scene, &s.request, err));
    OWNED_ARRAY float *features = calloc((size_t)s.n, CLICK_FEATURES * sizeof *features);
    must(click_features_fill(features, &view, q, err));
    for (int32_t i = 0; i < s.n; i++) {
        const float *f = features + (ptrdiff_t)i * CLICK_FEATURES;
        ck_assert_double_eq_tol((double)f[CLICK_Q], 2 * (double)q[i] - 1, 1e-6);
        for (int k = 0; k < 2; k++) {
            const float *kernel = (k ? s.scene->wide_kernel : s.scene->near_kernel) + (ptrdiff_t)i * s.n;
            double sum[2] = {0, 0};
            for (int32_t j = 0; j < s.n; j++) {
                sum[0] += (double)(kernel[j] * s.scene->regions[j].share * (1 - q[j]));
                sum[1] += (double)(kernel[j] * s.scene->regions[j].share * q[j]);
            }
            double ratio = log((sum[1] / mass[1] + 2e-4) / (sum[0] / mass[0] + 2e-4));
            ck_assert_double_eq_tol((double)f[k ? CLICK_WIDE : CLICK_NEAR], fmin(fmax(ratio, -5), 5), 1e-3);
        }
    }
    end(&s);
}

TEST(a_score_is_a_line_and_hidden_units_above_0_and_ends_at_12)
{
    struct click_weights weights = {0};
    float features[CLICK_FEATURES] = {0};
    const int last = CLICK_FEATURES - 1;
    features[0] = 1;
    features[last] = 2;
    weights.linear[0] = 0.5F;
    weights.linear[last] = 0.25F;
    ck_assert_float_eq(click_score(&weights, features), 1);
    weights.hidden[0][0] = 3;
    weights.hidden[CLICK_HIDDEN - 1][last] = 1;
    weights.output[0] = 2;
    weights.output[CLICK_HIDDEN - 1] = -4;
    ck_assert_float_eq(click_score(&weights, features), 1 + 2 * 3 - 4 * 2);
    weights.hidden[0][0] = -3; /* below 0 */
    ck_assert_float_eq(click_score(&weights, features), -7);
    weights.output[CLICK_HIDDEN - 1] = -6.5F;
    ck_assert_float_eq(click_score(&weights, features), -12);
    weights.output[CLICK_HIDDEN - 1] = -7;
    ck_assert_float_eq(click_score(&weights, features), -12);
    weights.output[CLICK_HIDDEN - 1] = 6;
    ck_assert_float_eq(click_score(&weights, features), 12);
}
