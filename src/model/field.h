/* The field of a problem under a model's weights. */
#ifndef MODEL_FIELD_H
#define MODEL_FIELD_H

#include "cleave/model.h"

/* Checks the problem against the model's shape; memory of its own: model_field_release whatever the status. */
enum clv_status model_field_init(struct clv_field *field, const struct clv_model *model,
                                 const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;
void model_field_release(struct clv_field *field);

#endif
