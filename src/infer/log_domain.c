/* Maxima, logarithms of sums of exponentials, and products with kernels, for rows of labels, in vector lanes. */
#include "infer/infer.h"

#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

typedef double lanes __attribute__((vector_size(4 * sizeof(double))));
typedef int64_t lane_bits __attribute__((vector_size(4 * sizeof(double))));

INLINE void lift(lanes *value, const double *from)
{
    lanes other;
    memcpy(&other, from, sizeof other);
    lane_bits is_other = other > *value;
    *value = (lanes)(((lane_bits)other & is_other) | ((lane_bits)*value & ~is_other));
}

FOR_EACH_MACHINE double maximum(const double *value, size_t n)
{
    double highest = value[0];
    size_t k = 1;
    if (n >= 8) {
        lanes even, odd;
        memcpy(&even, value, sizeof even);
        memcpy(&odd, &value[4], sizeof odd);
        for (k = 8; k + 8 <= n; k += 8) {
            lift(&even, &value[k]);
            lift(&odd, &value[k + 4]);
        }
        lift(&even, (const double *)&odd);
        for (size_t l = 0; l < 4; l++)
            highest = even[l] > highest ? even[l] : highest;
    }
    for (; k < n; k++)
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
        if (is_transposed) { /* also by columns: additions along a row would wait for each other */
            for (size_t b = 0; b < n_labels; b++)
                out[b] += weight[a] * kernel[b * n_labels + a];
        } else {
            for (size_t b = 0; b < n_labels; b++)
                out[b] += weight[a] * kernel[a * n_labels + b];
        }
    }
}
