/* What the tests of learners with hidden nodes share: small problems with every second node hidden. */
#ifndef TESTS_HIDDEN_TOY_H
#define TESTS_HIDDEN_TOY_H

#include <math.h>

#include "learn/hidden/hidden.h"
#include "learn/toy.h"

#define NODES 5
#define TINY  1e-8 /* a temperature of 0 but for less than 1e-6 of any value here */

static const double temperatures[][2] = {{0, 0}, {0, 1}, {1, 1}, {0.5, 0.5}, {0, 0.3}, {0.2, 0.8}, {TINY, 1}};
#define N_TEMPERATURES (sizeof temperatures / sizeof *temperatures)

/* Every second node is hidden: on chains; in pairs of one visible and one hidden node, the last alone; or among
 * loops. */
enum graph { CHAINS, PAIRS, LOOPS };

static inline void fill(struct random_problem *r, const struct clv_weight_layout *layout, enum graph graph,
                        uint64_t seed)
{
    random_problem_fill(r, layout, NODES, graph == LOOPS ? 0.7 : 0, 0.8, seed);
    if (graph != LOOPS) {
        r->problem.n_edges = graph == CHAINS ? NODES - 1 : 2;
        for (int32_t e = 0; e < r->problem.n_edges; e++) {
            r->edges[e][0] = graph == CHAINS ? e : 2 * e;
            r->edges[e][1] = r->edges[e][0] + 1;
            for (int32_t f = 0; f < layout->n_edge_features; f++)
                r->edge_features[e * layout->n_edge_features + f] =
                    (float)rng_uniform(seed, RNG_TEST, 60000 + (uint64_t)(8 * e + f));
        }
    }
    for (int32_t i = 1; i < NODES; i += 2) {
        r->label[i] = CLV_UNKNOWN;
        for (int32_t b = 0; b < layout->n_labels; b++)
            r->theta[i * layout->n_labels + b] = 0;
    }
}

static inline void toy_hidden(struct toy *toy, size_t n, const struct clv_weight_layout *layout, enum graph graph,
                              uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < n; i++) {
        fill(&r, layout, graph, seed * 1000 + i);
        toy_add(toy, &r.problem);
    }
}

static inline void random_weights(double *w, const struct clv_weight_layout *layout, uint64_t seed)
{
    for (size_t k = 0; k < clv_weight_layout_size(layout); k++) {
        w[k] = rng_normal(seed, RNG_TEST, 70000 + k);
        if (layout->pairwise == CLV_PAIRWISE_POTTS && k >= clv_weight_layout_unary_size(layout))
            w[k] = fabs(w[k]);
    }
}

static const struct clv_weight_layout full3 = {3, 2, 2, CLV_PAIRWISE_FULL}, potts3 = {3, 2, 2, CLV_PAIRWISE_POTTS};

static inline void open_toy(struct hidden *hidden, struct clv_training *training, const struct toy *toy, double visible,
                            double hidden_temperature, double margin)
{
    *training = toy_training(toy, "mssvm");
    const struct hidden_settings settings = {visible, hidden_temperature, margin, 200, 0};
    must(hidden_open(hidden, training, &settings, err));
}

#endif
