/* Exact minimum cuts of doubles, by scaling (after Edmonds & Karp 1972 and Gabow 1985). Every number is a row of binary
 * digits. The cut is first solved for the leading digits of all numbers, as whole numbers of 64 bits; then the unit
 * gets finer, the flow so far is kept, the next digits are added to the residual capacities, and the flow is increased
 * to a maximum again. After the last digit the cut is that of the numbers themselves.
 *
 * 64 bits are enough for any range. Once the maximum flow in some unit is known, the digits below the unit add up to
 * less than n units if n numbers have any. A labelling that cuts an arc with a residual capacity above n cannot be
 * optimal any more, so larger residual capacities and excesses are stored as n + 1. This leaves bits for the next
 * digits. Hard couplings need no special treatment.
 *
 * Each maximum flow is found by first-in-first-out push-relabel (Goldberg & Tarjan 1988) from exact distances. As in
 * cut.h, terminals are not nodes: excess below 0 is a deficit. exact_contract.c makes the problem smaller first.
 *
 * Start at exact_cut_solve. */
#include "infer/cut/exact_cut.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

#define FAR       INT32_MAX
#define MAX_EDGES ((size_t)1 << 29)
#define TOTAL     61 /* bits that sums of excess may have */
#define WIDEST    48 /* most digits that are added at once; doubles have 53 */

void exact_cut_release(struct exact_cut *self)
{
    arrays_free(self->terms, self->edges, self->label, self->group, self->next, self->unary, self->size, self->there,
                self->back, self->arc, self->first, self->slot, self->excess, self->distance, self->current,
                self->queue, self->count, self->mark);
    *self = (struct exact_cut){0};
}

int exact_cut_reserve(struct exact_cut *self, int32_t n_nodes, size_t n_terms, size_t n_edges)
{
    const struct array_part by_node[] = {
        {&self->label, sizeof *self->label},     {&self->first, sizeof *self->first},
        {&self->excess, sizeof *self->excess},   {&self->distance, sizeof *self->distance},
        {&self->current, sizeof *self->current}, {&self->queue, sizeof *self->queue},
        {&self->count, sizeof *self->count},     {&self->mark, sizeof *self->mark},
        {&self->group, sizeof *self->group},     {&self->next, sizeof *self->next},
        {&self->unary, sizeof *self->unary},     {&self->size, sizeof *self->size},
        {&self->there, sizeof *self->there},     {&self->back, sizeof *self->back}};
    const struct array_part by_term[] = {{&self->terms, sizeof *self->terms}};
    const struct array_part by_edge[] = {
        {&self->edges, sizeof *self->edges}, {&self->slot, sizeof *self->slot}, {&self->arc, 2 * sizeof *self->arc}};
    self->n_nodes = n_nodes;
    self->n_terms = self->n_edges = 0;
    if (n_edges > MAX_EDGES ||
        array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &self->node_capacity, (size_t)n_nodes + 2) ||
        array_reserve_all(by_term, 1, &self->term_capacity, n_terms + 1) ||
        array_reserve_all(by_edge, sizeof by_edge / sizeof *by_edge, &self->edge_capacity, n_edges + 1))
        return -1;
    return 0;
}

/* Digits. */

/* |value| = mantissa 2^exponent, the mantissa below 2^53. */
struct digits {
    uint64_t mantissa;
    int exponent;
};

static inline struct digits digits_of(double value)
{
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    return (struct digits){(uint64_t)ldexp(fraction, 53), exponent - 53};
}

static inline int bits_of(uint64_t number)
{
    return number ? 64 - __builtin_clzll(number) : 0;
}

/* Returns the digits of |value| from 2^unit to below 2^(unit + width), in units of 2^unit; width <= 62. */
static inline int64_t digits_between(double value, int unit, int width)
{
    struct digits d = digits_of(value);
    int shift = d.exponent - unit;
    uint64_t number = shift >= 64 || shift <= -64 ? 0 : shift >= 0 ? d.mantissa << shift : d.mantissa >> -shift;
    return (int64_t)(number & (((uint64_t)1 << width) - 1));
}

/* Returns the least e such that the digits of |value| below 2^unit are less than 2^e; INT_MIN if all are 0. */
static inline int top_below(double value, int unit)
{
    struct digits d = digits_of(value);
    int shift = unit - d.exponent;
    uint64_t left = shift >= 64 ? d.mantissa : shift > 0 ? d.mantissa & (((uint64_t)1 << shift) - 1) : 0;
    return left ? d.exponent + bits_of(left) : INT_MIN;
}

/* Digits that have not been added yet. */
struct rest {
    int top;   /* they are below 2^top */
    int64_t n; /* numbers that have some; an edge has two */
};

static void rest_count(struct rest *rest, double value, int unit)
{
    int top = value != 0 ? top_below(value, unit) : INT_MIN;
    rest->n += top > INT_MIN;
    rest->top = top > rest->top ? top : rest->top;
}

/* Returns what an edge adds to the unary of *node, the end that is kept, if the label of the other end is certain. */
static double folded(const struct exact_cut *self, size_t e, int32_t *node)
{
    struct exact_edge edge = self->edges[e];
    int32_t a = self->group[edge.from], b = self->group[edge.to];
    *node = a >= 0 ? a : b;
    if (a >= 0)
        return ~b ? edge.back : -edge.there;
    return ~a ? edge.there : -edge.back;
}

/* Returns whether one end of an edge is kept and the other one has a certain label. */
static bool is_folded(const struct exact_cut *self, size_t e)
{
    return (self->group[self->edges[e].from] < 0) != (self->group[self->edges[e].to] < 0);
}

/* Returns the digits below 2^unit of all numbers that contraction has kept. */
static struct rest rest_below(const struct exact_cut *self, int unit)
{
    struct rest rest = {INT_MIN, 0};
    int32_t node;
    for (size_t t = 0; t < self->n_terms; t++)
        if (self->group[self->terms[t].node] >= 0)
            rest_count(&rest, self->terms[t].value, unit);
    for (size_t e = 0; e < self->n_edges; e++)
        if (self->slot[e] >= 0) {
            rest_count(&rest, self->edges[e].there, unit);
            rest_count(&rest, self->edges[e].back, unit);
        } else if (is_folded(self, e)) {
            rest_count(&rest, folded(self, e, &node), unit);
        }
    return rest;
}

static void add_signed(struct exact_cut *self, int32_t node, double value, int width)
{
    int64_t digits = digits_between(value, self->unit, width);
    self->excess[node] += value > 0 ? digits : -digits;
}

/* Adds the next `width` digits of all numbers to excesses and residual capacities. */
static void add_digits(struct exact_cut *self, int width)
{
    int32_t node;
    for (size_t t = 0; t < self->n_terms; t++)
        if (self->group[self->terms[t].node] >= 0)
            add_signed(self, self->group[self->terms[t].node], self->terms[t].value, width);
    for (size_t e = 0; e < self->n_edges; e++)
        if (self->slot[e] >= 0) {
            struct exact_arc *there = &self->arc[self->slot[e]];
            there->residual += digits_between(self->edges[e].there, self->unit, width);
            self->arc[there->reverse].residual += digits_between(self->edges[e].back, self->unit, width);
        } else if (is_folded(self, e)) {
            double value = folded(self, e, &node);
            add_signed(self, node, value, width);
        }
}

/* Returns `amount` in units that are 2^gap times as fine, at most `most`. */
static inline int64_t finer(int64_t amount, int gap, int64_t most)
{
    return gap >= 62 || amount > most >> gap ? (amount > 0 ? most : 0) : amount << gap;
}

/* Makes the unit finer, first to the top of the remaining digits, then by as many digits as fit. The flow is maximal.
 * Returns the number of the latter. */
static int refine_unit(struct exact_cut *self, struct rest rest)
{
    int gap = self->unit - rest.top;
    int64_t most = rest.n + 1, total = rest.n;
    for (int32_t i = 0; i < self->n_kept; i++) {
        int64_t excess = self->excess[i];
        self->excess[i] = excess < 0 ? -finer(-excess, gap, most) : finer(excess, gap, most);
        total += excess > 0 ? self->excess[i] : 0;
    }
    for (int32_t k = 0; k < self->first[self->n_kept]; k++)
        self->arc[k].residual = finer(self->arc[k].residual, gap, most);
    int width = TOTAL - bits_of((uint64_t)(total > 4 * most ? total : 4 * most));
    width = width > WIDEST ? WIDEST : width;
    for (int32_t i = 0; i < self->n_kept; i++)
        self->excess[i] *= (int64_t)1 << width;
    for (int32_t k = 0; k < self->first[self->n_kept]; k++)
        self->arc[k].residual *= (int64_t)1 << width;
    self->unit = rest.top - width;
    return width;
}

/* The graph. */

static bool is_kept(const struct exact_cut *self, size_t e)
{
    int32_t a = self->group[self->edges[e].from], b = self->group[self->edges[e].to];
    return a >= 0 && b >= 0 && a != b;
}

/* Builds the graph of the kept nodes, without capacities. */
static void build(struct exact_cut *self)
{
    int32_t *first = self->first, *end = self->current;
    memset(first, 0, ((size_t)self->n_kept + 1) * sizeof *first);
    for (size_t e = 0; e < self->n_edges; e++) {
        if (!is_kept(self, e))
            continue;
        first[self->group[self->edges[e].from] + 1]++;
        first[self->group[self->edges[e].to] + 1]++;
    }
    for (int32_t i = 0; i < self->n_kept; i++) {
        end[i] = first[i];
        first[i + 1] += first[i];
        self->excess[i] = 0;
    }
    for (size_t e = 0; e < self->n_edges; e++) {
        self->slot[e] = -1;
        if (!is_kept(self, e))
            continue;
        int32_t a = self->group[self->edges[e].from], b = self->group[self->edges[e].to];
        int32_t there = end[a]++, back = end[b]++;
        self->slot[e] = there;
        self->arc[there] = (struct exact_arc){.head = b, .reverse = back};
        self->arc[back] = (struct exact_arc){.head = a, .reverse = there};
    }
}

/* Computes exact distances to the nearest deficit, breadth-first, and the counts per distance. It uses queue[], which
 * must hold no active nodes. */
static void measure(struct exact_cut *self)
{
    int32_t n = self->n_kept, tail = 0;
    memset(self->count, 0, ((size_t)n + 1) * sizeof *self->count);
    for (int32_t i = 0; i < n; i++) {
        self->distance[i] = self->excess[i] < 0 ? 0 : FAR;
        self->current[i] = self->first[i];
        if (self->excess[i] < 0)
            self->queue[tail++] = i;
    }
    self->count[0] = tail;
    for (int32_t at = 0; at < tail; at++) {
        int32_t i = self->queue[at], farther = self->distance[i] + 1;
        for (int32_t k = self->first[i]; k < self->first[i + 1]; k++) {
            int32_t from = self->arc[k].head;
            if (self->distance[from] != FAR || !self->arc[self->arc[k].reverse].residual)
                continue;
            self->distance[from] = farther;
            self->count[farther]++;
            self->queue[tail++] = from;
        }
    }
}

/* A ring of at most n_nodes active nodes. */
struct ring {
    int32_t head, n;
};

static inline void activate(struct exact_cut *self, struct ring *ring, int32_t i)
{
    if (self->mark[i])
        return;
    int32_t at = ring->head + ring->n - self->n_kept;
    self->mark[i] = 1;
    self->queue[at < 0 ? at + self->n_kept : at] = i;
    ring->n++;
}

static inline int32_t take_active(struct exact_cut *self, struct ring *ring)
{
    int32_t i = self->queue[ring->head];
    ring->head = ring->head + 1 < self->n_kept ? ring->head + 1 : 0;
    ring->n--;
    self->mark[i] = 0;
    return i;
}

/* Sets the distance of i to one more than that of the nearest head of its residual arcs. If no node is left at the old
 * distance, no node beyond it can reach a deficit. Returns the work done. */
static int64_t relabel(struct exact_cut *self, int32_t i)
{
    int32_t before = self->distance[i], nearest = FAR;
    for (int32_t k = self->first[i]; k < self->first[i + 1]; k++)
        if (self->arc[k].residual && self->distance[self->arc[k].head] < nearest)
            nearest = self->distance[self->arc[k].head];
    nearest = nearest < self->n_kept - 1 ? nearest + 1 : FAR;
    self->distance[i] = nearest;
    self->current[i] = self->first[i];
    self->count[before]--;
    if (nearest < FAR)
        self->count[nearest]++;
    int64_t work = self->first[i + 1] - self->first[i] + 12;
    if (self->count[before])
        return work;
    for (int32_t j = 0; j < self->n_kept; j++)
        if (self->distance[j] > before && self->distance[j] < FAR) {
            self->count[self->distance[j]]--;
            self->distance[j] = FAR;
        }
    return work + self->n_kept;
}

/* Pushes the excess of node i to nearer neighbours until none is left or no deficit is reachable. Returns the work done. */
static int64_t discharge(struct exact_cut *self, struct ring *ring, int32_t i)
{
    int64_t work = 1;
    while (self->excess[i] > 0 && self->distance[i] < FAR) {
        int32_t k = self->current[i];
        if (k == self->first[i + 1]) {
            work += relabel(self, i);
            continue;
        }
        struct exact_arc *arc = &self->arc[k];
        if (!arc->residual || self->distance[arc->head] != self->distance[i] - 1) {
            self->current[i]++;
            continue;
        }
        int64_t amount = self->excess[i] < arc->residual ? self->excess[i] : arc->residual;
        arc->residual -= amount;
        self->arc[arc->reverse].residual += amount;
        self->excess[i] -= amount;
        self->excess[arc->head] += amount;
        if (self->excess[arc->head] > 0)
            activate(self, ring, arc->head);
    }
    return work;
}

/* Pushes until no excess can reach a deficit. Distances are computed again when the work exceeds the budget. */
static void push(struct exact_cut *self)
{
    int64_t budget = 6 * (int64_t)self->n_kept + self->first[self->n_kept], work;
    memset(self->mark, 0, (size_t)self->n_kept);
    struct ring ring;
    do {
        work = 0;
        measure(self);
        memset(self->mark, 0, (size_t)self->n_kept);
        ring = (struct ring){0, 0};
        for (int32_t i = 0; i < self->n_kept; i++)
            if (self->excess[i] > 0 && self->distance[i] < FAR)
                activate(self, &ring, i);
        while (ring.n && work <= budget)
            work += discharge(self, &ring, take_active(self, &ring));
    } while (ring.n);
}

/* Sets label 1 for the nodes that the remaining excess reaches. */
static void read_labels(struct exact_cut *self)
{
    int32_t tail = 0;
    for (int32_t i = 0; i < self->n_kept; i++) {
        self->label[i] = self->excess[i] > 0;
        if (self->label[i])
            self->queue[tail++] = i;
    }
    for (int32_t at = 0; at < tail; at++) {
        int32_t i = self->queue[at];
        for (int32_t k = self->first[i]; k < self->first[i + 1]; k++) {
            int32_t to = self->arc[k].head;
            if (self->label[to] || !self->arc[k].residual)
                continue;
            self->label[to] = 1;
            self->queue[tail++] = to;
        }
    }
}

void exact_cut_solve(struct exact_cut *self)
{
    exact_cut_contract(self);
    build(self);
    struct rest rest = rest_below(self, DBL_MAX_EXP);
    self->unit = rest.top;
    while (rest.n) {
        add_digits(self, refine_unit(self, rest));
        push(self);
        rest = rest_below(self, self->unit);
    }
    read_labels(self);
    for (int32_t i = self->n_nodes - 1; i >= 0; i--) /* group[i] is at most i */
        self->label[i] = self->group[i] < 0 ? (uint8_t)~self->group[i] : self->label[self->group[i]];
}

/* Fields. */

/* Returns the sum of three numbers, the first two of which may cancel. */
static struct exact_sum sum_of(double a, double b, double c)
{
    struct exact_sum sum = {a, 0};
    exact_sum_add(&sum, b);
    exact_sum_add(&sum, c);
    double high = sum.high + sum.low;
    return (struct exact_sum){high, sum.low - (high - sum.high)};
}

static void add_terms(struct exact_cut *self, int32_t node, struct exact_sum sum, double sign)
{
    exact_cut_add_term(self, node, sign * sum.high);
    exact_cut_add_term(self, node, sign * sum.low);
}

/* Returns a sum that is not negative, in parts that are not negative. */
static struct exact_sum positive(struct exact_sum sum)
{
    double high = sum.low < 0 ? nextafter(sum.high, 0) : sum.high, low = (sum.high - high) + sum.low;
    return (struct exact_sum){high, low > 0 ? low : 0};
}

/* With S = P11 - P00, L10 = P00 + P11 - 2 P10 and L01 = P00 + P11 - 2 P01, 2 P[y_a][y_b] is, up to 2 P00,
 *     y_a S + y_b S - L10 [y_a > y_b] - L01 [y_a < y_b].
 * A loss below 0 becomes unaries and is added to the other loss, since y_a - y_b = [y_a > y_b] - [y_a < y_b]. */
static void add_table(struct exact_cut *self, int32_t a, int32_t b, const double *p)
{
    struct exact_sum unary = sum_of(p[3], -p[0], 0);
    struct exact_sum first = sum_of(p[0], p[3], -2 * p[2]), second = sum_of(p[0], p[3], -2 * p[1]);
    add_terms(self, a, unary, 1);
    add_terms(self, b, unary, 1);
    if (first.high < 0 || second.high < 0) {
        double sign = first.high < 0 ? -1 : 1;
        struct exact_sum gain = first.high < 0 ? first : second, loss = first.high < 0 ? second : first;
        add_terms(self, a, gain, sign);
        add_terms(self, b, gain, -sign);
        exact_sum_add(&loss, gain.high);
        exact_sum_add(&loss, gain.low);
        loss = sum_of(loss.high, loss.low, 0);
        loss = loss.high > 0 ? loss : (struct exact_sum){0, 0}; /* below 0 only by rounding */
        first = sign < 0 ? (struct exact_sum){0, 0} : loss;
        second = sign < 0 ? loss : (struct exact_sum){0, 0};
    }
    first = positive(first);
    second = positive(second);
    exact_cut_add_edge(self, a, b, first.high, second.high);
    exact_cut_add_edge(self, a, b, first.low, second.low);
}

int exact_cut_take_field(struct exact_cut *self, const struct clv_field *field)
{
    bool is_full = field->form == CLV_PAIRWISE_FULL;
    size_t n_nodes = (size_t)field->n_nodes, n_edges = (size_t)field->n_edges;
    double scale = exact_cut_scale(field);
    if (exact_cut_reserve(self, field->n_nodes, 2 * n_nodes + (is_full ? 8 * n_edges : 0),
                          is_full ? 2 * n_edges : n_edges))
        return -1;
    for (int32_t i = 0; i < field->n_nodes; i++)
        exact_cut_add_term(self, i, scale * field->unary[i]);
    for (int32_t e = 0; e < field->n_edges; e++)
        if (is_full)
            add_table(self, field->edges[e][0], field->edges[e][1], clv_field_table(field, e));
        else
            exact_cut_add_edge(self, field->edges[e][0], field->edges[e][1], field->pairwise[e], field->pairwise[e]);
    return 0;
}

/* Clamps. */

/* Returns by how much the score falls if the nodes with `changed` set take the other label. */
static double cost_of(const struct exact_cut *self, const uint8_t *changed)
{
    struct exact_sum cost = {0, 0};
    for (size_t t = 0; t < self->n_terms; t++) {
        struct exact_term term = self->terms[t];
        if (changed[term.node])
            exact_sum_add(&cost, self->label[term.node] ? term.value : -term.value);
    }
    for (size_t e = 0; e < self->n_edges; e++) {
        struct exact_edge edge = self->edges[e];
        int a = self->label[edge.from], b = self->label[edge.to];
        int c = a ^ changed[edge.from], d = b ^ changed[edge.to];
        if (!changed[edge.from] && !changed[edge.to])
            continue;
        exact_sum_add(&cost, c > d ? edge.there : c < d ? edge.back : 0);
        exact_sum_add(&cost, a > b ? -edge.there : a < b ? -edge.back : 0);
    }
    return fmax(exact_sum_value(cost), 0);
}

/* Forcing a node from 0 to 1 only raises labels, and from 1 to 0 only lowers them. So nodes of the other label keep
 * it. */
double exact_cut_clamp(int32_t *flipped, int32_t *n_flipped, struct exact_cut *part, const struct exact_cut *self,
                       int32_t node)
{
    int label = self->label[node];
    if (exact_cut_reserve(part, self->n_nodes, self->n_terms + 2 * self->n_edges, self->n_edges))
        return -1;
    for (size_t t = 0; t < self->n_terms; t++)
        if (self->label[self->terms[t].node] == label && self->terms[t].node != node)
            exact_cut_add_term(part, self->terms[t].node, self->terms[t].value);
    for (size_t e = 0; e < self->n_edges; e++) {
        struct exact_edge edge = self->edges[e];
        int a = edge.from == node ? !label : self->label[edge.from];
        int b = edge.to == node ? !label : self->label[edge.to];
        bool is_from_free = a == label && edge.from != node, is_to_free = b == label && edge.to != node;
        if (is_from_free && is_to_free)
            exact_cut_add_edge(part, edge.from, edge.to, edge.there, edge.back);
        else if (is_from_free)
            exact_cut_add_term(part, edge.from, b ? edge.back : -edge.there);
        else if (is_to_free)
            exact_cut_add_term(part, edge.to, a ? edge.there : -edge.back);
    }
    exact_cut_solve(part);
    flipped[0] = node;
    *n_flipped = 1;
    for (int32_t i = 0; i < self->n_nodes; i++) {
        bool is_free = self->label[i] == label && i != node;
        part->mark[i] = i == node || (is_free && part->label[i] != label);
        if (is_free && part->mark[i])
            flipped[(*n_flipped)++] = i;
    }
    return cost_of(self, part->mark);
}
