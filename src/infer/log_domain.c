#include "infer/log_domain.h"

#include "base/machine.h"
#include "base/maths.h"

double maximum(const double *value, size_t n)
{
    double highest = value[0];
    for (size_t k = 1; k < n; k++)
        highest = value[k] > highest ? value[k] : highest;
    return highest;
}

double log_sum_exp(const double *value, size_t n)
{
    double highest = maximum(value, n), sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += portable_exp(value[k] - highest);
    return highest + portable_log(sum);
}

FOR_EACH_MACHINE void apply_kernel(double *restrict out, const double *restrict weight, const double *restrict kernel,
                                   size_t n_labels, bool is_transposed)
{
    for (size_t b = 0; b < n_labels; b++)
        out[b] = 0;
    for (size_t a = 0; a < n_labels; a++) {
        if (is_transposed) { /* by columns all the same: sums along a row would wait for each addition */
            for (size_t b = 0; b < n_labels; b++)
                out[b] += weight[a] * kernel[b * n_labels + a];
        } else {
            for (size_t b = 0; b < n_labels; b++)
                out[b] += weight[a] * kernel[a * n_labels + b];
        }
    }
}
