/* Sends messages outside the log domain, node after node. A message takes at most a few hundred operations, so overhead
 * must be small: the messages of a node are in one list, rows of up to six vectors stay in registers, and lanes keep
 * the largest change without a test per message. */
#include <float.h>
#include <string.h>

#include "infer/bp/bp.h"
#include "infer/bp/bp_lanes.h"

#define CHANGED (1 + 4 * DBL_EPSILON) /* a factor up to this is rounding, not a change */

/* The largest factor by which a message has changed, per lane, as a fraction high / low of the larger and the smaller
 * of its old and new value. Above `enough` the exact factor does not matter, so only the last sweep compares all
 * messages. */
struct factors {
    lanes high, low;
    double enough;
    bool is_enough;
};

/* out[b] = max_a cavity[a] exp(pairwise[a][b]), up to a factor. */
INLINE void potts_maxima(lanes *restrict out, const lanes *cavity, double differ, const size_t n)
{
    lanes elsewhere = cavity[0];
    for (size_t v = 1; v < n; v++)
        lift(&elsewhere, &cavity[v]);
    spread_highest(&elsewhere);
    elsewhere *= differ;
    for (size_t v = 0; v < n; v++) {
        out[v] = cavity[v];
        lift(&out[v], &elsewhere);
    }
}

/* out[b] = sum_a cavity[a] exp(pairwise[a][b]), up to a factor. */
INLINE void potts_sums(lanes *restrict out, const lanes *cavity, double differ, double rest, size_t k, const size_t n)
{
    const double *weight = (const double *)cavity;
    double total = 0;
    for (size_t a = 0; a < k; a++)
        total += weight[a];
    for (size_t v = 0; v < n; v++)
        out[v] = differ * total + rest * cavity[v];
}

INLINE void eliminate(lanes *restrict out, const struct clv_bp *bp, size_t table, bool is_back, const lanes *cavity,
                      bool is_max, size_t k, const size_t n)
{
    if (bp->form == CLV_PAIRWISE_POTTS) {
        if (is_max)
            potts_maxima(out, cavity, bp->potts[table].differ, n);
        else
            potts_sums(out, cavity, bp->potts[table].differ, bp->potts[table].rest, k, n);
        pad(out, k, n);
        return;
    }
    const lanes *kernel = (const lanes *)&bp->linear.kernel[table * n * LANES * n * LANES];
    if (is_back) {
        if (is_max)
            combine_columns(out, cavity, kernel, k, n, true);
        else
            combine_columns(out, cavity, kernel, k, n, false);
    } else {
        if (is_max)
            combine_rows(out, (const double *)cavity, kernel, k, n, true);
        else
            combine_rows(out, (const double *)cavity, kernel, k, n, false);
    }
}

/* Raises each lane's factor to that of `value` and `old`, without a division. */
INLINE void compare(struct factors *factors, const lanes *value, const lanes *old)
{
    lanes high = *value, low = high;
    lift(&high, old);
    lower(&low, old);
    lane_bits is_larger = high * factors->low > factors->high * low;
    factors->high = (lanes)(((lane_bits)high & is_larger) | ((lane_bits)factors->high & ~is_larger));
    factors->low = (lanes)(((lane_bits)low & is_larger) | ((lane_bits)factors->low & ~is_larger));
}

INLINE void compare_rows(struct factors *factors, const lanes *value, const lanes *old, const size_t n)
{
    for (size_t v = 0; v < n; v++)
        compare(factors, &value[v], &old[v]);
    lane_bits is_over = factors->high > factors->enough * factors->low;
    factors->is_enough = (is_over[0] | is_over[1] | is_over[2] | is_over[3]) != 0;
}

/* Returns whether a message has changed by more than rounding. */
INLINE bool has_changed(const lanes *value, const lanes *old, const size_t n)
{
    lane_bits is_other = {0};
    for (size_t v = 0; v < n; v++)
        is_other |= (value[v] > CHANGED * old[v]) | (old[v] > CHANGED * value[v]);
    return (is_other[0] | is_other[1] | is_other[2] | is_other[3]) != 0;
}

/* Marks the target's messages as due, except the one back to the source, whose message is in `slot`. */
INLINE void mark_due(struct clv_bp *bp, int32_t target, int32_t slot)
{
    for (int32_t s = bp->first[target]; s < bp->first[target + 1]; s++)
        if (bp->linear.sent[s].back != slot)
            bp->linear.is_due[s] = true;
}

/* Normalises and stores a message. Returns false, with nothing stored, if precision could be lost. With is_lazy,
 * *is_changed tells whether the message has changed, and an unchanged one is not stored. */
INLINE bool store(bool *is_changed, struct factors *factors, struct bp_linear *linear, int32_t slot, lanes *outgoing,
                  const size_t n, const bool is_lazy)
{
    lanes *restrict message = (lanes *)&linear->message[(size_t)slot * n * LANES];
    lanes high = outgoing[0], low = outgoing[0];
    for (size_t v = 1; v < n; v++) {
        lift(&high, &outgoing[v]);
        lower(&low, &outgoing[v]);
    }
    spread_highest(&high);
    spread_lowest(&low);
    if (!(high[0] >= SMALLEST_SUM) || low[0] < SMALLEST_MESSAGE * high[0])
        return false;
    lanes scale = 1.0 / high;
    for (size_t v = 0; v < n; v++)
        outgoing[v] *= scale;
    if (!factors->is_enough)
        compare_rows(factors, outgoing, message, n);
    *is_changed = is_lazy && has_changed(outgoing, message, n);
    for (size_t v = 0; (*is_changed || !is_lazy) && v < n; v++)
        message[v] = outgoing[v];
    return true;
}

/* Sets the cavity to 0 at labels whose belief, cavity times the target's message, is below its maximum. */
INLINE void keep_best(lanes *cavity, const lanes *back, const size_t n)
{
    lanes best = cavity[0] * back[0];
    for (size_t v = 1; v < n; v++) {
        lanes belief = cavity[v] * back[v];
        lift(&best, &belief);
    }
    spread_highest(&best);
    for (size_t v = 0; v < n; v++)
        cavity[v] = (lanes)((lane_bits)cavity[v] & (cavity[v] * back[v] >= best));
}

INLINE const lanes *message_at(const struct bp_linear *linear, int32_t slot, const size_t n)
{
    return (const lanes *)&linear->message[(size_t)slot * n * LANES];
}

INLINE void multiply(lanes *restrict value, const lanes *by, const size_t n)
{
    for (size_t v = 0; v < n; v++)
        value[v] *= by[v];
}

/* Sends the messages of a node as `send` in bp.c does, except for softened nodes. A cavity is the product of the prior
 * and of all incoming messages except the target's: `before` has those before it, a row of `behind` those after it. */
INLINE bool send_rows(struct factors *factors, struct clv_bp *bp, int32_t node, enum bp_receivers receivers, size_t k,
                      const size_t n, const bool is_lazy)
{
    struct bp_linear *linear = &bp->linear;
    lanes before[LONGEST_ROW_LANES], cavity[LONGEST_ROW_LANES], outgoing[LONGEST_ROW_LANES];
    bool is_maximised = bp->role[node] == BP_MAXIMISED;
    int32_t first = receivers == TO_LATER ? linear->split[node] : bp->first[node];
    int32_t end = receivers == TO_EARLIER ? linear->split[node] : bp->first[node + 1];
    if (is_lazy && !memchr(&linear->is_due[first], 1, (size_t)(end - first)))
        return true;
    const lanes *prior = (const lanes *)&linear->prior[(size_t)node * n * LANES];
    lanes *behind = (lanes *)linear->behind;
    for (size_t v = 0; v < n; v++)
        before[v] = prior[v];
    for (int32_t s = bp->first[node]; s < first; s++)
        multiply(before, message_at(linear, linear->sent[s].back, n), n);
    for (int32_t s = end; s < bp->first[node + 1]; s++)
        multiply(before, message_at(linear, linear->sent[s].back, n), n);
    for (int32_t s = end - 1; s > first; s--) {
        const lanes *message = message_at(linear, linear->sent[s].back, n), *further = &behind[(size_t)(s - first) * n];
        lanes *row = &behind[(size_t)(s - 1 - first) * n];
        for (size_t v = 0; v < n; v++)
            row[v] = s + 1 < end ? message[v] * further[v] : message[v];
    }
    for (int32_t s = first; s < end; s++) {
        const struct bp_sent *sent = &linear->sent[s];
        const lanes *back = message_at(linear, sent->back, n), *rest = &behind[(size_t)(s - first) * n];
        for (size_t v = 0; v < n; v++)
            cavity[v] = s + 1 < end ? before[v] * rest[v] : before[v];
        bool is_max = is_maximised && bp->role[sent->target] != BP_SUMMED;
        if (is_maximised && !is_max)
            keep_best(cavity, back, n);
        multiply(before, back, n);
        if (is_lazy && !linear->is_due[s])
            continue;
        bool is_changed;
        eliminate(outgoing, bp, (size_t)sent->table, sent->is_back, cavity, is_max, k, n);
        if (!store(&is_changed, factors, linear, sent->out, outgoing, n, is_lazy))
            return false;
        if (is_lazy)
            linear->is_due[s] = false;
        if (is_changed)
            mark_due(bp, sent->target, sent->out);
    }
    return true;
}

INLINE int32_t pass(struct factors *factors, struct clv_bp *bp, const struct bp_pass *pass, const size_t n,
                    const bool is_lazy)
{
    for (int32_t r = 0; r < bp->n_nodes; r++) {
        int32_t node = pass->nodes[pass->is_backward ? bp->n_nodes - 1 - r : r];
        if (bp->label[node] == CLV_UNKNOWN &&
            !send_rows(factors, bp, node, pass->receivers, (size_t)bp->n_labels, n, is_lazy))
            return r;
    }
    return bp->n_nodes;
}

/* Passes with the number of vectors as a constant if rows may stay in registers. */
INLINE int32_t pass_by_length(struct factors *factors, struct clv_bp *bp, const struct bp_pass *which,
                              const bool is_lazy)
{
    size_t n = row_length(bp->n_labels) / LANES;
    switch (n) {
    case 1: return pass(factors, bp, which, 1, is_lazy);
    case 2: return pass(factors, bp, which, 2, is_lazy);
    case 3: return pass(factors, bp, which, 3, is_lazy);
    case 4: return pass(factors, bp, which, 4, is_lazy);
    case 5: return pass(factors, bp, which, 5, is_lazy);
    case 6: return pass(factors, bp, which, 6, is_lazy);
    default: return pass(factors, bp, which, n > 7 ? n : 7, is_lazy);
    }
}

FOR_EACH_MACHINE static int32_t pass_all(struct factors *factors, struct clv_bp *bp, const struct bp_pass *which)
{
    return pass_by_length(factors, bp, which, false);
}

FOR_EACH_MACHINE static int32_t pass_due(struct factors *factors, struct clv_bp *bp, const struct bp_pass *which)
{
    return pass_by_length(factors, bp, which, true);
}

int32_t bp_pass_linear(double *factor, struct clv_bp *bp, const struct bp_pass *which)
{
    struct factors factors = {{1, 1, 1, 1}, {1, 1, 1, 1}, 1 + which->enough, *factor > which->enough};
    int32_t n_done = bp->linear.is_lazy ? pass_due(&factors, bp, which) : pass_all(&factors, bp, which);
    lanes largest = factors.high / factors.low;
    spread_highest(&largest);
    double change = largest[0] - 1;
    if (change > CHANGED - 1 && change > *factor)
        *factor = change;
    return n_done;
}

FOR_EACH_MACHINE bool bp_gather_row(double *belief, const struct clv_bp *bp, int32_t node)
{
    const struct bp_linear *linear = &bp->linear;
    size_t n = row_length(bp->n_labels) / LANES;
    memcpy(belief, &linear->prior[(size_t)node * n * LANES], n * sizeof(lanes));
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++)
        multiply((lanes *)belief, message_at(linear, linear->sent[s].back, n), n);
    double lowest = belief[0];
    for (int32_t a = 1; a < bp->n_labels; a++)
        lowest = belief[a] < lowest ? belief[a] : lowest;
    return lowest >= SMALLEST_SUM;
}

/* Returns sum_a sum_b cavity[a] cavity'[b] exp(pairwise[a][b]) over the labels a and b of the edge's ends, up to a
 * factor. */
INLINE double edge_sum(const struct clv_bp *bp, int32_t edge, size_t k, const size_t n)
{
    const struct bp_linear *linear = &bp->linear;
    const lanes *belief = (const lanes *)&linear->belief[(size_t)bp->edges[edge][0] * n * LANES];
    const lanes *other = (const lanes *)&linear->belief[(size_t)bp->edges[edge][1] * n * LANES];
    const lanes *back = message_at(linear, linear->slot[2 * edge + 1], n);
    const lanes *there = message_at(linear, linear->slot[2 * edge], n);
    lanes cavity[LONGEST_ROW_LANES], out[LONGEST_ROW_LANES];
    const double *term = (const double *)out;
    double total = 0;
    for (size_t v = 0; v < n; v++)
        cavity[v] = belief[v] / back[v];
    eliminate(out, bp, (size_t)bp->table[edge], false, cavity, false, k, n);
    for (size_t v = 0; v < n; v++)
        out[v] *= other[v] / there[v];
    for (size_t b = 0; b < k; b++)
        total += term[b]; // cppcheck-suppress uninitvar; lanes set it
    return total;
}

FOR_EACH_MACHINE void bp_edge_sums(double *total, const struct clv_bp *bp, int32_t first, size_t count)
{
    size_t n = row_length(bp->n_labels) / LANES, k = (size_t)bp->n_labels;
    for (int32_t e = first; n == 2 && e < first + (int32_t)count; e++)
        total[e - first] = edge_sum(bp, e, k, 2);
    for (int32_t e = first; n != 2 && e < first + (int32_t)count; e++)
        total[e - first] = edge_sum(bp, e, k, n > 0 ? n : 1);
}
