/* The field of a problem under weights. */
#ifndef MODEL_FIELD_H
#define MODEL_FIELD_H

#include "cleave/problem.h"

/* Checks the problem against the shape; memory of its own: scored_field_release whatever the status. */
enum clv_status scored_field_init(struct clv_field *field, const struct clv_shape *shape, const double *w,
                                  const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;
void scored_field_release(struct clv_field *field);

#endif
