/* Small random problems with memory of their own, for the tests of everything that takes a clv_problem. */
#ifndef TESTS_MRF_RANDOM_PROBLEM_H
#define TESTS_MRF_RANDOM_PROBLEM_H

#include "base/base.h"
#include "support/support.h"

#define RANDOM_MAX_NODES         64
#define RANDOM_MAX_EDGES         512
#define RANDOM_MAX_FEATURES      64
#define RANDOM_MAX_EDGE_FEATURES 8
#define RANDOM_MAX_LABELS        5

struct random_problem {
    struct clv_problem problem;
    struct clv_weight_layout layout;
    int64_t row[RANDOM_MAX_NODES + 1];
    int32_t index[RANDOM_MAX_NODES * RANDOM_MAX_FEATURES];
    float value[RANDOM_MAX_NODES * RANDOM_MAX_FEATURES];
    int32_t edges[RANDOM_MAX_EDGES][2];
    float edge_features[RANDOM_MAX_EDGES * RANDOM_MAX_EDGE_FEATURES];
    int32_t label[RANDOM_MAX_NODES];
    float theta[RANDOM_MAX_NODES * RANDOM_MAX_LABELS];
    float area[RANDOM_MAX_NODES];
};

/* Fills *r: random sparse rows (about `density` of the features), random edges, labels, balanced weights theta that
 * sum to 1 over the image. The problem's rows start at 3, not 0: it is a window. */
static inline void random_problem_fill(struct random_problem *r, const struct clv_weight_layout *layout,
                                       int32_t n_nodes, double edge_density, double density, uint64_t seed)
{
    uint64_t n = 0;
    int32_t n_labels = layout->n_labels, d = layout->n_features, p = layout->n_edge_features, n_edges = 0;
    r->layout = *layout;
    r->row[0] = 3;
    for (int32_t i = 0; i < n_nodes; i++) {
        int64_t k = r->row[i];
        for (int32_t f = 0; f < d; f++)
            if (rng_uniform(seed, RNG_TEST, n++) < density) {
                r->index[k] = f;
                r->value[k++] = (float)rng_normal(seed, RNG_TEST, n++);
            }
        r->row[i + 1] = k;
        r->area[i] = (float)(1 + rng_below(seed, RNG_TEST, n++, 50));
        r->label[i] = (int32_t)rng_below(seed, RNG_TEST, n++, (uint32_t)n_labels);
    }
    for (int32_t a = 0; a < n_nodes; a++)
        for (int32_t b = a + 1; b < n_nodes && n_edges < RANDOM_MAX_EDGES; b++)
            if (rng_uniform(seed, RNG_TEST, n++) < edge_density) {
                r->edges[n_edges][0] = a;
                r->edges[n_edges][1] = b;
                for (int32_t f = 0; f < p; f++)
                    r->edge_features[n_edges * p + f] = (float)rng_uniform(seed, RNG_TEST, n++);
                n_edges++;
            }
    double total[RANDOM_MAX_LABELS] = {0};
    int n_present = 0;
    for (int32_t i = 0; i < n_nodes; i++)
        total[r->label[i]] += (double)r->area[i];
    for (int32_t b = 0; b < n_labels; b++)
        n_present += total[b] > 0;
    for (int32_t i = 0; i < n_nodes; i++)
        for (int32_t b = 0; b < n_labels; b++)
            r->theta[i * n_labels + b] = r->label[i] == b ? (float)((double)r->area[i] / (n_present * total[b])) : 0;
    r->problem = (struct clv_problem){.n_nodes = n_nodes,
                                      .n_edges = n_edges,
                                      .n_features = d,
                                      .n_edge_features = p,
                                      .row = r->row,
                                      .index = r->index,
                                      .value = r->value,
                                      .edges = (const int32_t(*)[2])r->edges,
                                      .edge_features = r->edge_features,
                                      .label = r->label,
                                      .theta = r->theta,
                                      .area = r->area};
}

#endif
