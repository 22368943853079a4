/* Tensors that a model carries for others (clv_model_attach). */
#ifndef MODEL_ATTACHMENT_H
#define MODEL_ATTACHMENT_H

#include "cleave/model.h"
#include "data/tensors.h"

/* A copy with a name and an array of its own; *copy is unchanged on failure. */
enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err) CLV_CHECK;
void tensor_release(struct clv_tensor *tensor);

/* Adds a named tensor (copied), or replaces the one of that name; it travels in the model file as "extra.NAME". Reading
 * does not check its values: whoever attached it knows what they must be. */
enum clv_status clv_model_attach(struct clv_model *model, const struct clv_tensor *tensor,
                                 struct clv_error *err) CLV_CHECK;
#define CLV_VARIANCE "variance" /* f64 [clv_shape_size(shape)]: of the posterior whose mean is w */
const struct clv_tensor *clv_model_attached(const struct clv_model *model, const char *name); /* or NULL */

#endif
