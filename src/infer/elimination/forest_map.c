/* MAP labellings of forests: max-product for any labels and tables. The root of each tree is its node with the highest
 * number. One sweep from the leaves computes the best score below every node; a second one from the roots, which only
 * clamps and max-marginals need, computes the best score of all that is not below it. Read forest_map_solve first, then
 * compute_beyond. */
#include <string.h>

#include "base/base.h"
#include "infer/chain/chain.h"
#include "infer/elimination/elimination.h"
#include "infer/infer.h"

void forest_map_release(struct forest_map *self)
{
    arrays_free(self->order, self->parent, self->link, self->child, self->first, self->slot, self->is_on_path,
                self->inward, self->message, self->beyond);
    *self = (struct forest_map){0};
}

static int reserve(struct forest_map *self, const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges, k = (size_t)field->n_labels;
    const struct array_part by_node[] = {
        {&self->order, sizeof *self->order}, {&self->parent, sizeof *self->parent},
        {&self->link, sizeof *self->link},   {&self->child, sizeof *self->child},
        {&self->first, sizeof *self->first}, {&self->is_on_path, sizeof *self->is_on_path}};
    const struct array_part by_score[] = {{&self->inward, sizeof *self->inward},
                                          {&self->message, sizeof *self->message},
                                          {&self->beyond, sizeof *self->beyond}};
    return array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &self->node_capacity, n + 2) ||
           array_reserve((void **)&self->slot, &self->slot_capacity, 2 * m + 1, sizeof *self->slot) ||
           array_reserve_all(by_score, sizeof by_score / sizeof *by_score, &self->score_capacity, n * k + 1);
}

static void list_edges(struct forest_map *self, const struct clv_field *field)
{
    int32_t n = field->n_nodes, m = field_n_edges(field);
    memset(self->first, 0, ((size_t)n + 2) * sizeof *self->first);
    for (int32_t e = 0; e < 2 * m; e++)
        self->first[field->edges[e >> 1][e & 1] + 2]++;
    for (int32_t i = 0; i < n; i++)
        self->first[i + 2] += self->first[i + 1];
    for (int32_t e = 0; e < 2 * m; e++)
        self->slot[self->first[field->edges[e >> 1][e & 1] + 1]++] = e >> 1;
}

/* Orders nodes breadth-first, so that the children of a node follow each other: those of order[s] are order[child[s] ..
 * child[s + 1] - 1]. Returns false if an edge closes a loop. */
static bool build_trees(struct forest_map *self, const struct clv_field *field)
{
    int32_t n_listed = 0, n_roots = 0, n = field->n_nodes;
    for (int32_t i = 0; i < n; i++)
        self->parent[i] = -2;
    for (int32_t root = n - 1, s = 0; root >= 0; root--) {
        if (self->parent[root] != -2)
            continue;
        self->parent[root] = self->link[root] = -1;
        self->order[n_listed++] = root;
        n_roots++;
        for (; s < n_listed; s++) {
            int32_t node = self->order[s];
            self->child[s] = n_listed;
            for (int32_t at = self->first[node]; at < self->first[node + 1]; at++) {
                int32_t e = self->slot[at], other = field->edges[e][field->edges[e][0] == node];
                if (self->parent[other] != -2)
                    continue;
                self->parent[other] = node;
                self->link[other] = e;
                self->order[n_listed++] = other;
            }
            self->child[s + 1] = n_listed;
        }
    }
    return field_n_edges(field) == n - n_roots;
}

/* Returns the pairwise score of a child's label and its parent's. */
static double link_score(const struct forest_map *self, const struct clv_field *field, int32_t child, size_t below,
                         size_t above)
{
    return field_link_score(field, self->link[child], child, (int32_t)below, (int32_t)above);
}

/* Returns the best label of a child given its parent's, the lowest at ties. */
static size_t best_below(const struct forest_map *self, const struct clv_field *field, int32_t child, size_t above)
{
    size_t k = (size_t)self->n_labels, best = 0;
    const double *score = &self->inward[(size_t)child * k];
    double highest = score[0] + link_score(self, field, child, 0, above);
    for (size_t a = 1; a < k; a++) {
        double value = score[a] + link_score(self, field, child, a, above);
        best = value > highest ? a : best;
        highest = value > highest ? value : highest;
    }
    return best;
}

/* Returns the best label of a child's parent given the child's, the lowest at ties, and its score. */
static size_t best_above(double *highest, const struct forest_map *self, const struct clv_field *field, int32_t child,
                         size_t below)
{
    size_t k = (size_t)self->n_labels, best = 0;
    const double *score = &self->beyond[(size_t)child * k];
    *highest = score[0] + link_score(self, field, child, below, 0);
    for (size_t a = 1; a < k; a++) {
        double value = score[a] + link_score(self, field, child, below, a);
        best = value > *highest ? a : best;
        *highest = value > *highest ? value : *highest;
    }
    return best;
}

static size_t best_of_root(const struct forest_map *self, int32_t root)
{
    static const double zero = 0;
    size_t k = (size_t)self->n_labels;
    return chain_best_label(&self->inward[(size_t)root * k], &zero, 0, k);
}

/* Labels all nodes from the roots down. Nodes on the path of a clamp keep the labels that they have. */
void forest_map_label(const struct forest_map *self, int32_t *y, const struct clv_field *field)
{
    for (int32_t s = 0; s < self->n_nodes; s++) {
        int32_t i = self->order[s], above = self->parent[i];
        if (!self->is_on_path[i])
            y[i] = (int32_t)(above < 0 ? best_of_root(self, i) : best_below(self, field, i, (size_t)y[above]));
    }
}

int forest_map_solve(struct forest_map *self, int32_t *y, const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    self->has_beyond = false;
    if (field_n_edges(field) && field_n_edges(field) >= field->n_nodes)
        return 0;
    if (reserve(self, field))
        return -1;
    self->n_nodes = field->n_nodes;
    self->n_labels = field->n_labels;
    list_edges(self, field);
    if (!build_trees(self, field))
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < k; a++)
            self->inward[i * k + a] = field_unary_score(field, (int32_t)i, (int32_t)a);
    for (size_t s = n; s-- > 0;) {
        int32_t i = self->order[s], above = self->parent[i];
        double *message = &self->message[(size_t)i * k];
        for (size_t b = 0; above >= 0 && b < k; b++) {
            size_t a = best_below(self, field, i, b);
            message[b] = self->inward[(size_t)i * k + a] + link_score(self, field, i, a, b);
            self->inward[(size_t)above * k + b] += message[b];
        }
    }
    memset(self->is_on_path, 0, n);
    forest_map_label(self, y, field);
    return 1;
}

/* Computes beyond[c]: for each label of c's parent the best score of all nodes of the tree except c and those below it.
 * It is the sum of what is beyond the parent, the parent's own score, and the messages of c's siblings, those before it
 * and those after it. */
static void compute_beyond(struct forest_map *self, const struct clv_field *field)
{
    size_t k = (size_t)self->n_labels;
    if (self->has_beyond)
        return;
    for (int32_t s = 0; s < self->n_nodes; s++) {
        int32_t i = self->order[s];
        for (size_t a = 0; a < k; a++) {
            double sum = 0;
            if (self->parent[i] >= 0)
                best_above(&sum, self, field, i, a);
            sum += field_unary_score(field, i, (int32_t)a);
            for (int32_t c = self->child[s]; c < self->child[s + 1]; c++) {
                size_t at = (size_t)self->order[c] * k + a;
                self->beyond[at] = sum;
                sum += self->message[at];
            }
            sum = 0;
            for (int32_t c = self->child[s + 1]; c-- > self->child[s];) {
                size_t at = (size_t)self->order[c] * k + a;
                self->beyond[at] += sum;
                sum += self->message[at];
            }
        }
    }
    self->has_beyond = true;
}

void forest_map_clamp(struct forest_map *self, int32_t *y, const struct clv_field *field, int32_t node, int32_t label)
{
    compute_beyond(self, field);
    y[node] = label;
    self->is_on_path[node] = 1;
    for (int32_t i = node; self->parent[i] >= 0; i = self->parent[i]) {
        double score;
        y[self->parent[i]] = (int32_t)best_above(&score, self, field, i, (size_t)y[i]);
        self->is_on_path[self->parent[i]] = 1;
    }
    forest_map_label(self, y, field);
    for (int32_t i = node; i >= 0; i = self->parent[i])
        self->is_on_path[i] = 0;
}

void forest_map_max_marginals(struct forest_map *self, double *max_marginals, const struct clv_field *field)
{
    size_t k = (size_t)self->n_labels;
    double total = 0, best = 0;
    compute_beyond(self, field);
    for (int32_t s = 0; s < self->n_nodes; s++) {
        int32_t i = self->order[s];
        if (self->parent[i] < 0)
            total += self->inward[(size_t)i * k + best_of_root(self, i)];
    }
    for (int32_t s = 0; s < self->n_nodes; s++) { /* trees one after the other */
        int32_t i = self->order[s];
        if (self->parent[i] < 0)
            best = self->inward[(size_t)i * k + best_of_root(self, i)];
        for (size_t a = 0; a < k; a++) {
            double outward = 0;
            if (self->parent[i] >= 0)
                best_above(&outward, self, field, i, a);
            max_marginals[(size_t)i * k + a] = total + (self->inward[(size_t)i * k + a] + outward - best);
        }
    }
}

/* Counts the clamped optima in which each node has each label. Traces that have met stay together, so their numbers are
 * added up per label: from the leaves to the roots, then back to the leaves without those of the node's own branch. */
int forest_map_witness_counts(struct forest_map *self, double *counts, const struct clv_field *field)
{
    size_t n = (size_t)self->n_nodes, k = (size_t)self->n_labels;
    OWNED_ARRAY double *arrived =
        array_zalloc(n * k, sizeof *arrived); /* traces that reach the parent's labels from below the node */
    OWNED_ARRAY int32_t *y = array_alloc(n, sizeof *y);
    if (!arrived || !y)
        return -1;
    compute_beyond(self, field);
    forest_map_label(self, y, field);
    for (size_t c = 0; c < n * k; c++)
        counts[c] = 1;
    for (size_t s = n; s-- > 0;) {
        int32_t i = self->order[s], above = self->parent[i];
        for (size_t a = 0; above >= 0 && a < k; a++) {
            double score, traces = counts[(size_t)i * k + a];
            size_t b = best_above(&score, self, field, i, a);
            arrived[(size_t)i * k + b] += traces;
            counts[(size_t)above * k + b] += traces;
        }
    }
    for (size_t s = 0; s < n; s++) {
        int32_t i = self->order[s], above = self->parent[i];
        for (size_t b = 0; above >= 0 && b < k; b++)
            counts[(size_t)i * k + best_below(self, field, i, b)] +=
                counts[(size_t)above * k + b] - arrived[(size_t)i * k + b];
    }
    for (size_t i = 0; i < n; i++) { /* clamps in other trees keep the MAP labels of this one */
        double all = 0;
        for (size_t a = 0; a < k; a++)
            all += counts[i * k + a];
        counts[i * k + (size_t)y[i]] += (double)n * (double)k - all;
    }
    return 0;
}
