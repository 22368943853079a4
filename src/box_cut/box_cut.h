/* Box segmentation: segments the object in a box without a model. Read box_cut.c first (the steps), then box_scene.c
 * (superpixels), box_features.c (their features) and box_fillings.c (first proposals). box_cut_weighted takes the
 * weights as an argument, for learning them. */
#ifndef BOX_CUT_BOX_CUT_H
#define BOX_CUT_BOX_CUT_H

#include <math.h>
#include <stdbool.h>

#include "cleave/box_cut.h"
#include "cleave/boxes.h"
#include "cleave/oracle.h"
#include "cleave/superpixel.h"
#include "feature/dataset/dataset.h"

/* The superpixels of a box and its margin. */

/* A superpixel, wholly inside the box or wholly outside. */
struct box_region {
    float lab[3], roughness; /* mean colour; standard deviation of L */
    float x, y;              /* centre, in coordinates in which the sides of the box are at -1 and 1 */
    float low[2], high[2];   /* extent, likewise */
    float share;             /* of all pixels */
    bool is_inside;
};

struct box_scene {
    struct clv_image image;             /* the box and its margin, at the image's size */
    struct clv_image cutting;           /* the same pixels, or a smaller copy of a large crop */
    struct clv_pixel_box crop;          /* position of `image` in the whole image */
    struct clv_pixel_box box;           /* the box within the crop */
    struct clv_superpixels superpixels; /* of the crop, perhaps shrunk */
    struct clv_adjacency adjacency;
    struct box_region *regions; /* [superpixels.n] */
    float shape;                /* height of the box / its width */
    double image_pixels;        /* of the whole image */
};
void box_scene_release(struct box_scene *scene);

enum clv_status box_scene_init(struct box_scene *scene, const struct clv_image *image, struct clv_pixel_box box,
                               int32_t n_superpixels, struct clv_error *err) CLV_CHECK;

/* Returns the superpixel at a pixel of scene->image, or of a copy of another size. */
int32_t box_scene_at(const struct box_scene *scene, const struct clv_image *image, int32_t x, int32_t y);

/* Returns the box in a copy of scene->image of another size; it has at least one pixel. */
struct clv_pixel_box box_scene_scale(const struct box_scene *scene, int32_t width, int32_t height);

/* Returns the number nearest to x in -limit..limit. */
static inline double clip(double x, double limit)
{
    return fmin(fmax(x, -limit), limit);
}

/* Similarity and distance between all pairs of superpixels of a scene. */

struct box_affinity {
    const struct box_scene *scene;
    int32_t n;
    float *wide;       /* [n][n] exp(-|c_i - c_j|^2 / 2 s^2); like the two below, symmetric and 0 on the diagonal */
    float *near;       /* wide^3 times a Gaussian of positions, divided by 1 + the weighted squared difference of
                        * roughness */
    float *position;   /* a narrower Gaussian of positions */
    float *step;       /* [n_edges] colour difference, in Lab */
    float *similarity; /* [n_edges] 1 for equal colours */
};
enum clv_status box_affinity_init(struct box_affinity *self, const struct box_scene *scene,
                                  struct clv_error *err) CLV_CHECK;
void box_affinity_release(struct box_affinity *self);

enum box_way {
    BOX_SUM_OF_STEPS, /* without the part of each step that counts as shading */
    BOX_LARGEST_STEP,
};

/* Computes distances of shortest paths. On entry distance[n] is 0 at sources and INFINITY elsewhere; on return the
 * least cost of a path from a source. O(n_edges) per sweep, with at most 30 sweeps. */
void box_affinity_measure(double *distance, const struct box_affinity *self, enum box_way way);

/* Features of the superpixels of a box. box_weights.c has their learned weights. */

enum { BOX_FILLINGS = 3 }; /* proposals of box_fillings.c */

/* Numbers of columns: features of the scene, of the fillings, of soft labels. */
enum {
    BOX_SCENE_FEATURES = 23,
    BOX_FILLING_FEATURES = 4 * BOX_FILLINGS,
    BOX_SOFT_FEATURES = 22,
    BOX_FEATURES = BOX_SCENE_FEATURES + BOX_FILLING_FEATURES + BOX_SOFT_FEATURES,
    BOX_FIRST_SCORE = BOX_SCENE_FEATURES + BOX_FILLING_FEATURES + 3 /* column of the soft labels' log odds */
};

struct box_features {
    const struct box_affinity *affinity;
    int32_t n;
    struct clv_pixel_box working; /* the box among the superpixels' pixels */
    float *values;                /* [n][BOX_FEATURES]; rows outside the box are 0 */
    float *sums, *weights;        /* [5][n] sums and weights of the kernels */
    float *smooth;                /* [n] soft labels averaged with those of neighbours */
    double *distance[2];          /* [n] */
};

/* Fills the features of the scene. */
enum clv_status box_features_init(struct box_features *self, const struct box_affinity *affinity,
                                  struct clv_error *err) CLV_CHECK;
void box_features_release(struct box_features *self);

/* Returns 1 / (1 + exp(-x)), the probability of log odds x. */
double box_logistic(double x);

/* Adds the features of filling k with the labels foreground[n] of its cut and the log odds score[n]. */
void box_features_add_filling(struct box_features *self, int k, const int32_t *foreground, const double *score);

/* Adds the features of soft labels q[n], in 0..1 and 0 outside the box, with the log odds score[n]. */
void box_features_add_soft(struct box_features *self, const double *q, const double *score);

/* The learned part of clv_box_cut: from features of superpixels to log odds of foreground. */

enum { BOX_HIDDEN = 12 };

/* score = linear . (features, 1) + sum_h output[h] max(0, hidden[h] . (features, 1)). The last entry of each row is its
 * constant. */
struct box_network {
    float linear[BOX_FEATURES + 1];
    float output[BOX_HIDDEN];
    float hidden[BOX_HIDDEN][BOX_FEATURES + 1];
};

/* The second network uses the soft labels that the first one predicts, as in auto-context (Tu 2008). */
struct box_weights {
    struct box_network first, second;
};

/* The learned weights that clv_box_cut uses. */
extern const struct box_weights box_weights;

enum clv_status box_cut_weighted(uint8_t *labels, float *probability, const struct clv_image *image,
                                 const struct clv_box *box, const struct clv_box_cut_options *options,
                                 const struct box_weights *weights, struct clv_error *err) CLV_CHECK;

/* Estimates the foreground of an image with boxes, as a foreground_estimate: the mean of the labels and the
 * probabilities of clv_box_cut. Where boxes overlap, the larger estimate counts. */
enum clv_status box_foreground(float *foreground, const struct clv_image *image, const struct item_boxes *boxes,
                               struct clv_error *err) CLV_CHECK;

/* First proposals of the foreground in a box. */

/* Adds the features of all fillings. q[n] and score[n] get the soft labels and log odds of the last one. Each filling
 * estimates densities and solves a minimum cut in each of `rounds` rounds. */
enum clv_status box_fillings_propose(double *q, double *score, struct box_features *features, int32_t rounds,
                                     struct clv_error *err) CLV_CHECK;

/* Minimum cuts of a scene's superpixels. */

struct box_mincut {
    const struct box_affinity *affinity;
    double *unary;    /* [n] */
    double *coupling; /* [n_edges] by length and contrast of the border, on the scale of unaries of mean size 1 */
    struct clv_oracle *oracle;
};
enum clv_status box_mincut_init(struct box_mincut *self, const struct box_affinity *affinity, double coupling,
                                struct clv_error *err) CLV_CHECK;
void box_mincut_release(struct box_mincut *self);

/* foreground[n] = the MAP labels for score[n], the log odds of foreground, which are weighted by the superpixels'
 * areas; 0 outside the box. */
enum clv_status box_mincut_solve(int32_t *foreground, struct box_mincut *self, const double *score,
                                 struct clv_error *err) CLV_CHECK;

/* Scores of the superpixels of a box. */

/* Computes *values[n][BOX_FEATURES], which the caller frees with array_free: the features of all superpixels of the
 * scene, with rows of 0 outside the box. They are the input of the first network (first NULL), or that of the second
 * network after the network `first`. For learning the weights, too. */
enum clv_status box_score_features(float **values, const struct box_affinity *affinity, const struct box_network *first,
                                   int32_t rounds, struct clv_error *err) CLV_CHECK;

/* Computes score[n], the log odds of foreground, 0 outside the box. */
enum clv_status box_score(double *score, const struct box_affinity *affinity, const struct box_weights *weights,
                          int32_t rounds, struct clv_error *err) CLV_CHECK;

#endif
