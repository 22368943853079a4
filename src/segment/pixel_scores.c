#include "segment/segment.h"

#include "base/base.h"

struct sum {
    float *score;
    size_t n;
    const struct refining *refining;
};

static void add_term(void *context, int32_t term, const float *plane)
{
    struct sum *sum = context;
    const struct refining *refining = sum->refining;
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

enum clv_status pixel_scores(float *score, const struct segmented *self, const struct refining *refining,
                             struct clv_error *err)
{
    struct sum sum = {score, (size_t)self->image->width * (size_t)self->image->height, refining};
    for (size_t p = 0; p < sum.n; p++)
        score[p] = (float)refining->bias;
    return all_pixel_terms(self, false, add_term, &sum, err);
}

enum clv_status pixel_scores_refine(uint8_t *labels, const float *score, const struct clv_image *image,
                                    const struct refining *refining, struct clv_error *err)
{
    struct clv_refine_options options = refining->options;
    options.prior = 1; /* all but these is in the scores */
    options.overall = 0;
    return clv_refine(labels, image, score, NULL, &options, err);
}
