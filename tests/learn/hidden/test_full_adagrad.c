/* Steps along (G^(1/2) + delta I)^(-1) g. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/hidden/hidden.h"
#include "support/support.h"

enum { N = 12 };

/* Correlated, of very different sizes, and in the first five steps fewer than there are weights. */
static void draw_gradient(double *gradient, uint64_t step)
{
    for (size_t i = 0; i < N; i++) {
        gradient[i] = 0;
        for (size_t k = 0; k <= i; k++)
            gradient[i] += pow(10, -(double)(k % 5)) * rng_normal(1, RNG_TEST, step * N + k);
    }
}

TEST(steps_solve_their_equation)
{
    OWNED(full_adagrad_release) struct full_adagrad full = {0};
    double products[N * N] = {0};
    must(full_adagrad_open(&full, N, err));
    for (uint64_t step = 0; step < 40; step++) {
        double gradient[N], turned[N], root[N * N] = {0}, trace = 0;
        draw_gradient(gradient, step);
        memcpy(turned, gradient, sizeof turned);
        full_adagrad_turn(turned, &full);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                products[i * N + j] += gradient[i] * gradient[j];
                trace += i == j ? products[i * N + j] : 0;
                for (size_t k = 0; k < N; k++)
                    root[i * N + j] +=
                        full.vectors[k * N + i] * sqrt(fmax(full.matrix[k * N + k], 0)) * full.vectors[k * N + j];
            }
        for (size_t i = 0; i < N; i++) {
            double sum = 0.05 * sqrt(trace / N) * turned[i];
            for (size_t j = 0; j < N; j++) {
                double square = 0;
                for (size_t k = 0; k < N; k++)
                    square += root[i * N + k] * root[k * N + j];
                ck_assert_double_eq_tol(square, products[i * N + j], 1e-9 * trace);
                sum += root[i * N + j] * turned[j];
            }
            ck_assert_double_eq_tol(sum, gradient[i], 1e-9 * sqrt(trace));
        }
    }
}

/* A valley: the curvature is 1 along one diagonal and 1e-4 across it, which steps weight by weight cannot see. */
TEST(narrow_valleys_are_walked_along)
{
    OWNED(full_adagrad_release) struct full_adagrad full = {0};
    double w[2] = {3, 1}, squares[2] = {0}, other[2] = {3, 1};
    must(full_adagrad_open(&full, 2, err));
    for (int step = 0; step < 200; step++) {
        double along = w[0] + w[1], across = 1e-4 * (w[0] - w[1]);
        double gradient[2] = {along + across, along - across};
        full_adagrad_turn(gradient, &full);
        for (int k = 0; k < 2; k++)
            w[k] -= gradient[k];
        along = other[0] + other[1], across = 1e-4 * (other[0] - other[1]);
        const double plain[2] = {along + across, along - across};
        for (int k = 0; k < 2; k++) {
            squares[k] += plain[k] * plain[k];
            other[k] -= plain[k] / sqrt(squares[k]);
        }
    }
    ck_assert_double_lt(fabs(w[0] + w[1]), 1e-6);
    ck_assert_double_lt(fabs(w[0] - w[1]), 0.9 * fabs(other[0] - other[1]));
}

TEST(gradients_of_zeros_lead_nowhere)
{
    OWNED(full_adagrad_release) struct full_adagrad full = {0};
    double gradient[3] = {0};
    must(full_adagrad_open(&full, 3, err));
    full_adagrad_turn(gradient, &full);
    for (int k = 0; k < 3; k++)
        ck_assert_double_eq(gradient[k], 0);
}
