/* AdaGrad with full matrices (Duchi, Hazan & Singer 2011). Jacobi rotations compute the root of the matrix; they start
 * from the eigenvectors of the previous step. Start at full_adagrad_turn, at the end. */
#include "learn/hidden/hidden.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"

#define DAMPING    0.05
#define MAX_ROUNDS 30
#define PRECISION  1e-20 /* largest ratio of the squares off the diagonal to those on it */

enum clv_status full_adagrad_open(struct full_adagrad *self, size_t size, struct clv_error *err)
{
    *self = (struct full_adagrad){
        .size = size,
        .products = array_zalloc(size, size * sizeof(double)),
        .matrix = array_zalloc(size, size * sizeof(double)),
        .vectors = array_zalloc(size, size * sizeof(double)),
    };
    NEED(self->products && self->matrix && self->vectors);
    for (size_t i = 0; i < size; i++)
        self->vectors[i * size + i] = 1;
    return CLV_OK;
}

void full_adagrad_release(struct full_adagrad *self)
{
    arrays_free(self->products, self->matrix, self->vectors);
    *self = (struct full_adagrad){0};
}

void full_adagrad_restart(struct full_adagrad *self)
{
    if (self->size)
        memset(self->products, 0, self->size * self->size * sizeof *self->products);
}

/* matrix = V G V^T, which is nearly diagonal with the V of the previous step. */
static void rotate_products(struct full_adagrad *self)
{
    size_t n = self->size;
    for (size_t i = 0; i < n; i++) {
        double row[FULL_ADAGRAD_MAX_SIZE] = {0};
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                row[j] += self->vectors[i * n + k] * self->products[k * n + j];
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += row[k] * self->vectors[j * n + k];
            self->matrix[i * n + j] = self->matrix[j * n + i] = sum;
        }
    }
}

/* Rotates two rows p[n] and q[n]. */
static void rotate(double *p, double *q, double cosine, double sine, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double a = p[k], b = q[k];
        p[k] = cosine * a - sine * b;
        q[k] = sine * a + cosine * b;
    }
}

/* Makes the entries (p, q) and (q, p), p < q, zero by a rotation (Golub & Van Loan, Matrix computations, section
 * 8.5). */
static void annihilate(struct full_adagrad *self, size_t p, size_t q)
{
    size_t n = self->size;
    double *matrix = self->matrix, entry = matrix[p * n + q];
    if (entry == 0)
        return;
    double ratio = (matrix[q * n + q] - matrix[p * n + p]) / (2 * entry);
    double tangent = (ratio >= 0 ? 1 : -1) / (fabs(ratio) + sqrt(1 + ratio * ratio));
    double cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
    for (size_t k = 0; k < n; k++) {
        double a = matrix[k * n + p], b = matrix[k * n + q];
        matrix[k * n + p] = cosine * a - sine * b;
        matrix[k * n + q] = sine * a + cosine * b;
    }
    rotate(&matrix[p * n], &matrix[q * n], cosine, sine, n);
    rotate(&self->vectors[p * n], &self->vectors[q * n], cosine, sine, n);
}

static bool is_diagonal(const struct full_adagrad *self)
{
    size_t n = self->size;
    double on = 0, off = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            *(i == j ? &on : &off) += self->matrix[i * n + j] * self->matrix[i * n + j];
    return off <= PRECISION * on;
}

void full_adagrad_turn(double *gradient, struct full_adagrad *self)
{
    size_t n = self->size;
    double step[FULL_ADAGRAD_MAX_SIZE] = {0}, trace = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            self->products[i * n + j] += gradient[i] * gradient[j];
        trace += self->products[i * n + i];
    }
    if (trace == 0)
        return;
    rotate_products(self);
    for (int round = 0; round < MAX_ROUNDS && !is_diagonal(self); round++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                annihilate(self, p, q);
    double damping = DAMPING * sqrt(trace / (double)n);
    for (size_t k = 0; k < n; k++) {
        const double *vector = &self->vectors[k * n];
        double along = 0;
        for (size_t j = 0; j < n; j++)
            along += vector[j] * gradient[j];
        along /= sqrt(fmax(self->matrix[k * n + k], 0)) + damping;
        for (size_t j = 0; j < n; j++)
            step[j] += along * vector[j];
    }
    memcpy(gradient, step, n * sizeof *step);
}
