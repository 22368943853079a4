/* Viterbi for the MAP oracle. Only values are kept on the way; which label they came from is found again along the one
 * path that is asked for, so that the inner loop is a sum and a maximum on whole rows of the table. */
#include "infer/chain/chain.h"

#include <string.h>

#include "base/base.h"

void chain_map_release(struct chain_map *self)
{
    array_free(self->unary);
    array_free(self->forward);
    array_free(self->backward);
    array_free(self->reversed);
    *self = (struct chain_map){0};
}

static int reserve(struct chain_map *self, const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    const struct array_part by_node[] = {{&self->unary, sizeof *self->unary},
                                         {&self->forward, sizeof *self->forward},
                                         {&self->backward, sizeof *self->backward}};
    const struct array_part by_label[] = {{&self->reversed, sizeof *self->reversed}};
    if (array_reserve_all(by_node, 3, &self->node_capacity, n * k) ||
        array_reserve_all(by_label, 1, &self->label_capacity, k * k))
        return -1;
    self->n_nodes = field->n_nodes;
    self->n_labels = field->n_labels;
    self->first_backward = field->n_nodes;
    return 0;
}

/* Labels of the nodes before `node`, given its own in y. */
static void trace_back(const struct chain_map *self, int32_t *y, const struct clv_field *field, int32_t node)
{
    size_t k = (size_t)self->n_labels;
    for (int32_t i = node; i > 0; i--)
        y[i - 1] = (int32_t)chain_best_label(&self->forward[(size_t)(i - 1) * k],
                                             clv_field_table(field, i - 1) + (size_t)y[i], k, k);
}

int chain_map_solve(struct chain_map *self, int32_t *y, const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    if (reserve(self, field))
        return -1;
    if (k > 2)
        memcpy(self->unary, field->unary, n * k * sizeof *self->unary);
    for (size_t i = 0; k == 2 && i < n; i++) {
        self->unary[2 * i] = 0;
        self->unary[2 * i + 1] = field->unary[i];
    }
    memcpy(self->forward, self->unary, k * sizeof *self->forward);
    for (size_t i = 1; i < n; i++)
        chain_max_step(&self->forward[i * k], &self->forward[(i - 1) * k], clv_field_table(field, (int32_t)i - 1),
                       &self->unary[i * k], k);
    static const double nothing = 0;
    y[n - 1] = (int32_t)chain_best_label(&self->forward[(n - 1) * k], &nothing, 0, k);
    trace_back(self, y, field, field->n_nodes - 1);
    return 0;
}

/* Makes backward[] valid from `first` on. */
static void complete_backward(struct chain_map *self, const struct clv_field *field, int32_t first)
{
    size_t k = (size_t)self->n_labels;
    for (int32_t i = self->first_backward - 1; i >= first; i--) {
        double *to = &self->backward[(size_t)i * k];
        const double *unary = &self->unary[(size_t)i * k];
        if (i == self->n_nodes - 1) {
            memcpy(to, unary, k * sizeof *to);
            continue;
        }
        const double *table = clv_field_table(field, i);
        if (!field->is_shared || i == self->first_backward - 1 || i == self->n_nodes - 2)
            chain_transpose(self->reversed, table, k);
        chain_max_step(to, to + k, self->reversed, unary, k);
    }
    if (first < self->first_backward)
        self->first_backward = first;
}

void chain_map_clamp(struct chain_map *self, int32_t *y, const struct clv_field *field, int32_t node, int32_t label)
{
    size_t k = (size_t)self->n_labels;
    y[node] = label;
    trace_back(self, y, field, node);
    complete_backward(self, field, node + 1);
    for (int32_t i = node + 1; i < self->n_nodes; i++)
        y[i] = (int32_t)chain_best_label(&self->backward[(size_t)i * k],
                                         clv_field_table(field, i - 1) + (size_t)y[i - 1] * k, 1, k);
}
