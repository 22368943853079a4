/* Eigenvectors of small symmetric matrices by one-sided Jacobi rotations (Hestenes 1958): pairs of rows are rotated
 * until all are orthogonal. The order of all sums is fixed. Start at eigen_of_covariance, at the end. */
#include "base/eigen.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_ROUNDS = 60 };

/* The inner product, as four partial sums in a fixed order. */
static double product(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] += a[k + j] * b[k + j];
    for (size_t j = 0; k < n; k++, j++)
        sum[j] += a[k] * b[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Rotates two rows so that they become orthogonal; returns false if they already are. */
static bool turn(double *a, double *b, size_t n, double least)
{
    double aa = product(a, a, n), bb = product(b, b, n), ab = product(a, b, n);
    if (fabs(ab) <= 1e-14 * sqrt(aa) * sqrt(bb) || (aa <= least && bb <= least))
        return false;
    double zeta = (bb - aa) / (2 * ab), t = 1 / (fabs(zeta) + sqrt(1 + zeta * zeta));
    t = zeta < 0 ? -t : t;
    double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
    for (size_t k = 0; k < n; k++) {
        double x = a[k], y = b[k];
        a[k] = cosine * x - sine * y;
        b[k] = sine * x + cosine * y;
    }
    return true;
}

static void swap_rows(double *a, double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double kept = a[k];
        a[k] = b[k];
        b[k] = kept;
    }
}

/* Normalises a row, on entry an eigenvector times its eigenvalue, to a unit vector; rows of eigenvalues up to `least`
 * become 0. */
static void finish_row(double *row, double *value, size_t n, double least)
{
    double largest = 0;
    for (size_t k = 0; k < n; k++)
        largest = fabs(row[k]) > fabs(largest) ? row[k] : largest;
    if (!(*value > least)) {
        memset(row, 0, n * sizeof *row);
        *value = 0;
        return;
    }
    for (size_t k = 0; k < n; k++)
        row[k] /= largest < 0 ? -*value : *value;
}

/* Rotations keep the rows equal to an orthogonal matrix times the original matrix; once they are orthogonal, they are
 * eigenvectors times eigenvalues. */
void eigen_of_covariance(double *values, double *matrix, size_t n)
{
    double all = sqrt(product(matrix, matrix, n * n));
    bool is_turned = true;
    for (int round = 0; is_turned && round < MAX_ROUNDS; round++) {
        is_turned = false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                is_turned |= turn(matrix + i * n, matrix + j * n, n, 1e-24 * all * all);
    }
    for (size_t i = 0; i < n; i++)
        values[i] = sqrt(product(matrix + i * n, matrix + i * n, n));
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            best = values[j] > values[best] ? j : best;
        if (best != i) {
            double kept = values[i];
            values[i] = values[best];
            values[best] = kept;
            swap_rows(matrix + i * n, matrix + best * n, n);
        }
    }
    for (size_t i = n; i-- > 0;)
        finish_row(matrix + i * n, &values[i], n, 1e-10 * values[0]);
}
