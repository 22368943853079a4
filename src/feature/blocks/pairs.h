/* Sums over all pairs of regions, weighted by how alike their colours are or how near they are. */
#ifndef FEATURE_PAIRS_H
#define FEATURE_PAIRS_H

#include "feature/blocks/scene.h"

/* What one region sums over the others, j, with their pixels n_j; d = distance in Lab, k = its kernel (1 at d = 0),
 * s = the kernel of the distance in the image. */
enum pair_sum {
    PAIR_BORDER,    /* border_j k */
    PAIR_COLOUR,    /* n_j d */
    PAIR_NEAR,      /* n_j s d */
    PAIR_NEAR_MASS, /* n_j s */
    PAIR_LIKE,      /* n_j k */
    PAIR_LIKE_X,    /* n_j k x_j */
    PAIR_LIKE_Y,    /* n_j k y_j */
    PAIR_LIKE_R,    /* n_j k (x_j^2 + y_j^2) */
    PAIR_CENTRE,    /* n_j k c_j */
    PAIR_SUMS
};

struct pairs {
    int32_t n;                   /* regions */
    float *sum[PAIR_SUMS];       /* each [n] */
    double border, mass, centre; /* border_j, n_j and n_j c_j summed over the regions that were looked at */
    float *memory;
};
void pairs_release(struct pairs *pairs);

/* Another weighting of the same regions: sum[PAIR_CENTRE] and `centre` of `pairs` for centre[n]. A quarter of
 * pairs_init. */
void pairs_weigh(struct pairs *pairs, const struct scene *scene, const float *centre);

/* border[n]: pixels of each region on the image's border; centre[n]: c, how central each region is. Past 1024
 * regions, every second, third, .. one stands for its neighbours too. O(n x min(n, 1024)). */
enum clv_status pairs_init(struct pairs *pairs, const struct scene *scene, const float *border, const float *centre,
                           struct clv_error *err) CLV_CHECK;

#endif
