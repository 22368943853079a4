/* Proposes foreground and background of a box in rounds. Superpixel i has the share a_i of all pixels and the soft
 * label q_i (1: foreground); the kernels K are those of box_affinity.c:
 *
 *     f_i = sum_(j != i) a_j q_j K_ij / sum_j a_j q_j,   g_i the same with 1 - q: densities
 *     u_i = clip(log(f_i / g_i)) of the kernel `near` + the same of `wide` + prior_i, the last two with a weight
 *
 * Each round solves the minimum cut with unary scores a_i u_i; the next q is a mean of its labels and the logistic of
 * u. q stays 0 outside the box. The fillings differ in how much of the box the prior expects to be foreground: much,
 * little, and a medium share. Start at box_fillings_propose. */
#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"
#include "superpixel/superpixel.h"

/* Constants chosen on boxes of horses and of MSRC objects. The networks, which use all fillings, adapt to tight and
 * wide boxes. */
#define COUPLING       6.25
#define WIDE_WEIGHT    0.6
#define LIKELIHOOD_MIN 2e-4
#define LIKELIHOOD_MAX 5.1 /* log ratios are clipped here */
#define PRIOR_WEIGHT   0.6
#define PRIOR_CENTRE   1.6  /* log odds of foreground in the middle of a box .. */
#define PRIOR_FALL     5.2  /* .. and how much less they are in the middle of a side */
#define STEP_WEIGHT    2.05 /* weight of the colour steps on the way from outside */
#define STEP_RANGE     32.0
#define STEP_CENTRE    0.625
#define OUTSIDE_WEIGHT 0.32 /* weight of log(density inside the box / outside) */
#define OUTSIDE_CLIP   4.8
#define START_MIXED    0.8 /* weight of colours in the first q; the prior has the rest */
#define EXTENT_STEP    0.3
#define EXTENT_TRIES   24
#define SOFT_SHARE     0.4 /* weight of the logistic in the next q; the labels of the cut have the rest */

/* `shift` is added to the prior's log odds; the foreground spans at least `extent` of the box's width and height. */
static const struct {
    double shift, extent;
} fillings[BOX_FILLINGS] = {{1.5, 0.64}, {-1.5, 0.4}, {0, 0.64}};

struct proposal {
    const struct box_affinity *affinity;
    const struct box_region *regions;
    int32_t n;
    struct box_mincut cut;
    double *prior, *q, *score; /* [n] */
    float *weighted[2];        /* [n] a_j (1 - q_j), a_j q_j */
    float *sums[4];            /* [n] of `near`, then of `wide`, each of background and foreground */
    int32_t *foreground;       /* [n] */
};

static void proposal_release(struct proposal *self)
{
    box_mincut_release(&self->cut);
    arrays_free(self->prior, self->q, self->score);
    for (int k = 0; k < 2; k++)
        array_free(self->weighted[k]);
    for (int k = 0; k < 4; k++)
        array_free(self->sums[k]);
    array_free(self->foreground);
}

static enum clv_status proposal_init(struct proposal *self, const struct box_affinity *affinity, struct clv_error *err)
{
    size_t n = (size_t)affinity->n;
    *self = (struct proposal){.affinity = affinity, .regions = affinity->scene->regions, .n = affinity->n};
    bool has_memory = (self->prior = array_alloc(n, sizeof(double))) && (self->q = array_alloc(n, sizeof(double))) &&
                      (self->score = array_zalloc(n, sizeof(double))) &&
                      (self->foreground = array_zalloc(n, sizeof *self->foreground));
    for (int k = 0; k < 2; k++)
        has_memory = has_memory && (self->weighted[k] = array_alloc(n, sizeof(float)));
    for (int k = 0; k < 4; k++)
        has_memory = has_memory && (self->sums[k] = array_alloc(n, sizeof(float)));
    return has_memory ? box_mincut_init(&self->cut, affinity, COUPLING, err) : fail_memory(err);
}

/* Applies a kernel: sums[first] of background, sums[first + 1] of foreground. */
static void apply(struct proposal *self, int first, const float *kernel)
{
    region_kernel_apply(self->sums + first, kernel, (const float *const[2]){self->weighted[0], self->weighted[1]},
                        (size_t)self->n);
}

/* Computes the prior and the first q. The colours inside the box are assumed to be a mixture of the foreground and of a
 * background with the colours outside. For a colour of density I inside and O outside, the foreground's share is then
 * 1 - (1 - p) O / I, with p by the prior. */
static void start(struct proposal *self, double shift)
{
    double inside = 0, outside = 0;
    for (int32_t i = 0; i < self->n; i++) {
        const struct box_region *region = &self->regions[i];
        *(region->is_inside ? &inside : &outside) += region->share;
        self->weighted[0][i] = region->is_inside ? 0 : region->share;
        self->weighted[1][i] = region->share - self->weighted[0][i];
        self->prior[i] = region->is_inside ? INFINITY : 0;
    }
    box_affinity_measure(self->prior, self->affinity, BOX_SUM_OF_STEPS);
    apply(self, 0, self->affinity->near);
    for (int32_t i = 0; i < self->n; i++) {
        const struct box_region *region = &self->regions[i];
        double steps = self->prior[i], x = region->x, y = region->y;
        self->prior[i] = self->q[i] = 0;
        if (!region->is_inside)
            continue;
        self->prior[i] = PRIOR_CENTRE + shift - PRIOR_FALL * (x * x * x * x + y * y * y * y);
        if (isfinite(steps))
            self->prior[i] += STEP_WEIGHT * (1 - portable_exp(-steps / STEP_RANGE) - STEP_CENTRE);
        double p = box_logistic(self->prior[i]);
        self->q[i] = p;
        if (outside > 0) {
            double ratio = (self->sums[1][i] + region->share) / inside / (self->sums[0][i] / outside + 1e-12);
            self->q[i] = START_MIXED * fmin(fmax(1 - (1 - p) / ratio, 0.02), 0.98) + (1 - START_MIXED) * p;
            self->prior[i] += OUTSIDE_WEIGHT * clip(portable_log(ratio), OUTSIDE_CLIP);
        }
    }
}

/* Returns log(f_i / g_i) from two sums; mass has the sums of a (1 - q) and a q. */
static double log_ratio(float background, float foreground, const double mass[2])
{
    return clip(portable_log((foreground / mass[1] + LIKELIHOOD_MIN) / (background / mass[0] + LIKELIHOOD_MIN)),
                LIKELIHOOD_MAX);
}

static void score_regions(struct proposal *self)
{
    double mass[2] = {1e-5, 1e-5};
    for (int32_t i = 0; i < self->n; i++) {
        self->weighted[1][i] = (float)(self->regions[i].share * self->q[i]);
        self->weighted[0][i] = (float)(self->regions[i].share * (1 - self->q[i]));
        mass[0] += self->weighted[0][i];
        mass[1] += self->weighted[1][i];
    }
    apply(self, 0, self->affinity->near);
    apply(self, 2, self->affinity->wide);
    for (int32_t i = 0; i < self->n; i++)
        if (self->regions[i].is_inside)
            self->score[i] = log_ratio(self->sums[0][i], self->sums[1][i], mass) +
                             WIDE_WEIGHT * log_ratio(self->sums[2][i], self->sums[3][i], mass) +
                             PRIOR_WEIGHT * self->prior[i];
}

/* Returns whether the foreground spans enough of the box in both directions. */
static bool spans(const struct proposal *self, double extent)
{
    double low[2] = {1, 1}, high[2] = {-1, -1};
    for (int32_t i = 0; i < self->n; i++)
        for (int k = 0; self->foreground[i] && k < 2; k++) {
            low[k] = fmin(low[k], self->regions[i].low[k]);
            high[k] = fmax(high[k], self->regions[i].high[k]);
        }
    return high[0] - low[0] >= 2 * extent && high[1] - low[1] >= 2 * extent;
}

/* Solves the minimum cut. Raises all scores inside by EXTENT_STEP until the foreground spans enough. */
static enum clv_status cut(struct proposal *self, double extent, struct clv_error *err)
{
    MUST(box_mincut_solve(self->foreground, &self->cut, self->score, err));
    for (int attempt = 0; attempt < EXTENT_TRIES && !spans(self, extent); attempt++) {
        for (int32_t i = 0; i < self->n; i++)
            if (self->regions[i].is_inside)
                self->score[i] += EXTENT_STEP;
        MUST(box_mincut_solve(self->foreground, &self->cut, self->score, err));
    }
    return CLV_OK;
}

enum clv_status box_fillings_propose(double *q, double *score, struct box_features *features, int32_t rounds,
                                     struct clv_error *err)
{
    OWNED(proposal_release) struct proposal self = {0};
    MUST(proposal_init(&self, features->affinity, err));
    for (int k = 0; k < BOX_FILLINGS; k++) {
        start(&self, fillings[k].shift);
        for (int32_t round = 0; round < rounds; round++) {
            score_regions(&self);
            MUST(cut(&self, fillings[k].extent, err));
            for (int32_t i = 0; i < self.n; i++)
                if (self.regions[i].is_inside)
                    self.q[i] = SOFT_SHARE * box_logistic(self.score[i]) + (1 - SOFT_SHARE) * self.foreground[i];
        }
        box_features_add_filling(features, k, self.foreground, self.score);
    }
    for (int32_t i = 0; i < self.n; i++) {
        q[i] = self.q[i];
        score[i] = self.score[i];
    }
    return CLV_OK;
}
