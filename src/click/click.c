/* Segments an object from clicks and strokes in rounds: each round describes the superpixels by the labelling so
 * far (click_features.c), scores them by learned weights and cuts them. The cut is refined at the pixels
 * afterwards. Start at click_cut, at the end. */
#include "click/click.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/oracle.h"
#include "cleave/refine.h"

#define COUPLING       1.2
#define PIXEL_COUPLING 2.0
#define CERTAIN        1e3
#define EDIT_TRUST     1.5F /* log odds that an edit without a learned model gives to the labels before it */
#define SOFT_SHARE     0.5  /* weight of the logistic in the next q; the labels of the cut have the rest */
#define PRIOR_CLIP     3.0f /* largest log odds of a pixel */
#define LABEL_SHARE    0.3f /* weight of the superpixels' labels in the pixels' prior; their log odds have the rest */

struct solver {
    struct click_view view;
    int32_t n;
    float *features, *q, *score; /* [n][CLICK_FEATURES], [n] probability, [n] log odds of foreground */
    int32_t *foreground;         /* [n] the cut's labels */
    double *unary, *coupling;
    struct clv_oracle *oracle;
};

static void solver_release(struct solver *self)
{
    click_view_release(&self->view);
    arrays_free(self->features, self->q, self->score, self->foreground, self->unary, self->coupling);
    clv_oracle_free(self->oracle);
}

static enum clv_status solver_init(struct solver *self, const struct click_scene *scene,
                                   const struct click_request *request, struct clv_error *err)
{
    size_t n = (size_t)scene->superpixels.n, m = (size_t)scene->adjacency.n_edges;
    *self = (struct solver){.n = (int32_t)n};
    self->features = array_alloc(n, CLICK_FEATURES * sizeof(float));
    self->q = array_alloc(n, sizeof(float));
    self->score = array_alloc(n, sizeof(float));
    self->foreground = array_alloc(n, sizeof(int32_t));
    self->unary = array_alloc(n, sizeof(double));
    self->coupling = array_alloc(m, sizeof(double));
    NEED(self->features && self->q && self->score && self->foreground && self->unary && self->coupling);
    for (size_t e = 0; e < m; e++)
        self->coupling[e] = COUPLING * scene->coupling[e];
    MUST(clv_oracle_new(&self->oracle, CLV_ENGINE_DEFAULT, err));
    return click_view_init(&self->view, scene, request, err);
}

/* Runs one round: describes the superpixels by the labelling so far, scores and cuts them. */
static enum clv_status cut_regions(struct solver *self, int round, struct clv_error *err)
{
    const struct click_scene *scene = self->view.scene;
    struct click_trace *trace = self->view.request->trace;
    const struct click_request *request = self->view.request;
    bool has_prior = request->prior;
    const click_weights_table *table = trace && trace->weights ? trace->weights : &click_weights[has_prior];
    int phase = request->is_edit ? CLICK_PHASES - 1 : click_phase(request->n_strokes, has_prior);
    const struct click_weights *weights = &(*table)[round > 0][phase];
    MUST(click_features_fill(self->features, &self->view, round ? self->q : NULL, err));
    if (trace)
        memcpy(trace->features + (size_t)round * (size_t)self->n * CLICK_FEATURES, self->features,
               (size_t)self->n * CLICK_FEATURES * sizeof(float));
    for (int32_t i = 0; i < self->n; i++) {
        float score = click_score(weights, self->features + (size_t)i * CLICK_FEATURES);
        if (request->is_edit && request->before && !request->prior)
            score += EDIT_TRUST * (2 * self->view.before[i] - 1) * self->view.away[i];
        int certain = self->view.seed[i] ? self->view.seed[i] : -self->view.is_barred[i];
        self->score[i] = certain ? PRIOR_CLIP * 2 * (float)certain : score;
        self->unary[i] = certain ? CERTAIN * certain : (double)score * scene->regions[i].share * self->n;
    }
    const struct clv_field field = {
        .n_nodes = self->n,
        .n_edges = scene->adjacency.n_edges,
        .n_labels = 2,
        .form = CLV_PAIRWISE_POTTS,
        .edges = (const int32_t(*)[2])scene->adjacency.edges,
        .unary = self->unary,
        .pairwise = self->coupling,
    };
    MUST(clv_oracle_map(self->oracle, self->foreground, NULL, &field, err));
    for (int32_t i = 0; i < self->n; i++) {
        float soft = 1 / (1 + portable_expf(-self->score[i]));
        self->q[i] = (float)(SOFT_SHARE * soft + (1 - SOFT_SHARE) * self->foreground[i]);
    }
    return CLV_OK;
}

/* Shrinks the seeds to the size of the cutting copy, a pixel of which covers a block of pixels. The seed in the middle
 * of the block counts; strokes may be thin and count anywhere in the block. */
static void shrink_seeds(uint8_t *small, const struct click_scene *scene, const uint8_t *seeds)
{
    const struct clv_image *image = &scene->image, *cutting = &scene->cutting;
    clv_labels_resize(small, cutting->width, cutting->height, seeds, image->width, image->height);
    for (int32_t y = 0; y < image->height; y++) {
        const uint8_t *row = seeds + (size_t)y * (size_t)image->width;
        if (row_is_free(row, (size_t)image->width))
            continue;
        uint8_t *to = small + (size_t)y * (size_t)cutting->height / (size_t)image->height * (size_t)cutting->width;
        for (int32_t x = 0; x < image->width; x++)
            if (row[x] == CLICK_FOREGROUND || row[x] == CLICK_BACKGROUND)
                to[(size_t)x * (size_t)cutting->width / (size_t)image->width] = row[x];
    }
}

/* Paints the superpixels' labels and refines their border at the pixels of the cutting copy. Seeds are fixed. */
static enum clv_status refine_border(uint8_t *cut, const struct solver *self, const uint8_t *seeds,
                                     struct clv_error *err)
{
    const struct click_scene *scene = self->view.scene;
    const struct clv_image *image = &scene->cutting;
    size_t n = (size_t)image->width * (size_t)image->height;
    struct clv_refine_options refining;
    OWNED_ARRAY float *prior = array_alloc(n, sizeof *prior);
    OWNED_ARRAY uint8_t *is_fixed = array_alloc(n, 1);
    NEED(prior && is_fixed);
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++) {
            size_t p = (size_t)y * (size_t)image->width + (size_t)x;
            int32_t i = click_scene_within(scene, image, x, y);
            float certain = self->foreground[i] ? PRIOR_CLIP : -PRIOR_CLIP;
            prior[p] = LABEL_SHARE * certain + (1 - LABEL_SHARE) * self->score[i];
            prior[p] = fminf(fmaxf(prior[p], -PRIOR_CLIP), PRIOR_CLIP);
            is_fixed[p] = seeds[p] != CLICK_FREE;
            cut[p] = seeds[p] ? seeds[p] == CLICK_FOREGROUND : (uint8_t)self->foreground[i];
        }
    clv_refine_defaults(&refining);
    refining.prior = 1;
    refining.balance = 0;
    refining.coupling = PIXEL_COUPLING;
    return clv_refine(cut, image, prior, is_fixed, &refining, err);
}

/* Cuts at the pixels of the cutting copy. In a large image, moves the border to the edges at its full size
 * afterwards. */
static enum clv_status cut_pixels(uint8_t *labels, const struct solver *self, struct clv_error *err)
{
    const struct click_scene *scene = self->view.scene;
    const struct clv_image *image = &scene->image, *cutting = &scene->cutting;
    const uint8_t *seeds = self->view.request->seeds;
    size_t n = (size_t)image->width * (size_t)image->height, n_cut = (size_t)cutting->width * (size_t)cutting->height;
    OWNED_ARRAY uint8_t *cut = array_alloc(n_cut, 1);
    OWNED_ARRAY uint8_t *small = n_cut < n ? array_alloc(n_cut, 1) : NULL;
    NEED(cut && (small || n_cut == n));
    if (small)
        shrink_seeds(small, scene, seeds);
    MUST(refine_border(cut, self, small ? small : seeds, err));
    if (!small) {
        memcpy(labels, cut, n);
        return CLV_OK;
    }
    return border_enlarge(labels, &scene->couplings, cut, cutting->width, cutting->height, seeds, err);
}

/* Returns whether anything can be cut out: a foreground seed or label, or scores of a model. */
static bool has_foreground(const struct click_scene *scene, const struct click_request *request)
{
    size_t n = (size_t)scene->image.width * (size_t)scene->image.height;
    return request->prior || memchr(request->seeds, CLICK_FOREGROUND, n) ||
           (request->before && memchr(request->before, 1, n));
}

enum clv_status click_cut(uint8_t *labels, const struct click_scene *scene, const struct click_request *request,
                          struct clv_error *err)
{
    OWNED(solver_release) struct solver solver = {0};
    if (!has_foreground(scene, request)) {
        memset(labels, 0, (size_t)scene->image.width * (size_t)scene->image.height);
        return CLV_OK;
    }
    MUST(solver_init(&solver, scene, request, err));
    struct click_trace *trace = request->trace;
    if (trace) {
        trace->n = solver.n;
        trace->features = array_alloc((size_t)solver.n, CLICK_ROUNDS * CLICK_FEATURES * sizeof(float));
        NEED(trace->features);
    }
    for (int round = 0; round < CLICK_ROUNDS; round++)
        MUST(cut_regions(&solver, round, err));
    return cut_pixels(labels, &solver, err);
}
