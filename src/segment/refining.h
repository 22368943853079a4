/* How a model refines the pixels of images with maps: learned from training masks, kept in the model. */
#ifndef SEGMENT_REFINING_H
#define SEGMENT_REFINING_H

#include "cleave/features.h"
#include "segment/evidence.h"

#define REFINING "refining" /* f64 [5 + maps]: prior, nearby, overall, balance, coupling, the weight of each map */

/* The model's own, if it has learned it; of `options`, what differs from clv_refine_defaults is taken over.
 * CLV_ERR_DATA if the model's tensor is not as above. */
enum clv_status refining_of_model(struct refining *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

/* A training image, and the weights of a model that has not seen it. */
struct refining_example {
    size_t item; /* of the set */
    const struct clv_problem *problem;
    const double *w;
};

/* Learns how to refine, by coordinate search on the images' weighted Hamming error and IoU, and attaches it to the
 * model, which has recipe, shape and labels. Of many examples some, evenly, that fit into about 200 MB. Same bytes at
 * any thread count. Does nothing for a recipe without maps. */
enum clv_status refining_learn(struct clv_model *model, const struct clv_set *set,
                               const struct refining_example *examples, size_t n_examples, int n_threads,
                               const struct clv_image_limits *limits, const struct clv_progress *progress,
                               struct clv_error *err) CLV_CHECK;

#endif
