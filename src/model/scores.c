/* The meaning of a model's scores: logarithms of probabilities, or margins, whose scale is arbitrary. Marginals and
 * decisions are computed from scores by this meaning. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"

#define USUAL_SCORE 3.0 /* mean size of unary scores whose scale is arbitrary */

static const char *const score_names[] = {
    [CLV_SCORES_MARGIN] = "margin",
    [CLV_SCORES_LIKELIHOOD] = "likelihood",
    [CLV_SCORES_WEIGHTED_LIKELIHOOD] = "weighted likelihood",
};

const char *clv_scores_name(enum clv_scores scores)
{
    return (int)scores >= 0 && (size_t)scores < sizeof score_names / sizeof *score_names ? score_names[scores]
                                                                                         : "unknown";
}

/* Reads the meaning from the training record, or derives it from the learner, which older records name. */
enum clv_scores clv_model_scores(const struct clv_model *model)
{
    static const struct {
        const char *learner;
        enum clv_scores scores;
    } likelihoods[] = {{"pmap", CLV_SCORES_LIKELIHOOD},
                       {"mpmap", CLV_SCORES_LIKELIHOOD},
                       {"wmpmap", CLV_SCORES_WEIGHTED_LIKELIHOOD},
                       {"crf", CLV_SCORES_WEIGHTED_LIKELIHOOD},
                       {"hcrf", CLV_SCORES_WEIGHTED_LIKELIHOOD}};
    const char *scores = clv_record_get(&model->record, "scores");
    const char *learner = clv_record_get(&model->record, "learner");
    for (size_t k = 0; scores && k < sizeof score_names / sizeof *score_names; k++)
        if (strcmp(scores, score_names[k]) == 0)
            return (enum clv_scores)k;
    for (size_t k = 0; learner && k < sizeof likelihoods / sizeof *likelihoods; k++)
        if (strcmp(learner, likelihoods[k].learner) == 0)
            return likelihoods[k].scores;
    return learner ? CLV_SCORES_MARGIN : CLV_SCORES_LIKELIHOOD;
}

void model_scale_scores(struct clv_field *field, double scale)
{
    size_t k = (size_t)field->n_labels, n = (size_t)field->n_nodes * (k == 2 ? 1 : k);
    size_t m = field->pairwise ? (size_t)field->n_edges * (field->form == CLV_PAIRWISE_FULL ? k * k : 1) : 0;
    if (scale == 0) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += fabs(field->unary[i]);
        scale = sum > 0 ? USUAL_SCORE * (double)n / sum : 1;
    }
    for (size_t i = 0; i < n; i++)
        field->unary[i] *= scale;
    for (size_t e = 0; e < m; e++)
        field->pairwise[e] *= scale;
}
