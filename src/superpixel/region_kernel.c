/* Multiplies a matrix of similarities between regions by one or two vectors. Start at region_kernel_apply. */
#include <string.h>

#include "base/machine.h"
#include "superpixel/superpixel.h"

enum { BLOCK = 4 }; /* rows per pass, which saves reading and writing the sums */

/* Vector lanes run over i; each sum adds its terms in the order of j. */
FOR_EVERY_WIDTH static void apply(float *restrict sums, const float *restrict kernel, const float *restrict weights,
                                  size_t n)
{
    size_t j = 0;
    memset(sums, 0, n * sizeof *sums);
    for (; j + BLOCK <= n; j += BLOCK) {
        const float *row = kernel + j * n, *w = weights + j;
        for (size_t i = 0; i < n; i++)
            sums[i] = sums[i] + row[i] * w[0] + row[n + i] * w[1] + row[2 * n + i] * w[2] + row[3 * n + i] * w[3];
    }
    for (; j < n; j++)
        for (size_t i = 0; i < n; i++)
            sums[i] += kernel[j * n + i] * weights[j];
}

FOR_EVERY_WIDTH static void apply_two(float *restrict first, float *restrict second, const float *restrict kernel,
                                      const float *restrict a, const float *restrict b, size_t n)
{
    size_t j = 0;
    memset(first, 0, n * sizeof *first);
    memset(second, 0, n * sizeof *second);
    for (; j + BLOCK <= n; j += BLOCK) {
        const float *row = kernel + j * n;
        for (size_t i = 0; i < n; i++) {
            float k0 = row[i], k1 = row[n + i], k2 = row[2 * n + i], k3 = row[3 * n + i];
            first[i] = first[i] + k0 * a[j] + k1 * a[j + 1] + k2 * a[j + 2] + k3 * a[j + 3];
            second[i] = second[i] + k0 * b[j] + k1 * b[j + 1] + k2 * b[j + 2] + k3 * b[j + 3];
        }
    }
    for (; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            first[i] += kernel[j * n + i] * a[j];
            second[i] += kernel[j * n + i] * b[j];
        }
}

void region_kernel_apply(float *const sums[2], const float *kernel, const float *const weights[2], size_t n)
{
    if (sums[1])
        apply_two(sums[0], sums[1], kernel, weights[0], weights[1], n);
    else
        apply(sums[0], kernel, weights[0], n);
}
