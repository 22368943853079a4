/* Copies a field into the arrays of belief propagation: checks of the options, the graph, the orders of sending,
 * the scores and fixed labels. Start at bp_load, at the end. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/bp/bp.h"
#include "infer/infer.h"

void bp_init(struct clv_bp *bp)
{
    memset(bp, 0, sizeof *bp);
    bp->n_nodes = -1;
}

void bp_release(struct clv_bp *bp)
{
    arrays_free(bp->edges, bp->first, bp->arc, bp->order, bp->rank, bp->colour, bp->message, bp->unary, bp->belief,
                bp->pairwise, bp->table, bp->by_colour, bp->top, bp->potts, bp->pair);
    bp_linear_release(&bp->linear);
    arrays_free(bp->role, bp->label, bp->decoded);
    bp_init(bp);
}

static enum clv_status check_options(const struct clv_field *field, const struct clv_bp_options *options,
                                     struct clv_error *err)
{
    if (options->mode != CLV_BP_SUM && options->mode != CLV_BP_MAX && options->mode != CLV_BP_MIXED)
        return fail(err, CLV_ERR_USAGE, "belief propagation has no mode %d", (int)options->mode);
    if (options->schedule != CLV_BP_SEQUENTIAL && options->schedule != CLV_BP_RED_BLACK)
        return fail(err, CLV_ERR_USAGE, "belief propagation has no schedule %d", (int)options->schedule);
    if (!(options->temperature > 0) || !isfinite(options->temperature))
        return fail(err, CLV_ERR_USAGE, "a temperature of %g is not positive and finite", options->temperature);
    if (!(options->damping >= 0 && options->damping < 1))
        return fail(err, CLV_ERR_USAGE, "a damping of %g is not in [0, 1)", options->damping);
    if (!(options->tolerance >= 0) || !isfinite(options->tolerance))
        return fail(err, CLV_ERR_USAGE, "a tolerance of %g is not finite and at least 0", options->tolerance);
    if (!(options->visible_temperature >= 0) || !isfinite(options->visible_temperature))
        return fail(err, CLV_ERR_USAGE, "a temperature of %g of visible nodes is not finite and at least 0",
                    options->visible_temperature);
    for (int32_t i = 0; options->label && i < field->n_nodes; i++)
        if (options->label[i] != CLV_UNKNOWN && (options->label[i] < 0 || options->label[i] >= field->n_labels))
            return fail(err, CLV_ERR_USAGE, "node %d: it has label %d of %d", i, options->label[i], field->n_labels);
    if (options->max_iterations < 1)
        return fail(err, CLV_ERR_USAGE, "%d iterations are less than 1", options->max_iterations);
    for (int32_t i = 0; options->near && i < field->n_nodes; i++)
        if (options->near[i] != CLV_UNKNOWN && (options->near[i] < 0 || options->near[i] >= field->n_labels))
            return fail(err, CLV_ERR_USAGE, "node %d: it is to start near label %d of %d", i, options->near[i],
                        field->n_labels);
    if (options->mode != CLV_BP_MIXED)
        return CLV_OK;
    if (!options->is_visible)
        return fail(err, CLV_ERR_USAGE, "mixed-product belief propagation needs to know which nodes are visible");
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (options->is_visible[i] > 1)
            return fail(err, CLV_ERR_USAGE, "node %d: is_visible is %d, not 0 or 1", i, options->is_visible[i]);
    return CLV_OK;
}

enum clv_status bp_check(const struct clv_field *field, const struct clv_bp_options *options, struct clv_error *err)
{
    double least = options->temperature;
    MUST(check_options(field, options, err));
    if (options->mode == CLV_BP_MIXED && options->visible_temperature > 0)
        least = fmin(least, options->visible_temperature);
    return field_check_scores(field, least, err);
}

/* Lists arcs by their source, in the order of the edges. */
static void list_arcs(struct clv_bp *bp)
{
    memset(bp->first, 0, ((size_t)bp->n_nodes + 1) * sizeof *bp->first);
    for (int32_t arc = 0; arc < 2 * bp->n_edges; arc++)
        bp->first[arc_source(bp, arc) + 1]++;
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp->first[i + 1] += bp->first[i];
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp->rank[i] = bp->first[i];
    for (int32_t arc = 0; arc < 2 * bp->n_edges; arc++)
        bp->arc[bp->rank[arc_source(bp, arc)]++] = arc;
}

static void order_nodes(struct clv_bp *bp)
{
    int32_t n_queued = 0, n_done = 0;
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp->rank[i] = -1;
    for (int32_t root = 0; root < bp->n_nodes; root++) {
        if (bp->rank[root] >= 0)
            continue;
        bp->rank[root] = n_queued;
        bp->order[n_queued++] = root;
        for (; n_done < n_queued; n_done++) {
            int32_t i = bp->order[n_done];
            for (int32_t k = bp->first[i]; k < bp->first[i + 1]; k++) {
                int32_t j = arc_target(bp, bp->arc[k]);
                if (bp->rank[j] >= 0)
                    continue;
                bp->rank[j] = n_queued;
                bp->order[n_queued++] = j;
            }
        }
    }
}

/* Gives each node, in breadth-first order, the lowest colour that no neighbour has: on bipartite graphs the parity of
 * the node's level. A colour is at most the node's degree, so finding each takes O(degree^2) at worst. */
static void colour_nodes(struct clv_bp *bp)
{
    bp->n_colours = 0;
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp->colour[i] = -1;
    for (int32_t r = 0; r < bp->n_nodes; r++) {
        int32_t i = bp->order[r], colour = 0;
        for (int32_t k = bp->first[i]; k < bp->first[i + 1]; k++)
            if (bp->colour[arc_target(bp, bp->arc[k])] == colour) {
                colour++;
                k = bp->first[i] - 1; /* start again */
            }
        bp->colour[i] = colour;
        bp->n_colours = colour >= bp->n_colours ? colour + 1 : bp->n_colours;
    }
}

/* Lists all nodes, colour by colour. */
static void sort_by_colour(struct clv_bp *bp)
{
    int32_t n = 0;
    for (int32_t colour = 0; colour < bp->n_colours; colour++)
        for (int32_t i = 0; i < bp->n_nodes; i++)
            if (bp->colour[i] == colour)
                bp->by_colour[n++] = i;
}

static bool shares_tables(const struct clv_field *field)
{
    return field->form == CLV_PAIRWISE_FULL && field->is_shared;
}

static bool has_graph_of(const struct clv_bp *bp, const struct clv_field *field, int32_t n_edges)
{
    return bp->n_nodes == field->n_nodes && bp->n_edges == n_edges && bp->n_labels == field->n_labels &&
           bp->form == field->form && bp->is_shared == shares_tables(field) &&
           (n_edges == 0 || memcmp(bp->edges, field->edges, (size_t)n_edges * sizeof *bp->edges) == 0);
}

static enum clv_status take_graph(struct clv_bp *bp, const struct clv_field *field, int32_t n_edges,
                                  struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)n_edges, k = (size_t)field->n_labels;
    bool is_full = field->form == CLV_PAIRWISE_FULL, is_shared = shares_tables(field);
    size_t cells = is_full ? k * k : 1, n_tables = is_shared ? 2 : m;
    bp_release(bp);
    bp->edges = array_alloc(m, sizeof *bp->edges);
    bp->first = array_alloc(n + 1, sizeof *bp->first);
    bp->arc = array_alloc(m, 2 * sizeof *bp->arc);
    bp->order = array_alloc(n, sizeof *bp->order);
    bp->rank = array_alloc(n, sizeof *bp->rank);
    bp->colour = array_alloc(n, sizeof *bp->colour);
    bp->message = array_zalloc(m, 2 * k * sizeof *bp->message);
    bp->unary = array_alloc(n, k * sizeof *bp->unary);
    bp->belief = array_alloc(n, k * sizeof *bp->belief);
    bp->by_colour = array_alloc(n, sizeof *bp->by_colour);
    bp->table = array_alloc(m, sizeof *bp->table);
    bp->pairwise = array_alloc(n_tables, cells * sizeof *bp->pairwise);
    bp->top = array_alloc(n_tables, sizeof *bp->top);
    bp->potts = array_alloc(is_full ? 0 : m, sizeof *bp->potts);
    bp->pair = array_alloc(k, k * sizeof *bp->pair);
    bp->role = array_alloc(n, sizeof *bp->role);
    bp->label = array_alloc(n, sizeof *bp->label);
    bp->decoded = array_alloc(n, sizeof *bp->decoded);
    if (!bp->edges || !bp->first || !bp->arc || !bp->order || !bp->rank || !bp->colour || !bp->message || !bp->unary ||
        !bp->belief || !bp->by_colour || !bp->table || !bp->pairwise || !bp->top || !bp->potts || !bp->pair ||
        !bp->role || !bp->label || !bp->decoded) {
        bp_release(bp);
        return fail_memory(err);
    }
    bp->n_nodes = field->n_nodes;
    bp->n_edges = n_edges;
    bp->n_labels = field->n_labels;
    bp->form = field->form;
    bp->is_shared = is_shared;
    array_put(bp->edges, field->edges, m, sizeof *bp->edges);
    list_arcs(bp);
    order_nodes(bp);
    colour_nodes(bp);
    sort_by_colour(bp);
    return CLV_OK;
}

static void take_scores(struct clv_bp *bp, const struct clv_field *field, double temperature)
{
    size_t n = (size_t)bp->n_nodes, m = (size_t)bp->n_edges, k = (size_t)bp->n_labels;
    double scale = 1 / temperature;
    if (k == 2) {
        for (size_t i = 0; i < n; i++) {
            bp->unary[2 * i] = 0;
            bp->unary[2 * i + 1] = field->unary[i] * scale;
        }
    } else {
        for (size_t c = 0; c < n * k; c++)
            bp->unary[c] = field->unary[c] * scale;
    }
    size_t cells = bp->form == CLV_PAIRWISE_FULL ? k * k : 1, n_given = (bp->is_shared && m ? 1 : m) * cells;
    for (size_t e = 0; e < m; e++)
        bp->table[e] = bp->is_shared ? 0 : (int32_t)e;
    for (size_t c = 0; c < n_given; c++)
        bp->pairwise[c] = field->pairwise[c] * scale;
    if (bp->is_shared)
        memset(&bp->pairwise[cells], 0, cells * sizeof *bp->pairwise);
}

/* Fixes labels: the other labels of the node score -inf. Its pairwise scores are added to the neighbours' unary scores,
 * and its edges score 0. */
static void settle_labels(struct clv_bp *bp, const int32_t *label)
{
    size_t k = (size_t)bp->n_labels, cells = bp->form == CLV_PAIRWISE_FULL ? k * k : 1;
    for (int32_t i = 0; i < bp->n_nodes; i++)
        bp->label[i] = label ? label[i] : CLV_UNKNOWN;
    for (int32_t arc = 0; label && arc < 2 * bp->n_edges; arc++) {
        int32_t source = arc_source(bp, arc), target = arc_target(bp, arc);
        if (label[source] == CLV_UNKNOWN)
            continue;
        for (size_t b = 0; b < k; b++)
            bp->unary[(size_t)target * k + b] += bp_pair_score(bp, arc, (size_t)label[source], b);
        if (bp->is_shared)
            bp->table[arc >> 1] = 1;
        else
            memset(&bp->pairwise[(size_t)(arc >> 1) * cells], 0, cells * sizeof *bp->pairwise);
    }
    for (int32_t i = 0; label && i < bp->n_nodes; i++)
        for (size_t a = 0; label[i] != CLV_UNKNOWN && a < k; a++)
            if (a != (size_t)label[i])
                bp->unary[(size_t)i * k + a] = -INFINITY;
}

static void forget_messages(struct clv_bp *bp)
{
    bp->is_linear = 0;
    if (bp->n_edges)
        memset(bp->message, 0, (size_t)bp->n_edges * 2 * (size_t)bp->n_labels * sizeof *bp->message);
}

enum clv_status bp_resume(struct clv_bp *bp, const struct clv_field *field, const float *messages,
                          struct clv_error *err)
{
    int32_t n_edges = field_n_edges(field);
    if (!has_graph_of(bp, field, n_edges))
        MUST(take_graph(bp, field, n_edges, err));
    size_t n = 2 * (size_t)n_edges * (size_t)field->n_labels;
    bp->is_linear = 0;
    for (size_t c = 0; c < n; c++)
        bp->message[c] = (double)messages[c];
    return CLV_OK;
}

void bp_keep_messages(float *messages, struct clv_bp *bp)
{
    size_t n = 2 * (size_t)bp->n_edges * (size_t)bp->n_labels;
    bp_leave_linear(bp);
    for (size_t c = 0; c < n; c++)
        messages[c] = (float)bp->message[c];
}

enum clv_status bp_load(struct clv_bp *bp, const struct clv_field *field, double temperature, const int32_t *label,
                        bool is_warm, struct clv_error *err)
{
    int32_t n_edges = field_n_edges(field);
    if (!has_graph_of(bp, field, n_edges)) {
        MUST(take_graph(bp, field, n_edges, err));
    } else if (!is_warm) {
        forget_messages(bp);
    }
    take_scores(bp, field, temperature);
    settle_labels(bp, label);
    bp->has_kernels = false;
    return CLV_OK;
}
