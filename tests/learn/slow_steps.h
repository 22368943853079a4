/* What references of learners' steps have in common: labellings by enumeration, features as dense vectors. */
#ifndef TESTS_LEARN_SLOW_STEPS_H
#define TESTS_LEARN_SLOW_STEPS_H

#include <math.h>
#include <string.h>

#include "learn/toy.h"

#define SLOW_SIZE 8 /* weights of slow_shape */
#define SLOW_MAX  16

static const struct clv_weight_layout slow_shape = {2, 6, 2, CLV_PAIRWISE_POTTS};

/* max(couplings, 0). */
static inline void slow_clip(double *w, const struct toy *toy)
{
    for (size_t k = clv_weight_layout_unary_size(&toy->layout); k < clv_weight_layout_size(&toy->layout); k++)
        w[k] = fmax(w[k], 0);
}

/* *best = argmax_y f(y), plus the loss if it is `augmented`, of a two-label example. */
static inline void slow_decode(int32_t *best, const struct toy *toy, size_t example, const double *w, bool augmented)
{
    struct clv_problem p = clv_dataset_problem(toy->dataset, example);
    double highest = -INFINITY;
    for (uint32_t bits = 0; bits < 1U << p.n_nodes; bits++) {
        int32_t y[RANDOM_MAX_NODES];
        double psi[SLOW_MAX] = {0}, score;
        for (int32_t k = 0; k < p.n_nodes; k++)
            y[k] = bits >> k & 1;
        score = augmented ? clv_loss(&p, 2, y) : 0;
        clv_joint_feature_add(psi, &p, &toy->layout, y, 1);
        for (size_t k = 0; k < clv_weight_layout_size(&toy->layout); k++)
            score += psi[k] * w[k];
        if (score > highest) {
            highest = score;
            memcpy(best, y, (size_t)p.n_nodes * sizeof *y);
        }
    }
}

/* psi = Psi(x, y_i) - Psi(x, y), y the labelling above. */
static inline void slow_direction(double *psi, const struct toy *toy, size_t example, const double *w, bool augmented)
{
    struct clv_problem p = clv_dataset_problem(toy->dataset, example);
    int32_t y[RANDOM_MAX_NODES];
    slow_decode(y, toy, example, w, augmented);
    memset(psi, 0, SLOW_MAX * sizeof *psi);
    clv_joint_feature_add(psi, &p, &toy->layout, p.label, 1);
    clv_joint_feature_add(psi, &p, &toy->layout, y, -1);
}

/* Random problems whose nodes hold pixels of both labels: the truth itself has a loss. */
static inline void toy_mixed(struct toy *toy, size_t n, int32_t n_nodes, uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, slow_shape.n_labels, slow_shape.n_features, slow_shape.n_edge_features, slow_shape.pairwise);
    for (size_t i = 0; i < n; i++) {
        random_problem_fill(&r, &slow_shape, n_nodes, 0.4, 0.6, seed * 1000 + i);
        for (int32_t k = 0; k < n_nodes; k++)
            r.theta[2 * k + 1 - r.label[k]] =
                r.theta[2 * k + r.label[k]] * (float)(0.8 * rng_uniform(seed, RNG_TEST, 7000 + i * 64 + (uint64_t)k));
        toy_add(toy, &r.problem);
    }
}

#endif
