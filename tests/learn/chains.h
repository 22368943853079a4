/* Small random chains for the learners' tests. */
#ifndef TESTS_LEARN_CHAINS_H
#define TESTS_LEARN_CHAINS_H

#include <math.h>
#include <string.h>

#include "learn/toy.h"

#define CHAIN_SIZE (3 * 4 + 9) /* weights of 3 labels, 4 features, one full table */

static const struct clv_weight_layout chain_shape = {3, 4, 1, CLV_PAIRWISE_FULL};

/* A random problem whose edges are a chain's, with edge feature 1, or random ones. theta is 1 for the true label. */
static inline void random_chain(struct random_problem *r, const struct clv_weight_layout *layout, int32_t n_nodes,
                                bool is_shared, uint64_t seed)
{
    random_problem_fill(r, layout, n_nodes, 0, 0.7, seed);
    r->problem.n_edges = layout->pairwise ? n_nodes - 1 : 0;
    for (int32_t e = 0; e + 1 < n_nodes; e++) {
        r->edges[e][0] = e;
        r->edges[e][1] = e + 1;
        r->edge_features[e] = is_shared ? 1 : (float)rng_uniform(seed, RNG_TEST, 90000 + (uint64_t)e);
    }
    for (int32_t i = 0; i < n_nodes; i++)
        for (int32_t b = 0; b < layout->n_labels; b++)
            r->theta[i * layout->n_labels + b] = b == r->label[i];
}

static inline void toy_chains(struct toy *toy, size_t n, const struct clv_weight_layout *layout, uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < n; i++) {
        random_chain(&r, layout, 1 + (int32_t)(i % 5), true, seed * 1000 + i);
        toy_add(toy, &r.problem);
    }
}

/* <w, Psi(x, y)> of the known nodes. */
static inline double chain_score(const struct clv_problem *p, const struct clv_weight_layout *layout, const double *w,
                                 const int32_t *y)
{
    double psi[CHAIN_SIZE] = {0}, score = 0;
    int32_t known[RANDOM_MAX_NODES];
    for (int32_t i = 0; i < p->n_nodes; i++)
        known[i] = p->label[i] == CLV_UNKNOWN ? CLV_UNKNOWN : y[i];
    clv_joint_feature_add(psi, p, layout, known, 1);
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++)
        score += psi[k] * w[k];
    return score;
}

/* Goes through all labellings of n nodes: call until it returns false, from y = 0. */
static inline bool next_labelling(int32_t *y, int32_t n, int32_t n_labels)
{
    for (int32_t i = 0; i < n; i++) {
        if (++y[i] < n_labels)
            return true;
        y[i] = 0;
    }
    return false;
}

#endif
