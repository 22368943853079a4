/* Tensors that a model owns. */
#ifndef MODEL_TENSOR_H
#define MODEL_TENSOR_H

#include "cleave/tensors.h"

/* A copy with a name and an array of its own; *copy is unchanged on failure. */
enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err) CLV_CHECK;

#endif
