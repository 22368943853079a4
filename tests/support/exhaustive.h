/* Inference by trying every labelling: the reference of every other routine, for fields of a few nodes. */
#ifndef TESTS_EXHAUSTIVE_H
#define TESTS_EXHAUSTIVE_H

#include "cleave.h"

/* Of all n_labels^n_nodes labellings (at most 2^24) the best one (the lowest in lexicographic order, node 0 first, at
 * ties, which for two labels need not be canonical) and its score, log sum exp f, and marginals[n_nodes][n_labels].
 * Any output may be NULL. */
void exhaustive(int32_t *y, double *score, double *log_partition, double *marginals, const struct clv_field *field);

#endif
