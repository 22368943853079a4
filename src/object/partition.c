/* Partitions a graph with signed edges: greedy additive edge contraction, then Kernighan-Lin exchanges between pairs of
 * parts (Keuper et al. 2015). Start at partition_greedy, then partition_improve. */
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Renumbers the parts in the order of their first nodes. On entry the numbers are in 0 .. n_nodes - 1. */
static enum clv_status number_parts(int32_t *part, int32_t *n_parts, int32_t n_nodes, struct clv_error *err)
{
    OWNED_ARRAY int32_t *number = array_alloc((size_t)n_nodes, sizeof *number);
    int32_t n = 0;
    NEED(number);
    for (int32_t v = 0; v < n_nodes; v++)
        number[v] = -1;
    for (int32_t v = 0; v < n_nodes; v++) {
        if (number[part[v]] < 0)
            number[part[v]] = n++;
        part[v] = number[part[v]];
    }
    *n_parts = n;
    return CLV_OK;
}

/* Half-edge 2 e + k is edge e at its end k. Every part has a list of its half-edges; those of removed edges stay in it
 * until the list is traversed. */
struct contraction {
    int32_t (*ends)[2];
    double *same;
    int32_t *next, *first, *last; /* lists of half-edges; -1 ends them */
    int32_t *joined;              /* [n_nodes] the part with which a part was merged, or itself */
    int32_t *edge_to;             /* [n_nodes] scratch of contract: the edge to each part, or -1 */
    struct heap heap;
};

static void append_half_edge(struct contraction *self, int32_t part, int32_t half)
{
    if (self->first[part] < 0)
        self->first[part] = half;
    else
        self->next[self->last[part]] = half;
    self->last[part] = half;
    self->next[half] = -1;
}

static bool is_removed(const struct contraction *self, int32_t half)
{
    return self->ends[half / 2][0] < 0;
}

static int32_t other_end(const struct contraction *self, int32_t half)
{
    return self->ends[half / 2][1 - half % 2];
}

/* Merges part b into a: moves the edges of b to a, and adds up edges to the same part. */
static void contract(struct contraction *self, int32_t a, int32_t b)
{
    int32_t head = self->first[a];
    self->first[a] = -1;
    for (int32_t half = head, after; half >= 0; half = after) {
        after = self->next[half];
        if (is_removed(self, half) || other_end(self, half) == b)
            continue;
        self->edge_to[other_end(self, half)] = half / 2;
        append_half_edge(self, a, half);
    }
    for (int32_t half = self->first[b], after; half >= 0; half = after) {
        after = self->next[half];
        int32_t e = half / 2;
        if (is_removed(self, half))
            continue;
        int32_t c = other_end(self, half), known = c == a ? -1 : self->edge_to[c];
        if (c == a || known >= 0) {
            self->ends[e][0] = self->ends[e][1] = -1;
            if (known < 0)
                continue;
            self->same[known] += self->same[e];
            if (self->same[known] > 0)
                heap_push(&self->heap, self->same[known], known);
        } else {
            self->ends[e][half % 2] = a;
            self->edge_to[c] = e;
            append_half_edge(self, a, half);
        }
    }
    for (int32_t half = self->first[a]; half >= 0; half = self->next[half])
        if (!is_removed(self, half))
            self->edge_to[other_end(self, half)] = -1;
    self->joined[b] = a;
}

static void contract_greedily(struct contraction *self, const struct signed_graph *graph)
{
    for (int32_t v = 0; v < graph->n_nodes; v++) {
        self->first[v] = self->edge_to[v] = -1;
        self->joined[v] = v;
    }
    for (int32_t e = 0; e < graph->n_edges; e++) {
        append_half_edge(self, graph->edges[e][0], 2 * e);
        append_half_edge(self, graph->edges[e][1], 2 * e + 1);
        if (graph->same[e] > 0)
            heap_push(&self->heap, graph->same[e], e);
    }
    while (self->heap.n) {
        struct heap_entry top = heap_pop(&self->heap);
        const int32_t *ends = self->ends[top.id];
        if (ends[0] >= 0 && top.value == self->same[top.id]) /* else the edge was removed, or its sum has changed */
            contract(self, ends[0] < ends[1] ? ends[0] : ends[1], ends[0] < ends[1] ? ends[1] : ends[0]);
    }
}

static void contraction_release(struct contraction *self)
{
    arrays_free(self->ends, self->same, self->next, self->first, self->last, self->joined, self->edge_to,
                self->heap.entries);
}

enum clv_status partition_greedy(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                 struct clv_error *err)
{
    size_t n = (size_t)graph->n_nodes, m = (size_t)graph->n_edges;
    OWNED(contraction_release) struct contraction self = {
        .ends = array_copy(graph->edges, m, sizeof *self.ends),
        .same = array_copy(graph->same, m, sizeof *self.same),
        .next = array_alloc(m, 2 * sizeof *self.next),
        .first = array_alloc(n, sizeof *self.first),
        .last = array_alloc(n, sizeof *self.last),
        .joined = array_alloc(n, sizeof *self.joined),
        .edge_to = array_alloc(n, sizeof *self.edge_to),
        .heap = {.entries = array_alloc(m, 2 * sizeof *self.heap.entries)}};
    NEED(self.ends && self.same && self.next && self.first && self.last && self.joined && self.edge_to &&
         self.heap.entries);
    contract_greedily(&self, graph);
    for (int32_t v = 0; v < graph->n_nodes; v++) {
        int32_t to = v;
        while (self.joined[to] != to)
            to = self.joined[to] = self.joined[self.joined[to]];
        part[v] = to;
    }
    return number_parts(part, n_parts, graph->n_nodes, err);
}

#define MAX_ROUNDS 50   /* passes over all pairs of parts; a few are usual */
#define MIN_GAIN   1e-9 /* larger than errors by rounding */

/* State of partition_improve. Each part has a list of its nodes. */
struct exchange {
    const struct signed_graph *graph;
    int32_t *row, *incident;      /* [n_nodes + 1], [2 n_edges] edges of each node */
    int32_t *part;                /* [n_nodes]; numbers below n_nodes */
    int32_t *first, *next;        /* [n_parts_max], [n_nodes]: lists of the nodes of parts; -1 ends them */
    int32_t *changed;             /* [n_parts_max] the last round that changed the part */
    int32_t *nodes;               /* [n_nodes] nodes of the two current parts, moved ones first */
    double *gain;                 /* [n_nodes] of moving a node to the other part */
    int32_t n_parts, n_parts_max; /* n_parts counts empty parts, too */
};

static int32_t neighbour(const struct signed_graph *graph, int32_t e, int32_t v)
{
    return graph->edges[e][0] == v ? graph->edges[e][1] : graph->edges[e][0];
}

/* Lists the nodes of both parts and computes the gain of moving each; returns their number. *join is the gain of
 * merging the parts. */
static int32_t begin_exchange(struct exchange *self, double *join, int32_t a, int32_t b)
{
    int32_t n = 0;
    for (int k = 0; k < 2; k++)
        for (int32_t v = self->first[k ? b : a]; v >= 0; v = self->next[v])
            self->nodes[n++] = v;
    *join = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = self->nodes[i];
        self->gain[v] = 0;
        for (int32_t k = self->row[v]; k < self->row[v + 1]; k++) {
            int32_t e = self->incident[k], other = self->part[neighbour(self->graph, e, v)];
            double same = self->graph->same[e];
            if (other == self->part[v])
                self->gain[v] -= same;
            else if (other == a || other == b) {
                self->gain[v] += same;
                *join += same / 2;
            }
        }
    }
    return n;
}

static void move(struct exchange *self, int32_t v, int32_t a, int32_t b)
{
    self->part[v] = self->part[v] == a ? b : a;
    self->gain[v] = -self->gain[v];
    for (int32_t k = self->row[v]; k < self->row[v + 1]; k++) {
        int32_t e = self->incident[k], u = neighbour(self->graph, e, v);
        if (self->part[u] == a || self->part[u] == b)
            self->gain[u] += (self->part[u] == self->part[v] ? -2 : 2) * self->graph->same[e];
    }
}

/* Rebuilds the lists of both parts from nodes[n]. */
static void list_nodes(struct exchange *self, int32_t n, int32_t a, int32_t b)
{
    self->first[a] = self->first[b] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = self->nodes[i], p = self->part[v];
        self->next[v] = self->first[p];
        self->first[p] = v;
    }
}

/* Applies the best prefix of a sequence of greedy moves between two parts, or merges them if that gains more: the
 * update of two bipartitions in algorithm 2 of Keuper et al. 2015. b may be empty. Returns whether anything changed. */
static bool exchange_pair(struct exchange *self, int32_t a, int32_t b)
{
    double join, total = 0, best = MIN_GAIN;
    int32_t n = begin_exchange(self, &join, a, b), n_best = 0;
    for (int32_t n_moved = 0; n_moved < n; n_moved++) {
        int32_t at = n_moved;
        for (int32_t i = n_moved + 1; i < n; i++) {
            int32_t v = self->nodes[i], u = self->nodes[at];
            if (self->gain[v] > self->gain[u] || (self->gain[v] == self->gain[u] && v < u))
                at = i;
        }
        int32_t v = self->nodes[at];
        self->nodes[at] = self->nodes[n_moved];
        self->nodes[n_moved] = v;
        total += self->gain[v];
        move(self, v, a, b);
        if (total > best) {
            best = total;
            n_best = n_moved + 1;
        }
    }
    bool joins = join > best;
    for (int32_t i = joins ? 0 : n_best; i < n; i++)
        self->part[self->nodes[i]] = self->part[self->nodes[i]] == a ? b : a;
    for (int32_t i = 0; joins && i < n; i++)
        self->part[self->nodes[i]] = a;
    list_nodes(self, n, a, b);
    return joins || n_best > 0;
}

static int compare_pairs(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* One round: exchanges between all pairs of parts that touch at its start, then between each part and a new one. Skips
 * parts that did not change in this round or the one before. Returns whether anything changed. pairs[n_edges] is
 * scratch. */
static bool exchange_all(struct exchange *self, int32_t (*pairs)[2], int32_t round)
{
    const struct signed_graph *graph = self->graph;
    size_t n_pairs = 0;
    bool any = false;
    for (int32_t e = 0; e < graph->n_edges; e++) {
        int32_t a = self->part[graph->edges[e][0]], b = self->part[graph->edges[e][1]];
        if (a != b && (self->changed[a] >= round - 1 || self->changed[b] >= round - 1)) {
            pairs[n_pairs][0] = a < b ? a : b;
            pairs[n_pairs++][1] = a < b ? b : a;
        }
    }
    qsort(pairs, n_pairs, sizeof *pairs, compare_pairs);
    for (size_t k = 0; k < n_pairs; k++) {
        int32_t a = pairs[k][0], b = pairs[k][1];
        bool is_again = k > 0 && compare_pairs(pairs[k], pairs[k - 1]) == 0;
        if (!is_again && self->first[a] >= 0 && self->first[b] >= 0 && exchange_pair(self, a, b)) {
            self->changed[a] = self->changed[b] = round;
            any = true;
        }
    }
    for (int32_t a = 0, n = self->n_parts; a < n; a++) {
        int32_t b = self->n_parts;
        if (self->first[a] < 0 || self->changed[a] < round - 1 || b == self->n_parts_max)
            continue;
        self->first[b] = -1;
        if (exchange_pair(self, a, b)) {
            self->changed[a] = self->changed[b] = round;
            self->n_parts++;
            any = true;
        }
    }
    return any;
}

static void exchange_init(struct exchange *self)
{
    const struct signed_graph *graph = self->graph;
    for (int32_t e = 0; e < graph->n_edges; e++)
        for (int k = 0; k < 2; k++)
            self->row[graph->edges[e][k]]++;
    for (int32_t v = 0, sum = 0; v <= graph->n_nodes; v++)
        sum = self->row[v] += sum;
    for (int32_t e = graph->n_edges - 1; e >= 0; e--)
        for (int k = 0; k < 2; k++)
            self->incident[--self->row[graph->edges[e][k]]] = e;
    for (int32_t p = 0; p < self->n_parts_max; p++)
        self->first[p] = -1;
    for (int32_t v = graph->n_nodes - 1; v >= 0; v--) {
        self->next[v] = self->first[self->part[v]];
        self->first[self->part[v]] = v;
    }
}

static void exchange_release(struct exchange *self)
{
    arrays_free(self->row, self->incident, self->first, self->next, self->changed, self->nodes, self->gain);
}

enum clv_status partition_improve(int32_t *part, int32_t *n_parts, const struct signed_graph *graph,
                                  struct clv_error *err)
{
    size_t n = (size_t)graph->n_nodes, m = (size_t)graph->n_edges;
    OWNED(exchange_release) struct exchange self = {.graph = graph,
                                                    .part = part,
                                                    .row = array_zalloc(n + 1, sizeof *self.row),
                                                    .incident = array_alloc(m, 2 * sizeof *self.incident),
                                                    .first = array_alloc(n, sizeof *self.first),
                                                    .next = array_alloc(n, sizeof *self.next),
                                                    .changed = array_zalloc(n, sizeof *self.changed),
                                                    .nodes = array_alloc(n, sizeof *self.nodes),
                                                    .gain = array_alloc(n, sizeof *self.gain),
                                                    .n_parts = *n_parts,
                                                    .n_parts_max = graph->n_nodes};
    OWNED_ARRAY int32_t(*pairs)[2] = array_alloc(m, sizeof *pairs);
    NEED(self.row && self.incident && self.first && self.next && self.changed && self.nodes && self.gain && pairs);
    exchange_init(&self);
    int32_t round = 1;
    while (round <= MAX_ROUNDS && exchange_all(&self, pairs, round))
        round++;
    return number_parts(part, n_parts, graph->n_nodes, err);
}
