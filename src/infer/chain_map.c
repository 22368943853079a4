/* Viterbi for the MAP oracle. Only values are kept on the way; which label they came from is found again along the one path that
 * is asked for, so that the inner loop is a sum and a maximum on whole rows of the table. */
#include "infer/chain_map.h"

#include <string.h>

#include "base/array.h"

void chain_map_release(struct chain_map *self)
{
    array_free(self->unary);
    array_free(self->forward);
    array_free(self->backward);
    array_free(self->reversed);
    *self = (struct chain_map){0};
}

bool field_is_chain(const struct clv_field *field)
{
    if (field->form != CLV_PAIRWISE_FULL || field->n_edges != field->n_nodes - 1)
        return false;
    for (int32_t e = 0; e < field->n_edges; e++)
        if (field->edges[e][0] != e || field->edges[e][1] != e + 1)
            return false;
    return true;
}

static int make_room(struct chain_map *self, const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    self->n_nodes = field->n_nodes;
    self->n_labels = field->n_labels;
    self->first_backward = field->n_nodes;
    if (self->unary && n * k <= self->node_room && k * k <= self->label_room)
        return 0;
    struct chain_map fresh = {.n_nodes = field->n_nodes, .n_labels = field->n_labels, .first_backward = field->n_nodes};
    fresh.node_room = n * k > self->node_room ? n * k : self->node_room;
    fresh.label_room = k * k > self->label_room ? k * k : self->label_room;
    fresh.unary = array_alloc(fresh.node_room, sizeof *fresh.unary);
    fresh.forward = array_alloc(fresh.node_room, sizeof *fresh.forward);
    fresh.backward = array_alloc(fresh.node_room, sizeof *fresh.backward);
    fresh.reversed = array_alloc(fresh.label_room, sizeof *fresh.reversed);
    chain_map_release(self);
    if (!fresh.unary || !fresh.forward || !fresh.backward || !fresh.reversed) {
        chain_map_release(&fresh);
        return -1;
    }
    *self = fresh;
    return 0;
}

#if defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
#define FOR_EACH_MACHINE
#else
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#endif

/* to[b] = unary[b] + max_a from[a] + table[a][b], four rows a at a time. */
FOR_EACH_MACHINE static void max_rows(double *restrict to, const double *restrict from, const double *restrict table,
                                      const double *restrict unary, size_t k)
{
    size_t a = 1;
    for (size_t b = 0; b < k; b++)
        to[b] = from[0] + table[b];
    for (; a + 4 <= k; a += 4) {
        const double *row = &table[a * k];
        for (size_t b = 0; b < k; b++) {
            double first = from[a] + row[b], second = from[a + 1] + row[k + b];
            double third = from[a + 2] + row[2 * k + b], fourth = from[a + 3] + row[3 * k + b];
            double low = first > second ? first : second, high = third > fourth ? third : fourth;
            double best = low > high ? low : high;
            to[b] = best > to[b] ? best : to[b];
        }
    }
    for (; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double score = from[a] + table[a * k + b];
            to[b] = score > to[b] ? score : to[b];
        }
    for (size_t b = 0; b < k; b++)
        to[b] += unary[b];
}

/* The lowest a that maximises from[a] + table[a stride]. */
static int32_t best_label(const double *from, const double *table, size_t stride, size_t k)
{
    size_t best = 0;
    double highest = from[0] + table[0];
    for (size_t a = 1; a < k; a++) {
        double score = from[a] + table[a * stride];
        best = score > highest ? a : best;
        highest = score > highest ? score : highest;
    }
    return (int32_t)best;
}

/* Labels of the nodes before `node`, given its own in y. */
static void trace_back(const struct chain_map *self, int32_t *y, const struct clv_field *field, int32_t node)
{
    size_t k = (size_t)self->n_labels;
    for (int32_t i = node; i > 0; i--)
        y[i - 1] = best_label(&self->forward[(size_t)(i - 1) * k], clv_field_table(field, i - 1) + (size_t)y[i], k, k);
}

int chain_map_solve(struct chain_map *self, int32_t *y, const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    if (make_room(self, field))
        return -1;
    if (k > 2)
        memcpy(self->unary, field->unary, n * k * sizeof *self->unary);
    for (size_t i = 0; k == 2 && i < n; i++) {
        self->unary[2 * i] = 0;
        self->unary[2 * i + 1] = field->unary[i];
    }
    memcpy(self->forward, self->unary, k * sizeof *self->forward);
    for (size_t i = 1; i < n; i++)
        max_rows(&self->forward[i * k], &self->forward[(i - 1) * k], clv_field_table(field, (int32_t)i - 1),
                 &self->unary[i * k], k);
    static const double nothing = 0;
    y[n - 1] = best_label(&self->forward[(n - 1) * k], &nothing, 0, k);
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
            for (size_t a = 0; a < k; a++)
                for (size_t b = 0; b < k; b++)
                    self->reversed[b * k + a] = table[a * k + b];
        max_rows(to, to + k, self->reversed, unary, k);
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
        y[i] = best_label(&self->backward[(size_t)i * k], clv_field_table(field, i - 1) + (size_t)y[i - 1] * k, 1, k);
}
