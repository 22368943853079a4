/* Sum-, max- and mixed-product on the messages themselves instead of their logarithms: no exp and no log, for as long
 * as no number gets so small that precision could be lost. Rows are padded to whole vectors, the padding repeats label
 * 0, so that loops have no ends to treat apart and nothing that is compared or normalised by changes. */
#include <float.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/maths.h"
#include "infer/bp/bp_state.h"
#include "infer/exponential.h"
#include "infer/log_domain.h"

/* With messages at least SMALLEST_MESSAGE (their maximum is 1) and beliefs and sums at least SMALLEST_SUM, quotients
 * are below 1e30, and what underflowed below 1e-308 counts for less than 1e-16 of any sum. */
#define SMALLEST_MESSAGE 1e-30
#define SMALLEST_SUM     1e-200
#define LANES            4
#define LONGEST_ROW      (CLV_BP_MAX_LABELS + LANES)

static size_t row_length(const struct clv_bp *bp)
{
    return ((size_t)bp->n_labels + LANES - 1) / LANES * LANES;
}

void bp_linear_release(struct bp_linear *linear)
{
    array_free(linear->slot);
    array_free(linear->message);
    array_free(linear->prior);
    array_free(linear->belief);
    array_free(linear->shift);
    array_free(linear->kernel);
    *linear = (struct bp_linear){0};
}

/* In the order of sending, so that a sweep reads its memory from front to back. */
static void assign_slots(struct clv_bp *bp)
{
    int32_t n = 0;
    for (int way = 0; way < 2; way++)
        for (int32_t r = 0; r < bp->n_nodes; r++) {
            int32_t node = bp->order[way ? r : bp->n_nodes - 1 - r];
            for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++)
                if (bp_receives(bp, bp->arc[s], way ? TO_LATER : TO_EARLIER))
                    bp->linear.slot[bp->arc[s]] = n++;
        }
}

/* A message, and behind it what it is divided by. */
static inline double *message_of(const struct clv_bp *bp, int32_t arc, size_t row)
{
    return &bp->linear.message[(size_t)bp->linear.slot[arc] * 2 * row];
}

static inline double *kernel_of(const struct clv_bp *bp, int32_t arc, size_t row)
{
    return &bp->linear.kernel[(size_t)bp->linear.slot[arc] * (size_t)bp->n_labels * row];
}

/* Once for a graph. */
static enum clv_status reserve(struct clv_bp *bp, struct clv_error *err)
{
    struct bp_linear *linear = &bp->linear;
    size_t row = row_length(bp), m = (size_t)bp->n_edges, k = (size_t)bp->n_labels;
    const struct array_part by_node[] = {{&linear->prior, row * sizeof *linear->prior},
                                         {&linear->belief, row * sizeof *linear->belief},
                                         {&linear->shift, sizeof *linear->shift}};
    const struct array_part by_edge[] = {{&linear->slot, 2 * sizeof *linear->slot},
                                         {&linear->message, 4 * row * sizeof *linear->message},
                                         {&linear->kernel, 2 * k * row * sizeof *linear->kernel}};
    if (linear->edge_capacity)
        return CLV_OK;
    if (array_reserve_all(by_node, 3, &linear->node_capacity, (size_t)bp->n_nodes + 1) ||
        array_reserve_all(by_edge, bp->form == CLV_PAIRWISE_FULL ? 3 : 2, &linear->edge_capacity, m + 1))
        return fail_memory(err);
    assign_slots(bp);
    return CLV_OK;
}

/* Both ways round: [a][b] for the arc along an edge, [b][a] for the one back. */
static void take_kernels(struct clv_bp *bp)
{
    size_t row = row_length(bp), k = (size_t)bp->n_labels;
    for (size_t e = 0; bp->form == CLV_PAIRWISE_FULL && e < (size_t)bp->n_edges; e++) {
        const double *from = &bp->kernel[e * k * k];
        double *there = kernel_of(bp, (int32_t)(2 * e), row), *back = kernel_of(bp, (int32_t)(2 * e + 1), row);
        for (size_t a = 0; a < k; a++) {
            memcpy(&there[a * row], &from[a * k], k * sizeof *there);
            for (size_t b = 0; b < k; b++)
                back[b * row + a] = from[a * k + b];
        }
        for (size_t a = 0; a < k; a++)
            for (size_t b = k; b < row; b++) {
                there[a * row + b] = there[a * row];
                back[a * row + b] = back[a * row];
            }
    }
}

static void take_messages(struct clv_bp *bp)
{
    size_t row = row_length(bp), k = (size_t)bp->n_labels;
    for (int32_t arc = 0; arc < 2 * bp->n_edges; arc++) {
        double *message = message_of(bp, arc, row);
        for (size_t b = 0; b < row; b++) {
            double logarithm = bp->message[(size_t)arc * k + (b < k ? b : 0)];
            message[b] = logarithm == 0 ? 1 : portable_exp(logarithm);
            message[row + b] = 1 / message[b];
        }
    }
}

void bp_take_priors(struct clv_bp *bp)
{
    size_t row = row_length(bp), k = (size_t)bp->n_labels;
    for (size_t i = 0; bp->is_linear && i < (size_t)bp->n_nodes; i++) {
        const double *unary = &bp->unary[i * k];
        bp->linear.shift[i] = maximum(unary, k);
        double *prior = &bp->linear.prior[i * row];
        exponentials(prior, unary, bp->linear.shift[i], k);
        for (size_t b = k; b < row; b++)
            prior[b] = prior[0];
    }
}

enum clv_status bp_enter_linear(struct clv_bp *bp, struct clv_error *err)
{
    size_t k = (size_t)bp->n_labels;
    double smallest = portable_log(SMALLEST_MESSAGE);
    for (size_t c = 0; !bp->is_linear && c < 2 * (size_t)bp->n_edges * k; c++)
        if (bp->message[c] < smallest)
            return CLV_OK;
    enum clv_status status = reserve(bp, err);
    if (status)
        return status;
    take_kernels(bp);
    if (!bp->is_linear)
        take_messages(bp);
    bp->is_linear = 1;
    bp_take_priors(bp);
    return CLV_OK;
}

void bp_leave_linear(struct clv_bp *bp)
{
    size_t row = row_length(bp), k = (size_t)bp->n_labels;
    for (int32_t arc = 0; bp->is_linear && arc < 2 * bp->n_edges; arc++)
        for (size_t b = 0; b < k; b++)
            bp->message[(size_t)arc * k + b] = portable_log(message_of(bp, arc, row)[b]);
    bp->is_linear = 0;
}

/* Four labels. Written out, because what compilers make of loops over short rows is slower than one label at a time. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lane_mask __attribute__((vector_size(LANES * sizeof(double))));
#define LONGEST_ROW_LANES (LONGEST_ROW / LANES)

INLINE void lift(lanes *value, const lanes *other)
{
    lane_mask is_other = *other > *value;
    *value = (lanes)(((lane_mask)*other & is_other) | ((lane_mask)*value & ~is_other));
}

INLINE void lower(lanes *value, const lanes *other)
{
    lane_mask is_other = *other < *value;
    *value = (lanes)(((lane_mask)*other & is_other) | ((lane_mask)*value & ~is_other));
}

INLINE double highest_of(const lanes *value)
{
    double a = (*value)[0] > (*value)[1] ? (*value)[0] : (*value)[1];
    double b = (*value)[2] > (*value)[3] ? (*value)[2] : (*value)[3];
    return a > b ? a : b;
}

INLINE double lowest_of(const lanes *value)
{
    double a = (*value)[0] < (*value)[1] ? (*value)[0] : (*value)[1];
    double b = (*value)[2] < (*value)[3] ? (*value)[2] : (*value)[3];
    return a < b ? a : b;
}

/* out[b] = max_a cavity[a] exp(pairwise[a][b]), up to a factor. */
INLINE void eliminate_max(lanes *restrict out, const struct clv_bp *bp, int32_t arc, const lanes *cavity, size_t k,
                          size_t n)
{
    const double *weight = (const double *)cavity;
    if (bp->form == CLV_PAIRWISE_POTTS) {
        lanes high = cavity[0], elsewhere = {0};
        for (size_t v = 1; v < n; v++)
            lift(&high, &cavity[v]);
        elsewhere += bp->kernel[arc >> 1] * highest_of(&high);
        for (size_t v = 0; v < n; v++) {
            out[v] = cavity[v];
            lift(&out[v], &elsewhere);
        }
        return;
    }
    const lanes *restrict kernel = (const lanes *)kernel_of(bp, arc, n * LANES);
    for (size_t v = 0; v < n; v++) {
        lanes high = weight[0] * kernel[v];
        for (size_t a = 1; a < k; a++) {
            lanes term = weight[a] * kernel[a * n + v];
            lift(&high, &term);
        }
        out[v] = high;
    }
}

/* out[b] = sum_a cavity[a] exp(pairwise[a][b]), up to a factor. */
INLINE void eliminate(lanes *restrict out, const struct clv_bp *bp, int32_t arc, const lanes *cavity, size_t k,
                      size_t n)
{
    const double *weight = (const double *)cavity;
    if (bp->form == CLV_PAIRWISE_POTTS) {
        double total = 0, kernel = bp->kernel[arc >> 1], top = bp->top[arc >> 1];
        for (size_t a = 0; a < k; a++)
            total += weight[a];
        for (size_t v = 0; v < n; v++)
            out[v] = kernel * total + top * cavity[v];
        return;
    }
    const lanes *restrict kernel = (const lanes *)kernel_of(bp, arc, n * LANES);
    size_t v = 0;
    for (; v + 2 <= n; v += 2) { /* two sums at a time stay in registers */
        lanes first = weight[0] * kernel[v], second = weight[0] * kernel[v + 1];
        for (size_t a = 1; a < k; a++) {
            first += weight[a] * kernel[a * n + v];
            second += weight[a] * kernel[a * n + v + 1];
        }
        out[v] = first;
        out[v + 1] = second;
    }
    for (; v < n; v++) {
        lanes sum = weight[0] * kernel[v];
        for (size_t a = 1; a < k; a++)
            sum += weight[a] * kernel[a * n + v];
        out[v] = sum;
    }
}

/* Normalises and stores a message; most and least take in by what factors it changed. Returns 0, nothing stored, if
 * precision could be lost. */
INLINE int store(struct clv_bp *bp, int32_t arc, const lanes *fresh, lanes *most, lanes *least, size_t n)
{
    lanes *restrict message = (lanes *)message_of(bp, arc, n * LANES), *restrict inverse = message + n;
    lanes high = fresh[0], low = fresh[0];
    for (size_t v = 1; v < n; v++) {
        lift(&high, &fresh[v]);
        lower(&low, &fresh[v]);
    }
    double highest = highest_of(&high);
    if (!(highest >= SMALLEST_SUM) || lowest_of(&low) < SMALLEST_MESSAGE * highest)
        return 0;
    double scale = 1 / highest;
    for (size_t v = 0; v < n; v++) {
        lanes value = fresh[v] * scale, ratio = value * inverse[v];
        lift(most, &ratio);
        lower(least, &ratio);
        message[v] = value;
        inverse[v] = 1.0 / value;
    }
    return 1;
}

/* belief = prior times the messages that come in; returns 0 if it got too small. */
INLINE int gather(lanes *belief, const struct clv_bp *bp, int32_t node, size_t n)
{
    memcpy(belief, &bp->linear.prior[(size_t)node * n * LANES], n * sizeof *belief);
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        const lanes *message = (const lanes *)message_of(bp, bp->arc[s] ^ 1, n * LANES);
        for (size_t v = 0; v < n; v++)
            belief[v] *= message[v];
    }
    lanes low = belief[0];
    for (size_t v = 1; v < n; v++)
        lower(&low, &belief[v]);
    return lowest_of(&low) >= SMALLEST_SUM;
}

/* 0 where the belief is below its maximum. */
INLINE void keep_best(lanes *cavity, const lanes *belief, size_t n)
{
    lanes high = belief[0];
    for (size_t v = 1; v < n; v++)
        lift(&high, &belief[v]);
    lanes best = {0};
    best += highest_of(&high);
    for (size_t v = 0; v < n; v++)
        cavity[v] = (lanes)((lane_mask)cavity[v] & (belief[v] >= best));
}

/* The messages of bp.c's send, softened nodes aside. */
INLINE int send_rows(double *factor, struct clv_bp *bp, int32_t node, enum bp_receivers receivers, size_t k, size_t n)
{
    lanes belief[LONGEST_ROW_LANES], cavity[LONGEST_ROW_LANES], fresh[LONGEST_ROW_LANES];
    lanes most = {1, 1, 1, 1}, least = {1, 1, 1, 1};
    bool is_maximised = bp->role[node] == BP_MAXIMISED;
    if (!gather(belief, bp, node, n))
        return 0;
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        int32_t arc = bp->arc[s];
        if (!bp_receives(bp, arc, receivers))
            continue;
        const lanes *back = (const lanes *)message_of(bp, arc ^ 1, n * LANES) + n;
        for (size_t v = 0; v < n; v++)
            cavity[v] = belief[v] * back[v];
        bool is_target_summed = bp->role[arc_target(bp, arc)] == BP_SUMMED;
        if (is_maximised && is_target_summed)
            keep_best(cavity, belief, n);
        if (is_maximised && !is_target_summed)
            eliminate_max(fresh, bp, arc, cavity, k, n);
        else
            eliminate(fresh, bp, arc, cavity, k, n);
        if (!store(bp, arc, fresh, &most, &least, n))
            return 0;
    }
    double up = highest_of(&most) - 1, down = 1 / lowest_of(&least) - 1, change = up > down ? up : down;
    if (change > 4 * DBL_EPSILON && change > *factor) /* what rounding makes of 1 is none */
        *factor = change;
    return 1;
}

/* Rows of one or two vectors are what fields mostly have: they stay in registers. */
FOR_EACH_MACHINE int bp_send_linear(double *factor, struct clv_bp *bp, int32_t node, enum bp_receivers receivers)
{
    size_t n = row_length(bp) / LANES, k = (size_t)bp->n_labels;
    switch (n) {
    case 1: return send_rows(factor, bp, node, receivers, k, 1);
    case 2: return send_rows(factor, bp, node, receivers, k, 2);
    default: return send_rows(factor, bp, node, receivers, k, n);
    }
}

int bp_gather_linear(struct clv_bp *bp)
{
    size_t n = row_length(bp) / LANES, k = (size_t)bp->n_labels;
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        double *belief = &bp->linear.belief[(size_t)i * n * LANES];
        if (!gather((lanes *)belief, bp, i, n) && bp->label[i] == CLV_UNKNOWN)
            return 0;
        for (size_t a = 0; a < k; a++)
            bp->belief[(size_t)i * k + a] = bp->linear.shift[i] + portable_log(belief[a]);
    }
    return 1;
}

/* log of the sum over both ends of cavity cavity' exp(pairwise), what beliefs and kernels were scaled by included. */
static double log_edge_sum(const struct clv_bp *bp, int32_t edge)
{
    size_t n = row_length(bp) / LANES, k = (size_t)bp->n_labels;
    int32_t source = bp->edges[edge][0], target = bp->edges[edge][1];
    const lanes *belief = (const lanes *)&bp->linear.belief[(size_t)source * n * LANES];
    const lanes *back = (const lanes *)message_of(bp, 2 * edge + 1, n * LANES) + n;
    const double *other = &bp->linear.belief[(size_t)target * n * LANES];
    const double *there = message_of(bp, 2 * edge, n * LANES) + n * LANES;
    lanes cavity[LONGEST_ROW_LANES] = {{0}}, out[LONGEST_ROW_LANES] = {{0}};
    const double *sum = (const double *)out;
    double total = 0;
    for (size_t v = 0; v < n; v++)
        cavity[v] = belief[v] * back[v];
    eliminate(out, bp, 2 * edge, cavity, k, n);
    for (size_t b = 0; b < k; b++)
        total += sum[b] * other[b] * there[b];
    double top = bp->form == CLV_PAIRWISE_FULL ? bp->top[edge] : 0;
    return portable_log(total) + bp->linear.shift[source] + bp->linear.shift[target] + top;
}

double bp_bethe_linear(const struct clv_bp *bp)
{
    size_t row = row_length(bp), k = (size_t)bp->n_labels;
    double value = 0;
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        double total = 0;
        for (size_t a = 0; a < k; a++)
            total += bp->linear.belief[(size_t)i * row + a];
        value += (1 - (bp->first[i + 1] - bp->first[i])) * (bp->linear.shift[i] + portable_log(total));
    }
    for (int32_t e = 0; e < bp->n_edges; e++)
        value += log_edge_sum(bp, e);
    return value;
}
