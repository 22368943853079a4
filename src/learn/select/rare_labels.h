/* How much more rare labels' errors are to cost, from what a first stage said of images that it was not learned from.
 *
 * Weights of share^-x in the loss move decisions as weights of marginals do: to the label of the most share^-x p. So x
 * is the one whose decisions by held-out marginals have the highest sum of two accuracies, that of all that the loss
 * counts and the mean of the labels'. No training is needed. */
#ifndef LEARN_RARE_LABELS_H
#define LEARN_RARE_LABELS_H

#include "cleave/problem.h"

enum { RARE_EXPONENTS = 11 }; /* 0, 0.1 .. 1 */

/* right[RARE_EXPONENTS][n_labels]: what the loss counts of each label that decisions from marginals[n_nodes][n_labels] by
 * each exponent have right, of labels that have these shares of the whole. O(n_nodes n_labels RARE_EXPONENTS). */
void rare_labels_tally(double *right, const struct clv_problem *problem, const double *marginals, const double *share,
                       int32_t n_labels);

/* The lowest of the best exponents; right[n][RARE_EXPONENTS][n_labels] of n problems. */
double rare_labels_choose(const double *right, const double *share, size_t n, int32_t n_labels);

#endif
