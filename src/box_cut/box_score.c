#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"

#define SCORE_LIMIT 8.0

/* Of one row of features, within +-8. */
static double box_network_score(const struct box_network *network, const float *features)
{
    double score = network->linear[BOX_FEATURES];
    for (int k = 0; k < BOX_FEATURES; k++)
        score += (double)network->linear[k] * features[k];
    for (int h = 0; h < BOX_HIDDEN; h++) {
        const float *row = network->hidden[h];
        double sum = row[BOX_FEATURES];
        for (int k = 0; k < BOX_FEATURES; k++)
            sum += (double)row[k] * features[k];
        score += network->output[h] * fmax(0, sum);
    }
    return fmin(fmax(score, -SCORE_LIMIT), SCORE_LIMIT);
}

/* score[n] of rows values[n][BOX_FEATURES]; 0 outside the box. */
static void score_all(double *score, const struct box_affinity *affinity, const struct box_network *network,
                      const float *values)
{
    for (int32_t i = 0; i < affinity->n; i++)
        score[i] =
            affinity->scene->regions[i].is_inside ? box_network_score(network, values + (size_t)i * BOX_FEATURES) : 0;
}

enum clv_status box_score_features(float **values, const struct box_affinity *affinity, const struct box_network *first,
                                   int32_t rounds, struct clv_error *err)
{
    struct box_features features = {0};
    double *q = array_alloc((size_t)affinity->n, sizeof *q), *score = array_alloc((size_t)affinity->n, sizeof *score);
    enum clv_status status = q && score ? box_features_init(&features, affinity, err) : fail_memory(err);
    *values = NULL;
    TRY(box_fillings_propose(q, score, &features, rounds, err));
    if (status == CLV_OK) {
        box_features_add_soft(&features, q, score);
        if (first) {
            score_all(score, affinity, first, features.values);
            for (int32_t i = 0; i < affinity->n; i++)
                q[i] = affinity->scene->regions[i].is_inside ? box_logistic(score[i]) : 0;
            box_features_add_soft(&features, q, score);
        }
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
    enum clv_status status = box_score_features(&values, affinity, &weights->first, rounds, err);
    if (status == CLV_OK)
        score_all(score, affinity, &weights->second, values);
    array_free(values);
    return status;
}
