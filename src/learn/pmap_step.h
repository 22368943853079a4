/* Step rules of stochastic gradient ascent with regularisation, non-negative couplings and averaging. */
#ifndef LEARN_PMAP_STEP_H
#define LEARN_PMAP_STEP_H

#include "cleave/problem.h"

enum step_rule {
    STEP_PUBLISHED, /* w += (g - lambda w) / (lambda h): Algorithms 1, 2 and 4 */
    STEP_ADAGRAD,   /* w_k += rate d_k / sqrt(sum of all d_k^2 so far), d = g - lambda w (Duchi, Hazan, Singer 2011) */
};

/* Where an ascent stands. */
struct ascent {
    struct clv_shape shape;
    size_t size;
    enum step_rule rule;
    double lambda, rate;
    double *w;       /* [size] */
    double *average; /* [size] of the iterates, the h-th weighing h; NULL: not wanted */
    double *squares; /* [size] AdaGrad's sums */
    double n_steps;
};

/* Starts at w = 0; `averaging` asks for the average. Release also after a failure. */
enum clv_status ascent_open(struct ascent *self, const struct clv_shape *shape, enum step_rule rule, double lambda,
                            double rate, int averaging, struct clv_error *err) CLV_CHECK;
void ascent_release(struct ascent *self);

/* One step along gradient[size] of the data term. */
void ascent_step(struct ascent *self, const double *gradient);

/* The point to be used: the average if there is one. */
const double *ascent_point(const struct ascent *self);

#endif
