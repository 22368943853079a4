/* Sparse feature rows against weights whose labels stand in vector lanes. `width` is chain_lanes_width(labels). */
#ifndef LEARN_CRF_ROWS_H
#define LEARN_CRF_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* score[width] = sum_c value[c] weights[index[c]][..], weights[features][width]. */
void crf_rows_score(double *score, const double *weights, const int32_t *index, const float *value, size_t n,
                    size_t width);

/* gradient[index[c]][..] += value[c] marginal[..], gradient[features][width]. */
void crf_rows_scatter(double *gradient, const double *marginal, const int32_t *index, const float *value, size_t n,
                      size_t width);

#endif
