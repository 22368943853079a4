/* Projects a vector onto an L1 ball (l1_ball_project): u_k = sign(w_k) max(0, |w_k| - theta), where theta >= 0 solves
 * sum_k max(0, |w_k| - theta) = radius. If the rho largest magnitudes are above theta, theta = (their sum - radius) /
 * rho. A magnitude m is above theta if and only if
 *
 *     sum_{m_j >= m} (m_j - m) < radius.
 *
 * Most weights on a ball are 0, and a training step changes few. So theta is first approached from below, in passes
 * without branches,
 *
 *     theta <- (sum_{m_j > theta} m_j - radius) / (their number)
 *
 * until a pass leaves the same entries above theta (Michelot 1986). That can take as many passes as there are entries.
 * After MOST_PASSES passes the entries are partitioned as in quickselect, which decides about half of the remaining
 * entries at a time. */
#include "learn/common/common.h"

#include <math.h>
#include <stdbool.h>

#include "infer/chain/chain.h"

#define MOST_PASSES 30 /* from below */

typedef long long counts __attribute__((vector_size(CHAIN_LANES * sizeof(long long))));

/* Returns the number of entries of m[n] above theta and sets *sum to their sum. */
FOR_EACH_MACHINE static size_t sum_above(double *sum, const double *m, size_t n, double theta)
{
    const lanes bound = {theta, theta, theta, theta};
    lanes total = {0};
    counts number = {0};
    size_t k = 0;
    for (; k + CHAIN_LANES <= n; k += CHAIN_LANES) {
        lanes entry;
        load(&entry, m + k);
        counts is_above = entry > bound; /* -1 or 0 */
        total += (lanes)((counts)entry & is_above);
        number -= is_above;
    }
    *sum = (total[0] + total[1]) + (total[2] + total[3]);
    size_t n_above = (size_t)(number[0] + number[1] + number[2] + number[3]);
    for (; k < n; k++)
        if (m[k] > theta) {
            *sum += m[k];
            n_above++;
        }
    return n_above;
}

/* Finds *theta of the magnitudes m[n], whose sum `norm` exceeds the radius, from below. Returns false if MOST_PASSES
 * passes do not reach it. */
static bool climb_to_threshold(double *theta, const double *m, size_t n, double norm, double radius)
{
    size_t last = n;
    *theta = (norm - radius) / (double)n;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double sum;
        size_t n_above = sum_above(&sum, m, n, *theta);
        if (n_above == last || !n_above) /* n_above is 0 for equal magnitudes, by rounding */
            return n_above;
        *theta = (sum - radius) / (double)n_above;
        last = n_above;
    }
    return false;
}

static double median_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Moves the entries >= pivot of m[n] to the front. Returns their number and sets *sum to their sum. */
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

/* Returns theta of the magnitudes m[n], whose sum exceeds the radius, by partitioning them. */
static double threshold_of(double *m, size_t n, double radius)
{
    double above = 0, pivot = 0; /* the sum of the magnitudes known to exceed theta */
    size_t n_above = 0;
    while (n) {
        double sum;
        pivot = median_of_three(m[0], m[n / 2], m[n - 1]);
        size_t n_front = partition(m, n, pivot, &sum);
        double excess = above + sum - (double)(n_above + n_front) * pivot;
        if (excess < radius) { /* the whole front is above theta */
            above += sum;
            n_above += n_front;
            m += n_front;
            n -= n_front;
        } else { /* neither the pivot nor its equals are above theta */
            size_t n_left = 0;
            for (size_t k = 0; k < n_front; k++)
                if (m[k] > pivot)
                    m[n_left++] = m[k];
            n = n_left;
        }
    }
    return n_above ? (above - radius) / (double)n_above
                   : pivot; /* the radius is too small to lower the largest magnitude, the last pivot */
}

void l1_ball_project(double *w, size_t n, double radius, double *scratch)
{
    double norm;
    for (size_t k = 0; k < n; k++)
        scratch[k] = fabs(w[k]);
    sum_above(&norm, scratch, n, 0);
    if (norm <= radius)
        return;
    double theta;
    if (!climb_to_threshold(&theta, scratch, n, norm, radius))
        theta = threshold_of(scratch, n, radius);
    for (size_t k = 0; k < n; k++) {
        double left = fabs(w[k]) - theta;
        w[k] = copysign(left > 0 ? left : 0, w[k]);
    }
}
