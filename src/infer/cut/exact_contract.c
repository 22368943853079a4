/* Makes an exact cut smaller before it is solved, by three rules that hold in every MAP labelling. Each is strict, and
 * by a margin because sums are rounded:
 *
 *     a node whose |unary| exceeds the sum of its couplings has the label that its unary prefers;
 *     a node and a neighbour have the same label if their coupling exceeds the node's |unary| and its other couplings
 *     together;
 *     they have it, too, if the coupling exceeds the sum of all |unary| of their connected component, since one label for
 *     the whole component costs no more than that.
 *
 * If a coupling loses different amounts by labels 1 0 and 0 1, it binds its ends by the smaller one and may lose the
 * larger one. Couplings to nodes with a certain label belong to the unaries. Nodes with the same label are joined,
 * parallel couplings add up, and the rules are applied again, in rounds that read each coupling twice.
 *
 * Start at exact_cut_contract. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/cut/exact_cut.h"

#define MARGIN     0x1p-40
#define MAX_ROUNDS 20
enum { FREE = 2 }; /* in place of a label */

/* Joins root a and its nodes to root b. */
static void join(struct exact_cut *self, int32_t a, int32_t b)
{
    int32_t after = self->next[a];
    self->next[a] = self->next[b];
    self->next[b] = after;
    self->group[a] = b;
    self->unary[b] += self->unary[a];
    self->size[b] += self->size[a];
}

static void start(struct exact_cut *self)
{
    int32_t *first = self->first, *end = self->current;
    for (int32_t i = 0; i < self->n_nodes; i++) {
        self->group[i] = self->next[i] = i;
        self->unary[i] = self->size[i] = self->there[i] = self->back[i] = 0;
        self->label[i] = FREE;
    }
    for (size_t t = 0; t < self->n_terms; t++) {
        self->unary[self->terms[t].node] += self->terms[t].value;
        self->size[self->terms[t].node] += fabs(self->terms[t].value);
    }
    memset(first, 0, ((size_t)self->n_nodes + 1) * sizeof *first);
    for (size_t e = 0; e < self->n_edges; e++) {
        first[self->edges[e].from + 1]++;
        first[self->edges[e].to + 1]++;
    }
    for (int32_t i = 0; i < self->n_nodes; i++) {
        end[i] = first[i];
        first[i + 1] += first[i];
    }
    for (size_t e = 0; e < self->n_edges; e++) {
        self->arc[end[self->edges[e].from]++].edge = (int32_t)e;
        self->arc[end[self->edges[e].to]++].edge = ~(int32_t)e;
    }
}

/* Values of a root: its unary with the couplings to labelled nodes, its size for the margin, and its neighbours.
 * there[j] and back[j] of neighbour j are the losses if the root has label 1 and j label 0, and the other way round. */
struct root {
    double unary, size;
    int32_t n_neighbours; /* in queue[] */
};

static void add_neighbour(struct exact_cut *self, struct root *root, int32_t a, int32_t tagged)
{
    struct exact_edge edge = self->edges[tagged < 0 ? ~tagged : tagged];
    int32_t j = root_of(self->group, tagged < 0 ? edge.from : edge.to);
    double there = tagged < 0 ? edge.back : edge.there, back = tagged < 0 ? edge.there : edge.back;
    if (j == a)
        return;
    if (self->label[j] != FREE) {
        double value = self->label[j] ? back : -there;
        root->unary += value;
        root->size += fabs(value);
        return;
    }
    if (self->there[j] == 0 && self->back[j] == 0)
        self->queue[root->n_neighbours++] = j;
    self->there[j] += there;
    self->back[j] += back;
}

/* Tries the first two rules on root a. Returns whether one holds. */
static bool contract_root(struct exact_cut *self, int32_t a)
{
    struct root root = {self->unary[a], self->size[a], 0};
    int32_t i = a, nearest = -1;
    do {
        for (int32_t k = self->first[i]; k < self->first[i + 1]; k++)
            add_neighbour(self, &root, a, self->arc[k].edge);
        i = self->next[i];
    } while (i != a);
    double total = 0, most = 0, binds = 0;
    for (int32_t q = 0; q < root.n_neighbours; q++) {
        int32_t j = self->queue[q];
        double least = fmin(self->there[j], self->back[j]), larger = fmax(self->there[j], self->back[j]);
        total += larger;
        if (least > binds) {
            binds = least;
            most = larger;
            nearest = j;
        }
        self->there[j] = self->back[j] = 0;
    }
    double margin = MARGIN * (root.size + total), unary = fabs(root.unary);
    if (unary > total + margin) {
        self->label[a] = root.unary > 0;
        return true;
    }
    if (nearest < 0 || !(binds > unary + (total - most) + margin))
        return false;
    join(self, a, nearest);
    self->mark[nearest] = 1;
    return true;
}

/* Tries the first two rules on every root that has not just grown. *n_roots gets the number of roots. Returns how often
 * a rule held. */
static int32_t contract_roots(struct exact_cut *self, int32_t *n_roots)
{
    int32_t n = 0;
    *n_roots = 0;
    memset(self->mark, 0, (size_t)self->n_nodes);
    for (int32_t i = 0; i < self->n_nodes; i++) {
        if (self->group[i] != i || self->label[i] != FREE)
            continue;
        ++*n_roots;
        if (!self->mark[i])
            n += contract_root(self, i);
    }
    return n;
}

/* Applies the third rule. queue[] holds the components and back[] their sums of |unary| during this. */
static void join_components(struct exact_cut *self)
{
    int32_t *component = self->queue;
    double *unary = self->there, *sum = self->back;
    for (int32_t i = 0; i < self->n_nodes; i++) {
        component[i] = i;
        unary[i] = self->unary[i];
        sum[i] = 0;
    }
    for (size_t e = 0; e < self->n_edges; e++) {
        struct exact_edge edge = self->edges[e];
        int32_t a = root_of(self->group, edge.from), b = root_of(self->group, edge.to);
        int is_free = self->label[a] == FREE, is_other_free = self->label[b] == FREE;
        if (is_free && is_other_free)
            component[root_of(component, a)] = root_of(component, b);
        else if (is_free)
            unary[a] += self->label[b] ? edge.back : -edge.there;
        else if (is_other_free)
            unary[b] += self->label[a] ? edge.there : -edge.back;
        sum[a] += MARGIN * (is_free && !is_other_free ? edge.there + edge.back : 0);
        sum[b] += MARGIN * (!is_free && is_other_free ? edge.there + edge.back : 0);
    }
    for (int32_t i = 0; i < self->n_nodes; i++)
        sum[i] += self->group[i] == i && self->label[i] == FREE ? fabs(unary[i]) + MARGIN * self->size[i] : 0;
    for (int32_t i = 0; i < self->n_nodes; i++) {
        int32_t to = root_of(component, i);
        if (to != i)
            sum[to] += sum[i];
    }
    for (size_t e = 0; e < self->n_edges; e++) {
        struct exact_edge edge = self->edges[e];
        int32_t a = root_of(self->group, edge.from), b = root_of(self->group, edge.to);
        if (a != b && self->label[a] == FREE && self->label[b] == FREE &&
            fmin(edge.there, edge.back) > (1 + MARGIN) * sum[root_of(component, a)])
            join(self, a, b);
    }
    memset(self->there, 0, (size_t)self->n_nodes * sizeof *self->there);
    memset(self->back, 0, (size_t)self->n_nodes * sizeof *self->back);
}

void exact_cut_contract(struct exact_cut *self)
{
    int32_t n_roots, n_held;
    start(self);
    contract_roots(self, &n_roots);
    join_components(self);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        n_held = contract_roots(self, &n_roots);
        if (n_held <= n_roots / 64)
            break;
    }
    /* Numbers the roots in the order of their first nodes; next[] of a root is its number. */
    self->n_kept = 0;
    memset(self->mark, 0, (size_t)self->n_nodes);
    for (int32_t i = 0; i < self->n_nodes; i++) {
        int32_t root = root_of(self->group, i);
        if (!self->mark[root] && self->label[root] == FREE)
            self->next[root] = self->n_kept++;
        self->mark[root] = 1;
        self->current[i] = self->label[root] == FREE ? self->next[root] : ~(int32_t)self->label[root];
    }
    memcpy(self->group, self->current, (size_t)self->n_nodes * sizeof *self->group);
}
