/* The MAP labelling of a chain by dynamic programming (Viterbi 1967), O(n K^2), with one table for all links or one for
 * each. Start at clv_chain_map; the second half does the same for the MAP oracle. */
#include "infer/chain/chain.h"

#include <string.h>

#include "base/base.h"
#include "base/machine.h"
#include "infer/infer.h"

enum clv_status chain_check(const struct clv_chain *chain, struct clv_error *err)
{
    if (chain->n_nodes < 0 || chain->n_labels < 1 || chain->n_labels > CLV_CHAIN_MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "a chain of %d nodes with %d labels", chain->n_nodes, chain->n_labels);
    size_t k = (size_t)chain->n_labels, n = (size_t)chain->n_nodes, links = n < 2 ? 0 : chain->is_shared ? 1 : n - 1;
    size_t n_unary = n * k, n_table = links * k * k;
    double total = 0;
    size_t bad = scores_find_unsound(&total, chain->unary, n_unary, 1);
    if (bad < n_unary)
        return fail(err, CLV_ERR_DATA, "node %zu: its unary score is %g%s", bad / k, chain->unary[bad],
                    scores_complaint(chain->unary[bad]));
    bad = scores_find_unsound(&total, chain->table, n_table, chain->is_shared ? chain->n_nodes - 1 : 1);
    if (bad < n_table)
        return fail(err, CLV_ERR_DATA, "link %zu: its pairwise score is %g%s", bad / (k * k), chain->table[bad],
                    scores_complaint(chain->table[bad]));
    return CLV_OK;
}

/* Reads four rows of the table at a time, for fewer loads and stores of to[]. */
FOR_EACH_MACHINE void chain_max_step(double *restrict to, const double *restrict from, const double *restrict table,
                                     const double *restrict unary, size_t k)
{
    size_t a = 1;
    for (size_t b = 0; b < k; b++)
        to[b] = from[0] + table[b];
    for (; a + 4 <= k; a += 4) {
        const double *restrict row = &table[a * k];
        double first = from[a], second = from[a + 1], third = from[a + 2], fourth = from[a + 3];
        for (size_t b = 0; b < k; b++) {
            double p = first + row[b], q = second + row[k + b], r = third + row[2 * k + b], s = fourth + row[3 * k + b];
            p = p > q ? p : q;
            r = r > s ? r : s;
            p = p > r ? p : r;
            to[b] = p > to[b] ? p : to[b];
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

size_t chain_best_label(const double *from, const double *table, size_t stride, size_t k)
{
    size_t best = 0;
    double highest = from[0] + table[0];
    for (size_t a = 1; a < k; a++) {
        double score = from[a] + table[a * stride];
        best = score > highest ? a : best;
        highest = score > highest ? score : highest;
    }
    return best;
}

void chain_transpose(double *restrict transpose, const double *restrict table, size_t k)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            transpose[b * k + a] = table[a * k + b];
}

/* The forward pass stores values only. The backward pass computes again from which label each value came. */
enum clv_status clv_chain_map(int32_t *y, double *score, const struct clv_chain *chain, struct clv_error *err)
{
    MUST(chain_check(chain, err));
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels, label = 0;
    OWNED_ARRAY double *value = array_alloc(n, k * sizeof *value);
    NEED(value);
    if (n)
        memcpy(value, chain->unary, k * sizeof *value);
    for (size_t i = 1; i < n; i++)
        chain_max_step(&value[i * k], &value[(i - 1) * k], chain_table(chain, i - 1), &chain->unary[i * k], k);
    for (size_t a = 1; n && a < k; a++)
        label = value[(n - 1) * k + a] > value[(n - 1) * k + label] ? a : label;
    if (score)
        *score = n ? value[(n - 1) * k + label] : 0;
    for (size_t i = n; i-- > 0;) {
        y[i] = (int32_t)label;
        if (i)
            label = chain_best_label(&value[(i - 1) * k], chain_table(chain, i - 1) + label, k, k);
    }
    return CLV_OK;
}

/* Viterbi for the MAP oracle. The forward pass stores values only, so its inner loop is a sum and a maximum on whole
 * rows of the table. The labels that the values came from are computed again along the one path that is needed. */

void chain_map_release(struct chain_map *self)
{
    arrays_free(self->unary, self->forward, self->backward, self->reversed);
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

/* Sets the labels of the nodes before `node`, given its label in y. */
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
    if (k != 2)
        memcpy(self->unary, field->unary, n * k * sizeof *self->unary);
    for (size_t i = 0; k == 2 && i < n; i++) {
        self->unary[2 * i] = 0;
        self->unary[2 * i + 1] = field->unary[i];
    }
    memcpy(self->forward, self->unary, k * sizeof *self->forward);
    for (size_t i = 1; i < n; i++)
        chain_max_step(&self->forward[i * k], &self->forward[(i - 1) * k], clv_field_table(field, (int32_t)i - 1),
                       &self->unary[i * k], k);
    static const double zero = 0;
    y[n - 1] = (int32_t)chain_best_label(&self->forward[(n - 1) * k], &zero, 0, k);
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
