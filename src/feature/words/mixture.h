/* Gaussian mixtures of dense SIFT descriptors, which Fisher vectors are taken against: a descriptor's L1-normalised roots
 * (Arandjelovic & Zisserman 2012) on their first principal components, under Gaussians with diagonal covariances. */
#ifndef FEATURE_MIXTURE_H
#define FEATURE_MIXTURE_H

#include "cleave/features.h"

enum {
    MIXTURE_DIMENSIONS = CLV_MIXTURE_DIMENSIONS,
    MIXTURE_COMPONENTS = CLV_MIXTURE_COMPONENTS,
    /* Where its numbers are: mean[128], projection[DIMENSIONS][128], then of the components weight[COMPONENTS],
     * mean[COMPONENTS][DIMENSIONS] and variance[COMPONENTS][DIMENSIONS]. */
    MIXTURE_PROJECTION = CLV_DESCRIPTOR_SIZE,
    MIXTURE_WEIGHT = MIXTURE_PROJECTION + MIXTURE_DIMENSIONS * CLV_DESCRIPTOR_SIZE,
    MIXTURE_MEAN = MIXTURE_WEIGHT + MIXTURE_COMPONENTS,
    MIXTURE_VARIANCE = MIXTURE_MEAN + MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS,
};

/* mixture[CLV_MIXTURE_SIZE] (array_free it) from descriptors[n][128], n >= 1, by expectation maximisation from centres
 * of k-means. O(n): a fixed number of rounds. */
enum clv_status mixture_learn(float **mixture, const uint8_t *descriptors, size_t n, uint64_t seed, uint64_t stream,
                              const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Whether weights and variances are in range, and all is finite. */
bool mixture_is_sound(const float *mixture);

/* Logarithms and the like that every descriptor needs. */
struct mixture_view {
    const float *mixture;
    float constant[MIXTURE_COMPONENTS]; /* log of the weight over the root of the variances' product */
    float precision[MIXTURE_COMPONENTS * MIXTURE_DIMENSIONS]; /* 1 / variance */
};
void mixture_view_init(struct mixture_view *view, const float *mixture);

/* place[DIMENSIONS] of a descriptor, and share[COMPONENTS], the components' posteriors. */
void mixture_place(float *place, const float *mixture, const uint8_t *descriptor);
void mixture_shares(float *share, const struct mixture_view *view, const float *place);

#endif
