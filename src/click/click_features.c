/* Computes features of superpixels from the strokes so far: distances over steps of colour, similarity of colours, the
 * labels before and the model's score. click_view_init computes the features that do not change between rounds,
 * click_features_fill the others; enum click_feature in click.h names the columns. */
#include "click/click.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "superpixel/superpixel.h"

#define MAX_SWEEPS     40
#define FAR            1e3f
#define LIKELIHOOD_MIN 2e-4
#define LOG_RATIO_CLIP 5.0
#define SEED_COLOUR    6.0f /* scale at which similarity to a seed's colour falls, in Lab */
#define LIGHTNESS      0.43f
#define SCORE_CLIP     12.0f

void click_view_release(struct click_view *view)
{
    arrays_free(view->seed, view->is_barred, view->before, view->away, view->fixed_features);
    *view = (struct click_view){0};
}

int click_phase(int32_t n_strokes, bool has_prior)
{
    int32_t n = n_strokes + has_prior; /* a score counts as one stroke */
    return n <= 1 ? 0 : n <= 4 ? 1 : 2;
}

float click_score(const struct click_weights *weights, const float *features)
{
    float score = 0;
    for (int k = 0; k < CLICK_FEATURES; k++)
        score += weights->linear[k] * features[k];
    for (int h = 0; h < CLICK_HIDDEN; h++) {
        float sum = 0;
        for (int k = 0; k < CLICK_FEATURES; k++)
            sum += weights->hidden[h][k] * features[k];
        score += weights->output[h] * fmaxf(0, sum);
    }
    return fminf(fmaxf(score, -SCORE_CLIP), SCORE_CLIP);
}

/* Sets view->seed: 1 if all seeds of a superpixel are foreground, -1 if all are background, else 0. */
static void find_seeds(struct click_view *view)
{
    const struct clv_image *image = &view->scene->image;
    const uint8_t *seeds = view->request->seeds;
    for (int32_t y = 0; y < image->height; y++) {
        const uint8_t *row = seeds + (size_t)y * (size_t)image->width;
        if (row_is_free(row, (size_t)image->width))
            continue;
        for (int32_t x = 0; x < image->width; x++)
            if (row[x] == CLICK_FOREGROUND || row[x] == CLICK_BACKGROUND) {
                int8_t *seed = &view->seed[click_scene_at(view->scene, x, y)];
                *seed |= (int8_t)(row[x] == CLICK_FOREGROUND ? 1 : 2);
            }
    }
    for (int32_t i = 0; i < view->scene->superpixels.n; i++)
        view->seed[i] = (int8_t)(view->seed[i] == 1 ? 1 : view->seed[i] == 2 ? -1 : 0);
}

/* Returns the pixel of the image at the centre of pixel (x, y) of the working copy. */
static size_t full_pixel(const struct click_scene *scene, int32_t x, int32_t y)
{
    const struct clv_superpixels *map = &scene->superpixels;
    size_t column = (2 * (size_t)x + 1) * (size_t)scene->image.width / (2 * (size_t)map->width);
    size_t row = (2 * (size_t)y + 1) * (size_t)scene->image.height / (2 * (size_t)map->height);
    return row * (size_t)scene->image.width + column;
}

/* Computes means over superpixels of the labels before, of the prior and of barred pixels. *radius is the distance from
 * the latest stroke to the nearest pixel that had the stroke's label before: the pixels between are assumed to be
 * wrong. */
static void average(struct click_view *view, float *prior, float *barred, float *radius)
{
    const struct click_scene *scene = view->scene;
    const struct click_request *request = view->request;
    const struct clv_superpixels *map = &scene->superpixels;
    const struct click_press *latest = request->latest;
    float nearest = INFINITY, scale = (float)map->width / (float)scene->image.width;
    float at_x = latest ? ((float)latest->x + 0.5f) * scale : 0, at_y = latest ? ((float)latest->y + 0.5f) * scale : 0;
    for (int32_t i = 0; i < map->n; i++)
        view->before[i] = prior[i] = barred[i] = 0;
    for (int32_t y = 0, p = 0; y < map->height; y++)
        for (int32_t x = 0; x < map->width; x++, p++) {
            size_t full = full_pixel(scene, x, y);
            int32_t i = map->labels[p];
            float weight = 1 / (scene->regions[i].share * (float)map->width * (float)map->height);
            bool is_foreground = request->before && request->before[full];
            view->before[i] += is_foreground ? weight : 0;
            barred[i] += request->seeds[full] == CLICK_BARRED ? weight : 0;
            prior[i] += request->prior ? request->prior[full] * weight : 0;
            if (latest && is_foreground == latest->is_foreground) {
                float dx = (float)x + 0.5f - at_x, dy = (float)y + 0.5f - at_y, distance = dx * dx + dy * dy;
                nearest = distance < nearest ? distance : nearest;
            }
        }
    for (int32_t i = 0; i < map->n; i++)
        view->is_barred[i] = barred[i] > 0.5f;
    float unit = sqrtf((float)map->width * (float)map->height);
    *radius = isfinite(nearest) ? fmaxf(sqrtf(nearest) / unit, 0.01f) : 0.3f;
}

/* Computes shortest paths over scene->step from the superpixels with distance 0. Sweeps over the edges forwards and
 * backwards until no distance falls, or MAX_SWEEPS times. */
static void walk(float *distance, const struct click_scene *scene)
{
    const struct clv_adjacency *adjacency = &scene->adjacency;
    bool fell = true;
    for (int sweep = 0; sweep < MAX_SWEEPS && fell; sweep++) {
        fell = false;
        for (int32_t k = 0; k < adjacency->n_edges; k++) {
            int32_t e = sweep % 2 ? adjacency->n_edges - 1 - k : k;
            const int32_t *edge = adjacency->edges[e];
            for (int end = 0; end < 2; end++)
                if (distance[edge[end]] + scene->step[e] < distance[edge[1 - end]]) {
                    distance[edge[1 - end]] = distance[edge[end]] + scene->step[e];
                    fell = true;
                }
        }
    }
}

/* Distances of each superpixel from the seeds of one kind: over colour steps, straight, and by similarity of
 * colours. */
struct reach {
    float *steps, *distance, *like; /* [n] */
};

static void reach_fill(struct reach *reach, const struct click_view *view, int kind)
{
    const struct click_scene *scene = view->scene;
    int32_t n = scene->superpixels.n;
    bool is_any = false;
    for (int32_t i = 0; i < n; i++) {
        reach->steps[i] = view->seed[i] == kind ? 0 : FAR;
        is_any |= view->seed[i] == kind;
        reach->distance[i] = FAR;
        reach->like[i] = 0;
    }
    for (int32_t s = 0; s < n; s++)
        for (int32_t i = 0; i < n && view->seed[s] == kind; i++) {
            const struct click_region *a = &scene->regions[s], *b = &scene->regions[i];
            float dx = a->x - b->x, dy = a->y - b->y, colour = lab_square_distance(a->lab, b->lab, LIGHTNESS);
            reach->distance[i] = fminf(reach->distance[i], sqrtf(dx * dx + dy * dy));
            reach->like[i] = fmaxf(reach->like[i], 1 / (1 + colour / (SEED_COLOUR * SEED_COLOUR)));
        }
    /* Without a stroke of this kind, the image's border stands for one: most objects do not touch it. */
    for (int32_t i = 0; i < n && !is_any; i++) {
        reach->distance[i] = scene->regions[i].to_border + 0.15f;
        reach->steps[i] = scene->regions[i].to_border < 0.02f ? 10 : FAR;
    }
    walk(reach->steps, scene);
}

static float balance(float background, float foreground)
{
    return (background - foreground) / (background + foreground + 1e-3f);
}

/* Fills the columns of the latest stroke, by distance, similarity of colour and distance over steps of colour. */
static void fill_latest(struct click_view *view, const float *steps, float radius)
{
    const struct click_scene *scene = view->scene;
    const struct click_press *latest = view->request->latest;
    int32_t n = scene->superpixels.n;
    float x = ((float)latest->x + 0.5f) / scene->unit_px, y = ((float)latest->y + 0.5f) / scene->unit_px;
    float sign = latest->is_foreground ? 1 : -1;
    const struct click_region *there = &scene->regions[click_scene_at(scene, latest->x, latest->y)];
    for (int32_t i = 0; i < n; i++) {
        const struct click_region *region = &scene->regions[i];
        float dx = region->x - x, dy = region->y - y, away = sqrtf(dx * dx + dy * dy) / radius;
        float like = 1 / (1 + lab_square_distance(region->lab, there->lab, LIGHTNESS) / (SEED_COLOUR * SEED_COLOUR));
        float *f = view->fixed_features + (size_t)i * CLICK_FEATURES;
        float near = portable_expf(-0.5f * away * away), known = 2 * view->before[i] - 1;
        view->away[i] = 1 - near;
        f[CLICK_BEFORE_FAR] = view->request->before ? known * fminf(away, 4) / 4 : 0;
        f[CLICK_LATEST_NEAR] = sign * near;
        f[CLICK_LATEST_LIKE] = sign * near * like;
        f[CLICK_LATEST_STEPS] = sign * portable_expf(-steps[i] / 12);
        f[CLICK_LATEST_WIDE] = sign * like / (1 + away * away / 9);
        f[CLICK_LATEST_AGAINST] = view->request->before ? near * known : 0;
        f[CLICK_LATEST_FIRM] = sign * (away < 1 ? 1 - away * away : 0);
    }
}

/* Returns the mean of the model's score over all superpixels, weighted by area and by a row of a kernel of
 * similarity. */
static float mean_prior(const float *row, const struct click_view *view, const float *prior, int32_t at)
{
    const struct click_region *regions = view->scene->regions;
    float sum = regions[at].share * prior[at], weight = regions[at].share;
    for (int32_t j = 0; j < view->scene->superpixels.n; j++) {
        sum += row[j] * regions[j].share * prior[j];
        weight += row[j] * regions[j].share;
    }
    return sum / weight;
}

static void fill_fixed(struct click_view *view, const struct reach reach[2], const float *prior)
{
    const struct click_scene *scene = view->scene;
    for (int32_t i = 0; i < scene->superpixels.n; i++) {
        float *f = view->fixed_features + (size_t)i * CLICK_FEATURES;
        const struct click_region *region = &scene->regions[i];
        f[CLICK_ONE] = 1;
        f[CLICK_STEPS_RATIO] = balance(reach[0].steps[i], reach[1].steps[i]);
        f[CLICK_STEPS_FOREGROUND] = (float)portable_log(1 + reach[1].steps[i] / 10.0);
        f[CLICK_STEPS_BACKGROUND] = (float)portable_log(1 + reach[0].steps[i] / 10.0);
        f[CLICK_DISTANCE_RATIO] = balance(reach[0].distance[i], reach[1].distance[i]);
        f[CLICK_DISTANCE_FOREGROUND] = fminf(reach[1].distance[i], 1);
        f[CLICK_DISTANCE_BACKGROUND] = fminf(reach[0].distance[i], 1);
        f[CLICK_BORDER] = fminf(region->to_border, 0.4f);
        f[CLICK_BORDER_NEAR] = region->to_border < 0.04f;
        f[CLICK_LIKE_FOREGROUND] = reach[1].like[i];
        f[CLICK_LIKE_BACKGROUND] = reach[0].like[i];
        f[CLICK_BEFORE] = view->request->before ? 2 * view->before[i] - 1 : 0;
        f[CLICK_PRIOR] = prior[i];
        if (view->request->prior) {
            size_t row = (size_t)i * (size_t)scene->superpixels.n;
            f[CLICK_PRIOR_NEAR] = mean_prior(scene->near_kernel + row, view, prior, i);
            f[CLICK_PRIOR_WIDE] = mean_prior(scene->wide_kernel + row, view, prior, i);
        }
    }
}

enum clv_status click_view_init(struct click_view *view, const struct click_scene *scene,
                                const struct click_request *request, struct clv_error *err)
{
    size_t n = (size_t)scene->superpixels.n;
    OWNED_ARRAY float *workspace = array_alloc(9 * n, sizeof *workspace);
    float radius = 0;
    OWNED(click_view_release) struct click_view result = {.scene = scene, .request = request};
    result.seed = array_zalloc(n, sizeof *result.seed);
    result.is_barred = array_zalloc(n, sizeof *result.is_barred);
    result.before = array_alloc(n, sizeof *result.before);
    result.away = array_zalloc(n, sizeof *result.away);
    result.fixed_features = array_zalloc(n, CLICK_FEATURES * sizeof *result.fixed_features);
    NEED(workspace && result.seed && result.is_barred && result.before && result.away && result.fixed_features);
    struct reach reach[2] = {{workspace, workspace + n, workspace + 2 * n},
                             {workspace + 3 * n, workspace + 4 * n, workspace + 5 * n}};
    float *prior = workspace + 6 * n, *steps = workspace + 7 * n, *barred = workspace + 8 * n;
    find_seeds(&result);
    average(&result, prior, barred, &radius);
    reach_fill(&reach[0], &result, -1);
    reach_fill(&reach[1], &result, 1);
    fill_fixed(&result, reach, prior);
    if (request->latest) {
        for (size_t i = 0; i < n; i++)
            steps[i] = FAR;
        steps[click_scene_at(scene, request->latest->x, request->latest->y)] = 0;
        walk(steps, scene);
        fill_latest(&result, steps, radius);
    }
    *view = TAKE(result);
    return CLV_OK;
}

/* Sets the column `feature` to the log ratio of the densities of foreground and background at each superpixel. mass has
 * the sums of shares[2][n]; density[2][n] is scratch. */
static void fill_log_ratios(float *features, enum click_feature feature, float *density, const float *kernel, size_t n,
                            const float *shares, const double mass[2])
{
    region_kernel_apply((float *const[2]){density, density + n}, kernel, (const float *const[2]){shares, shares + n},
                        n);
    for (size_t i = 0; i < n; i++) {
        double background = (double)density[i] / mass[0] + LIKELIHOOD_MIN;
        double ratio = portable_log(((double)density[n + i] / mass[1] + LIKELIHOOD_MIN) / background);
        features[i * CLICK_FEATURES + feature] = (float)fmin(fmax(ratio, -LOG_RATIO_CLIP), LOG_RATIO_CLIP);
    }
}

enum clv_status click_features_fill(float *features, const struct click_view *view, const float *q,
                                    struct clv_error *err)
{
    const struct click_scene *scene = view->scene;
    size_t n = (size_t)scene->superpixels.n;
    memcpy(features, view->fixed_features, n * CLICK_FEATURES * sizeof *features);
    if (!q)
        return CLV_OK;
    OWNED_ARRAY float *shares = array_alloc(2 * n, sizeof *shares);
    OWNED_ARRAY float *density = array_alloc(2 * n, sizeof *density);
    NEED(shares && density);
    double mass[2] = {1e-5, 1e-5};
    for (size_t i = 0; i < n; i++) {
        shares[i] = scene->regions[i].share * (1 - q[i]);
        shares[n + i] = scene->regions[i].share * q[i];
        mass[0] += shares[i];
        mass[1] += shares[n + i];
    }
    fill_log_ratios(features, CLICK_NEAR, density, scene->near_kernel, n, shares, mass);
    fill_log_ratios(features, CLICK_WIDE, density, scene->wide_kernel, n, shares, mass);
    for (size_t i = 0; i < n; i++)
        features[i * CLICK_FEATURES + CLICK_Q] = 2 * q[i] - 1;
    return CLV_OK;
}
