/* Minimum cuts of graphs: builds the graph, rounds scores to whole capacities (capacities_set), and runs the steps
 * of the solver (maxflow_solve). The steps are in persistency.c, push_relabel.c and search.c. */
#include "infer/cut/cut.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"

#define SMALL_CORE   1024
#define FEWEST_UNITS 0x1p8 /* least mean |unary| in units if all scores are small */

void maxflow_init(struct maxflow *graph)
{
    memset(graph, 0, sizeof *graph);
}

void maxflow_release(struct maxflow *graph)
{
    void *arrays[] = {graph->first, graph->arc,      graph->slots, graph->excess, graph->node,  graph->queue,
                      graph->core,  graph->distance, graph->next,  graph->active, graph->count, graph->label};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    clamps_free(graph->clamps);
    maxflow_init(graph);
}

static int reserve(struct maxflow *graph, size_t nodes, size_t edges)
{
    const struct array_part by_node[] = {
        {&graph->first, sizeof *graph->first}, {&graph->excess, sizeof *graph->excess},
        {&graph->node, sizeof *graph->node},   {&graph->queue, 2 * sizeof *graph->queue},
        {&graph->core, sizeof *graph->core},   {&graph->distance, sizeof *graph->distance},
        {&graph->next, sizeof *graph->next},   {&graph->active, sizeof *graph->active},
        {&graph->count, sizeof *graph->count}, {&graph->label, sizeof *graph->label}};
    const struct array_part by_edge[] = {{&graph->arc, 2 * sizeof *graph->arc}, {&graph->slots, sizeof *graph->slots}};
    return array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &graph->node_capacity, nodes + 2) ||
           array_reserve_all(by_edge, sizeof by_edge / sizeof *by_edge, &graph->edge_capacity, edges + 4);
}

int maxflow_build(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2])
{
    if (n_edges > INT32_MAX / 2 || reserve(graph, (size_t)n_nodes, (size_t)n_edges)) {
        maxflow_release(graph);
        return -1;
    }
    graph->n_nodes = n_nodes;
    graph->n_edges = n_edges;
#if defined(__x86_64__)
    graph->has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
    int32_t *first = graph->first, *end = graph->distance; /* of the arcs added so far */
    memset(first, 0, ((size_t)n_nodes + 1) * sizeof *first);
    for (int32_t e = 0; e < n_edges; e++) {
        first[edges[e][0] + 1]++;
        first[edges[e][1] + 1]++;
    }
    for (int32_t i = 0; i < n_nodes; i++) {
        end[i] = first[i];
        first[i + 1] += first[i];
    }
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t a = edges[e][0], b = edges[e][1], there = end[a]++, back = end[b]++;
        graph->arc[there] = (struct maxflow_arc){.head = b, .reverse = back};
        graph->arc[back] = (struct maxflow_arc){.head = a, .reverse = there};
        graph->slots[e][0] = there;
        graph->slots[e][1] = back;
    }
    for (int32_t k = 0; k < 8; k++)
        graph->arc[2 * n_edges + k] = (struct maxflow_arc){.head = n_nodes};
    return 0;
}

/* Stores the capacities, and in excess[] the sum of those that leave each node. Returns whether `edges`, unless it is
 * NULL, are the edges of the graph. */
INLINE bool set(struct maxflow *graph, const int32_t *forward, const int32_t *backward, const int32_t (*edges)[2])
{
    struct maxflow_arc *restrict arc = graph->arc;
    int64_t *restrict out = graph->excess;
    int32_t difference = 0;
    graph->is_settled = 0;
    memset(out, 0, (size_t)graph->n_nodes * sizeof *out);
    for (int32_t e = 0; e < graph->n_edges; e++) {
        struct maxflow_arc *there = &arc[graph->slots[e][0]], *back = &arc[graph->slots[e][1]];
        int32_t a = edges ? edges[e][0] : back->head, b = edges ? edges[e][1] : there->head;
        int32_t forth = forward[e], opposite = backward[e];
        difference |= edges ? (a ^ back->head) | (b ^ there->head) : 0;
        there->residual = forth;
        back->residual = opposite;
        there->sum = back->sum = forth + opposite;
        out[a] += forth;
        out[b] += opposite;
    }
    return !difference;
}

void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward)
{
    graph->is_symmetric = forward == backward;
    graph->terminal = terminal;
    set(graph, forward, backward, NULL);
}

int maxflow_load(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2],
                 const int32_t *terminal, const int32_t *capacity)
{
    bool is_same =
        graph->arc && graph->n_nodes == n_nodes && graph->n_edges == n_edges && set(graph, capacity, capacity, edges);
    if (!is_same && maxflow_build(graph, n_nodes, n_edges, edges))
        return -1;
    if (!is_same)
        set(graph, capacity, capacity, edges);
    graph->is_symmetric = true;
    graph->terminal = terminal;
    return 0;
}

/* A leaf with excess has filled its arc and gets label 1. Any other leaf can be reached only from the node at the end
 * of its arc. */
void maxflow_read_leaves(struct maxflow *graph)
{
    const struct maxflow_arc *arc = graph->arc;
    uint8_t *label = graph->label;
    for (int32_t at = graph->n_leaves - 1; at >= 0; at--) {
        int32_t i = graph->core[graph->n_core + at], k = *maxflow_leaf_arc(graph, at);
        bool is_reached = k >= 0 && label[arc[k].head] && arc[k].sum > arc[k].residual;
        label[i] = (graph->excess[i] > 0) | is_reached;
    }
}

/* Returns whether pushing is expected to be faster than searching. It mostly is if the core fits the nearest cache,
 * where it works by vectors, if elimination has decided some nodes but not most, and if arcs have the same capacity in
 * both directions. If pushing turns out to be slow, it gives up and the search continues from its flow. On other graphs
 * the time of the search varies less. `make bench-solve` and `make bench-dynamic` compare both. */
static bool suits_pushing(const struct maxflow *graph)
{
    bool is_loose = graph->n_core > graph->n_nodes / 4 && graph->n_core < graph->n_nodes - graph->n_nodes / 16;
    bool is_dense = 2 * (int64_t)graph->n_edges > 5 * (int64_t)graph->n_nodes;
    return graph->is_symmetric && graph->n_core < SMALL_CORE && is_loose && is_dense;
}

void maxflow_solve(struct maxflow *graph)
{
    bool has_sources = false, has_sinks = false;
    maxflow_eliminate(graph);
    maxflow_strip_leaves(graph);
    for (int32_t c = 0; c < graph->n_core; c++) {
        has_sources |= graph->excess[graph->core[c]] > 0;
        has_sinks |= graph->excess[graph->core[c]] < 0;
    }
    if (!has_sources || !has_sinks)
        maxflow_read_one_sided(graph);
    else if (!suits_pushing(graph) || !maxflow_push(graph))
        maxflow_search(graph);
    maxflow_read_leaves(graph);
}

void capacities_init(struct capacities *capacities)
{
    memset(capacities, 0, sizeof *capacities);
}

void capacities_release(struct capacities *capacities)
{
    arrays_free(capacities->terminal, capacities->capacity, capacities->unary, capacities->coupling, capacities->lone,
                capacities->sum);
    capacities_init(capacities);
}

static enum clv_status reserve_capacities(struct capacities *c, size_t n_nodes, size_t n_edges, struct clv_error *err)
{
    const struct array_part by_node[] = {{&c->terminal, sizeof *c->terminal},
                                         {&c->unary, sizeof *c->unary},
                                         {&c->lone, sizeof *c->lone},
                                         {&c->sum, sizeof *c->sum}};
    const struct array_part by_edge[] = {{&c->capacity, sizeof *c->capacity}, {&c->coupling, sizeof *c->coupling}};
    if (array_reserve_all(by_node, 4, &c->node_capacity, n_nodes + 1) ||
        array_reserve_all(by_edge, 2, &c->edge_capacity, n_edges + 1))
        return fail_memory(err);
    return CLV_OK;
}

enum clv_status capacities_keep_unary(struct capacities *c, const struct clv_field *field, struct clv_error *err)
{
    MUST(reserve_capacities(c, (size_t)field->n_nodes, 0, err));
    array_put(c->unary, field->unary, (size_t)field->n_nodes, sizeof *c->unary);
    return CLV_OK;
}

/* With D = P11 + P00 - P01 - P10 >= 0, P[y_a][y_b] is, up to P00, y_a (P10 - P00 + P11 - P01) / 2 + y_b (P01 - P00 +
 * P11 - P10) / 2 - D/2 [y_a != y_b]. It is also (y_a + y_b) (P11 - P00) / 2 minus a loss, (P00 + P11) / 2 - P10 for
 * labels 1 0 and (P00 + P11) / 2 - P01 for labels 0 1. `lone` has only this part of the unaries, and the size of a loss
 * below 0. */
static enum clv_status reparametrise(struct capacities *c, const struct clv_field *field, struct clv_error *err)
{
    for (int32_t i = 0; i < field->n_nodes; i++)
        c->unary[i] = c->lone[i] = field->unary[i];
    for (int32_t e = 0; e < field->n_edges; e++) {
        const double *table = clv_field_table(field, e);
        double p00 = table[0], p01 = table[1], p10 = table[2], p11 = table[3];
        double d = table_supermodularity(table);
        if (d < 0)
            return fail(err, CLV_ERR_DATA, "edge %d (nodes %d and %d) is not supermodular: %g + %g < %g + %g", e,
                        field->edges[e][0], field->edges[e][1], p00, p11, p01, p10);
        c->coupling[e] = d > 0 ? d / 2 : 0;
        c->unary[field->edges[e][0]] += (p10 / 2 - p00 / 2) + (p11 / 2 - p01 / 2);
        c->unary[field->edges[e][1]] += (p01 / 2 - p00 / 2) + (p11 / 2 - p10 / 2);
        double same = p00 / 2 + p11 / 2, gain = p10 > same ? p10 - same : 0, back = p01 > same ? p01 - same : 0;
        c->lone[field->edges[e][0]] += (p11 / 2 - p00 / 2) + gain - back;
        c->lone[field->edges[e][1]] += (p11 / 2 - p00 / 2) - gain + back;
    }
    return CLV_OK;
}

#define MAX_EXPONENT 1000 /* 2^1024 overflows */

/* Returns the largest k <= MAX_EXPONENT such that largest x 2^k still rounds to MAXFLOW_LIMIT = 2^30 - 1 or less. */
static int grid_exponent(double largest)
{
    int exponent;
    double fraction = frexp(largest, &exponent); /* in [1/2, 1), or 0 */
    int k = 30 - exponent - (rint(ldexp(fraction, 30)) > MAXFLOW_LIMIT);
    return largest == 0 ? 0 : k > MAX_EXPONENT ? MAX_EXPONENT : k;
}

/* Returns the largest absolute value, by eight running maxima that do not wait for one another. */
static double largest_size(const double *value, size_t n)
{
    double largest[8] = {0};
    for (size_t i = 0; i + 8 <= n; i += 8)
        for (size_t j = 0; j < 8; j++) {
            double size = fabs(value[i + j]);
            largest[j] = size > largest[j] ? size : largest[j];
        }
    for (size_t i = n / 8 * 8; i < n; i++)
        largest[i % 8] = fmax(largest[i % 8], fabs(value[i]));
    for (size_t j = 1; j < 8; j++)
        largest[0] = fmax(largest[0], largest[j]);
    return largest[0];
}

/* Returns the index of the first value below 0, or n. */
static size_t find_negative(const double *value, size_t n)
{
    int has_negative = 0;
    for (size_t i = 0; i < n; i++)
        has_negative |= value[i] < 0;
    size_t at = has_negative ? 0 : n;
    while (at < n && !(value[at] < 0))
        at++;
    return at;
}

/* Scales each value and rounds it to the nearest whole number, halves to even: the last digit of a double above 2^52 is
 * a unit. */
static void round_all(int32_t *whole, const double *value, size_t n, double scale)
{
    for (size_t i = 0; i < n; i++) {
        double sum = value[i] * scale + 0x1.8p52;
        int64_t bits;
        memcpy(&bits, &sum, sizeof bits);
        whole[i] = (int32_t)bits;
    }
}

double capacities_sum(double *sum, const struct clv_field *field, const double *coupling)
{
    memset(sum, 0, (size_t)field->n_nodes * sizeof *sum);
    for (int32_t e = 0; e < field->n_edges; e++) {
        sum[field->edges[e][0]] += coupling[e];
        sum[field->edges[e][1]] += coupling[e];
    }
    return largest_size(sum, (size_t)field->n_nodes);
}

static enum clv_status find_limit(struct capacities *c, const struct clv_field *field, const double *unary,
                                  const double *coupling, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    double least = INFINITY;
    OWNED_ARRAY double *sum = array_alloc(n, sizeof *sum);
    NEED(sum);
    for (size_t i = 0; i < n; i++)
        least = unary[i] != 0 ? fmin(least, fabs(unary[i])) : least;
    c->limit = unary_limit(largest_size(unary, n), capacities_sum(sum, field, coupling), least);
    if (unary != c->unary)
        memcpy(c->unary, unary, n * sizeof *unary);
    return CLV_OK;
}

/* Rounds unaries and couplings by c->exponent and c->limit. */
static void round_terms(struct capacities *c, const double *unary, const double *coupling,
                        const struct clv_field *field)
{
    double scale = ldexp(1, c->exponent);
    round_all(c->terminal, unary, (size_t)field->n_nodes, scale);
    for (int32_t i = 0; i < field->n_nodes && !isinf(c->limit); i++)
        c->terminal[i] = (int32_t)rint(unary_clip(unary[i], c->limit) * scale);
    round_all(c->capacity, coupling, (size_t)field->n_edges, scale);
}

enum clv_status capacities_set(struct capacities *c, const struct clv_field *field, struct clv_error *err)
{
    size_t n_nodes = (size_t)field->n_nodes, n_edges = (size_t)field->n_edges;
    const double *unary = field->unary, *coupling = field->pairwise;
    MUST(field_check(field, err));
    MUST(reserve_capacities(c, n_nodes, n_edges, err));
    if (field->form == CLV_PAIRWISE_FULL) {
        MUST(reparametrise(c, field, err));
        unary = c->unary;
        coupling = c->coupling;
    }
    double largest_unary = largest_size(unary, n_nodes), largest_coupling = largest_size(coupling, n_edges);
    size_t bad = find_negative(coupling, n_edges);
    FAIL_IF(bad < n_edges, CLV_ERR_DATA, "edge %zu (nodes %d and %d): its coupling is %g, below 0", bad,
            field->edges[bad][0], field->edges[bad][1], coupling[bad]);
    c->limit = INFINITY;
    if (largest_unary > UNARY_LARGE * largest_coupling)
        MUST(find_limit(c, field, unary, coupling, err));
    c->largest = field->form == CLV_PAIRWISE_FULL ? largest_size(c->lone, n_nodes) : largest_unary;
    c->slack_exponent = grid_exponent(fmax(largest_unary, largest_coupling));
    c->exponent = grid_exponent(fmax(fmin(largest_unary, c->limit), largest_coupling));
    round_terms(c, unary, coupling, field);
    return CLV_OK;
}

/* A histogram of sizes by powers of two: the last bin has the largest, bin 0 all that are too small for bin 1. */
enum { BINS = 64, GAP = 8, MOST_SEEDS = 32 };

static int exponent_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 52 & 0x7ff);
}

/* Sums |value|, each at most `largest`. Returns whether that is the result, because too few values are so small that a
 * gap could lie above them. */
static bool sum_without_gap(double *sum, size_t *n_counted, const double *value, size_t n, double largest)
{
    double few = ldexp(largest, 1 - GAP), sums[8] = {0}, n_small[8] = {0}, n_zeros[8] = {0};
    for (size_t i = 0; i < n / 8 * 8; i += 8)
        for (size_t j = 0; j < 8; j++) {
            double size = fabs(value[i + j]);
            sums[j] += size < largest ? size : largest;
            n_small[j] += size < few ? 1.0 : 0.0;
            n_zeros[j] += size == 0 ? 1.0 : 0.0;
        }
    for (size_t i = n / 8 * 8; i < n; i++) {
        sums[0] += fmin(fabs(value[i]), largest);
        n_small[0] += fabs(value[i]) < few;
        n_zeros[0] += value[i] == 0;
    }
    for (size_t j = 1; j < 8; j++) {
        sums[0] += sums[j];
        n_small[0] += n_small[j];
        n_zeros[0] += n_zeros[j];
    }
    *sum = sums[0];
    *n_counted = n - (size_t)n_zeros[0];
    return MOST_SEEDS * (n_small[0] - n_zeros[0]) < (double)*n_counted;
}

double size_of_ordinary(size_t *n_counted, const double *value, size_t n, double limit)
{
    double largest = fmin(largest_size(value, n), limit), sum;
    if (sum_without_gap(&sum, n_counted, value, n, largest))
        return sum;
    sum = 0;
    size_t count[BINS] = {0}, n_found, n_sized = 0;
    int lowest = exponent_of(largest) - BINS + 1, n_empty = 0;
    for (size_t i = 0; i < n; i++) {
        int bin = exponent_of(value[i]) - lowest;
        bin = bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
        count[bin] += value[i] != 0;
        n_sized += value[i] != 0;
    }
    n_found = count[0];
    for (int bin = 1; bin < BINS && !(n_empty >= GAP && n_found && MOST_SEEDS * n_found >= n_sized); bin++) {
        n_found += count[bin];
        n_empty = count[bin] ? 0 : n_empty + 1;
        sum += (double)count[bin] * ldexp(1.5, bin + lowest - 1023);
    }
    *n_counted = n_found;
    return sum;
}

/* Bounds the error of the difference of two labellings' scores, in units. A term is off by half a unit at most. The
 * errors of many terms have a standard deviation of 0.3 and both signs, so 14 standard deviations of their sum are
 * enough. */
double capacities_error(size_t n_nodes, size_t n_edges)
{
    double n_terms = (double)n_nodes + (double)n_edges;
    return fmin(n_terms / 2, 4 * sqrt(n_terms));
}

/* Returns whether a unary or a full table prefers a label, or tells the labels of its ends apart by a loss below 0. If
 * none does, `lone` is 0 without rounding. */
static bool has_preference(const struct clv_field *field)
{
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (field->unary[i] != 0)
            return true;
    for (int32_t e = 0; e < (field->is_shared && field->n_edges > 0 ? 1 : field->n_edges); e++) {
        const double *table = clv_field_table(field, e);
        if (table[0] != table[3] || table[1] > table[0] || table[2] > table[0])
            return true;
    }
    return false;
}

bool capacities_suffice(const struct capacities *c, const struct clv_field *field, double size)
{
    if (c->largest == 0 && field->form != CLV_PAIRWISE_FULL)
        return true;
    if (c->exponent == MAX_EXPONENT) /* a finer scale could overflow */
        return false;
    if (c->largest == 0) /* sums may have lost small scores beside large ones, or halves of subnormal ones */
        return !has_preference(field);
    size_t n = (size_t)field->n_nodes, n_counted;
    double unit = ldexp(1, -c->exponent), error = unit * capacities_error(n, (size_t)field->n_edges);
    if (size >= 0)
        return error <= CUT_TOLERANCE * (1 + size);
    size = size_of_ordinary(&n_counted, field->form == CLV_PAIRWISE_FULL ? c->lone : field->unary, n, c->limit);
    return error <= CUT_TOLERANCE * size || (error <= CUT_TOLERANCE && FEWEST_UNITS * unit * (double)n_counted <= size);
}

/* Returns the largest sum of a node's rounded capacities. */
static int64_t largest_sum(struct capacities *c, const struct clv_field *field)
{
    int64_t largest = 0;
    memset(c->sum, 0, (size_t)field->n_nodes * sizeof *c->sum);
    for (int32_t e = 0; e < field->n_edges; e++) {
        c->sum[field->edges[e][0]] += c->capacity[e];
        c->sum[field->edges[e][1]] += c->capacity[e];
    }
    for (int32_t i = 0; i < field->n_nodes; i++)
        largest = c->sum[i] > largest ? c->sum[i] : largest;
    return largest;
}

bool capacities_tighten(struct capacities *c, const struct clv_field *field)
{
    bool is_full = field->form == CLV_PAIRWISE_FULL;
    const double *unary = is_full ? c->unary : field->unary, *coupling = is_full ? c->coupling : field->pairwise;
    double largest = largest_size(unary, (size_t)field->n_nodes);
    double most = largest_size(coupling, (size_t)field->n_edges);
    double sum = (double)largest_sum(c, field) + field->n_edges; /* + 1 per edge for rounding */
    double limit = 2 * ldexp(sum, -c->exponent);
    int exponent = grid_exponent(fmax(fmin(largest, limit), most));
    if (exponent <= c->exponent)
        return false;
    if (isinf(c->limit) && !is_full)
        memcpy(c->unary, unary, (size_t)field->n_nodes * sizeof *unary);
    c->limit = limit;
    c->exponent = exponent;
    round_terms(c, unary, coupling, field);
    return true;
}
