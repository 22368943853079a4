/* The projection is u_k = sign(w_k) max(0, |w_k| - theta), where theta >= 0 solves sum_k max(0, |w_k| - theta) = radius. With the rho
 * largest magnitudes above theta, theta = (their sum - radius) / rho: a magnitude m is above it if and only if
 *
 *     sum_{m_j >= m} (m_j - m) < radius.
 *
 * Partitioning as quickselect does settles that for half of what is left at a time. */
#include "learn/l1_ball.h"

#include <math.h>

static double median_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Moves the entries >= pivot of m[n] to the front; returns their number, *sum their sum. */
static size_t partition(double *m, size_t n, double pivot, double *sum)
{
    size_t n_front = 0;
    *sum = 0;
    for (size_t k = 0; k < n; k++)
        if (m[k] >= pivot) {
            double entry = m[k];
            m[k] = m[n_front];
            m[n_front++] = entry;
            *sum += entry;
        }
    return n_front;
}

/* theta of the magnitudes m[n], whose sum exceeds the radius. */
static double threshold_of(double *m, size_t n, double radius)
{
    double above = 0; /* the sum of the magnitudes known to exceed theta */
    size_t n_above = 0;
    while (n) {
        double pivot = median_of_three(m[0], m[n / 2], m[n - 1]), sum;
        size_t n_front = partition(m, n, pivot, &sum);
        double excess = above + sum - (double)(n_above + n_front) * pivot;
        if (excess < radius) { /* the whole front is above theta */
            above += sum;
            n_above += n_front;
            m += n_front;
            n -= n_front;
        } else { /* the pivot is not: nor what equals it */
            size_t n_left = 0;
            for (size_t k = 0; k < n_front; k++)
                if (m[k] > pivot)
                    m[n_left++] = m[k];
            n = n_left;
        }
    }
    return (above - radius) / (double)n_above;
}

void l1_ball_project(double *w, size_t n, double radius, double *scratch)
{
    double norm = 0;
    for (size_t k = 0; k < n; k++) {
        scratch[k] = fabs(w[k]);
        norm += scratch[k];
    }
    if (norm <= radius)
        return;
    double theta = threshold_of(scratch, n, radius);
    for (size_t k = 0; k < n; k++)
        w[k] = copysign(fmax(0, fabs(w[k]) - theta), w[k]);
}
