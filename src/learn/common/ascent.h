/* Step rules of stochastic gradient ascent with regularisation, non-negative couplings and averaging. */
#ifndef LEARN_ASCENT_H
#define LEARN_ASCENT_H

#include "base/array.h"
#include "cleave/problem.h"

enum step_rule {
    STEP_PUBLISHED, /* w += (g - lambda w) / (lambda h): Algorithms 1, 2 and 4 */
    STEP_ADAGRAD,   /* w_k += rate d_k / sqrt(sum of all d_k^2 so far), d = g - lambda w (Duchi, Hazan, Singer 2011) */
};

/* Where an ascent stands. */
struct ascent {
    struct arena arena; /* of the arrays below */
    struct clv_shape shape;
    size_t size;
    enum step_rule rule;
    double lambda, rate;
    double table_variance; /* prior variance of the weights beyond the unary ones against theirs; 1 at first */
    double *w;             /* [size] */
    double *average;       /* [size] of the iterates, the h-th weighing h; NULL: not wanted */
    double *squares;       /* [size] AdaGrad's sums */
    double n_steps;
};

/* Starts at w = 0; `averaging` asks for the average. Release also after a failure. */
enum clv_status ascent_open(struct ascent *self, const struct clv_shape *shape, enum step_rule rule, double lambda,
                            double rate, int averaging, struct clv_error *err) CLV_CHECK;
void ascent_release(struct ascent *self);

/* Pairwise weights from here on walk as if their features were sqrt(variance) times as large and lambda the same for
 * all: the lambda of their own is lambda / variance, their steps are variance (published) or sqrt(variance) (AdaGrad)
 * times as long. */
void ascent_set_table_variance(struct ascent *self, double variance);

/* lambda/2 <w, S^-1 w> with that variance as S's. */
double ascent_penalty(const struct ascent *self, const double *w);

/* Starts at w[size] instead, as if n_steps had led there: the published rule's first step would forget it. */
void ascent_start(struct ascent *self, const double *w, double n_steps);

/* One step along gradient[size] of the data term. */
void ascent_step(struct ascent *self, const double *gradient);

/* A step of rate times direction[size], which somebody else has worked out. */
void ascent_move(struct ascent *self, const double *direction);

/* Begins anew from the last iterate, with another rate. */
void ascent_restart(struct ascent *self, double rate);

/* The point to be used: the average if there is one. */
const double *ascent_point(const struct ascent *self);

#endif
