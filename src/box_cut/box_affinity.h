/* How alike and how near the superpixels of a scene are, all to all, for clv_box_cut. */
#ifndef BOX_CUT_BOX_AFFINITY_H
#define BOX_CUT_BOX_AFFINITY_H

#include "box_cut/box_scene.h"

struct box_affinity {
    const struct box_scene *scene;
    int32_t n;
    float *wide;     /* [n][n] exp(-|c_i - c_j|^2 / 2 s^2), symmetric, 0 on the diagonal, as the others: */
    float *near;     /* wide^3, less for another roughness, times a Gaussian of places */
    float *place;    /* another, narrower Gaussian of places */
    float *step;     /* [n_edges] of colour, in Lab */
    float *likeness; /* [n_edges] 1 for equal colours */
};
enum clv_status box_affinity_init(struct box_affinity *self, const struct box_scene *scene,
                                  struct clv_error *err) CLV_CHECK;
void box_affinity_release(struct box_affinity *self);

/* sums[i] = sum_j kernel_ij weights_j, kernel[n][n] one of the three. */
void box_affinity_apply(float *sums, const float *kernel, const float *weights, int32_t n);

enum box_way {
    BOX_SUM_OF_STEPS, /* less what each has free: shading is no edge */
    BOX_LARGEST_STEP,
};

/* distance[n], 0 at sources and INFINITY elsewhere, becomes the least cost of a way from a source. */
void box_affinity_measure(double *distance, const struct box_affinity *self, enum box_way way);

#endif
