/* A small set of tagged examples for the tests of learning tags. */
#ifndef TESTS_SMALL_TAGS_H
#define TESTS_SMALL_TAGS_H

#include <stdlib.h>

#include "base/base.h"
#include "support/support.h"
#include "tags/tags.h"

enum { N = 60, D = 8, K = 5 };

static inline double uniform(uint32_t stream, uint64_t index)
{
    return rng_uniform(7, RNG_STREAM(RNG_TEST, stream), index);
}

/* Examples whose tags lean on the features and on each other, with noise; every third value is missing. */
static inline struct clv_tag_set make_set(void)
{
    struct clv_tag_set set = {.n = N, .n_features = D, .n_tags = K};
    set.row = calloc(N + 1, sizeof *set.row);
    set.index = calloc(N * D, sizeof *set.index);
    set.value = calloc(N * D, sizeof *set.value);
    set.tags = calloc(N * K, 1);
    for (size_t l = 0, at = 0; l < N; l++) {
        double x[D] = {0};
        for (size_t f = 0; f < D; f++)
            if (uniform(1, l * D + f) > 0.3) {
                x[f] = 4 * uniform(0, l * D + f) - 2;
                set.index[at] = (int32_t)f;
                set.value[at++] = x[f];
            }
        set.row[l + 1] = (int64_t)at;
        for (size_t i = 0; i < K; i++) {
            double z = x[i] - 0.5 * x[i + 1] + 2 * (uniform(2, l * K + i) - 0.5);
            if (i)
                z -= set.tags[l * K + i - 1] ? 1 : -0.5;
            set.tags[l * K + i] = z > 0;
        }
    }
    return set;
}

static inline struct clv_tag_training training_of(const struct clv_tag_set *set, const char *learner, int is_rbf)
{
    struct clv_tag_training training;
    clv_tag_training_defaults(&training, clv_tag_learner_find(learner));
    training.set = set;
    training.is_rbf = is_rbf;
    training.seed = 3;
    training.n_threads = 1;
    training.parameters[CLV_TAG_LAMBDA] = 0.01;
    training.parameters[CLV_TAG_ETA0] = 0;
    return training;
}

#endif
