/* A descent on the objective of objective.h: what its solvers have in common. */
#ifndef LEARN_HIDDEN_DESCENT_H
#define LEARN_HIDDEN_DESCENT_H

#include <stdbool.h>

#include "base/array.h"
#include "learn/common/ascent.h"
#include "learn/common/state.h"
#include "learn/hidden/full_adagrad.h"
#include "learn/hidden/objective.h"

enum hidden_solver { SOLVER_ADAGRAD, SOLVER_SUBGRADIENT, SOLVER_CCCP, SOLVER_FULL_ADAGRAD };

/* What the concave-convex procedure does next; other solvers only lower. */
enum hidden_stage { STAGE_START, STAGE_LOWER, STAGE_EVALUATE, STAGE_LINEARISE, STAGE_LOOK };

/* Where a descent is, between two steps, besides its n_done. */
struct hidden_place {
    size_t n_taken; /* examples of the pass that steps have taken */
    bool is_sharp;  /* whether smooth passes, if any, are over */
    enum hidden_stage stage;
    size_t n_inner;   /* passes since the linearisation */
    size_t next_look; /* pass of the curve's next point */
    double lowest;    /* value of the convex problem at `best` */
};

struct hidden_dual;

struct hidden_descent {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct clv_training_result *result;
    struct checkpoints checkpoints;
    struct hidden_place place;
    struct hidden hidden;
    enum hidden_solver solver;
    bool is_published; /* plain steps */
    double lambda, rate;
    size_t n_passes, n_smooth, n_inner, batch, curve_every;
    size_t n_done; /* passes */
    struct ascent ascent;
    struct hidden_dual *dual;        /* of CCCP; NULL: plain steps, or another solver */
    struct full_adagrad full;        /* zeros unless that is the solver */
    double *gradient, *plane, *best; /* [size]; the latter two of CCCP */
    int32_t *order, *all;            /* [n] */
};

/* Allocates for the hidden model, solver, lambda and rate that are set; `averaging`: AdaGrad's average of the iterates.
 * Release also after a failure; self->hidden is its owner's. */
enum clv_status hidden_descent_open(struct hidden_descent *self, bool averaging, struct clv_error *err) CLV_CHECK;
void hidden_descent_release(struct hidden_descent *self);

/* Whether the solver is AdaGrad with either matrix. */
bool hidden_descent_is_adagrad(const struct hidden_descent *self);

/* Algorithm 1, or AdaGrad in its place, from self->ascent.w or a checkpoint. */
enum clv_status hidden_descent_run(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

/* A step down self->gradient, of the data term. Plain ones are Algorithm 1's, in which the gradient is that of J /
 * lambda', and get shorter as 1 / sqrt(1 + passes / 10). */
void hidden_descent_step(struct hidden_descent *self);

/* A point of the curve, for weights w[size]. A pass, and the decoding of all examples. */
enum clv_status hidden_descent_look(struct hidden_descent *self, struct clv_training_result *result, const double *w,
                                    struct clv_error *err) CLV_CHECK;

#endif
