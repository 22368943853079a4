/* Refines the labels of a segmented image by its model, in one of three ways: by pixel scores, by votes, or by
 * margins of the nodes. Start at segmented_refine, at the end. */
#include "refine/by_model/by_model.h"

#include <string.h>

#include "base/base.h"
#include "refine/refine.h"

struct sum {
    float *score;
    size_t n;
    const struct refinement *refining;
};

static void add_term(void *context, int32_t term, const float *plane)
{
    struct sum *sum = context;
    const struct refinement *refining = sum->refining;
    double weight = 0;
    if (term == TERM_NODES)
        weight = refining->options.prior;
    else if (term == TERM_COLOURS)
        weight = refining->options.overall;
    else if (term == TERM_NET)
        weight = refining->net_weight;
    else if (term >= TERM_MAPS)
        weight = refining->maps[(term - TERM_MAPS) / TERMS_A_MAP][(term - TERM_MAPS) % TERMS_A_MAP];
    for (size_t p = 0; p < sum->n; p++)
        sum->score[p] += (float)weight * plane[p];
}

enum clv_status pixel_scores(float *score, const struct segmented *self, const struct refinement *refining,
                             struct clv_error *err)
{
    struct sum sum = {score, (size_t)self->image->width * (size_t)self->image->height, refining};
    for (size_t p = 0; p < sum.n; p++)
        score[p] = (float)refining->bias;
    return all_pixel_terms(self, false, add_term, &sum, err);
}

enum clv_status pixel_scores_refine(uint8_t *labels, const float *score, const struct clv_image *image,
                                    const struct refinement *refining, struct clv_error *err)
{
    struct clv_refine_options options = refining->options;
    options.prior = 1; /* the scores include all terms except the colours nearby */
    options.overall = 0;
    return clv_refine(labels, image, score, NULL, &options, err);
}

static enum clv_status by_scores(uint8_t *labels, const struct segmented *self, const struct refinement *refining,
                                 struct clv_error *err)
{
    OWNED_ARRAY float *score = array_alloc((size_t)self->image->width, (size_t)self->image->height * sizeof *score);
    NEED(score);
    MUST(pixel_scores(score, self, refining, err));
    return pixel_scores_refine(labels, score, self->image, refining, err);
}

static enum clv_status by_votes(uint8_t *labels, const struct segmented *self, const struct refinement *refining,
                                struct clv_error *err)
{
    size_t n = (size_t)self->image->width * (size_t)self->image->height;
    OWNED(evidence_release) struct evidence evidence = {0};
    OWNED_ARRAY uint8_t *result = array_alloc(n, sizeof *result);
    NEED(result);
    MUST(self->net ? evidence_of_net(&evidence, result, self, err)
                   : evidence_init(&evidence, result, self->example, self->y, self->maps, self->model, err));
    MUST(evidence_refine(result, &evidence, self->image, refining, err));
    memcpy(labels, result, n);
    return CLV_OK;
}

static enum clv_status by_margins(uint8_t *labels, const struct segmented *self,
                                  const struct clv_refine_options *options, struct clv_error *err)
{
    if (self->margin)
        return refine_by_margins(labels, self->image, self->example, self->margin, options, err);
    OWNED_ARRAY double *margin = array_alloc((size_t)self->example->problem.n_nodes, sizeof *margin);
    NEED(margin);
    MUST(clv_oracle_margins(self->oracle, margin, self->y, err));
    return refine_by_margins(labels, self->image, self->example, margin, options, err);
}

enum clv_status segmented_refine(uint8_t *labels, const struct segmented *self,
                                 const struct clv_refine_options *options, struct clv_error *err)
{
    const struct clv_model *model = self->model;
    struct segmented segmented = *self;
    struct refinement refining;
    struct clv_refine_options changed;
    clv_refine_defaults(&changed);
    changed = options ? *options : changed;
    MUST(refining_of_model(&refining, model, &changed, err));
    bool has_learned = refining.is_learned && (self->maps || !model->recipe.n_maps);
    segmented.net = refining.net.weights ? &refining.net : NULL;
    if (segmented.net && !refining_is_cut(model)) /* tiles of a raster have neither marginals nor features */
        has_learned &= self->marginals || self->example->problem.row;
    if (refining_is_cut(model))
        return has_learned ? by_scores(labels, &segmented, &refining, err)
                           : by_margins(labels, &segmented, &changed, err);
    return has_learned
               ? by_votes(labels, &segmented, &refining, err)
               : refine_by_votes(labels, self->image, self->example, self->y, model->layout.n_labels, &changed, err);
}
