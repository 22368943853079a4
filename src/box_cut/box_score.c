/* Computes log odds of foreground for the superpixels of a box by two small networks. The second one also uses the
 * first one's output (auto-context, Tu 2008). Start at box_score_features. */
#include "box_cut/box_cut.h"

#include <math.h>

#include "base/base.h"

#define SCORE_LIMIT 8.0

/* Returns the score of one row of features, clipped to +-SCORE_LIMIT. */
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

/* Computes score[n] from values[n][BOX_FEATURES]; 0 outside the box. */
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
    OWNED(box_features_release) struct box_features features = {0};
    OWNED_ARRAY double *q = array_alloc((size_t)affinity->n, sizeof *q);
    OWNED_ARRAY double *score = array_alloc((size_t)affinity->n, sizeof *score);
    NEED(q && score);
    MUST(box_features_init(&features, affinity, err));
    MUST(box_fillings_propose(q, score, &features, rounds, err));
    box_features_add_soft(&features, q, score);
    if (first) {
        score_all(score, affinity, first, features.values);
        for (int32_t i = 0; i < affinity->n; i++)
            q[i] = affinity->scene->regions[i].is_inside ? box_logistic(score[i]) : 0;
        box_features_add_soft(&features, q, score);
    }
    *values = TAKE(features.values);
    return CLV_OK;
}

enum clv_status box_score(double *score, const struct box_affinity *affinity, const struct box_weights *weights,
                          int32_t rounds, struct clv_error *err)
{
    OWNED_ARRAY float *values = NULL;
    MUST(box_score_features(&values, affinity, &weights->first, rounds, err));
    score_all(score, affinity, &weights->second, values);
    return CLV_OK;
}
