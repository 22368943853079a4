/* A superpixel, seen from the strokes so far: what the weights of click_weights.c are multiplied with. */
#ifndef CLICK_CLICK_FEATURES_H
#define CLICK_CLICK_FEATURES_H

#include "click/click_scene.h"

#define CLICK_FEATURES 25
#define CLICK_ROUNDS   3

/* Without a learned model's score, and with it. Stages: before colours of figure and ground are known, and after.
 * Phases without a score: 1, 2..4, 5 and more strokes; with it: 0, 1..3, 4 and more. */
#define CLICK_KINDS  2
#define CLICK_STAGES 2
#define CLICK_PHASES 3
extern const float click_weights[CLICK_KINDS][CLICK_STAGES][CLICK_PHASES][CLICK_FEATURES];
int click_phase(int32_t n_strokes, bool has_prior);

struct click_trace {
    int32_t n;       /* superpixels */
    float *features; /* [CLICK_ROUNDS][n][CLICK_FEATURES], array_alloc'd by click_cut */
    const float (*weights)[CLICK_PHASES][CLICK_FEATURES]; /* in the place of click_weights, or NULL */
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
