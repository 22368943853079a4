/* Computes the features of superpixels for box segmentation: position in the box, colours compared with the margin,
 * distances, and the foreground proposed so far. box_features_init fills the features of the scene,
 * box_features_add_filling and box_features_add_soft the others, in the order of the enum in box_cut.h. */
#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"
#include "superpixel/superpixel.h"

#define RATIO_LIMIT 5.0  /* largest log ratio and score */
#define RATIO_MIN   2e-4 /* added to densities */
#define STEP_RANGE  32.0 /* length at which nearness falls to 1 / e, in Lab */
#define LEAP_RANGE  12.0
#define FAR         300.0
#define RIM         0.85f /* fraction of the way from the centre of the box to a side */

enum { SUMS = 5, BANDS = 4 };

void box_features_release(struct box_features *self)
{
    arrays_free(self->values, self->sums, self->weights, self->smooth, self->distance[0], self->distance[1]);
    *self = (struct box_features){0};
}

static double log_ratio(double foreground, double foreground_mass, double background, double background_mass)
{
    return clip(portable_log((foreground / foreground_mass + RATIO_MIN) / (background / background_mass + RATIO_MIN)),
                RATIO_LIMIT);
}

double box_logistic(double x)
{
    return 1 / (1 + portable_exp(-x));
}

static double nearness(double distance, double range)
{
    return isfinite(distance) ? portable_exp(-distance / range) : 0;
}

/* Returns how far the region is from the centre of the box: 0 in the centre, 1 at the sides. */
static float rim_of(const struct box_region *region)
{
    return fmaxf(fabsf(region->x), fabsf(region->y));
}

/* Sums over the superpixels. */
struct totals {
    double inside, outside; /* shares of all pixels */
    double side;            /* side of a square of the box's area, in pixels of the superpixels' map */
    double area;            /* of the box, as a share of the image */
    double at_border[4];    /* 1 where the left, top, right, bottom side is on the image's border, else 0 */
};

/* Fills the weights of the kernels' sums: area inside, area outside, and length of the border with the outside. Sets
 * the sources of distances. Returns totals over the superpixels. */
static struct totals prepare(struct box_features *self)
{
    const struct box_scene *scene = self->affinity->scene;
    const struct box_region *regions = scene->regions;
    const struct clv_adjacency *adjacency = &scene->adjacency;
    size_t n = (size_t)self->n;
    float *inside = self->weights, *outside = inside + n, *contact = outside + n;
    struct totals totals = {
        .area = (double)(scene->box.end_x - scene->box.first_x) * (scene->box.end_y - scene->box.first_y) /
                scene->image_pixels,
        .at_border = {scene->box.first_x == 0, scene->box.first_y == 0, scene->box.end_x == scene->image.width,
                      scene->box.end_y == scene->image.height},
    };
    for (size_t i = 0; i < n; i++) {
        inside[i] = regions[i].is_inside ? regions[i].share : 0;
        outside[i] = regions[i].share - inside[i];
        contact[i] = 0;
        totals.inside += inside[i];
        totals.outside += outside[i];
        self->distance[0][i] = self->distance[1][i] = regions[i].is_inside ? INFINITY : 0;
    }
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        for (int end = 0; end < 2; end++) {
            int32_t i = adjacency->edges[e][end], j = adjacency->edges[e][1 - end];
            if (regions[i].is_inside && !regions[j].is_inside)
                contact[i] += adjacency->boundary_length[e];
        }
    totals.side = sqrt(totals.inside * (double)scene->superpixels.width * scene->superpixels.height);
    return totals;
}

/* Writes features of the nearness to the sides of the box, first to sides inside the image, then to those at its
 * border. Returns the number of entries. */
static int fill_position(float *row, const struct box_region *region, const struct totals *totals)
{
    bool open_x = totals->at_border[region->x < 0 ? 0 : 2] > 0, open_y = totals->at_border[region->y < 0 ? 1 : 3] > 0;
    float x = fabsf(region->x), y = fabsf(region->y), ax = open_x ? 0 : x, ay = open_y ? 0 : y;
    const float positions[] = {
        fmaxf(ax, ay), fminf(ax, ay),        ax * ax * ax * ax + ay * ay * ay * ay, fmaxf(x - ax, y - ay), x,
        region->y,     region->y * region->y};
    int n = (int)(sizeof positions / sizeof *positions);
    for (int k = 0; k < n; k++)
        row[k] = positions[k];
    return n;
}

/* Computes how much each band of the box differs from the margin, from the sides to the middle, which depends on how
 * tight the box is. */
static void fill_bands(struct box_features *self, size_t column)
{
    const struct box_region *regions = self->affinity->scene->regions;
    double sum[BANDS] = {0}, mass[BANDS] = {0};
    for (int32_t i = 0; i < self->n; i++)
        if (regions[i].is_inside) {
            float rim = rim_of(&regions[i]);
            int band = rim > 0.9F ? 0 : rim > 0.75F ? 1 : rim > 0.5F ? 2 : 3;
            sum[band] += regions[i].share * self->values[(size_t)i * BOX_FEATURES + 1];
            mass[band] += regions[i].share;
        }
    for (int32_t i = 0; i < self->n; i++)
        for (size_t b = 0; b < BANDS && regions[i].is_inside; b++)
            self->values[(size_t)i * BOX_FEATURES + column + b] = (float)(mass[b] > 0 ? sum[b] / mass[b] : 0);
}

static void apply(float *first, float *second, const float *kernel, const float *weights, const float *of_second,
                  size_t n)
{
    region_kernel_apply((float *const[2]){first, second}, kernel, (const float *const[2]){weights, of_second}, n);
}

static void fill_scene(struct box_features *self)
{
    const struct box_affinity *affinity = self->affinity;
    const struct box_scene *scene = affinity->scene;
    size_t n = (size_t)self->n;
    const struct totals totals = prepare(self);
    const float *inside = self->weights, *outside = inside + n, *contact = outside + n;
    float *near_in = self->sums, *near_out = near_in + n, *wide_in = near_out + n, *wide_out = wide_in + n,
          *near_contact = wide_out + n, *wide_contact = self->smooth;
    int k = 0;
    box_affinity_measure(self->distance[0], affinity, BOX_SUM_OF_STEPS);
    box_affinity_measure(self->distance[1], affinity, BOX_LARGEST_STEP);
    apply(near_in, near_out, affinity->near, inside, outside, n);
    apply(wide_in, wide_out, affinity->wide, inside, outside, n);
    apply(near_contact, NULL, affinity->near, contact, NULL, n);
    apply(wide_contact, NULL, affinity->wide, contact, NULL, n);
    for (size_t i = 0; i < n; i++) {
        const struct box_region *region = &scene->regions[i];
        float *row = self->values + i * BOX_FEATURES;
        if (!region->is_inside)
            continue;
        double near = (near_in[i] + region->share) / totals.inside, wide = (wide_in[i] + region->share) / totals.inside;
        k = 0;
        row[k++] = (float)log_ratio(near, 1, near_out[i], totals.outside + 1e-9);
        row[k++] = (float)log_ratio(wide, 1, wide_out[i], totals.outside + 1e-9);
        row[k++] = (float)nearness(self->distance[0][i], STEP_RANGE);
        row[k++] = (float)nearness(self->distance[1][i], LEAP_RANGE);
        /* Length of similar superpixels along the box, divided by the square root of their area (Zhu et al. 2014). */
        row[k++] = (float)portable_log(0.05 + near_contact[i] / totals.side / sqrt(near));
        row[k++] = (float)portable_log(0.05 + wide_contact[i] / totals.side / sqrt(wide));
        row[k++] = (float)(contact[i] > 0);
        row[k++] = (float)portable_log(0.01 + wide);
        k += fill_position(row + k, region, &totals);
        row[k++] = region->roughness / 8;
        row[k++] = (float)portable_log(scene->shape);
        row[k++] = (float)totals.area;
        row[k++] = (float)(totals.at_border[0] + totals.at_border[1] + totals.at_border[2] + totals.at_border[3]) / 2;
    }
    fill_bands(self, (size_t)k);
}

void box_features_add_filling(struct box_features *self, int k, const int32_t *foreground, const double *score)
{
    const struct box_region *regions = self->affinity->scene->regions;
    double inside = 0, filled = 0, sure = 0;
    for (int32_t i = 0; i < self->n; i++)
        if (regions[i].is_inside) {
            inside += regions[i].share;
            filled += foreground[i] ? regions[i].share : 0;
            sure += regions[i].share * fabs(clip(score[i], RATIO_LIMIT));
        }
    for (int32_t i = 0; i < self->n; i++) {
        float *row = self->values + (size_t)i * BOX_FEATURES + BOX_SCENE_FEATURES + 4 * (size_t)k;
        if (!regions[i].is_inside)
            continue;
        row[0] = (float)clip(score[i], RATIO_LIMIT);
        row[1] = (float)foreground[i];
        row[2] = (float)(filled / inside);
        row[3] = (float)(sure / inside);
    }
}

/* Averages the soft labels of neighbours, weighted by the length of the border: smooth[n] with 0.3 of the superpixel's
 * label, similar[n] without it and weighted by similarity as well. scratch[2][n]. */
static void mix_neighbours(struct box_features *self, float *similar, float *scratch, const double *q)
{
    const struct clv_adjacency *adjacency = &self->affinity->scene->adjacency;
    size_t n = (size_t)self->n;
    float *length = scratch, *similarity_sum = scratch + n;
    for (size_t i = 0; i < n; i++)
        self->smooth[i] = similar[i] = length[i] = similarity_sum[i] = 0;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        for (int end = 0; end < 2; end++) {
            int32_t i = adjacency->edges[e][end], j = adjacency->edges[e][1 - end];
            float weight = adjacency->boundary_length[e];
            self->smooth[i] += weight * (float)q[j];
            length[i] += weight;
            weight *= self->affinity->similarity[e];
            similar[i] += weight * (float)q[j];
            similarity_sum[i] += weight;
        }
    for (size_t i = 0; i < n; i++) {
        similar[i] = similarity_sum[i] > 0 ? similar[i] / similarity_sum[i] : 0;
        self->smooth[i] = 0.3F * (float)q[i] + (length[i] > 0 ? 0.7F * self->smooth[i] / length[i] : 0);
    }
}

/* Returns the averaged soft label at a position in the box's coordinates; 0 outside the crop. */
static float soft_label_at(const struct box_features *self, double x, double y)
{
    const struct clv_superpixels *map = &self->affinity->scene->superpixels;
    const struct clv_pixel_box *box = &self->working;
    double column = box->first_x + 0.5 * (x + 1) * (box->end_x - box->first_x);
    double row = box->first_y + 0.5 * (y + 1) * (box->end_y - box->first_y);
    if (!(column >= 0 && row >= 0 && column < map->width && row < map->height))
        return 0;
    return self->smooth[map->labels[(size_t)row * (size_t)map->width + (size_t)column]];
}

/* Writes averaged soft labels around a superpixel: towards the vertical centre line, away from it, above and below, at
 * two distances; then at the position mirrored at that line. */
static void fill_context(float *row, const struct box_features *self, const struct box_region *region)
{
    static const double radii[2] = {0.3, 0.7};
    double x = region->x, y = region->y, inward = x > 0 ? -1 : 1;
    int k = 0;
    for (int r = 0; r < 2; r++) {
        row[k++] = soft_label_at(self, x + inward * radii[r], y);
        row[k++] = soft_label_at(self, x - inward * radii[r], y);
        row[k++] = soft_label_at(self, x, y - radii[r]);
        row[k++] = soft_label_at(self, x, y + radii[r]);
    }
    row[k++] = soft_label_at(self, -x, y);
}

/* Prepares foreground and background as weights of the kernels and as sources of distances. Computes their masses, and
 * the shares of the box and of its rim that are foreground. */
static void prepare_soft(struct box_features *self, double mass[2], double share[2], const double *q)
{
    const struct box_region *regions = self->affinity->scene->regions;
    float *foreground = self->weights, *background = foreground + self->n, *all = background + self->n;
    double inside = 0, rim = 0, rim_mass = 1e-9;
    mass[0] = mass[1] = 1e-5;
    for (int32_t i = 0; i < self->n; i++) {
        all[i] = regions[i].share;
        foreground[i] = (float)(regions[i].share * q[i]);
        background[i] = (float)(regions[i].share * (1 - q[i]));
        mass[0] += background[i];
        mass[1] += foreground[i];
        self->distance[0][i] = q[i] < 0.25 ? 0 : INFINITY;
        self->distance[1][i] = q[i] > 0.75 ? 0 : INFINITY;
        if (!regions[i].is_inside)
            continue;
        inside += regions[i].share;
        if (rim_of(&regions[i]) > RIM) {
            rim += foreground[i];
            rim_mass += regions[i].share;
        }
    }
    share[0] = mass[1] / inside;
    share[1] = rim / rim_mass;
}

void box_features_add_soft(struct box_features *self, const double *q, const double *score)
{
    const struct box_affinity *affinity = self->affinity;
    size_t n = (size_t)self->n;
    double mass[2], share[2];
    prepare_soft(self, mass, share, q);
    const float *foreground = self->weights, *background = foreground + n, *all = background + n;
    float *near[2] = {self->sums, self->sums + n}, *wide[2] = {near[1] + n, near[1] + 2 * n},
          *position = near[1] + 3 * n;
    float *position_all = self->weights + 3 * n, *similar = self->weights + 4 * n;
    mix_neighbours(self, similar, self->sums, q);
    for (int way = 0; way < 2; way++)
        box_affinity_measure(self->distance[way], affinity, BOX_SUM_OF_STEPS);
    apply(near[1], near[0], affinity->near, foreground, background, n);
    apply(wide[1], wide[0], affinity->wide, foreground, background, n);
    apply(position, position_all, affinity->position, foreground, all, n);
    for (size_t i = 0; i < n; i++) {
        float *row = self->values + i * BOX_FEATURES + BOX_SCENE_FEATURES + BOX_FILLING_FEATURES;
        double to_background = fmin(self->distance[0][i], FAR), to_foreground = fmin(self->distance[1][i], FAR);
        int k = 0;
        if (!affinity->scene->regions[i].is_inside)
            continue;
        row[k++] = (float)log_ratio(near[1][i], mass[1], near[0][i], mass[0]);
        row[k++] = (float)log_ratio(wide[1][i], mass[1], wide[0][i], mass[0]);
        row[k++] = (float)log_ratio(near[1][i], 1, near[0][i], 1);
        row[k++] = (float)clip(score[i], RATIO_LIMIT);
        row[k++] = (float)q[i];
        row[k++] = self->smooth[i];
        row[k++] = similar[i];
        row[k++] = position_all[i] > 0 ? position[i] / position_all[i] : 0;
        row[k++] = (float)((to_background - to_foreground) / (to_background + to_foreground + 3));
        row[k++] = (float)nearness(to_background, STEP_RANGE);
        row[k++] = (float)nearness(to_foreground, STEP_RANGE);
        row[k++] = (float)share[0];
        row[k++] = (float)share[1];
        fill_context(row + k, self, &affinity->scene->regions[i]);
    }
}

enum clv_status box_features_init(struct box_features *self, const struct box_affinity *affinity, struct clv_error *err)
{
    const struct clv_superpixels *map = &affinity->scene->superpixels;
    size_t n = (size_t)affinity->n;
    OWNED(box_features_release) struct box_features result = {.affinity = affinity, .n = affinity->n};
    result.working = box_scene_scale(affinity->scene, map->width, map->height);
    NEED(result.values = array_zalloc(n * BOX_FEATURES, sizeof(float)));
    NEED(result.sums = array_alloc(n * SUMS, sizeof(float)));
    NEED(result.weights = array_alloc(n * SUMS, sizeof(float)));
    NEED(result.smooth = array_alloc(n, sizeof(float)));
    NEED(result.distance[0] = array_alloc(n, sizeof(double)));
    NEED(result.distance[1] = array_alloc(n, sizeof(double)));
    fill_scene(&result);
    *self = TAKE(result);
    return CLV_OK;
}
