/* What model files and models in memory share. */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "cleave/model.h"

/* The model of an open file; `path` names it in messages. *model is unchanged on failure. */
enum clv_status model_parse(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* A copy with a name and an array of its own; *copy is unchanged on failure. */
enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err) CLV_CHECK;

#endif
