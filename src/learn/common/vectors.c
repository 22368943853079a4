/* Sums, inner products and updates of vectors for learners. Kernels for several vector widths keep the same number of
 * running sums, so that every machine gives the same bits. */
#include "learn/common/common.h"

#include <string.h>

#include "base/machine.h"

double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

void marginals_of_labels(double *marginals, const int32_t *y, size_t n_nodes, size_t n_labels)
{
    memset(marginals, 0, n_nodes * n_labels * sizeof *marginals);
    for (size_t i = 0; i < n_nodes; i++)
        marginals[i * n_labels + (size_t)y[i]] = 1;
}

double squares_of(const double *values, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += values[i] * values[i];
    return squares;
}

/* Four doubles from memory. */
typedef double lanes __attribute__((vector_size(32)));

static inline void load(lanes *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

static inline double sum_of(const lanes *a, const lanes *b)
{
    lanes sum = *a + *b;
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

FOR_EACH_MACHINE void dot_and_scaled_square(double *inner, double *squares, const double *a, const double *b,
                                            const double *variance, size_t n)
{
    lanes product = {0}, square = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        lanes first, second, scale;
        load(&first, a + k);
        load(&second, b + k);
        load(&scale, variance + k);
        product += first * second;
        square += second * second * scale;
    }
    const lanes none = {0};
    *inner = sum_of(&product, &none);
    *squares = sum_of(&square, &none);
    for (; k < n; k++) {
        *inner += a[k] * b[k];
        *squares += b[k] * b[k] * variance[k];
    }
}

FOR_EACH_MACHINE void dot_and_square(double *inner, double *squares, const double *a, const double *b, size_t n)
{
    lanes product[2] = {{0}, {0}}, square[2] = {{0}, {0}};
    size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        lanes first[2], second[2];
        for (size_t j = 0; j < 2; j++) {
            load(&first[j], a + k + 4 * j);
            load(&second[j], b + k + 4 * j);
            product[j] += first[j] * second[j];
            square[j] += second[j] * second[j];
        }
    }
    *inner = sum_of(&product[0], &product[1]);
    *squares = sum_of(&square[0], &square[1]);
    for (; k < n; k++) {
        *inner += a[k] * b[k];
        *squares += b[k] * b[k];
    }
}

FOR_EACH_MACHINE double inner_product(const double *a, const double *b, size_t n)
{
    lanes product[2] = {{0}, {0}};
    size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        lanes first[2], second[2];
        for (size_t j = 0; j < 2; j++) {
            load(&first[j], a + k + 4 * j);
            load(&second[j], b + k + 4 * j);
            product[j] += first[j] * second[j];
        }
    }
    double sum = sum_of(&product[0], &product[1]);
    for (; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

FOR_EACH_MACHINE void scale_by(double *a, double factor, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] *= factor;
}

FOR_EACH_MACHINE void move_towards(double *restrict a, const double *restrict b, double share, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] += share * (b[k] - a[k]);
}

FOR_EACH_MACHINE void add_scaled(double *restrict a, const double *restrict b, double factor, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] += factor * b[k];
}
