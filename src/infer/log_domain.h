/* Sums of exponentials, whose logarithms are what is kept. */
#ifndef INFER_LOG_DOMAIN_H
#define INFER_LOG_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Of n >= 1 values. */
double maximum(const double *value, size_t n);
double log_sum_exp(const double *value, size_t n);

/* out[b] = sum_a weight[a] kernel[a][b], or kernel[b][a] if transposed. */
void apply_kernel(double *out, const double *weight, const double *kernel, size_t n_labels, bool is_transposed);

#endif
