#include <float.h>

#include "base/base.h"
#include "superpixel/superpixel.h"
#include "support/support.h"

enum { MOST = 41 };

/* Bit for bit, whatever the width of vectors and blocks: labels depend on every bit. */
TEST(sums_by_a_kernel_are_taken_in_the_order_of_its_rows)
{
    static float kernel[MOST * MOST], weights[2][MOST], sums[2][MOST], alone[MOST];
    for (size_t n = 1; n <= MOST; n++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++)
                kernel[i * n + j] = kernel[j * n + i] =
                    i == j ? 0 : 1 / (1 + (float)rng_below(5, n, i * MOST + j, 1000));
            for (uint64_t k = 0; k < 2; k++)
                weights[k][i] = (float)rng_below(6, n, 2 * i + k, 1000) / 999;
        }
        const float *const from[2] = {weights[0], weights[1]};
        region_kernel_apply((float *const[2]){sums[0], sums[1]}, kernel, from, n);
        region_kernel_apply((float *const[2]){alone, NULL}, kernel, from, n);
        ck_assert_mem_eq(alone, sums[0], n * sizeof *alone);
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < n; i++) {
                float sum = 0;
                for (size_t j = 0; j < n; j++)
                    sum += kernel[i * n + j] * weights[k][j];
                ck_assert_mem_eq(&sum, &sums[k][i], sizeof sum);
            }
    }
}

/* With weights of 1e-10 and more, products are no subnormal numbers. */
TEST(similarities_that_are_next_to_nothing_are_none)
{
    const float some[] = {1, 0.5F, 1e-20F, 2e-25F};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        ck_assert_float_eq(region_kernel_weight(some[k]), some[k]);
    ck_assert_float_eq(region_kernel_weight(1e-26F), 0);
    ck_assert_float_eq(region_kernel_weight(FLT_TRUE_MIN), 0);
}
