/* How a model refines the pixels of images with maps: learned (refining_learn.h), kept in the model. */
#ifndef SEGMENT_REFINING_H
#define SEGMENT_REFINING_H

#include <stdbool.h>

#include "cleave/model.h"
#include "cleave/refine.h"

/* A model's tensor: f64 [6 + 3 maps]: prior, nearby, overall, balance, coupling, bias, three weights of each map. */
#define REFINING      "refining"
#define REFINING_FREE (6 + 3 * CLV_MAX_MAPS) /* numbers at most */

/* Of two labels that a cut finds, the score of label 1 against label 0 is
 *     bias + prior * nodes + overall * colours + nearby * colours nearby + sum_m <maps[m], the map's three terms>
 * of pixel_terms.h, and `balance` is as in clv_refine; of others, clv_refine_labels' with votes of which maps[m][0]
 * times what map m says beyond the pixel's node is a part. */
struct refining {
    bool is_learned;
    struct clv_refine_options options;
    double bias, maps[CLV_MAX_MAPS][3];
};

/* Two labels that a cut finds: pixels have scores. Others vote. */
bool refining_is_cut(const struct clv_model *model);

/* The model's own, if it has learned it; of `options`, what differs from clv_refine_defaults is taken over.
 * CLV_ERR_DATA if the model's tensor is not as above. */
enum clv_status refining_of_model(struct refining *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;
enum clv_status refining_attach(struct clv_model *model, const struct refining *refining,
                                struct clv_error *err) CLV_CHECK;

#endif
