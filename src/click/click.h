/* Interactive segmentation of an object from strokes on it and on the background. After each stroke an exact minimum
 * cut labels the superpixels, then the pixels at their border; pixels of strokes are fixed. The scores use colours and
 * texture near the strokes and in the whole labelling so far, the distance to strokes of either kind over steps of
 * colour, the score of a learned model if one is given, and the labelling before, which a stroke changes only nearby.
 *
 *     click_scene_new(&scene, &image, &error);
 *     click_cut(labels, scene, &(struct click_request){.seeds = seeds, .n_strokes = 1, .latest = &press}, &error);
 *     click_scene_free(scene);
 *
 * click.c runs the rounds, click_scene.c measures an image once, click_features.c computes the features of superpixels,
 * and click_weights.c has their weights, which were fitted to clicks of a simulated user. */
#ifndef CLICK_CLICK_H
#define CLICK_CLICK_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/image.h"
#include "cleave/superpixel.h"
#include "refine/refine.h"

/* Seeds of pixels. FREE: unlabelled. BACKGROUND and FOREGROUND: strokes. BARRED: fixed background without a stroke,
 * such as the outside of a box; similar pixels nearby may still be foreground. */
enum { CLICK_FREE = FIXED_NOT, CLICK_BACKGROUND = FIXED_ZERO, CLICK_FOREGROUND = FIXED_ONE, CLICK_BARRED };

struct click_scene;
void click_scene_free(struct click_scene *scene);
DROPS(click_scene_drop, struct click_scene, click_scene_free)

/* Measures an image of 3 channels, whose pixels it borrows. O(pixels + superpixels^2): about 0.1 s for 0.25 Mpixel. */
enum clv_status click_scene_new(struct click_scene **scene, const struct clv_image *image,
                                struct clv_error *err) CLV_CHECK;

/* The pixel at which the latest stroke began. */
struct click_press {
    int32_t x, y;
    bool is_foreground;
};

struct click_trace;

struct click_request {
    const uint8_t *seeds;             /* [height][width] CLICK_FREE and so on */
    const uint8_t *before;            /* [height][width] labels before the latest stroke, or NULL */
    const struct click_press *latest; /* or NULL */
    int32_t n_strokes;                /* so far */
    bool is_edit;       /* the labels before come from a box or another program, not from strokes alone; they stay away
                         * from the latest stroke */
    const float *prior; /* [height][width] a model's score of foreground minus background (clv_refine_prior), or NULL */
    struct click_trace *trace; /* for programs that fit the weights, or NULL */
};

/* labels[height][width] = 1 on the object, else 0. Without foreground in seeds or `before`, and without a prior, all
 * are 0. labels may be the request's `before`. Deterministic. CLV_ERR_MEMORY; labels are then unchanged. */
enum clv_status click_cut(uint8_t *labels, const struct click_scene *scene, const struct click_request *request,
                          struct clv_error *err) CLV_CHECK;

/* Measures of an image, computed before the first stroke. */

/* A superpixel of the working copy. */
struct click_region {
    float lab[3], roughness; /* mean colour; standard deviation of L */
    float x, y;              /* centre, in sides of a square of the image's area */
    float to_border;         /* distance to the image's border, likewise */
    float share;             /* of all pixels */
};

struct click_scene {
    struct clv_image image;             /* its pixels are borrowed */
    struct clv_image cutting;           /* the image, or a smaller copy of a large one */
    struct pixel_couplings couplings;   /* of a large image at its full size */
    struct clv_image working;           /* the image, perhaps shrunk */
    struct clv_superpixels superpixels; /* of the working copy */
    struct clv_adjacency adjacency;
    struct click_region *regions;     /* [n] */
    float *near_kernel, *wide_kernel; /* [n][n], 0 on the diagonal */
    float *coupling;                  /* [n_edges] between superpixels: contrast-sensitive, by border length */
    float *step;                      /* [n_edges] length of the edge in walks over steps of colour */
    float unit_px;                    /* side of a square of the image's area, in pixels */
};

/* Returns the superpixel at a pixel of the image, or of a copy of another size. */
int32_t click_scene_at(const struct click_scene *scene, int32_t x, int32_t y);
int32_t click_scene_within(const struct click_scene *scene, const struct clv_image *copy, int32_t x, int32_t y);

/* Features of a superpixel, given the strokes so far. */

enum click_feature {
    CLICK_ONE,
    CLICK_NEAR, /* log ratio of the densities of similar colours in foreground and background, near this region */
    CLICK_WIDE, /* the same in the whole image */
    CLICK_STEPS_RATIO,      /* (background - foreground) / sum of the distances to seeds, over steps of colour */
    CLICK_STEPS_FOREGROUND, /* log of the distance to seeds of each kind */
    CLICK_STEPS_BACKGROUND,
    CLICK_DISTANCE_RATIO, /* the same by straight distances */
    CLICK_DISTANCE_FOREGROUND,
    CLICK_DISTANCE_BACKGROUND,
    CLICK_BORDER,          /* distance to the image's border */
    CLICK_LIKE_FOREGROUND, /* similarity of its colour to a seed's */
    CLICK_LIKE_BACKGROUND,
    CLICK_BEFORE,         /* the label before, as -1 or 1, .. */
    CLICK_BEFORE_FAR,     /* .. which counts more away from the latest stroke */
    CLICK_LATEST_NEAR,    /* 1 or -1 by the label of the latest stroke, falling with distance .. */
    CLICK_LATEST_LIKE,    /* .. on similar colours .. */
    CLICK_LATEST_STEPS,   /* .. over steps of colour .. */
    CLICK_LATEST_WIDE,    /* .. and on similar colours further away */
    CLICK_Q,              /* 2 q - 1, with q of the round before */
    CLICK_PRIOR,          /* the learned model's score */
    CLICK_LATEST_AGAINST, /* the label before, near the latest stroke */
    CLICK_BORDER_NEAR,    /* 1 at the image's border */
    CLICK_LATEST_FIRM,    /* within the circle in which the latest stroke suggests that labels are wrong */
    CLICK_PRIOR_NEAR,     /* the model's score of similar colours nearby .. */
    CLICK_PRIOR_WIDE,     /* .. and anywhere */
    CLICK_FEATURES
};

enum { CLICK_ROUNDS = 3, CLICK_HIDDEN = 8 };

/* Kinds: without a learned model's score, with it. Stages: the first round, which has no labelling yet, and later
 * rounds. Phases by number of strokes: 1, 2..4, 5 and more without a score; 0, 1..3, 4 and more with it. */
enum { CLICK_KINDS = 2, CLICK_STAGES = 2, CLICK_PHASES = 3 };
int click_phase(int32_t n_strokes, bool has_prior);

/* Log odds of foreground: linear . f + sum_h output[h] max(0, hidden[h] . f). */
struct click_weights {
    float linear[CLICK_FEATURES];
    float output[CLICK_HIDDEN];
    float hidden[CLICK_HIDDEN][CLICK_FEATURES];
};
typedef struct click_weights click_weights_table[CLICK_STAGES][CLICK_PHASES];
extern const click_weights_table click_weights[CLICK_KINDS];
float click_score(const struct click_weights *weights, const float *features);

struct click_trace {
    int32_t n;                          /* superpixels */
    float *features;                    /* [CLICK_ROUNDS][n][CLICK_FEATURES], array_alloc'd by click_cut */
    const click_weights_table *weights; /* used instead of click_weights, or NULL */
};

/* State that all rounds of a cut share. */
struct click_view {
    const struct click_scene *scene;
    const struct click_request *request;
    int8_t *seed;          /* [n] 1: foreground seeds alone, -1: background seeds alone, 0: none or both */
    bool *is_barred;       /* [n] most of its pixels are CLICK_BARRED */
    float *before;         /* [n] share of foreground in the labels before */
    float *away;           /* [n] from 0 at the latest stroke to 1 far from it */
    float *fixed_features; /* [n][CLICK_FEATURES] features that do not depend on q */
};
void click_view_release(struct click_view *view);
enum clv_status click_view_init(struct click_view *view, const struct click_scene *scene,
                                const struct click_request *request, struct clv_error *err) CLV_CHECK;

/* Computes features[n][CLICK_FEATURES]. q[n] is the probability of foreground by the round before, or NULL in the first
 * round. */
enum clv_status click_features_fill(float *features, const struct click_view *view, const float *q,
                                    struct clv_error *err) CLV_CHECK;

#endif
