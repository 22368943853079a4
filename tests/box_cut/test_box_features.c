/* Features of the superpixels of a box, each against its definition, by plain loops over all pairs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "box_cut/box_cut.h"
#include "support/images.h"
#include "support/support.h"

enum { WIDTH = 48, HEIGHT = 40 };

/* A scene whose colours make regions, with what features are computed of. */
struct subject {
    struct clv_image image;
    struct box_scene scene;
    struct box_affinity affinity;
    struct box_features features;
};

static void subject_release(struct subject *self)
{
    box_features_release(&self->features);
    box_affinity_release(&self->affinity);
    box_scene_release(&self->scene);
    clv_image_release(&self->image);
}

/* Stripes, spots and noise. */
static struct subject subject_of(struct clv_pixel_box box, uint32_t seed)
{
    struct subject self = {.image = {.width = 0}};
    must(clv_image_new(&self.image, WIDTH, HEIGHT, 3, err));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                self.image.pixels[(y * WIDTH + x) * 3 + c] =
                    (uint8_t)(60 + 70 * ((x / 9 + y / 7 * (c + 1)) % 3) + (int)(noise(&seed) % 24));
    must(box_scene_init(&self.scene, &self.image, box, 40, err));
    return self;
}

static void measure(struct subject *self)
{
    must(box_affinity_init(&self->affinity, &self->scene, err));
    must(box_features_init(&self->features, &self->affinity, err));
}

static const struct clv_pixel_box boxes[] = {
    {12, 10, 35, 28},       /* with a margin on all sides */
    {0, 9, 20, 30},         /* at the left border .. */
    {22, 0, WIDTH, 25},     /* .. in the corner at the upper right .. */
    {0, 12, WIDTH, HEIGHT}, /* .. at three borders */
    {0, 0, WIDTH, HEIGHT},  /* the whole image: nothing is outside */
};
enum { N_BOXES = 5 };

static double limited(double x)
{
    return x < -5 ? -5 : x > 5 ? 5 : x;
}

/* The log ratio of two densities that are at least 0.0002. */
static double log_ratio(double a, double mass_a, double b, double mass_b)
{
    return limited(log((a / mass_a + 2e-4) / (b / mass_b + 2e-4)));
}

static double sum_of(const float *kernel, int i, const double *weights, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += (double)kernel[i * n + j] * weights[j];
    return sum;
}

/* The cheapest paths from sources (0), over all edges again and again. */
static void relax(double *distance, const struct subject *self, bool largest)
{
    const struct clv_adjacency *adjacency = &self->scene.adjacency;
    for (int round = 0; round < self->affinity.n; round++)
        for (int32_t e = 0; e < adjacency->n_edges; e++)
            for (int end = 0; end < 2; end++) {
                const double from = distance[adjacency->edges[e][end]], step = (double)self->affinity.step[e];
                const double reached = largest ? fmax(from, step) : from + fmax(0, step - (double)4.7F);
                double *to = &distance[adjacency->edges[e][1 - end]];
                *to = fmin(*to, reached);
            }
}

static void expect_near(double value, double wanted, const char *what, int box, int region)
{
    ck_assert_msg(fabs(value - wanted) <= 1e-3 * (1 + fabs(wanted)), "box %d, superpixel %d: %s is %g, not %g", box,
                  region, what, value, wanted);
}

TESTS(features_of_the_scene_follow_their_definitions, 0, N_BOXES)
{
    OWNED(subject_release) struct subject self = subject_of(boxes[_i], 3);
    measure(&self);
    const struct box_scene *scene = &self.scene;
    const struct clv_adjacency *adjacency = &scene->adjacency;
    const int n = self.affinity.n;
    const struct clv_pixel_box box = boxes[_i];
    const bool open[4] = {box.first_x == 0, box.first_y == 0, box.end_x == WIDTH, box.end_y == HEIGHT};
    OWNED_ARRAY double *inside = calloc((size_t)n, sizeof *inside), *outside = calloc((size_t)n, sizeof *outside);
    OWNED_ARRAY double *contact = calloc((size_t)n, sizeof *contact), *sum = calloc((size_t)n, sizeof *sum),
                       *leap = calloc((size_t)n, sizeof *leap);
    double all_inside = 0, all_outside = 0, band_sum[4] = {0}, band_mass[4] = {0};
    for (int i = 0; i < n; i++) {
        const struct box_region *region = &scene->regions[i];
        *(region->is_inside ? &inside[i] : &outside[i]) = (double)region->share;
        *(region->is_inside ? &all_inside : &all_outside) += (double)region->share;
        sum[i] = leap[i] = region->is_inside ? INFINITY : 0;
    }
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        for (int end = 0; end < 2; end++)
            if (inside[adjacency->edges[e][end]] > 0 && outside[adjacency->edges[e][1 - end]] > 0)
                contact[adjacency->edges[e][end]] += (double)adjacency->boundary_length[e];
    relax(sum, &self, false);
    relax(leap, &self, true);
    ck_assert_double_eq_tol(all_inside + all_outside, 1, 1e-5);
    ck_assert((all_outside > 0) == (_i < 4));
    const double side = sqrt(all_inside * scene->superpixels.width * scene->superpixels.height);
    for (int i = 0; i < n; i++) {
        const float *row = self.features.values + (size_t)i * BOX_FEATURES;
        const struct box_region *region = &scene->regions[i];
        if (!region->is_inside) {
            for (int k = 0; k < BOX_FEATURES; k++)
                ck_assert(row[k] == 0);
            continue;
        }
        const double near = (sum_of(self.affinity.near, i, inside, n) + inside[i]) / all_inside,
                     wide = (sum_of(self.affinity.wide, i, inside, n) + inside[i]) / all_inside;
        const double x = fabs((double)region->x), y = fabs((double)region->y);
        const double ax = open[region->x < 0 ? 0 : 2] ? 0 : x, ay = open[region->y < 0 ? 1 : 3] ? 0 : y;
        const struct {
            const char *what;
            double value;
        } wanted[] = {
            {"contrast of near colours",
             log_ratio(near, 1, sum_of(self.affinity.near, i, outside, n), all_outside + 1e-9)},
            {"contrast of colours", log_ratio(wide, 1, sum_of(self.affinity.wide, i, outside, n), all_outside + 1e-9)},
            {"nearness to the outside by all steps", _i < 4 ? exp(-sum[i] / 32) : 0},
            {"nearness to the outside by the largest step", _i < 4 ? exp(-leap[i] / 12) : 0},
            {"border with alike near ones", log(0.05 + sum_of(self.affinity.near, i, contact, n) / side / sqrt(near))},
            {"border with alike ones", log(0.05 + sum_of(self.affinity.wide, i, contact, n) / side / sqrt(wide))},
            {"touches the outside", contact[i] > 0},
            {"share of the colour", log(0.01 + wide)},
            {"nearness to the nearer side", fmax(ax, ay)},
            {"nearness to the other side", fmin(ax, ay)},
            {"nearness to corners", pow(ax, 4) + pow(ay, 4)},
            {"nearness to a side at the border", fmax(x - ax, y - ay)},
            {"distance from the middle, across", x},
            {"height", (double)region->y},
            {"height squared", y * y},
            {"roughness", (double)region->roughness / 8},
            {"shape", log((double)(box.end_y - box.first_y) / (box.end_x - box.first_x))},
            {"area", (double)(box.end_y - box.first_y) * (box.end_x - box.first_x) / (WIDTH * HEIGHT)},
            {"sides at borders", (open[0] + open[1] + open[2] + open[3]) / 2.0},
        };
        ck_assert_int_eq((int)(sizeof wanted / sizeof *wanted) + 4, BOX_SCENE_FEATURES);
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            expect_near((double)row[k], wanted[k].value, wanted[k].what, _i, i);
        const double rim = fmax(x, y);
        const int band = rim > 0.9 ? 0 : rim > 0.75 ? 1 : rim > 0.5 ? 2 : 3;
        band_sum[band] += (double)region->share * (double)row[1];
        band_mass[band] += (double)region->share;
    }
    for (int i = 0; i < n; i++)
        for (int b = 0; b < 4 && inside[i] > 0; b++)
            expect_near((double)self.features.values[(size_t)i * BOX_FEATURES + BOX_SCENE_FEATURES - 4 + (size_t)b],
                        band_mass[b] > 0 ? band_sum[b] / band_mass[b] : 0, "contrast of a band", _i, i);
}

TESTS(features_of_a_filling_are_its_score_its_label_and_how_much_of_the_box_is_filled_and_sure, 0, N_BOXES)
{
    OWNED(subject_release) struct subject self = subject_of(boxes[_i], 4);
    measure(&self);
    const int n = self.affinity.n;
    OWNED_ARRAY double *score = calloc((size_t)n, sizeof *score);
    OWNED_ARRAY int32_t *foreground = calloc((size_t)n, sizeof *foreground);
    double inside = 0, filled = 0, sure = 0;
    uint32_t state = 9;
    for (int i = 0; i < n; i++) {
        const struct box_region *region = &self.scene.regions[i];
        score[i] = (double)(noise(&state) % 1000) / 60 - 8;
        foreground[i] = noise(&state) % 3 == 0;
        if (region->is_inside) {
            inside += (double)region->share;
            filled += foreground[i] ? (double)region->share : 0;
            sure += (double)region->share * fabs(limited(score[i]));
        }
    }
    for (int k = 0; k < BOX_FILLINGS; k++) {
        box_features_add_filling(&self.features, k, foreground, score);
        for (int i = 0; i < n; i++) {
            const float *row = self.features.values + (size_t)i * BOX_FEATURES + BOX_SCENE_FEATURES + 4 * (size_t)k;
            const bool is_inside = self.scene.regions[i].is_inside;
            const double wanted[4] = {limited(score[i]), foreground[i], filled / inside, sure / inside};
            for (int c = 0; c < 4; c++)
                expect_near((double)row[c], is_inside ? wanted[c] : 0, "a filling's column", _i, i);
        }
    }
}

/* The mean soft label around each superpixel, by lengths of borders, and its own. */
static void smooth_labels(double *smooth, double *similar, const struct subject *self, const double *q)
{
    const struct clv_adjacency *adjacency = &self->scene.adjacency;
    for (int i = 0; i < self->affinity.n; i++) {
        double sum = 0, length = 0, alike = 0, weights = 0;
        for (int32_t e = 0; e < adjacency->n_edges; e++)
            for (int end = 0; end < 2; end++) {
                if (adjacency->edges[e][end] != i)
                    continue;
                const double border = (double)adjacency->boundary_length[e], label = q[adjacency->edges[e][1 - end]];
                const double weight = border * exp(-(double)self->affinity.step[e] / 8);
                sum += border * label;
                length += border;
                alike += weight * label;
                weights += weight;
            }
        smooth[i] = 0.3 * q[i] + (length > 0 ? 0.7 * sum / length : 0);
        similar[i] = weights > 0 ? alike / weights : 0;
    }
}

/* The smooth label at a place of the box, -1 .. 1, or 0 outside of what is seen. */
static double label_at(const struct subject *self, const double *smooth, double x, double y)
{
    const struct clv_superpixels *map = &self->scene.superpixels; /* small crops are not shrunk */
    const struct clv_pixel_box *box = &self->scene.box;
    ck_assert_int_eq(map->width, self->scene.image.width);
    const double column = box->first_x + (x + 1) / 2 * (box->end_x - box->first_x),
                 row = box->first_y + (y + 1) / 2 * (box->end_y - box->first_y);
    return column < 0 || row < 0 || column >= map->width || row >= map->height
               ? 0
               : smooth[map->labels[(int)row * map->width + (int)column]];
}

TESTS(features_of_soft_labels_follow_their_definitions, 0, N_BOXES)
{
    OWNED(subject_release) struct subject self = subject_of(boxes[_i], 5);
    measure(&self);
    const struct box_scene *scene = &self.scene;
    const int n = self.affinity.n;
    OWNED_ARRAY double *q = calloc((size_t)n, sizeof *q), *score = calloc((size_t)n, sizeof *score);
    OWNED_ARRAY double *foreground = calloc((size_t)n, sizeof *foreground),
                       *background = calloc((size_t)n, sizeof *background), *all = calloc((size_t)n, sizeof *all);
    OWNED_ARRAY double *smooth = calloc((size_t)n, sizeof *smooth), *similar = calloc((size_t)n, sizeof *similar);
    OWNED_ARRAY double *to_background = calloc((size_t)n, sizeof *to_background),
                       *to_foreground = calloc((size_t)n, sizeof *to_foreground);
    double mass[2] = {1e-5, 1e-5}, inside = 0, rim = 0, rim_mass = 1e-9;
    uint32_t state = 11;
    for (int i = 0; i < n; i++) {
        const struct box_region *region = &scene->regions[i];
        q[i] = region->is_inside ? (double)(noise(&state) % 11) / 10 : 0;
        score[i] = (double)(noise(&state) % 1000) / 60 - 8;
        all[i] = (double)region->share;
        foreground[i] = all[i] * q[i];
        background[i] = all[i] - foreground[i];
        mass[0] += background[i];
        mass[1] += foreground[i];
        to_background[i] = q[i] < 0.25 ? 0 : INFINITY;
        to_foreground[i] = q[i] > 0.75 ? 0 : INFINITY;
        inside += region->is_inside ? all[i] : 0;
        if (region->is_inside && fmax(fabs((double)region->x), fabs((double)region->y)) > 0.85) {
            rim += foreground[i];
            rim_mass += all[i];
        }
    }
    relax(to_background, &self, false);
    relax(to_foreground, &self, false);
    smooth_labels(smooth, similar, &self, q);
    box_features_add_soft(&self.features, q, score);
    for (int i = 0; i < n; i++) {
        const float *row = self.features.values + (size_t)i * BOX_FEATURES + BOX_SCENE_FEATURES + BOX_FILLING_FEATURES;
        const struct box_region *region = &scene->regions[i];
        if (!region->is_inside) {
            for (int k = 0; k < BOX_SOFT_FEATURES; k++)
                ck_assert(row[k] == 0);
            continue;
        }
        const double near[2] = {sum_of(self.affinity.near, i, background, n),
                                sum_of(self.affinity.near, i, foreground, n)},
                     wide[2] = {sum_of(self.affinity.wide, i, background, n),
                                sum_of(self.affinity.wide, i, foreground, n)};
        const double back = fmin(to_background[i], 300), fore = fmin(to_foreground[i], 300);
        const double x = (double)region->x, y = (double)region->y, inward = x > 0 ? -1 : 1;
        const struct {
            const char *what;
            double value;
        } wanted[] = {
            {"densities of near colours", log_ratio(near[1], mass[1], near[0], mass[0])},
            {"densities of colours", log_ratio(wide[1], mass[1], wide[0], mass[0])},
            {"amounts of near colours", log_ratio(near[1], 1, near[0], 1)},
            {"score", limited(score[i])},
            {"soft label", q[i]},
            {"smooth label", smooth[i]},
            {"label of alike neighbours", similar[i]},
            {"label of places near",
             sum_of(self.affinity.position, i, foreground, n) / sum_of(self.affinity.position, i, all, n)},
            {"nearer to foreground", (back - fore) / (back + fore + 3)},
            {"nearness to background", exp(-back / 32)},
            {"nearness to foreground", exp(-fore / 32)},
            {"share of foreground", mass[1] / inside},
            {"share of foreground at the rim", rim / rim_mass},
            {"inwards", label_at(&self, smooth, x + 0.3 * inward, y)},
            {"outwards", label_at(&self, smooth, x - 0.3 * inward, y)},
            {"above", label_at(&self, smooth, x, y - 0.3)},
            {"below", label_at(&self, smooth, x, y + 0.3)},
            {"far inwards", label_at(&self, smooth, x + 0.7 * inward, y)},
            {"far outwards", label_at(&self, smooth, x - 0.7 * inward, y)},
            {"far above", label_at(&self, smooth, x, y - 0.7)},
            {"far below", label_at(&self, smooth, x, y + 0.7)},
            {"across the middle", label_at(&self, smooth, -x, y)},
        };
        ck_assert_int_eq((int)(sizeof wanted / sizeof *wanted), BOX_SOFT_FEATURES);
        ck_assert_float_eq(row[BOX_FIRST_SCORE - BOX_SCENE_FEATURES - BOX_FILLING_FEATURES], (float)limited(score[i]));
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            expect_near((double)row[k], wanted[k].value, wanted[k].what, _i, i);
    }
}

TEST(no_sure_background_or_foreground_is_as_far_as_can_be)
{
    for (int label = 0; label < 2; label++) {
        OWNED(subject_release) struct subject self = subject_of(boxes[4], 6);
        measure(&self);
        OWNED_ARRAY double *q = calloc((size_t)self.affinity.n, sizeof *q);
        for (int i = 0; i < self.affinity.n; i++)
            q[i] = label;
        box_features_add_soft(&self.features, q, q);
        for (int i = 0; i < self.affinity.n; i++) {
            const float *row =
                self.features.values + (size_t)i * BOX_FEATURES + BOX_SCENE_FEATURES + BOX_FILLING_FEATURES;
            expect_near((double)row[8], (label ? 300 : -300) / 303.0, "nearer to foreground", 4, i);
            expect_near((double)row[9 + label], 1, "nearness to what is there", 4, i);
            expect_near((double)row[10 - label], 0, "nearness to what is not", 4, i);
        }
    }
}

/* Lab of the pixels' mean, extents in the box's coordinates. */
TESTS(regions_of_a_scene_are_wholly_inside_the_box_or_outside_and_cover_the_crop, 0, N_BOXES)
{
    OWNED(subject_release) struct subject self = subject_of(boxes[_i], 7);
    const struct box_scene *scene = &self.scene;
    const struct clv_superpixels *map = &scene->superpixels;
    const struct clv_pixel_box box = boxes[_i];
    const int margin = (int)ceil(0.3 * sqrt((double)(box.end_x - box.first_x) * (box.end_y - box.first_y)));
    ck_assert_int_eq(scene->crop.first_x, box.first_x > margin ? box.first_x - margin : 0);
    ck_assert_int_eq(scene->crop.first_y, box.first_y > margin ? box.first_y - margin : 0);
    ck_assert_int_eq(scene->crop.end_x, box.end_x + margin < WIDTH ? box.end_x + margin : WIDTH);
    ck_assert_int_eq(scene->crop.end_y, box.end_y + margin < HEIGHT ? box.end_y + margin : HEIGHT);
    for (int i = 0; i < map->n; i++) {
        double x = 0, y = 0, n = 0;
        int low[2] = {WIDTH, HEIGHT}, high[2] = {-1, -1}, n_inside = 0;
        for (int p = 0; p < map->width * map->height; p++) {
            if (map->labels[p] != i)
                continue;
            const int at[2] = {p % map->width, p / map->width};
            x += at[0] + 0.5; /* centres of pixels */
            y += at[1] + 0.5;
            n++;
            for (int c = 0; c < 2; c++) {
                low[c] = at[c] < low[c] ? at[c] : low[c];
                high[c] = at[c] + 1 > high[c] ? at[c] + 1 : high[c];
            }
            n_inside += at[0] >= scene->box.first_x && at[0] < scene->box.end_x && at[1] >= scene->box.first_y &&
                        at[1] < scene->box.end_y;
        }
        const struct box_region *region = &scene->regions[i];
        ck_assert_msg(n > 0 && n_inside == (region->is_inside ? (int)n : 0), "superpixel %d: %d of %g inside", i,
                      n_inside, n);
        expect_near((double)region->share, n / (map->width * map->height), "share", _i, i);
        const double width = scene->box.end_x - scene->box.first_x, height = scene->box.end_y - scene->box.first_y;
        expect_near((double)region->x, 2 * (x / n - scene->box.first_x) / width - 1, "x", _i, i);
        expect_near((double)region->y, 2 * (y / n - scene->box.first_y) / height - 1, "y", _i, i);
        expect_near((double)region->low[0], 2 * (low[0] - scene->box.first_x) / width - 1, "left", _i, i);
        expect_near((double)region->low[1], 2 * (low[1] - scene->box.first_y) / height - 1, "top", _i, i);
        expect_near((double)region->high[0], 2 * (high[0] - scene->box.first_x) / width - 1, "right", _i, i);
        expect_near((double)region->high[1], 2 * (high[1] - scene->box.first_y) / height - 1, "bottom", _i, i);
    }
}

/* One filling by its definition: rounds of densities, a cut that is raised until it spans the box, and the next soft
 * labels. The minimum cut is the library's own. */
static void fill_by_definition(double *q, double *score, int32_t *foreground, const struct subject *self, double shift,
                               double extent, int rounds)
{
    const struct box_region *regions = self->scene.regions;
    const int n = self->affinity.n;
    OWNED(box_mincut_release) struct box_mincut cut = {0};
    OWNED_ARRAY double *prior = calloc((size_t)n, sizeof *prior), *inside = calloc((size_t)n, sizeof *inside),
                       *outside = calloc((size_t)n, sizeof *outside), *steps = calloc((size_t)n, sizeof *steps);
    double all_inside = 0, all_outside = 0;
    must(box_mincut_init(&cut, &self->affinity, 6.25, err));
    for (int i = 0; i < n; i++) {
        (regions[i].is_inside ? inside : outside)[i] = (double)regions[i].share;
        *(regions[i].is_inside ? &all_inside : &all_outside) += (double)regions[i].share;
        steps[i] = regions[i].is_inside ? INFINITY : 0;
        q[i] = score[i] = 0;
    }
    relax(steps, self, false);
    for (int i = 0; i < n; i++) {
        if (!regions[i].is_inside)
            continue;
        prior[i] = 1.6 + shift - 5.2 * (pow((double)regions[i].x, 4) + pow((double)regions[i].y, 4));
        if (all_outside > 0)
            prior[i] += 2.05 * (1 - exp(-steps[i] / 32) - 0.625);
        const double p = 1 / (1 + exp(-prior[i]));
        q[i] = p;
        if (all_outside > 0) {
            const double ratio = (sum_of(self->affinity.near, i, inside, n) + inside[i]) / all_inside /
                                 (sum_of(self->affinity.near, i, outside, n) / all_outside + 1e-12);
            q[i] = 0.8 * fmin(fmax(1 - (1 - p) / ratio, 0.02), 0.98) + 0.2 * p;
            prior[i] += 0.32 * fmin(fmax(log(ratio), -4.8), 4.8);
        }
    }
    for (int round = 0; round < rounds; round++) {
        OWNED_ARRAY double *of_foreground = calloc((size_t)n, sizeof *of_foreground),
                           *of_background = calloc((size_t)n, sizeof *of_background);
        double mass[2] = {1e-5, 1e-5};
        for (int i = 0; i < n; i++) {
            of_foreground[i] = (double)regions[i].share * q[i];
            of_background[i] = (double)regions[i].share * (1 - q[i]);
            mass[0] += of_background[i];
            mass[1] += of_foreground[i];
        }
        for (int i = 0; i < n; i++) {
            if (!regions[i].is_inside)
                continue;
            score[i] = 0.6 * prior[i];
            for (int kernel = 0; kernel < 2; kernel++) {
                const float *k = kernel ? self->affinity.wide : self->affinity.near;
                const double ratio = log((sum_of(k, i, of_foreground, n) / mass[1] + 2e-4) /
                                         (sum_of(k, i, of_background, n) / mass[0] + 2e-4));
                score[i] += (kernel ? 0.6 : 1) * fmin(fmax(ratio, -5.1), 5.1);
            }
        }
        for (int attempt = 0; attempt <= 24; attempt++) {
            double low[2] = {1, 1}, high[2] = {-1, -1};
            must(box_mincut_solve(foreground, &cut, score, err));
            for (int i = 0; i < n; i++)
                for (int k = 0; foreground[i] && k < 2; k++) {
                    low[k] = fmin(low[k], (double)regions[i].low[k]);
                    high[k] = fmax(high[k], (double)regions[i].high[k]);
                }
            if (attempt == 24 || (high[0] - low[0] >= 2 * extent && high[1] - low[1] >= 2 * extent))
                break;
            for (int i = 0; i < n; i++)
                score[i] += regions[i].is_inside ? 0.3 : 0;
        }
        for (int i = 0; i < n; i++)
            if (regions[i].is_inside)
                q[i] = 0.4 / (1 + exp(-score[i])) + 0.6 * foreground[i];
    }
}

TESTS(fillings_follow_their_definition, 0, 2 * N_BOXES)
{
    static const double fillings[BOX_FILLINGS][2] = {{1.5, 0.64}, {-1.5, 0.4}, {0, 0.64}};
    const int at = _i % N_BOXES, rounds = _i < N_BOXES ? 1 : 4;
    OWNED(subject_release) struct subject self = subject_of(boxes[at], 8);
    measure(&self);
    const size_t n = (size_t)self.affinity.n;
    OWNED_ARRAY double *q = calloc(n, sizeof *q), *score = calloc(n, sizeof *score);
    OWNED_ARRAY double *wanted_q = calloc(n, sizeof *wanted_q), *wanted_score = calloc(n, sizeof *wanted_score);
    OWNED_ARRAY int32_t *foreground = calloc(n, sizeof *foreground);
    must(box_fillings_propose(q, score, &self.features, rounds, err));
    for (int k = 0; k < BOX_FILLINGS; k++) {
        fill_by_definition(wanted_q, wanted_score, foreground, &self, fillings[k][0], fillings[k][1], rounds);
        for (size_t i = 0; i < n; i++) {
            const float *row = self.features.values + i * BOX_FEATURES + BOX_SCENE_FEATURES + 4 * (size_t)k;
            if (!self.scene.regions[i].is_inside)
                continue;
            expect_near((double)row[0], limited(wanted_score[i]), "a filling's score", at, (int)i);
            ck_assert_int_eq((int)row[1], foreground[i]);
        }
    }
    for (size_t i = 0; i < n; i++) { /* those of the last filling */
        expect_near(score[i], wanted_score[i], "score", at, (int)i);
        expect_near(q[i], wanted_q[i], "soft label", at, (int)i);
    }
}

/* linear . (x, 1) + sum_h output_h max(0, hidden_h . (x, 1)), within -8 .. 8. */
static double network_of(const struct box_network *network, const float *x)
{
    double score = 0;
    for (int h = -1; h < BOX_HIDDEN; h++) {
        const float *row = h < 0 ? network->linear : network->hidden[h];
        double sum = (double)row[BOX_FEATURES];
        for (int k = 0; k < BOX_FEATURES; k++)
            sum += (double)row[k] * (double)x[k];
        score += h < 0 ? sum : (double)network->output[h] * (sum > 0 ? sum : 0);
    }
    return score < -8 ? -8 : score > 8 ? 8 : score;
}

static void draw_network(struct box_network *network, uint32_t *state)
{
    float *weights[] = {network->linear, network->output, network->hidden[0]};
    const size_t sizes[] = {BOX_FEATURES + 1, BOX_HIDDEN, (size_t)BOX_HIDDEN * (BOX_FEATURES + 1)};
    for (int part = 0; part < 3; part++)
        for (size_t k = 0; k < sizes[part]; k++)
            weights[part][k] = ((float)(noise(state) % 1000) / 1000 - 0.5F) / 4;
}

/* The second network sees what the first one says, in the place of the last filling's soft labels. */
TESTS(scores_are_those_of_two_networks_of_which_the_second_sees_the_first, 0, N_BOXES)
{
    static struct box_weights weights;
    uint32_t state = 5;
    draw_network(&weights.first, &state);
    draw_network(&weights.second, &state);
    OWNED(subject_release) struct subject self = subject_of(boxes[_i], 9);
    measure(&self);
    const size_t n = (size_t)self.affinity.n;
    OWNED_ARRAY double *q = calloc(n, sizeof *q), *score = calloc(n, sizeof *score), *found = calloc(n, sizeof *found);
    OWNED_ARRAY float *first = NULL, *second = NULL;
    must(box_fillings_propose(q, score, &self.features, 2, err));
    box_features_add_soft(&self.features, q, score);
    must(box_score_features(&first, &self.affinity, NULL, 2, err));
    ck_assert_mem_eq(first, self.features.values, n * BOX_FEATURES * sizeof *first);
    int n_limited = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_inside = self.scene.regions[i].is_inside;
        score[i] = is_inside ? network_of(&weights.first, first + i * BOX_FEATURES) : 0;
        q[i] = is_inside ? 1 / (1 + exp(-score[i])) : 0;
        n_limited += fabs(score[i]) == 8;
    }
    ck_assert_int_lt(n_limited, (int)n / 2);
    box_features_add_soft(&self.features, q, score);
    must(box_score_features(&second, &self.affinity, &weights.first, 2, err));
    must(box_score(found, &self.affinity, &weights, 2, err));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < BOX_FEATURES; k++)
            expect_near((double)second[i * BOX_FEATURES + k], (double)self.features.values[i * BOX_FEATURES + k],
                        "feature", _i, (int)i);
        const bool is_inside = self.scene.regions[i].is_inside;
        expect_near(found[i], is_inside ? network_of(&weights.second, second + i * BOX_FEATURES) : 0, "score", _i,
                    (int)i);
    }
}
