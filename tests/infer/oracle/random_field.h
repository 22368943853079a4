/* A small field with ties, for tests against enumeration. */
#ifndef TESTS_RANDOM_FIELD_H
#define TESTS_RANDOM_FIELD_H

#include "base/base.h"
#include "cleave/infer.h"

#define MAX_NODES 12
#define MAX_EDGES 40

struct sample {
    int32_t edges[MAX_EDGES][2];
    double unary[MAX_NODES], pairwise[4 * MAX_EDGES];
    struct clv_field field;
};

/* A random field on whole numbers in -range..range, so that ties abound. */
static inline void draw_sample(struct sample *s, uint64_t index, enum clv_pairwise form, uint32_t range)
{
    uint64_t at = index * 1000;
    int32_t n = (int32_t)rng_below(1, 0, at++, MAX_NODES + 1),
            m = n < 2 ? 0 : (int32_t)rng_below(1, 0, at++, MAX_EDGES);
    for (int32_t i = 0; i < n; i++)
        s->unary[i] = (double)rng_below(1, 0, at++, 2 * range + 1) - range;
    for (int32_t e = 0; e < m; e++) {
        int32_t a = (int32_t)rng_below(1, 0, at++, (uint32_t)n), b = (int32_t)rng_below(1, 0, at++, (uint32_t)n - 1);
        b += b >= a;
        s->edges[e][0] = a < b ? a : b;
        s->edges[e][1] = a < b ? b : a;
        double c = rng_below(1, 0, at++, range + 1);
        if (form == CLV_PAIRWISE_POTTS) {
            s->pairwise[e] = c;
            continue;
        }
        double *table = &s->pairwise[4 * e];
        for (int k = 0; k < 4; k++)
            table[k] = (double)rng_below(1, 0, at++, 2 * range + 1) - range;
        table[0] = table[1] + table[2] - table[3] + 2 * c;
    }
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = m,
                                  .n_labels = 2,
                                  .form = form,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->pairwise};
}

/* Gives one node a score of 10^power, of either sign: whole, so that sums stay exact. */
static inline void set_seed(struct sample *s, uint64_t index, int power)
{
    if (s->field.n_nodes > 0)
        s->unary[index % (uint64_t)s->field.n_nodes] = index / 2 % 2 ? pow(10, power) : -pow(10, power);
}

#endif
