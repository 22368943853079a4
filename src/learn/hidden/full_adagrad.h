/* AdaGrad with full matrices (Duchi, Hazan & Singer, JMLR 2011, algorithm 1 there): steps along
 *
 *     (G^(1/2) + delta I)^(-1) g,     G = sum of g g^T so far,     delta = 0.05 sqrt(trace G / size)
 *
 * which suits weights that work against each other, such as a table's entries and a bias, where each by itself walks
 * slowly. */
#ifndef LEARN_FULL_ADAGRAD_H
#define LEARN_FULL_ADAGRAD_H

#include "cleave/status.h"

#define FULL_ADAGRAD_MAX_SIZE 128

struct full_adagrad {
    size_t size;
    double *products;         /* [size][size] G */
    double *matrix, *vectors; /* [size][size] diagonal in the end; row k is the eigenvector of entry k */
};

/* size is at most FULL_ADAGRAD_MAX_SIZE. Release also after a failure, and of zeros. */
enum clv_status full_adagrad_open(struct full_adagrad *self, size_t size, struct clv_error *err) CLV_CHECK;
void full_adagrad_release(struct full_adagrad *self);

/* Forgets all gradients. */
void full_adagrad_restart(struct full_adagrad *self);

/* Takes in gradient[size], which becomes the step of length 1. O(size^3): Jacobi's rotations, from the eigenvectors of
 * the step before. */
void full_adagrad_turn(double *gradient, struct full_adagrad *self);

#endif
