/* Loopy belief propagation: sum-product, max-product (Pearl 1988) and mixed-product for marginal MAP (Liu & Ihler, JMLR 2013).
 * Nodes send in breadth-first order, to the root and back, so that on trees one sweep is exact and the second one sees no
 * change; or colour by colour. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "infer/bp.h"

void clv_bp_defaults(struct clv_bp_options *options)
{
    *options = (struct clv_bp_options){.temperature = 1, .tolerance = 1e-9, .max_iterations = 200};
}

enum clv_status clv_bp_new(struct clv_bp **bp, struct clv_error *err)
{
    *bp = array_alloc(1, sizeof **bp);
    if (!*bp)
        return fail_memory(err);
    bp_init(*bp);
    return CLV_OK;
}

void clv_bp_free(struct clv_bp *bp)
{
    if (bp)
        bp_release(bp);
    array_free(bp);
}

static int is_maximized(const struct clv_bp_options *options, int32_t node)
{
    return options->mode == CLV_BP_MAX || (options->mode == CLV_BP_MIXED && options->is_visible[node]);
}

/* Sends a message, damped, and returns how much the undamped one differs from the one before. With the source's belief b and the
 * target's message to it taken out of b (Liu & Ihler 2013, mixed-product belief propagation):
 *     source summed          sum over x_i of psi_ij b_i / m_ji
 *     both maximised         max over x_i of psi_ij b_i / m_ji
 *     source maximised only  sum over x_i in argmax b_i of psi_ij b_i / m_ji */
static double send(struct clv_bp *bp, int32_t arc, const double *belief, const struct clv_bp_options *options)
{
    size_t k = (size_t)bp->n_labels;
    const double *back = &bp->message[(size_t)(arc ^ 1) * k];
    double *message = &bp->message[(size_t)arc * k], *fresh = bp->fresh, kept = options->damping;
    int is_source_max = is_maximized(options, arc_source(bp, arc));
    int is_target_max = is_maximized(options, arc_target(bp, arc));
    for (size_t a = 0; a < k; a++)
        bp->cavity[a] = belief[a] - back[a];
    if (is_source_max && !is_target_max) {
        double best = maximum(belief, k);
        for (size_t a = 0; a < k; a++)
            bp->cavity[a] = belief[a] < best ? -INFINITY : bp->cavity[a];
    }
    bp_eliminate(fresh, bp, arc, is_source_max && is_target_max ? BP_MAX_OUT : BP_SUM_OUT, bp->cavity);
    double highest = maximum(fresh, k), change = 0;
    for (size_t b = 0; b < k; b++) {
        double value = fresh[b] - highest, differs = fabs(value - message[b]);
        change = differs > change ? differs : change;
        message[b] = (1 - kept) * value + kept * message[b];
    }
    return change;
}

enum receivers { TO_EARLIER, TO_LATER, TO_ALL };

static double send_from(struct clv_bp *bp, int32_t node, enum receivers receivers, const struct clv_bp_options *options)
{
    double belief[CLV_BP_MAX_LABELS], change = 0, growth = 0;
    int is_gathered = 0;
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        int is_later = bp->rank[arc_target(bp, bp->arc[s])] > bp->rank[node];
        if (receivers != TO_ALL && is_later != (receivers == TO_LATER))
            continue;
        if (bp->is_linear) {
            is_gathered = is_gathered || bp_gather_linear(belief, bp, node);
            if (is_gathered && bp_send_linear(&growth, bp, bp->arc[s], belief))
                continue;
            bp_leave_linear(bp);
            is_gathered = 0;
        }
        if (!is_gathered)
            bp_gather(belief, bp, node);
        is_gathered = 1;
        change = fmax(change, send(bp, bp->arc[s], belief, options));
    }
    return growth > 0 ? fmax(change, log1p(growth)) : change;
}

/* Every message once. */
static double sweep(struct clv_bp *bp, const struct clv_bp_options *options)
{
    double change = 0;
    if (options->schedule == CLV_BP_SEQUENTIAL) {
        for (int32_t r = bp->n_nodes; r-- > 0;)
            change = fmax(change, send_from(bp, bp->order[r], TO_EARLIER, options));
        for (int32_t r = 0; r < bp->n_nodes; r++)
            change = fmax(change, send_from(bp, bp->order[r], TO_LATER, options));
        return change;
    }
    for (int32_t color = 0; color < bp->n_colors; color++)
        for (int32_t i = 0; i < bp->n_nodes; i++)
            if (bp->color[i] == color)
                change = fmax(change, send_from(bp, i, TO_ALL, options));
    return change;
}

/* Maximised nodes one after another, each given the labels of its maximised neighbours before it and the messages of the others:
 * on trees that is back-tracking, right at ties as well; at a fixed point without ties the argmax of each node's belief. */
static void decode(int32_t *y, const struct clv_bp *bp, const struct clv_bp_options *options)
{
    size_t k = (size_t)bp->n_labels;
    for (int32_t r = 0; r < bp->n_nodes; r++) {
        int32_t i = bp->order[r];
        double score[CLV_BP_MAX_LABELS];
        memcpy(score, &bp->belief[(size_t)i * k], k * sizeof *score);
        for (int32_t s = bp->first[i]; is_maximized(options, i) && s < bp->first[i + 1]; s++) {
            int32_t back = bp->arc[s] ^ 1, j = arc_source(bp, back);
            if (bp->rank[j] > r || !is_maximized(options, j))
                continue;
            for (size_t a = 0; a < k; a++)
                score[a] += bp_pair_score(bp, back, (size_t)y[j], a) - bp->message[(size_t)back * k + a];
        }
        y[i] = 0;
        for (size_t a = 1; a < k; a++)
            y[i] = score[a] > score[y[i]] ? (int32_t)a : y[i];
    }
}

static void write_beliefs(double *beliefs, const struct clv_bp *bp, const struct clv_bp_options *options)
{
    size_t k = (size_t)bp->n_labels;
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        const double *belief = &bp->belief[(size_t)i * k];
        double highest = maximum(belief, k), total = log_sum_exp(belief, k);
        for (size_t a = 0; a < k; a++)
            beliefs[(size_t)i * k + a] =
                is_maximized(options, i) ? options->temperature * (belief[a] - highest) : exp(belief[a] - total);
    }
}

/* log Z = sum_i (1 - d_i) log Z_i + sum_ij log Z_ij with Z_i the sum of node i's belief and Z_ij that of the edge's, both
 * unnormalised (Yedidia, Freeman & Weiss 2005); what messages are scaled by cancels. */
static double bethe(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    double value = 0, cavity[CLV_BP_MAX_LABELS], out[CLV_BP_MAX_LABELS];
    for (int32_t i = 0; i < bp->n_nodes; i++)
        value += (1 - (bp->first[i + 1] - bp->first[i])) * log_sum_exp(&bp->belief[(size_t)i * k], k);
    for (int32_t e = 0; e < bp->n_edges; e++) {
        const double *there = &bp->message[(size_t)(2 * e) * k], *back = &bp->message[(size_t)(2 * e + 1) * k];
        const double *source = &bp->belief[(size_t)bp->edges[e][0] * k];
        const double *target = &bp->belief[(size_t)bp->edges[e][1] * k];
        for (size_t a = 0; a < k; a++)
            cavity[a] = source[a] - back[a];
        value += bp_eliminate(out, bp, 2 * e, BP_SUM_OUT, cavity);
        for (size_t b = 0; b < k; b++)
            out[b] += target[b] - there[b];
        value += log_sum_exp(out, k);
    }
    return value;
}

enum clv_status clv_bp_run(struct clv_bp *bp, double *beliefs, int32_t *y, struct clv_bp_result *result,
                           const struct clv_field *field, const struct clv_bp_options *options, struct clv_error *err)
{
    struct clv_bp_options defaults;
    clv_bp_defaults(&defaults);
    options = options ? options : &defaults;
    enum clv_status status = bp_check(field, options, err);
    if (!status)
        status = bp_load(bp, field, options->temperature, options->is_warm, err);
    if (status)
        return status;
    struct clv_bp_result found = {.log_partition = NAN};
    if (options->mode == CLV_BP_SUM && options->damping == 0)
        bp_enter_linear(bp);
    while (!found.is_converged && found.n_iterations < options->max_iterations) {
        found.change = sweep(bp, options);
        found.is_converged = found.change <= options->tolerance;
        found.n_iterations++;
    }
    bp_leave_linear(bp);
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp_gather(&bp->belief[(size_t)i * (size_t)bp->n_labels], bp, i);
    if (beliefs)
        write_beliefs(beliefs, bp, options);
    if (y)
        decode(y, bp, options);
    if (options->mode == CLV_BP_SUM)
        found.log_partition = options->temperature * bethe(bp);
    if (result)
        *result = found;
    return CLV_OK;
}
