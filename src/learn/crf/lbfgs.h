/* Minimisation of F(x) = f(x) + l1 |x|_1, f smooth: by limited-memory BFGS where l1 is 0 (Nocedal & Wright, Numerical
 * optimization, second edition 2006, Algorithms 7.4 and 7.5), else by OWL-QN (Andrew & Gao, Scalable training of
 * l1-regularized log-linear models, ICML 2007).
 *
 * All sums have one order, on every machine. What the steps to come depend on is marked "state": whoever puts it back
 * goes on with the same bytes. */
#ifndef LEARN_LBFGS_H
#define LEARN_LBFGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "cleave/status.h"

struct lbfgs_function {
    /* *value = f(x), which may be infinite or NaN where x is too far off, and gradient[size]. */
    enum clv_status (*evaluate)(double *value, double *gradient, void *context, const double *x, struct clv_error *err);
    void *context;
    double l1; /* >= 0 */
};

struct lbfgs {
    struct arena arena; /* of the arrays below */
    struct lbfgs_function function;
    size_t size, memory;
    double *x;               /* [size] state */
    double *gradient;        /* [size] of f at x; state */
    double value;            /* F(x); state */
    double *moves, *changes; /* [memory][size] by which x and the gradient changed, the oldest replaced first; state */
    double *curvature;       /* [memory] <move, change> > 0 */
    size_t n_kept, next;     /* how many of them there are, and where the next one goes; state */
    double *share;           /* [memory] alpha of Algorithm 7.4 */
    double *slope;           /* [size] the gradient of F, or its shortest subgradient */
    double *direction;       /* [size] */
    double *trial, *trial_gradient; /* [size] */
};

/* At x = 0, which may be changed before lbfgs_start; `memory` >= 1 steps are remembered. Release also after a failure.
 * 2 memory + 6 vectors. */
enum clv_status lbfgs_open(struct lbfgs *self, const struct lbfgs_function *function, size_t size, size_t memory,
                           struct clv_error *err) CLV_CHECK;
void lbfgs_release(struct lbfgs *self);

/* The first evaluation, at x. Not if a state was put back: see lbfgs_resume. */
enum clv_status lbfgs_start(struct lbfgs *self, struct clv_error *err) CLV_CHECK;

/* After a state was put into the fields: the rest follows from it. False if it is none: a move along which the gradient
 * did not rise, or numbers out of range. */
bool lbfgs_resume(struct lbfgs *self);

/* One step, to a lower F. *n_evaluations is how many it took; 0 times lower: *moved is false, x is where it was, and
 * no step downhill lowers F by more than rounding hides. A failed evaluation leaves the state as it was. */
enum clv_status lbfgs_step(bool *moved, int *n_evaluations, struct lbfgs *self, struct clv_error *err) CLV_CHECK;

/* Length of the gradient of F, or of its shortest subgradient: 0 at the minimum. */
double lbfgs_slope(const struct lbfgs *self);

#endif
