/* A descent on the objective of hidden.h: what its solvers have in common. */
#ifndef LEARN_HIDDEN_DESCENT_H
#define LEARN_HIDDEN_DESCENT_H

#include "learn/common/ascent.h"
#include "learn/hidden/full_adagrad.h"
#include "learn/hidden/objective.h"

enum hidden_solver { SOLVER_ADAGRAD, SOLVER_SUBGRADIENT, SOLVER_CCCP, SOLVER_FULL_ADAGRAD };

struct hidden_descent {
    const struct clv_training *training;
    struct hidden hidden;
    enum hidden_solver solver;
    int is_published; /* plain steps */
    double lambda, rate;
    size_t n_passes, n_smooth, n_inner, batch, curve_every;
    size_t n_done; /* passes */
    struct ascent ascent;
    struct full_adagrad full;        /* zeros unless that is the solver */
    double *gradient, *plane, *best; /* [size]; the latter two of CCCP */
    int32_t *order, *all;            /* [n] */
};

/* A step down self->gradient, of the data term. Plain ones are Algorithm 1's, in which the gradient is that of J / lambda', and get
 * shorter as 1 / sqrt(1 + passes / 10). */
void hidden_descent_step(struct hidden_descent *self);

/* A point of the curve, for weights w[size]. A pass, and the decoding of all examples. */
enum clv_status hidden_descent_look(struct hidden_descent *self, struct clv_training_result *result, const double *w,
                                    struct clv_error *err) CLV_CHECK;

/* The concave-convex procedure from self->ascent.w; leaves the lowest point in self->best. */
enum clv_status hidden_cccp(struct hidden_descent *self, struct clv_training_result *result,
                            struct clv_error *err) CLV_CHECK;

#endif
