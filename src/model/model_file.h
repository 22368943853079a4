/* The model of a file that is open. */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "cleave/model.h"

/* The model of an open file; `path` names it in messages. *model is unchanged on failure. */
enum clv_status model_parse(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

#endif
