/* Small random fields of any form, with trees among them, and enumeration of their labellings. */
#ifndef TESTS_INFER_RANDOM_FIELD_H
#define TESTS_INFER_RANDOM_FIELD_H

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

#define MAX_NODES  8
#define MAX_EDGES  16
#define MAX_LABELS 5
#define SEED       11

struct sample {
    int32_t edges[MAX_EDGES][2];
    double unary[MAX_NODES * MAX_LABELS], pairwise[MAX_EDGES * MAX_LABELS * MAX_LABELS];
    struct clv_field field;
};

static inline struct clv_bp *new_bp(void)
{
    struct clv_bp *bp;
    must(clv_bp_new(&bp, err));
    return bp;
}

/* A score: normal, or a small whole number, so that there are ties. */
static inline double draw_score(uint64_t at, double scale)
{
    return scale > 0 ? scale * rng_normal(SEED, 0, at) : (double)rng_below(SEED, 0, at, 4) - 1;
}

/* A random tree if n_extra is negative (with a gap now and then), else with that many more edges. Node i > 0 joins one
 * before. */
static inline void draw_sample(struct sample *s, uint64_t index, enum clv_pairwise form, int32_t n_extra,
                               double unary_scale, double pairwise_scale)
{
    static const int32_t largest[] = {0, 0, 8, 7, 5, 5}; /* nodes by labels: at most 3125 labellings */
    uint64_t at = index << 12;
    int32_t k = 2 + (int32_t)rng_below(SEED, 0, at++, 4), m = 0;
    int32_t n = 2 + (int32_t)rng_below(SEED, 0, at++, (uint32_t)largest[k] - 1);
    for (int32_t i = 1; i < n; i++) {
        int32_t other = (int32_t)rng_below(SEED, 0, at++, (uint32_t)i), swap = (int32_t)rng_below(SEED, 0, at++, 2);
        if (n_extra < 0 && rng_below(SEED, 0, at++, 8) == 0)
            continue;
        s->edges[m][swap] = i;
        s->edges[m++][!swap] = other;
    }
    for (int32_t e = 0; e < n_extra; e++) {
        int32_t a = (int32_t)rng_below(SEED, 0, at++, (uint32_t)n),
                b = (int32_t)rng_below(SEED, 0, at++, (uint32_t)n - 1);
        s->edges[m][0] = a;
        s->edges[m++][1] = b + (b >= a);
    }
    for (int32_t c = 0; c < n * k; c++)
        s->unary[c] = draw_score(at++, unary_scale);
    for (int32_t c = 0; c < m * k * k; c++) {
        s->pairwise[c] = draw_score(at++, pairwise_scale);
        if (form == CLV_PAIRWISE_POTTS)
            s->pairwise[c] = fabs(s->pairwise[c]);
    }
    s->field = (struct clv_field){.n_nodes = n,
                                  .n_edges = m,
                                  .n_labels = k,
                                  .form = form,
                                  .edges = (const int32_t(*)[2])s->edges,
                                  .unary = s->unary,
                                  .pairwise = s->pairwise};
}

static inline enum clv_pairwise form_of(uint64_t index)
{
    return index % 2 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL;
}

static inline int next_labelling(int32_t *y, const struct clv_field *field)
{
    for (int32_t i = 0; i < field->n_nodes; i++) {
        if (++y[i] < field->n_labels)
            return 1;
        y[i] = 0;
    }
    return 0;
}

static inline double log_add(double a, double b)
{
    double high = fmax(a, b), low = fmin(a, b);
    return isinf(high) ? high : high + log1p(exp(low - high));
}

static inline void assert_near(const double *a, const double *b, int32_t n, double tolerance)
{
    for (int32_t c = 0; c < n; c++)
        ck_assert_msg(fabs(a[c] - b[c]) <= tolerance, "[%d]: %.17g is not %.17g", c, a[c], b[c]);
}

/* The field with scores divided by the temperature, whose sums are ordinary ones. */
static inline void divide(struct sample *s, double temperature)
{
    for (size_t c = 0; c < sizeof s->unary / sizeof *s->unary; c++)
        s->unary[c] /= temperature;
    for (size_t c = 0; c < sizeof s->pairwise / sizeof *s->pairwise; c++)
        s->pairwise[c] /= temperature;
}

#endif
