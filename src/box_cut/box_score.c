#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"

#define SCORE_LIMIT 8.0

double box_weights_score(const struct box_weights *weights, const float *features)
{
    double score = weights->linear[BOX_FEATURES];
    for (int k = 0; k < BOX_FEATURES; k++)
        score += (double)weights->linear[k] * features[k];
    for (int h = 0; h < BOX_HIDDEN; h++) {
        const float *row = weights->hidden[h];
        double sum = row[BOX_FEATURES];
        for (int k = 0; k < BOX_FEATURES; k++)
            sum += (double)row[k] * features[k];
        score += weights->output[h] * fmax(0, sum);
    }
    return fmin(fmax(score, -SCORE_LIMIT), SCORE_LIMIT);
}

enum clv_status box_score_features(float **values, const struct box_affinity *affinity, int32_t rounds,
                                   struct clv_error *err)
{
    struct box_features features = {0};
    double *q = array_alloc((size_t)affinity->n, sizeof *q), *score = array_alloc((size_t)affinity->n, sizeof *score);
    enum clv_status status = q && score ? box_features_init(&features, affinity, err) : fail_memory(err);
    *values = NULL;
    TRY(box_fillings_propose(q, score, &features, rounds, err));
    if (status == CLV_OK) {
        box_features_add_soft(&features, q, score);
        *values = features.values;
        features.values = NULL;
    }
    arrays_free(q, score);
    box_features_release(&features);
    return status;
}

enum clv_status box_score(double *score, const struct box_affinity *affinity, const struct box_weights *weights,
                          int32_t rounds, struct clv_error *err)
{
    float *values;
    enum clv_status status = box_score_features(&values, affinity, rounds, err);
    for (int32_t i = 0; i < affinity->n && status == CLV_OK; i++)
        score[i] =
            affinity->scene->regions[i].is_inside ? box_weights_score(weights, values + (size_t)i * BOX_FEATURES) : 0;
    array_free(values);
    return status;
}
