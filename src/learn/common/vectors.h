/* Vector arithmetic of learners. The dispatched kernels keep a fixed number of running sums, so that results are the
 * same on every machine. */
#ifndef LEARN_VECTORS_H
#define LEARN_VECTORS_H

#include <stddef.h>

double mean_of(const double *values, size_t n);    /* summed in order */
double squares_of(const double *values, size_t n); /* |values|^2, summed in order */

double inner_product(const double *a, const double *b, size_t n);
void add_scaled(double *a, const double *b, double factor, size_t n); /* a += factor b */
void scale_by(double *a, double factor, size_t n);
void move_towards(double *a, const double *b, double share, size_t n); /* a += share (b - a) */

/* *inner = <a, b>, *squares = |b|^2. */
void dot_and_square(double *inner, double *squares, const double *a, const double *b, size_t n);

/* *inner = <a, b>, *squares = <b, S b> with S = diag(variance). */
void dot_and_scaled_square(double *inner, double *squares, const double *a, const double *b, const double *variance,
                           size_t n);

#endif
