/* Loopy belief propagation: sum-product, max-product (Pearl 1988) and mixed-product for marginal MAP (Liu & Ihler, JMLR
 * 2013). Nodes send in breadth-first order, to the root and back, so that on trees one sweep is exact and a second one
 * changes nothing; or colour by colour. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/bp/bp.h"
#include "infer/infer.h"

void clv_bp_defaults(struct clv_bp_options *options)
{
    *options = (struct clv_bp_options){.temperature = 1, .tolerance = 1e-9, .max_iterations = 200};
}

enum clv_status clv_bp_new(struct clv_bp **bp, struct clv_error *err)
{
    *bp = array_alloc(1, sizeof **bp);
    NEED(*bp);
    bp_init(*bp);
    return CLV_OK;
}

void clv_bp_free(struct clv_bp *bp)
{
    if (bp)
        bp_release(bp);
    array_free(bp);
}

/* Sends a message, damped by `kept`, and returns by how much the undamped one differs from the previous one. b is the
 * belief of the source, m_ji the target's message to it, which is divided out of b (Liu & Ihler 2013, mixed-product
 * belief propagation), r the ratio of temperatures:
 *     source summed              sum over x_i of psi_ij b_i / m_ji
 *     both maximised             max over x_i of psi_ij b_i / m_ji
 *     source maximised only      sum over x_i in argmax b_i of psi_ij b_i / m_ji
 *     both softened              (sum over x_i of (psi_ij b_i / m_ji)^(1/r))^r
 *     source softened only       sum over x_i of psi_ij b_i^(1/r) / m_ji */
static double send(struct clv_bp *bp, int32_t arc, const double *belief, double kept)
{
    size_t k = (size_t)bp->n_labels;
    const double *back = &bp->message[(size_t)(arc ^ 1) * k];
    double *message = &bp->message[(size_t)arc * k], *result = bp->outgoing, best = maximum(belief, k);
    enum bp_role source = bp->role[arc_source(bp, arc)], target = bp->role[arc_target(bp, arc)];
    for (size_t a = 0; a < k; a++) {
        bp->cavity[a] = belief[a] - back[a];
        if (source == BP_MAXIMISED && target == BP_SUMMED && belief[a] < best)
            bp->cavity[a] = -INFINITY;
        if (source == BP_SOFTENED && target == BP_SUMMED)
            bp->cavity[a] = (belief[a] - best) / bp->ratio - back[a];
    }
    if (source == BP_SOFTENED && target == BP_SOFTENED)
        bp_soften(result, bp, arc, bp->cavity);
    else
        bp_eliminate(result, bp, arc, source == BP_MAXIMISED && target == BP_MAXIMISED ? BP_MAX_OUT : BP_SUM_OUT,
                     bp->cavity);
    double highest = maximum(result, k), change = 0;
    for (size_t b = 0; b < k; b++) {
        double value = result[b] - highest, differs = fabs(value - message[b]);
        change = differs > change ? differs : change;
        message[b] = (1 - kept) * value + kept * message[b];
    }
    return change;
}

/* Changes of a sweep: the largest change of a message's logarithm; outside the log domain, the largest factor minus
 * 1. */
struct changes {
    double change, factor;
};

static void send_from(struct changes *changes, struct clv_bp *bp, int32_t node, enum bp_receivers receivers,
                      double damping)
{
    double belief[CLV_BP_MAX_LABELS];
    if (bp->label[node] != CLV_UNKNOWN)
        return; /* all its edges score 0 */
    bp_gather(belief, bp, node);
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++)
        if (bp_receives(bp, bp->arc[s], receivers)) {
            double change = send(bp, bp->arc[s], belief, damping);
            changes->change = change > changes->change ? change : changes->change;
        }
}

/* Passes over all nodes, outside the log domain as long as numbers are in range. */
static void pass(struct changes *changes, struct clv_bp *bp, const struct bp_pass *which, double damping)
{
    int32_t r = bp->is_linear ? bp_pass_linear(&changes->factor, bp, which) : 0;
    if (r < bp->n_nodes)
        bp_leave_linear(bp);
    for (; r < bp->n_nodes; r++)
        send_from(changes, bp, which->nodes[which->is_backward ? bp->n_nodes - 1 - r : r], which->receivers, damping);
}

/* Sends every message once. Returns the largest change of a message's logarithm; unless this is the last sweep in any
 * case, it may stop measuring at a change that is too large to have converged. */
static double sweep(struct clv_bp *bp, const struct clv_bp_options *options, bool is_last)
{
    struct changes changes = {0};
    double enough = is_last ? INFINITY : 2 * portable_expm1(fmax(options->tolerance, 4 * DBL_EPSILON));
    if (options->schedule == CLV_BP_SEQUENTIAL) {
        pass(&changes, bp, &(struct bp_pass){bp->order, true, TO_EARLIER, enough}, options->damping);
        pass(&changes, bp, &(struct bp_pass){bp->order, false, TO_LATER, enough}, options->damping);
    } else {
        pass(&changes, bp, &(struct bp_pass){bp->by_colour, false, TO_ALL, enough}, options->damping);
    }
    return fmax(changes.change, portable_log1p(changes.factor));
}

static void assign_roles(struct clv_bp *bp, const struct clv_bp_options *options)
{
    bp->ratio = options->mode == CLV_BP_MIXED ? options->visible_temperature / options->temperature : 1;
    enum bp_role visible = bp->ratio > 0 ? BP_SOFTENED : BP_MAXIMISED;
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp->role[i] = options->mode == CLV_BP_SUM   ? BP_SUMMED
                      : options->mode == CLV_BP_MAX ? BP_MAXIMISED
                      : options->is_visible[i]      ? visible
                                                    : BP_SUMMED;
}

static void gather_all(struct clv_bp *bp)
{
    if (bp->is_linear && bp_gather_linear(bp))
        return;
    bp_leave_linear(bp);
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp_gather(&bp->belief[(size_t)i * (size_t)bp->n_labels], bp, i);
}

static double value_of(struct clv_bp *bp, const struct clv_field *field, const struct clv_bp_options *options)
{
    switch (options->mode) {
    case CLV_BP_SUM: return options->temperature * (bp->is_linear ? bp_bethe_linear(bp) : bp_bethe(bp));
    case CLV_BP_MAX: return clv_field_score(field, bp->decoded);
    case CLV_BP_MIXED: break;
    }
    return options->temperature * bp_mixed_value(bp);
}

/* Number of iterations in which nodes score more for the labels of options->near, and by how much. */
#define NEAR_ITERATIONS 10
#define NEAR_SCORE      3

/* Chooses the form of messages: logarithms for damped messages and softened nodes only. Messages of max-product soon
 * stop changing unless they oscillate, so most of them need not be sent again; those of sum-product nearly all change
 * until the last sweep. */
static void open_messages(struct clv_bp *bp, const struct clv_bp_options *options)
{
    bool is_softened = options->mode == CLV_BP_MIXED && bp->ratio > 0;
    bp->linear.is_lazy = options->mode == CLV_BP_MAX;
    if (options->damping == 0 && !is_softened)
        bp_enter_linear(bp);
    else
        bp_leave_linear(bp);
}

/* Runs the iterations that lead near a labelling. bp->belief, which is not computed yet, holds the original scores
 * during them. */
static void approach(struct clv_bp *bp, const struct clv_bp_options *options)
{
    size_t k = (size_t)bp->n_labels, size = (size_t)bp->n_nodes * k * sizeof *bp->unary;
    memcpy(bp->belief, bp->unary, size);
    for (int32_t i = 0; i < bp->n_nodes; i++)
        if (options->near[i] != CLV_UNKNOWN)
            bp->unary[(size_t)i * k + (size_t)options->near[i]] += NEAR_SCORE;
    bp_take_priors(bp);
    for (int done = 0; done < NEAR_ITERATIONS; done++)
        if (sweep(bp, options, false) <= options->tolerance)
            break;
    memcpy(bp->unary, bp->belief, size);
    bp_take_priors(bp);
}

enum clv_status clv_bp_run(struct clv_bp *bp, double *beliefs, int32_t *y, struct clv_bp_result *result,
                           const struct clv_field *field, const struct clv_bp_options *options, struct clv_error *err)
{
    struct clv_bp_options defaults;
    clv_bp_defaults(&defaults);
    options = options ? options : &defaults;
    MUST(bp_check(field, options, err));
    MUST(bp_load(bp, field, options->temperature, options->label, options->is_warm, err));
    MUST(bp_make_kernels(bp, err));
    struct clv_bp_result found = {0};
    assign_roles(bp, options);
    open_messages(bp, options);
    if (options->near && bp->n_nodes) {
        approach(bp, options);
        if (!bp->is_linear)
            open_messages(bp, options);
    }
    while (!found.is_converged && found.n_iterations < options->max_iterations) {
        found.change = sweep(bp, options, found.n_iterations + 1 == options->max_iterations);
        found.is_converged = found.change <= options->tolerance;
        found.n_iterations++;
    }
    bp->n_iterations = found.n_iterations;
    bp->is_converged = found.is_converged;
    gather_all(bp);
    if (options->mode != CLV_BP_SUM)
        bp_leave_linear(bp);
    bp_decode(bp);
    if (result)
        found.value = value_of(bp, field, options);
    if (beliefs)
        bp_write_beliefs(beliefs, bp, options->temperature);
    if (y)
        array_put(y, bp->decoded, (size_t)bp->n_nodes, sizeof *y);
    if (result)
        *result = found;
    return CLV_OK;
}
