/* The concave-convex procedure, one of the solvers of a descent. */
#ifndef LEARN_CCCP_H
#define LEARN_CCCP_H

#include "learn/hidden/hidden_descent.h"

/* The concave-convex procedure from self->ascent.w or a checkpoint; leaves the lowest point in self->best. */
enum clv_status hidden_cccp(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

#endif
