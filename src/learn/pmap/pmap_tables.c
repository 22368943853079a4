/* The estimates of pmap_draw.c for fields with full tables, which are chains. Clamped optima come from the solved
 * chain, or each from a run of its own. Start at pmap_tables, at the end. */
#include "learn/pmap/pmap.h"

#include <math.h>

/* The score that a node's label adds to the field. */
static double unary_of(const struct clv_field *field, int32_t i, int32_t label)
{
    if (field->n_labels == 2)
        return label ? field->unary[i] : 0;
    return field->unary[(size_t)i * (size_t)field->n_labels + (size_t)label];
}

static void add_node(double *node_weight, int32_t n_labels, int32_t i, int32_t label, double t)
{
    if (n_labels > 2)
        node_weight[(size_t)i * (size_t)n_labels + (size_t)label] += t;
    else if (label)
        node_weight[i] += t;
}

/* value += t ((f + z)(to) - (f + z)(from)) over known nodes; the gradient follows. */
static void compare(struct table_drawing *self, const int32_t *to, const int32_t *from, double t)
{
    const struct clv_field *field = &self->decoder->field;
    const struct clv_problem *problem = &self->example->problem;
    const int32_t *label = problem->label;
    size_t k = (size_t)field->n_labels, p = (size_t)self->draws->layout.n_edge_features;
    double gained = 0;
    for (int32_t i = 0; i < field->n_nodes; i++) {
        if (label[i] == CLV_UNKNOWN || to[i] == from[i])
            continue;
        gained += unary_of(field, i, to[i]) - unary_of(field, i, from[i]);
        add_node(self->space->node_weight, field->n_labels, i, to[i], t);
        add_node(self->space->node_weight, field->n_labels, i, from[i], -t);
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1];
        if (label[a] == CLV_UNKNOWN || label[b] == CLV_UNKNOWN || (to[a] == from[a] && to[b] == from[b]))
            continue;
        size_t cell = (size_t)to[a] * k + (size_t)to[b], old = (size_t)from[a] * k + (size_t)from[b];
        const double *table = clv_field_table(field, e);
        gained += table[cell] - table[old];
        for (size_t f = 0; self->pairwise && f < p; f++) {
            double amount = t * (double)problem->edge_features[(size_t)e * p + f];
            self->pairwise[cell * p + f] += amount;
            self->pairwise[old * p + f] -= amount;
        }
    }
    self->value += t * gained;
}

/* y_B by another solution, the node's unary for `label` just large enough to force it. */
static enum clv_status solve_clamped(struct table_drawing *self, int32_t node, int32_t label, struct clv_error *err)
{
    struct clv_field *field = &self->decoder->field;
    size_t k = (size_t)field->n_labels, cells = field->n_edges ? k * k : 0;
    size_t n_tables = field->is_shared && field->n_edges ? 1 : (size_t)field->n_edges;
    double enough = 1, *unary = field->unary + (k == 2 ? (size_t)node : (size_t)node * k + (size_t)label);
    double original = *unary;
    for (size_t c = 0; c < n_tables * cells; c++)
        enough += 4 * fabs(field->pairwise[c]);
    for (size_t b = 0; b < k; b++)
        enough += 2 * fabs(unary_of(field, node, (int32_t)b));
    *unary = k == 2 && !label ? -enough : enough;
    enum clv_status status = clv_oracle_map(self->decoder->oracle, self->decoder->y, NULL, field, err);
    *unary = original;
    return status;
}

static enum clv_status find_clamped(struct table_drawing *self, int32_t node, int32_t label, struct clv_error *err)
{
    struct decoder *decoder = self->decoder;
    if (!self->draws->dynamic)
        return solve_clamped(self, node, label, err);
    return clv_oracle_clamp(decoder->oracle, decoder->y, NULL, &decoder->field, node, label, err);
}

enum clv_status pmap_tables(struct table_drawing *self, struct clv_error *err)
{
    const struct pmap_example *example = self->example;
    const int32_t *label = example->problem.label, *y = self->space->y;
    int32_t n_labels = self->decoder->field.n_labels;
    if (!example->weight) {
        compare(self, label, y, example->scale);
        return CLV_OK;
    }
    for (int32_t i = 0; i < self->decoder->field.n_nodes; i++)
        for (int32_t b = 0; b < n_labels && label[i] != CLV_UNKNOWN; b++) {
            double t = example->scale * (double)example->weight[(size_t)i * (size_t)n_labels + (size_t)b];
            if (t <= 0 || (self->draws->reduction && b == y[i]))
                continue;
            MUST(find_clamped(self, i, b, err));
            compare(self, self->decoder->y, y, t);
        }
    return CLV_OK;
}
