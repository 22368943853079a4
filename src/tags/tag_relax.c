/* Solves the linear relaxation of models with a coupling for every pair of tags, by a minimum cut with a node for each
 * tag and one for its negation. Gives a bound, and the optimal values of some tags. Start at tag_relax, at the end. */
#include "tags/tags.h"

#include <math.h>

#include "base/base.h"

enum clv_status tag_relaxation_init(struct tag_relaxation *self, int32_t n_tags, struct clv_error *err)
{
    size_t n = (size_t)n_tags, n_edges = n * (n - 1);
    *self = (struct tag_relaxation){.n_tags = n,
                                    .edges = array_alloc(n_edges, sizeof *self->edges),
                                    .unary = array_alloc(2 * n, sizeof *self->unary),
                                    .coupling = array_alloc(n_edges, sizeof *self->coupling),
                                    .label = array_alloc(2 * n, sizeof *self->label)};
    NEED(self->edges && self->unary && self->coupling && self->label);
    return clv_oracle_new(&self->oracle, CLV_ENGINE_DEFAULT, err);
}

void tag_relaxation_release(struct tag_relaxation *self)
{
    clv_oracle_free(self->oracle);
    arrays_free(self->edges, self->unary, self->coupling, self->label);
    *self = (struct tag_relaxation){0};
}

/* Adds c y_i y_j: half on the edge between i and j, half on the edge between their negations. If c < 0, each edge joins
 * one tag and the negation of the other. Different labels at an edge cost |c|. */
static void put_pair(struct tag_relaxation *self, size_t pair, size_t i, size_t j, double c)
{
    int32_t opposite = (int32_t)self->n_tags, first = (int32_t)i, second = (int32_t)j;
    int32_t(*edge)[2] = self->edges + 2 * pair;
    edge[0][0] = first;
    edge[0][1] = c < 0 ? second + opposite : second;
    edge[1][0] = c < 0 ? second : first + opposite;
    edge[1][1] = c < 0 ? first + opposite : second + opposite;
    self->coupling[2 * pair] = self->coupling[2 * pair + 1] = fabs(c);
}

enum clv_status tag_relax(int8_t *y, double *value, struct tag_relaxation *self, const double *coupling,
                          const double *scores, struct clv_error *err)
{
    size_t n = self->n_tags;
    for (size_t i = 0, pair = 0; i < n; i++) {
        self->unary[i] = scores[i];
        self->unary[n + i] = -scores[i];
        for (size_t j = 0; j < i; j++, pair++)
            put_pair(self, pair, j, i, coupling[pair]);
    }
    const struct clv_field field = {.n_nodes = 2 * (int32_t)n,
                                    .n_edges = (int32_t)(n * (n - 1)),
                                    .n_labels = 2,
                                    .form = CLV_PAIRWISE_POTTS,
                                    .edges = self->edges,
                                    .unary = self->unary,
                                    .pairwise = self->coupling};
    MUST(clv_oracle_map(self->oracle, self->label, NULL, &field, err));
    double sum = 0;
    for (size_t i = 0, pair = 0; i < n; i++) {
        y[i] = (int8_t)(self->label[i] - self->label[n + i]);
        sum += scores[i] * y[i];
        for (size_t j = 0; j < i; j++, pair++)
            sum += coupling[pair] * tag_relaxed_product(y[i], y[j], coupling[pair]);
    }
    if (value)
        *value = sum;
    return CLV_OK;
}
