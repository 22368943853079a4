/* Tensors that a model carries for others (clv_model_attach). */
#ifndef MODEL_ATTACHMENT_H
#define MODEL_ATTACHMENT_H

#include "cleave/model.h"

/* A copy with a name and an array of its own; *copy is unchanged on failure. */
enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err) CLV_CHECK;
void tensor_release(struct clv_tensor *tensor);

#endif
