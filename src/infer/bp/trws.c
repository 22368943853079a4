/* Sequential tree-reweighted message passing (Kolmogorov, PAMI 2006, figure 3), for maxima. It lowers an upper bound
 * and keeps the best labelling that it meets. Nodes are passed in breadth-first order and back. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/bp/bp.h"
#include "infer/infer.h"

struct pass_state {
    struct clv_bp *bp;
    const struct clv_field *field;
    int32_t *y, *best; /* of this pass, and the best so far */
    double score;      /* of `best` */
};

/* Returns whether the arc's target comes later in this pass; false for edges of nodes with fixed labels. */
static bool is_ahead(const struct clv_bp *bp, int32_t arc, bool is_backward)
{
    return !bp_is_settled(bp, arc >> 1) &&
           (bp->rank[arc_target(bp, arc)] < bp->rank[arc_source(bp, arc)]) == is_backward;
}

/* Returns the best label of a node, given the labels of the nodes passed before and the messages of the others. */
static int32_t decide(const struct pass_state *self, const double *belief, int32_t node, bool is_backward)
{
    const struct clv_bp *bp = self->bp;
    size_t k = (size_t)bp->n_labels;
    double score[CLV_BP_MAX_LABELS];
    memcpy(score, belief, k * sizeof *score);
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        int32_t back = bp->arc[s] ^ 1;
        if (bp_is_settled(bp, back >> 1) || is_ahead(bp, bp->arc[s], is_backward))
            continue;
        for (size_t a = 0; a < k; a++)
            score[a] +=
                bp_pair_score(bp, back, (size_t)self->y[arc_source(bp, back)], a) - bp->message[(size_t)back * k + a];
    }
    int32_t label = 0;
    for (size_t a = 1; a < k; a++)
        label = score[a] > score[label] ? (int32_t)a : label;
    return label;
}

/* With node s's belief b_s, less its largest value, and g_s = 1 / max(arcs ahead, arcs behind),
 *     M_st(x_t) = max over x_s of g_s b_s - M_ts + f_st,     less its largest value;
 * Returns the sum of what was subtracted. The bound is the sum of that over all nodes. */
static double pass_node(struct pass_state *self, int32_t node, bool is_backward)
{
    struct clv_bp *bp = self->bp;
    size_t k = (size_t)bp->n_labels;
    double belief[CLV_BP_MAX_LABELS];
    int32_t n_ahead = 0, n_arcs = 0;
    bp_gather(belief, bp, node);
    self->y[node] = decide(self, belief, node, is_backward);
    double highest = maximum(belief, k), taken = highest;
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        n_ahead += is_ahead(bp, bp->arc[s], is_backward);
        n_arcs += !bp_is_settled(bp, bp->arc[s] >> 1);
    }
    double share = n_arcs ? 1.0 / (2 * n_ahead > n_arcs ? n_ahead : n_arcs - n_ahead) : 1;
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        int32_t arc = bp->arc[s];
        const double *back = &bp->message[(size_t)(arc ^ 1) * k];
        double *message = &bp->message[(size_t)arc * k];
        if (!is_ahead(bp, arc, is_backward))
            continue;
        for (size_t a = 0; a < k; a++)
            bp->cavity[a] = share * (belief[a] - highest) - back[a];
        taken += bp_eliminate(bp->outgoing, bp, arc, BP_MAX_OUT, bp->cavity);
        double top = maximum(bp->outgoing, k);
        for (size_t a = 0; a < k; a++)
            message[a] = bp->outgoing[a] - top;
        taken += top;
    }
    return taken;
}

/* Passes over all nodes once; returns the bound. */
static double pass(struct pass_state *self, bool is_backward)
{
    struct clv_bp *bp = self->bp;
    double bound = 0;
    for (int32_t r = 0; r < bp->n_nodes; r++)
        bound += pass_node(self, bp->order[is_backward ? bp->n_nodes - 1 - r : r], is_backward);
    double score = clv_field_score(self->field, self->y);
    if (score > self->score) {
        self->score = score;
        memcpy(self->best, self->y, (size_t)bp->n_nodes * sizeof *self->y);
    }
    return bound;
}

enum clv_status clv_bp_trws(struct clv_bp *bp, int32_t *y, struct clv_trws_result *result,
                            const struct clv_field *field, const struct clv_bp_options *options, struct clv_error *err)
{
    struct clv_bp_options used;
    clv_bp_defaults(&used);
    if (options) {
        used.label = options->label;
        used.tolerance = options->tolerance;
        used.max_iterations = options->max_iterations;
        used.is_warm = options->is_warm;
    }
    MUST(bp_check(field, &used, err));
    MUST(bp_load(bp, field, 1, used.label, used.is_warm, err));
    OWNED_ARRAY int32_t *labels = array_alloc((size_t)field->n_nodes, 2 * sizeof *labels);
    NEED(labels);
    bp_leave_linear(bp);
    struct pass_state self = {bp, field, labels, labels + field->n_nodes, -INFINITY};
    struct clv_trws_result found = {.bound = INFINITY};
    while (!found.is_converged && found.n_iterations < used.max_iterations) {
        double before = found.bound;
        pass(&self, 0);
        found.bound = pass(&self, 1);
        found.is_converged = before - found.bound <= used.tolerance || found.bound - self.score <= used.tolerance;
        found.n_iterations++;
    }
    bp->n_iterations = found.n_iterations;
    bp->is_converged = found.is_converged;
    found.score = self.score;
    if (y)
        array_put(y, self.best, (size_t)field->n_nodes, sizeof *y);
    if (result)
        *result = found;
    return CLV_OK;
}
