/* Learning from training masks how a model with maps refines pixels. */
#ifndef SEGMENT_REFINING_LEARN_H
#define SEGMENT_REFINING_LEARN_H

#include "cleave/features.h"
#include "segment/refining.h"

/* What refined labels lose is their weighted Hamming error + this * (1 - IoU): by default the largest weight with which
 * the error of training images left out stays within its standard error of that without any (tools/learn/refining.c). */
#define REFINING_IOU_WEIGHT 0.25

/* A training image, and the weights of a model that has not seen it. */
struct refining_example {
    size_t item; /* of the set */
    const struct clv_problem *problem;
    const double *w;
};

/* What is learned from. */
struct refining_source {
    const struct clv_set *set;
    const struct refining_example *examples;
    size_t n_examples;
    int n_threads;
    double iou_weight;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

/* Learns how to refine and attaches it to the model, which has recipe, shape and labels. Of many examples some, evenly;
 * about 200 MB. Same bytes at any thread count. Does nothing for a recipe without maps. */
enum clv_status refining_learn(struct clv_model *model, const struct refining_source *source,
                               struct clv_error *err) CLV_CHECK;

/* Its two ways: of pixels with scores by logistic regression, then the couplings by search; of votes all by search. */
enum clv_status refining_learn_scores(struct refining *refining, const struct clv_model *model,
                                      const struct refining_source *source, struct clv_error *err) CLV_CHECK;
enum clv_status refining_learn_votes(struct refining *refining, const struct clv_model *model,
                                     const struct refining_source *source, struct clv_error *err) CLV_CHECK;

#endif
