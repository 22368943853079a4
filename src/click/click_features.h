/* A superpixel, seen from the strokes so far: what the weights of click_weights.c are multiplied with. */
#ifndef CLICK_CLICK_FEATURES_H
#define CLICK_CLICK_FEATURES_H

#include "click/click_scene.h"

enum click_feature {
    CLICK_ONE,
    CLICK_NEAR,         /* log ratio of figure's and ground's densities of like colours nearby .. */
    CLICK_WIDE,         /* .. and anywhere */
    CLICK_STEPS_RATIO,  /* is it nearer to figure seeds or to ground seeds, over steps of colour? */
    CLICK_STEPS_FIGURE, /* log of either distance */
    CLICK_STEPS_GROUND,
    CLICK_PLACE_RATIO, /* the same straight */
    CLICK_PLACE_FIGURE,
    CLICK_PLACE_GROUND,
    CLICK_BORDER,      /* distance to the image's border */
    CLICK_LIKE_FIGURE, /* likeness of its colour to a seed's */
    CLICK_LIKE_GROUND,
    CLICK_BEFORE,         /* the label before, as -1 or 1, .. */
    CLICK_BEFORE_FAR,     /* .. which counts more away from the latest stroke */
    CLICK_LATEST_NEAR,    /* 1 or -1 by the latest stroke's sort, fading with distance .. */
    CLICK_LATEST_LIKE,    /* .. on like colours .. */
    CLICK_LATEST_STEPS,   /* .. over steps of colour .. */
    CLICK_LATEST_WIDE,    /* .. and on like colours further away */
    CLICK_Q,              /* the round before */
    CLICK_PRIOR,          /* the learned model */
    CLICK_LATEST_AGAINST, /* the label before, where the latest stroke is near */
    CLICK_BORDER_NEAR,    /* at the image's border */
    CLICK_LATEST_FIRM,    /* within the circle that the latest stroke makes believe is wrong */
    CLICK_PRIOR_NEAR,     /* what the model says of like colours nearby .. */
    CLICK_PRIOR_WIDE,     /* .. and anywhere */
    CLICK_FEATURES
};

enum { CLICK_ROUNDS = 3, CLICK_HIDDEN = 8 };

/* Without a learned model's score, and with it. Stages: before colours of figure and ground are known, and after.
 * Phases without a score: 1, 2..4, 5 and more strokes; with it: 0, 1..3, 4 and more. */
enum { CLICK_KINDS = 2, CLICK_STAGES = 2, CLICK_PHASES = 3 };
int click_phase(int32_t n_strokes, bool has_prior);

/* Log odds of figure: linear . f + sum_h output[h] max(0, hidden[h] . f). */
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
    const click_weights_table *weights; /* in the place of those of click_weights, or NULL */
};

/* What does not change from round to round. */
struct click_view {
    const struct click_scene *scene;
    const struct click_request *request;
    int8_t *seed;          /* [n] 1: figure seeds alone, -1: ground seeds alone, 0: none or both */
    bool *is_barred;       /* [n] most of its pixels are */
    float *before;         /* [n] share of figure in the labels before */
    float *away;           /* [n] 0 at the latest stroke to 1 where it is far */
    float *fixed_features; /* [n][CLICK_FEATURES] those that do not depend on the labelling */
};
void click_view_release(struct click_view *view);
enum clv_status click_view_init(struct click_view *view, const struct click_scene *scene,
                                const struct click_request *request, struct clv_error *err) CLV_CHECK;

/* features[n][CLICK_FEATURES]; q[n]: how likely figure is by the round before, or NULL in the first round. */
enum clv_status click_features_fill(float *features, const struct click_view *view, const float *q,
                                    struct clv_error *err) CLV_CHECK;

#endif
