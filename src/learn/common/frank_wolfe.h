/* The dual of the structured SVM with non-negative couplings, as block-coordinate Frank-Wolfe walks it. */
#ifndef LEARN_FRANK_WOLFE_H
#define LEARN_FRANK_WOLFE_H

#include <stddef.h>

/* A range of weights. */
struct dual_span {
    size_t begin, end;
};

/* Where the dual stands. size weights, of which those from `free_size` on must not be negative. */
struct dual_point {
    size_t size, free_size;
    double lambda;
    const double *variance;        /* [size] diagonal of S, > 0; NULL: the identity */
    double *v;                     /* [size] the unconstrained combination sum_i v_i */
    double *w;                     /* [size] S times its projection: the primal point */
    const struct dual_span *spans; /* [n_spans] what the next delta can change, in order; NULL: all */
    size_t n_spans;
    double loss; /* l = (1/n) sum_i sum_y alpha_i(y) L_i(y) */
};

/* <a, b> in the metric of S^-1, in which |w|^2 is penalised. */
double dual_product(const struct dual_point *point, const double *a, const double *b);

/* D = -lambda/2 <w, S^-1 w> + l. */
double dual_value(const struct dual_point *point);

/* The step in [0, 1] along `delta` (and loss_change in l) that raises D most: exact. 0 if D does not rise. */
double dual_line_search(const struct dual_point *point, const double *delta, double loss_change);

/* v += step * delta, w = S times the projection of v, l += step * loss_change. */
void dual_step(struct dual_point *point, const double *delta, double loss_change, double step);

/* Another S, the same distributions: w follows from v. O(size). */
void dual_set_variance(struct dual_point *point, const double *variance);

#endif
