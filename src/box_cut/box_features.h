/* What separates figure from ground among the superpixels of a box: the features that the learned weights of
 * box_weights.h count. */
#ifndef BOX_CUT_BOX_FEATURES_H
#define BOX_CUT_BOX_FEATURES_H

#include "box_cut/box_affinity.h"

enum { BOX_FILLINGS = 3 }; /* proposals of box_fillings.h */

/* Columns: of the scene alone, of the fillings, of soft labels. */
enum {
    BOX_SCENE_FEATURES = 23,
    BOX_FILLING_FEATURES = 4 * BOX_FILLINGS,
    BOX_SOFT_FEATURES = 22,
    BOX_FEATURES = BOX_SCENE_FEATURES + BOX_FILLING_FEATURES + BOX_SOFT_FEATURES
};

struct box_features {
    const struct box_affinity *affinity;
    int32_t n;
    struct clv_pixel_box working; /* the box among the superpixels' pixels */
    float *values;                /* [n][BOX_FEATURES]; rows outside the box are 0 */
    float *sums, *weights;        /* [5][n], of the kernels */
    float *smooth;                /* [n] soft labels, mixed with the neighbours' */
    double *distance[2];          /* [n] */
};

/* Those of the scene are filled. */
enum clv_status box_features_init(struct box_features *self, const struct box_affinity *affinity,
                                  struct clv_error *err) CLV_CHECK;
void box_features_release(struct box_features *self);

/* Those of filling k: figure[n] as cut, score[n] its log odds. */
void box_features_add_filling(struct box_features *self, int k, const int32_t *figure, const double *score);

/* Those of soft labels: q[n] in 0..1, 0 outside the box, and score[n], their log odds. */
void box_features_add_soft(struct box_features *self, const double *q, const double *score);

#endif
