#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/eigen.h"
#include "support/support.h"

TEST(eigenvectors_of_two_by_two_are_known)
{
    double matrix[] = {2, -1, -1, 2}, values[2], half = sqrt(0.5);
    eigen_of_covariance(values, matrix, 2);
    double expected[] = {half, -half, half, half};
    ck_assert_double_eq_tol(values[0], 3, 1e-14);
    ck_assert_double_eq_tol(values[1], 1, 1e-14);
    for (int k = 0; k < 4; k++)
        ck_assert_double_eq_tol(fabs(matrix[k]), half, 1e-14);
    /* Either entry may be rounded up. */
    ck_assert_double_eq_tol(matrix[0] * matrix[1], expected[0] * expected[1], 1e-14);
    ck_assert_double_eq_tol(matrix[2], matrix[3], 1e-14);
    ck_assert_double_gt(matrix[2], 0);
}

/* A covariance of n numbers of which `rank` are drawn, the rest sums of them. */
static double *covariance(size_t n, size_t rank)
{
    double *matrix = calloc(n * n + 1, sizeof *matrix);
    for (size_t r = 0; r < rank; r++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] += (rng_uniform(3, RNG_STREAM(RNG_TEST, r), i) - 0.5) *
                                     (rng_uniform(3, RNG_STREAM(RNG_TEST, r), j) - 0.5) / (double)(r + 1);
    return matrix;
}

TEST(eigenvectors_put_the_matrix_together_again)
{
    static const size_t sizes[][2] = {{1, 1}, {1, 0}, {2, 1}, {5, 0}, {7, 7}, {30, 30}, {31, 4}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s][0], rank = sizes[s][1];
        OWNED_ARRAY double *matrix = covariance(n, rank), *vectors = covariance(n, rank);
        double values[31];
        eigen_of_covariance(values, vectors, n);
        for (size_t i = 0; i < n; i++) {
            ck_assert(i < rank ? values[i] > 0 : !(values[i] > 0) && !(values[i] < 0));
            ck_assert(i == 0 || values[i] <= values[i - 1]);
            double largest = 0;
            for (size_t k = 0; k < n; k++)
                largest = fabs(vectors[i * n + k]) > fabs(largest) ? vectors[i * n + k] : largest;
            ck_assert(i < rank ? largest > 0 : fabs(largest) <= 0);
            for (size_t j = 0; j < n; j++) {
                double product = 0, sum = 0;
                for (size_t k = 0; k < n; k++) {
                    product += vectors[i * n + k] * vectors[j * n + k];
                    sum += values[k] * vectors[k * n + i] * vectors[k * n + j];
                }
                ck_assert_double_eq_tol(product, i == j && i < rank, 1e-9);
                ck_assert_double_eq_tol(sum, matrix[i * n + j], 1e-12);
            }
        }
    }
}
