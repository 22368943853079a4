/* Figure and ground among superpixels i with colours c_i (Lab), places x_i and shares a_i, from soft labels q (figure
 * 1):
 *
 *     f_i = sum_(j != i) a_j q_j K_ij / sum_j a_j q_j,   g_i the same with 1 - q: densities by the kernel
 *     K_ij = exp(-|c_i - c_j|^2 / 2 s^2 - roughness - |x_i - x_j|^2 / 2 t^2)
 *     u_i = clip(log f_i / g_i) + the same for a second kernel, without place + prior_i
 *
 * Each round solves the cut of a_i u_i with contrast-sensitive couplings, and mixes its labels with the logistic of u
 * into the next q. Outside the box q = 0 for good. */
#include "box_cut/box_model.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/maths.h"
#include "cleave/oracle.h"

/* Chosen on boxes of horses and of MSRC objects, tight and a tenth wider on each side. */
#define LIGHTNESS      0.43f /* weight of L in colour distances */
#define NEAR_COLOUR    2.4   /* s of the kernel with place */
#define NEAR_PLACE     0.48  /* t, in sides of the box */
#define WIDE_COLOUR    4.0   /* s of the kernel without */
#define WIDE_WEIGHT    0.6
#define ROUGHNESS      0.48
#define LIKELIHOOD_MIN 2e-4
#define LIKELIHOOD_MAX 5.1 /* log ratios are clipped here */
#define PRIOR_WEIGHT   0.6
#define PRIOR_CENTRE   1.6 /* log odds of figure in the middle of a box .. */
#define PRIOR_FALL     5.2 /* .. and how much less they are in the middle of a side */
#define PRIOR_POWER    4
#define STEP_WEIGHT    2.05 /* of the colour step from outside */
#define STEP_FREE      4.7  /* in Lab: shading, no edge */
#define STEP_RANGE     32.0
#define STEP_CENTRE    0.625
#define OUTSIDE_WEIGHT 0.32 /* of log of density inside the box / outside */
#define OUTSIDE_CLIP   4.8
#define START_MIXED    0.8 /* share of colours in the first q; the rest is the prior alone */
#define CERTAIN        1e3
#define EXTENT         0.64 /* the least share of the box's width and height that the figure spans */
#define EXTENT_STEP    0.3
#define EXTENT_TRIES   24
#define SOFT_SHARE     0.4 /* of the logistic in the next q */
#define CONTRAST_WIDTH 0.5
#define MAX_SWEEPS     30

struct model {
    const struct box_scene *scene;
    const struct clv_box_cut_options *options;
    int32_t n;
    float *near_kernel, *wide_kernel; /* [n][n], 0 on the diagonal */
    double *prior;                    /* [n] */
    double *q;                        /* [n] */
    float *weighted[2];               /* [n] a_j (1 - q_j), a_j q_j */
    double *score;                    /* [n] u */
    double *unary, *coupling;
    struct clv_oracle *oracle;
};

static void model_release(struct model *self)
{
    array_free(self->near_kernel);
    array_free(self->wide_kernel);
    array_free(self->prior);
    array_free(self->q);
    array_free(self->weighted[0]);
    array_free(self->weighted[1]);
    array_free(self->score);
    array_free(self->unary);
    array_free(self->coupling);
    clv_oracle_free(self->oracle);
}

static enum clv_status model_init(struct model *self, const struct box_scene *scene,
                                  const struct clv_box_cut_options *options, struct clv_error *err)
{
    size_t n = (size_t)scene->superpixels.n, m = (size_t)scene->adjacency.n_edges;
    *self = (struct model){.scene = scene, .options = options, .n = (int32_t)n};
    if (!(self->near_kernel = array_alloc(n * n, sizeof(float))) ||
        !(self->wide_kernel = array_alloc(n * n, sizeof(float))) || !(self->prior = array_alloc(n, sizeof(double))) ||
        !(self->q = array_alloc(n, sizeof(double))) || !(self->weighted[0] = array_alloc(n, sizeof(float))) ||
        !(self->weighted[1] = array_alloc(n, sizeof(float))) || !(self->score = array_zalloc(n, sizeof(double))) ||
        !(self->unary = array_alloc(n, sizeof(double))) || !(self->coupling = array_alloc(m, sizeof(double))))
        return fail_memory(err);
    return clv_oracle_new(&self->oracle, CLV_ENGINE_DEFAULT, err);
}

static float colour_distance(const struct box_region *a, const struct box_region *b, float lightness)
{
    float dl = a->lab[0] - b->lab[0], da = a->lab[1] - b->lab[1], db = a->lab[2] - b->lab[2];
    return lightness * dl * dl + da * da + db * db;
}

static void fill_kernels(struct model *self)
{
    const float near_scale = (float)(0.5 / (NEAR_COLOUR * NEAR_COLOUR));
    const float wide_scale = (float)(0.5 / (WIDE_COLOUR * WIDE_COLOUR));
    /* The box is 2 x 2 in the regions' coordinates; t counts in the mean of its sides. */
    const float across = (float)(0.125 / (NEAR_PLACE * NEAR_PLACE) / self->scene->shape);
    const float down = (float)(0.125 / (NEAR_PLACE * NEAR_PLACE) * self->scene->shape);
    size_t n = (size_t)self->n;
    for (size_t i = 0; i < n; i++) {
        const struct box_region *a = &self->scene->regions[i];
        self->near_kernel[i * n + i] = self->wide_kernel[i * n + i] = 0;
        for (size_t j = 0; j < i; j++) {
            const struct box_region *b = &self->scene->regions[j];
            float colour = colour_distance(a, b, LIGHTNESS), dx = a->x - b->x, dy = a->y - b->y;
            float rough = a->roughness - b->roughness;
            float place = across * dx * dx + down * dy * dy + (float)(ROUGHNESS / 50) * rough * rough;
            self->near_kernel[i * n + j] = self->near_kernel[j * n + i] = portable_expf(-near_scale * colour - place);
            self->wide_kernel[i * n + j] = self->wide_kernel[j * n + i] = portable_expf(-wide_scale * colour);
        }
    }
}

/* Contrast-sensitive Potts couplings by border length, on the scale of unaries of mean size 1. */
static void fill_couplings(struct model *self)
{
    const struct clv_adjacency *adjacency = &self->scene->adjacency;
    const struct clv_superpixels *map = &self->scene->superpixels;
    double sum = 0, length = 0, side = sqrt((double)map->width * map->height / self->n);
    for (int32_t e = 0; e < adjacency->n_edges; e++) {
        const struct box_region *regions = self->scene->regions;
        self->coupling[e] = colour_distance(&regions[adjacency->edges[e][0]], &regions[adjacency->edges[e][1]], 1);
        sum += self->coupling[e] * adjacency->boundary_length[e];
        length += adjacency->boundary_length[e];
    }
    double mean = length > 0 && sum > 0 ? sum / length : 1;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        self->coupling[e] = self->options->coupling * adjacency->boundary_length[e] / side *
                            portable_exp(-self->coupling[e] / (2 * CONTRAST_WIDTH * mean));
}

/* distance[n] = the least sum of colour steps, less what is free, on a way from outside the box; sweeps to and fro
 * settle it. */
static void measure_steps(double *distance, const struct model *self)
{
    const struct clv_adjacency *adjacency = &self->scene->adjacency;
    const struct box_region *regions = self->scene->regions;
    for (int32_t i = 0; i < self->n; i++)
        distance[i] = regions[i].is_inside ? INFINITY : 0;
    bool fell = true;
    for (int sweep = 0; sweep < MAX_SWEEPS && fell; sweep++) {
        fell = false;
        for (int32_t k = 0; k < adjacency->n_edges; k++) {
            const int32_t *edge = adjacency->edges[sweep % 2 ? adjacency->n_edges - 1 - k : k];
            double step = fmax(0, sqrtf(colour_distance(&regions[edge[0]], &regions[edge[1]], 1)) - STEP_FREE);
            for (int end = 0; end < 2; end++)
                if (distance[edge[end]] + step < distance[edge[1 - end]]) {
                    distance[edge[1 - end]] = distance[edge[end]] + step;
                    fell = true;
                }
        }
    }
}

static double logistic(double x)
{
    return 1 / (1 + portable_exp(-x));
}

static double clip(double x, double limit)
{
    return fmin(fmax(x, -limit), limit);
}

/* Prior and first q. Inside, colours are a mixture of figure and of a ground like the one outside: where their density
 * is I inside and O outside, figure has the share 1 - (1 - p) O / I of it. */
static void start(struct model *self)
{
    const struct box_region *regions = self->scene->regions;
    size_t n = (size_t)self->n;
    double inside = 0, outside = 0;
    measure_steps(self->prior, self);
    for (size_t i = 0; i < n; i++)
        *(regions[i].is_inside ? &inside : &outside) += regions[i].share;
    for (size_t i = 0; i < n; i++) {
        const struct box_region *region = &regions[i];
        double steps = self->prior[i];
        self->prior[i] = self->q[i] = 0;
        if (!region->is_inside)
            continue;
        self->prior[i] = PRIOR_CENTRE - PRIOR_FALL * (portable_pow(fabs(region->x), PRIOR_POWER) +
                                                      portable_pow(fabs(region->y), PRIOR_POWER));
        if (isfinite(steps))
            self->prior[i] += STEP_WEIGHT * (1 - portable_exp(-steps / STEP_RANGE) - STEP_CENTRE);
        double p = logistic(self->prior[i]), density[2] = {0, region->share};
        for (size_t j = 0; j < n; j++)
            density[regions[j].is_inside] += (double)self->near_kernel[i * n + j] * regions[j].share;
        self->q[i] = p;
        if (outside > 0) {
            double ratio = density[1] / inside / (density[0] / outside + 1e-12);
            self->q[i] = START_MIXED * fmin(fmax(1 - (1 - p) / ratio, 0.02), 0.98) + (1 - START_MIXED) * p;
            self->prior[i] += OUTSIDE_WEIGHT * clip(portable_log(ratio), OUTSIDE_CLIP);
        }
    }
}

/* log (f_i / g_i) by one kernel; mass are the sums of a (1 - q) and a q. */
static double log_ratio(const struct model *self, const float *kernel, size_t i, const double mass[2])
{
    const float *row = kernel + i * (size_t)self->n;
    double figure = 0, ground = 0;
    for (int32_t j = 0; j < self->n; j++) {
        figure += row[j] * self->weighted[1][j];
        ground += row[j] * self->weighted[0][j];
    }
    return clip(portable_log((figure / mass[1] + LIKELIHOOD_MIN) / (ground / mass[0] + LIKELIHOOD_MIN)),
                LIKELIHOOD_MAX);
}

static void score_regions(struct model *self)
{
    const struct box_region *regions = self->scene->regions;
    double mass[2] = {1e-5, 1e-5};
    for (int32_t i = 0; i < self->n; i++) {
        self->weighted[1][i] = (float)(regions[i].share * self->q[i]);
        self->weighted[0][i] = (float)(regions[i].share * (1 - self->q[i]));
        mass[0] += self->weighted[0][i];
        mass[1] += self->weighted[1][i];
    }
    for (int32_t i = 0; i < self->n; i++) {
        if (regions[i].is_inside)
            self->score[i] = log_ratio(self, self->near_kernel, (size_t)i, mass) +
                             WIDE_WEIGHT * log_ratio(self, self->wide_kernel, (size_t)i, mass) +
                             PRIOR_WEIGHT * self->prior[i];
        self->unary[i] = regions[i].is_inside ? self->score[i] * regions[i].share * self->n : -CERTAIN;
    }
}

/* Whether the figure spans enough of the box in both directions. */
static bool is_tight(const struct model *self, const int32_t *figure)
{
    double low[2] = {1, 1}, high[2] = {-1, -1};
    for (int32_t i = 0; i < self->n; i++)
        for (int k = 0; figure[i] && k < 2; k++) {
            low[k] = fmin(low[k], self->scene->regions[i].low[k]);
            high[k] = fmax(high[k], self->scene->regions[i].high[k]);
        }
    return high[0] - low[0] >= 2 * EXTENT && high[1] - low[1] >= 2 * EXTENT;
}

/* The minimum cut; scores rise together until it is tight. */
static enum clv_status cut(int32_t *figure, struct model *self, struct clv_error *err)
{
    const struct clv_field field = {
        .n_nodes = self->n,
        .n_edges = self->scene->adjacency.n_edges,
        .n_labels = 2,
        .form = CLV_PAIRWISE_POTTS,
        .edges = (const int32_t(*)[2])self->scene->adjacency.edges,
        .unary = self->unary,
        .pairwise = self->coupling,
    };
    enum clv_status status = clv_oracle_map(self->oracle, figure, NULL, &field, err);
    for (int attempt = 0; status == CLV_OK && attempt < EXTENT_TRIES && !is_tight(self, figure); attempt++) {
        for (int32_t i = 0; i < self->n; i++)
            if (self->scene->regions[i].is_inside) {
                self->score[i] += EXTENT_STEP;
                self->unary[i] += EXTENT_STEP * self->scene->regions[i].share * self->n;
            }
        status = clv_oracle_map(self->oracle, figure, NULL, &field, err);
    }
    return status;
}

enum clv_status box_model_solve(int32_t *figure, float *odds, const struct box_scene *scene,
                                const struct clv_box_cut_options *options, struct clv_error *err)
{
    struct model model;
    enum clv_status status = model_init(&model, scene, options, err);
    if (status == CLV_OK) {
        fill_kernels(&model);
        fill_couplings(&model);
        start(&model);
    }
    for (int32_t round = 0; round < options->rounds && status == CLV_OK; round++) {
        score_regions(&model);
        status = cut(figure, &model, err);
        for (int32_t i = 0; i < model.n && status == CLV_OK; i++)
            if (scene->regions[i].is_inside)
                model.q[i] = SOFT_SHARE * logistic(model.score[i]) + (1 - SOFT_SHARE) * figure[i];
    }
    for (int32_t i = 0; i < model.n && status == CLV_OK; i++)
        odds[i] = (float)model.score[i];
    model_release(&model);
    return status;
}
