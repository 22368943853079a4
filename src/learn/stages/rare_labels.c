/* Chooses the weights of rare labels in decisions: the exponent of the labels' shares with which held-out examples are
 * labelled best. Start at rare_labels_choose. */
#include "learn/stages/stages.h"

#include <string.h>

#include "base/base.h"
#include "cleave/data.h"

static double exponent_of(int k)
{
    return (double)k / (RARE_EXPONENTS - 1);
}

void rare_labels_tally(double *right, const struct clv_problem *problem, const double *marginals, const double *share,
                       int32_t n_labels)
{
    double weight[CLV_MAX_LABELS];
    memset(right, 0, RARE_EXPONENTS * (size_t)n_labels * sizeof *right);
    for (int k = 0; k < RARE_EXPONENTS; k++) {
        for (int32_t b = 0; b < n_labels; b++)
            weight[b] = share[b] > 0 ? portable_pow(share[b], -exponent_of(k)) : 0;
        for (size_t i = 0; i < (size_t)problem->n_nodes; i++) {
            const double *own = marginals + i * (size_t)n_labels;
            int32_t best = 0;
            for (int32_t b = 1; b < n_labels; b++)
                if (weight[b] * own[b] > weight[best] * own[best])
                    best = b;
            right[k * n_labels + best] += (double)problem->theta[i * (size_t)n_labels + (size_t)best];
        }
    }
}

double rare_labels_choose(const double *right, const double *share, size_t n, int32_t n_labels)
{
    size_t k = (size_t)n_labels;
    double highest = -1, chosen = 0, total = 0, n_there = 0;
    for (size_t b = 0; b < k; b++) {
        total += share[b];
        n_there += share[b] > 0;
    }
    for (size_t e = 0; e < RARE_EXPONENTS && total > 0; e++) {
        double all = 0, classes = 0;
        for (size_t b = 0; b < k; b++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += right[(i * RARE_EXPONENTS + e) * k + b];
            all += sum / total;
            classes += share[b] > 0 ? sum / share[b] / n_there : 0;
        }
        if (all + classes > highest) {
            highest = all + classes;
            chosen = exponent_of((int)e);
        }
    }
    return chosen;
}
