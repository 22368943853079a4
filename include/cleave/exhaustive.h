/* Inference by trying every labelling: the reference of every other routine, for fields of a few nodes.
 *
 *     int32_t y[2];
 *     double log_partition; // of the field in oracle.h
 *     if (clv_exhaustive(y, NULL, &log_partition, NULL, &field, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef CLEAVE_EXHAUSTIVE_H
#define CLEAVE_EXHAUSTIVE_H

#include "cleave/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerates all n_labels^n_nodes labellings (at most 2^24): the maximum (lowest labelling in lexicographic order with
 * node 0 most significant at ties, which for two labels need not be canonical), log sum exp f, and
 * marginals[n_nodes][n_labels]. Any output may be NULL. The reference for every other routine. */
CLV_API enum clv_status clv_exhaustive(int32_t *y, double *score, double *log_partition, double *marginals,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
