/* Inference for one example's terms: by elimination on forests or in buckets if that is exact and small enough, by
 * minimum cuts for maxima over two labels, otherwise by belief propagation, which continues from the messages of the
 * previous step. Start at hidden_free, at the end. */
#include "learn/hidden/hidden.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "infer/bp/bp.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"

/* Belief propagation stops early: the remaining error of its messages changes gradients by less than the step does. */
#define TOLERANCE 1e-3

/* Workspaces under construction, which hidden_workspaces_new releases if it fails. */
struct workspace_list {
    struct hidden_workspace *workspaces; /* [n] */
    int n;
};

static void workspace_list_release(struct workspace_list *list)
{
    hidden_workspaces_free(list->workspaces, list->n);
}

enum clv_status hidden_workspaces_new(struct hidden_workspace **workspaces, int n, enum clv_engine engine,
                                      struct clv_error *err)
{
    *workspaces = NULL;
    OWNED(workspace_list_release)
    struct workspace_list result = {array_zalloc((size_t)n, sizeof *result.workspaces), n};
    NEED(result.workspaces);
    for (int t = 0; t < n; t++) {
        MUST(clv_forest_new(&result.workspaces[t].forest, err));
        MUST(clv_bp_new(&result.workspaces[t].bp, err));
        MUST(clv_oracle_new(&result.workspaces[t].oracle, engine, err));
    }
    *workspaces = TAKE(result.workspaces);
    return CLV_OK;
}

void hidden_workspaces_free(struct hidden_workspace *workspaces, int n)
{
    for (int t = 0; workspaces && t < n; t++) {
        struct hidden_workspace *self = &workspaces[t];
        clv_forest_free(self->forest);
        clv_bp_free(self->bp);
        clv_oracle_free(self->oracle);
        bucket_release(&self->free_bucket);
        bucket_release(&self->clamped_bucket);
        arrays_free(self->free.nodes, self->free.pairs, self->clamped.nodes, self->clamped.pairs, self->other.nodes,
                    self->other.pairs, self->is_visible, self->y, self->weight, self->rest.edges, self->rest.unary,
                    self->rest.pairwise);
    }
    array_free(workspaces);
}

static int reserve(struct hidden_term *term, size_t n_nodes, size_t n_edges, size_t k)
{
    return array_reserve((void **)&term->nodes, &term->node_capacity, n_nodes * k, sizeof *term->nodes) ||
           array_reserve((void **)&term->pairs, &term->pair_capacity, n_edges * k * k + 1, sizeof *term->pairs);
}

enum clv_status hidden_workspace_set(struct hidden_workspace *self, const struct hidden_settings *settings,
                                     struct hidden_item *item, const struct clv_problem *problem,
                                     const struct clv_weight_layout *layout, struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes, k = (size_t)layout->n_labels;
    size_t m = layout->pairwise == CLV_PAIRWISE_NONE ? 0 : (size_t)problem->n_edges;
    const struct array_part by_node[] = {{&self->is_visible, sizeof *self->is_visible}, {&self->y, sizeof *self->y}};
    if (reserve(&self->free, n, m, k) || reserve(&self->clamped, n, m, k) || reserve(&self->other, n, m, k) ||
        array_reserve_all(by_node, 2, &self->node_capacity, n) ||
        array_reserve((void **)&self->weight, &self->weight_capacity, n * clv_weight_layout_rows(layout),
                      sizeof *self->weight))
        return fail_memory(err);
    self->settings = settings;
    self->item = item;
    self->label = problem->label;
    self->has_hidden = false;
    for (size_t i = 0; i < n; i++) {
        self->is_visible[i] = problem->label[i] != CLV_UNKNOWN;
        self->has_hidden |= !self->is_visible[i];
    }
    return CLV_OK;
}

/* Sets the marginals of a labelling: 1 at its labels, else 0. */
static void set_certain(struct hidden_term *term, const struct clv_field *field, const int32_t *y)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges, k = (size_t)field->n_labels;
    marginals_of_labels(term->nodes, y, n, k);
    memset(term->pairs, 0, m * k * k * sizeof *term->pairs);
    for (size_t e = 0; e < m; e++)
        term->pairs[(e * k + (size_t)y[field->edges[e][0]]) * k + (size_t)y[field->edges[e][1]]] = 1;
}

static struct clv_forest_options forest_options(const struct hidden_workspace *self, const int32_t *label)
{
    return (struct clv_forest_options){
        .is_visible = self->is_visible,
        .visible_temperature = self->settings->visible_temperature,
        .hidden_temperature = self->settings->hidden_temperature,
        .label = label,
    };
}

/* Whether a term (the clamped one if label is not NULL) is a maximum over all nodes whose label is not fixed. */
static bool is_maximum(const struct hidden_workspace *self, const int32_t *label)
{
    bool is_over_hidden = !self->has_hidden || self->settings->hidden_temperature == 0;
    return is_over_hidden && (label || self->settings->visible_temperature == 0);
}

/* Chooses the method that computes a term of fields on this graph. Fixed labels make it the clamped term. */
static enum clv_status hidden_choose(enum hidden_method *method, struct hidden_workspace *self,
                                     const struct clv_field *graph, const int32_t *label, struct clv_error *err)
{
    const struct clv_forest_options options = forest_options(self, label);
    struct bucket *bucket = label ? &self->clamped_bucket : &self->free_bucket;
    bool fits;
    *method = HIDDEN_FOREST;
    MUST(forest_fits(self->forest, &fits, graph, &options, err));
    if (fits)
        return CLV_OK;
    *method = HIDDEN_CUT;
    if (is_maximum(self, label) && hidden_is_cut(graph->form, graph->n_labels))
        return CLV_OK;
    MUST(bucket_fits(bucket, &fits, graph, &options, self->settings->cells, err));
    *method = fits ? HIDDEN_BUCKETS : HIDDEN_PROPAGATION;
    return CLV_OK;
}

enum clv_status hidden_choose_both(struct hidden_item *item, struct hidden_workspace *self,
                                   const struct hidden_settings *settings, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout, struct clv_error *err)
{
    struct clv_field graph = {.unary = NULL};
    field_set_graph(&graph, problem, layout);
    MUST(hidden_workspace_set(self, settings, item, problem, layout, err));
    MUST(hidden_choose(&item->free_by, self, &graph, NULL, err));
    return hidden_choose(&item->clamped_by, self, &graph, problem->label, err);
}

bool hidden_propagates(const struct clv_training *training, const struct hidden_settings *settings)
{
    struct hidden_workspace *space;
    struct clv_error ignored;
    bool is_found = hidden_workspaces_new(&space, 1, CLV_ENGINE_DEFAULT, &ignored) != CLV_OK;
    for (size_t i = 0; !is_found && i < training->n_examples; i++) {
        struct hidden_item item = {0};
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        dataset_notify_access(training->dataset, &problem);
        is_found = !problem.label ||
                   hidden_choose_both(&item, space, settings, &problem, &training->layout, &ignored) != CLV_OK ||
                   item.free_by == HIDDEN_PROPAGATION || item.clamped_by == HIDDEN_PROPAGATION;
    }
    hidden_workspaces_free(space, 1);
    return is_found;
}

static enum clv_status eliminate(struct hidden_workspace *self, struct hidden_term *term, enum hidden_method method,
                                 const struct clv_field *field, const int32_t *label, struct clv_error *err)
{
    const struct clv_forest_options options = forest_options(self, label);
    struct bucket *bucket = label ? &self->clamped_bucket : &self->free_bucket;
    bool fits;
    if (method == HIDDEN_FOREST)
        return clv_forest_run(self->forest, &term->value, term->nodes, term->pairs, NULL, field, &options, err);
    MUST(bucket_fits(bucket, &fits, field, &options, self->settings->cells, err));
    const struct bucket_outputs outputs = {&term->value, term->nodes, term->pairs, NULL};
    return bucket_run(bucket, &outputs, field, &options, err);
}

/* Makes the next run start from the item's messages, if it has some. */
static enum clv_status resume(struct hidden_workspace *self, struct clv_bp_options *options, enum hidden_messages which,
                              const struct clv_field *field, struct clv_error *err)
{
    options->is_warm = self->item->messages[which] && self->item->has_messages[which];
    return options->is_warm ? bp_resume(self->bp, field, self->item->messages[which], err) : CLV_OK;
}

/* Stores the run's messages in the item, unless the run only evaluates. */
static void keep(struct hidden_workspace *self, enum hidden_messages which)
{
    if (self->is_evaluation || !self->item->messages[which])
        return;
    bp_keep_messages(self->item->messages[which], self->bp);
    self->item->has_messages[which] = 1;
}

/* Counts a run for the free term, and its sweeps. */
static void count(const struct hidden_workspace *self)
{
    if (self->is_evaluation)
        return;
    self->item->n_runs++;
    self->item->n_sweeps += self->bp->n_iterations;
    self->item->n_converged += self->bp->is_converged;
}

/* Runs sum-product belief propagation. */
static enum clv_status sum(struct hidden_workspace *self, struct hidden_term *term, const struct clv_field *field,
                           const struct clv_bp_options *options, struct clv_error *err)
{
    struct clv_bp_result result;
    MUST(clv_bp_run(self->bp, term->nodes, NULL, &result, field, options, err));
    term->value = result.value;
    clv_bp_pair_beliefs(term->pairs, self->bp);
    return CLV_OK;
}

/* Removes nodes with fixed labels from a field: adds the scores of their edges to the unaries of their neighbours, and
 * drops the edges. */
static enum clv_status fix_labels(struct hidden_rest *rest, struct clv_field *left, const struct clv_field *field,
                                  const int32_t *label, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges, per_edge = field->form == CLV_PAIRWISE_FULL ? 4 : 1;
    if (array_reserve((void **)&rest->unary, &rest->node_capacity, n, sizeof *rest->unary) ||
        array_reserve((void **)&rest->edges, &rest->edge_capacity, m + 1, sizeof *rest->edges) ||
        array_reserve((void **)&rest->pairwise, &rest->pair_capacity, per_edge * m + 1, sizeof *rest->pairwise))
        return fail_memory(err);
    *left = *field;
    left->n_edges = 0;
    left->unary = rest->unary;
    left->edges = (const int32_t(*)[2])rest->edges;
    left->pairwise = field->is_shared ? field->pairwise : rest->pairwise;
    memcpy(rest->unary, field->unary, n * sizeof *rest->unary);
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1], at = left->n_edges;
        int32_t y_a = label[a], y_b = label[b];
        if (y_a == CLV_UNKNOWN && y_b == CLV_UNKNOWN) {
            memcpy(rest->edges[at], field->edges[e], sizeof *rest->edges);
            if (!field->is_shared)
                memcpy(&rest->pairwise[per_edge * (size_t)at], &field->pairwise[per_edge * (size_t)e],
                       per_edge * sizeof *rest->pairwise);
            left->n_edges++;
        } else if (y_a == CLV_UNKNOWN) {
            rest->unary[a] += field_pair_score(field, e, 1, y_b) - field_pair_score(field, e, 0, y_b);
        } else if (y_b == CLV_UNKNOWN) {
            rest->unary[b] += field_pair_score(field, e, y_a, 1) - field_pair_score(field, e, y_a, 0);
        }
    }
    return CLV_OK;
}

/* Sets self->y to the best labelling with these labels fixed (NULL: none), by a minimum cut. */
static enum clv_status cut(struct hidden_workspace *self, const struct clv_field *field, const int32_t *label,
                           struct clv_error *err)
{
    struct clv_field left = *field;
    if (label)
        MUST(fix_labels(&self->rest, &left, field, label, err));
    MUST(clv_oracle_map(self->oracle, self->y, NULL, &left, err));
    for (int32_t i = 0; label && i < field->n_nodes; i++)
        self->y[i] = label[i] == CLV_UNKNOWN ? self->y[i] : label[i];
    return CLV_OK;
}

/* Sets self->y to the best labelling with the options' labels fixed: by a minimum cut if the field allows it, otherwise
 * the best that TRW-S finds. Sets *term, unless it is NULL, to the score and marginals of self->y. */
static enum clv_status maximise(struct hidden_workspace *self, struct hidden_term *term, enum hidden_messages which,
                                const struct clv_field *field, struct clv_bp_options options, struct clv_error *err)
{
    struct clv_trws_result result;
    if (field_is_supermodular(field)) {
        MUST(cut(self, field, options.label, err));
        result.score = clv_field_score(field, self->y);
    } else {
        MUST(resume(self, &options, which, field, err));
        MUST(clv_bp_trws(self->bp, self->y, &result, field, &options, err));
        keep(self, which);
        if (which == HIDDEN_OF_FREE)
            count(self);
    }
    if (!term)
        return CLV_OK;
    term->value = result.score;
    set_certain(term, field, self->y);
    return CLV_OK;
}

static struct clv_bp_options bp_options(const struct hidden_workspace *self, enum clv_bp_mode mode)
{
    struct clv_bp_options options;
    clv_bp_defaults(&options);
    options.mode = mode;
    options.tolerance = TOLERANCE;
    options.max_iterations = self->settings->sweeps;
    if (self->settings->hidden_temperature > 0)
        options.temperature = self->settings->hidden_temperature;
    return options;
}

/* Computes the term of fixed visible labels, T_h log sum_h exp(f(label, h) / T_h). */
static enum clv_status clamped_term(struct hidden_workspace *self, struct hidden_term *term,
                                    const struct clv_field *field, const int32_t *label, struct clv_error *err)
{
    struct clv_bp_options options = bp_options(self, CLV_BP_SUM);
    if (self->item->clamped_by == HIDDEN_FOREST || self->item->clamped_by == HIDDEN_BUCKETS)
        return eliminate(self, term, self->item->clamped_by, field, label, err);
    options.label = label;
    if (self->settings->hidden_temperature == 0)
        return maximise(self, term, HIDDEN_OF_CLAMPED, field, options, err);
    MUST(resume(self, &options, HIDDEN_OF_CLAMPED, field, err));
    MUST(sum(self, term, field, &options, err));
    keep(self, HIDDEN_OF_CLAMPED);
    return CLV_OK;
}

enum clv_status hidden_clamped(struct hidden_workspace *self, const struct clv_field *field, const int32_t *label,
                               struct clv_error *err)
{
    return clamped_term(self, &self->clamped, field, label, err);
}

static void swap_terms(struct hidden_term *a, struct hidden_term *b)
{
    struct hidden_term kept = *a;
    *a = *b;
    *b = kept;
}

/* Replaces self->free by the term of self->y's visible labels, if that is larger. */
static enum clv_status try_labels(bool *is_better, struct hidden_workspace *self, const struct clv_field *augmented,
                                  struct clv_error *err)
{
    for (int32_t i = 0; i < augmented->n_nodes; i++)
        self->y[i] = self->is_visible[i] ? self->y[i] : CLV_UNKNOWN;
    MUST(clamped_term(self, &self->other, augmented, self->y, err));
    *is_better = self->other.value > self->free.value;
    if (*is_better)
        swap_terms(&self->free, &self->other);
    return CLV_OK;
}

static enum clv_status mix_once(bool *is_better, struct hidden_workspace *self, const struct clv_bp_options *options,
                                const struct clv_field *augmented, struct clv_error *err)
{
    MUST(clv_bp_run(self->bp, NULL, self->y, NULL, augmented, options, err));
    keep(self, HIDDEN_OF_FREE);
    count(self);
    return try_labels(is_better, self, augmented, err);
}

/* Computes the free term at T_y = 0 < T_h: searches labellings of the visible nodes. Mixed-product continues from its
 * messages, or restarts near the joint maximum if that scores higher. */
static enum clv_status mix(struct hidden_workspace *self, const struct clv_field *augmented, struct clv_error *err)
{
    struct clv_bp_options options = bp_options(self, CLV_BP_MIXED);
    bool is_better = 0;
    options.is_visible = self->is_visible;
    self->free.value = -INFINITY;
    MUST(resume(self, &options, HIDDEN_OF_FREE, augmented, err));
    if (options.is_warm)
        MUST(mix_once(&is_better, self, &options, augmented, err));
    MUST(maximise(self, NULL, HIDDEN_OF_JOINT, augmented, bp_options(self, CLV_BP_MAX), err));
    MUST(try_labels(&is_better, self, augmented, err));
    if (!is_better)
        return CLV_OK;
    options.is_warm = 0;
    options.near = self->y;
    return mix_once(&is_better, self, &options, augmented, err);
}

/* Computes the free term at T_y > 0: once from the messages and once from near the truth, and keeps the larger
 * value. */
static enum clv_status sum_all(struct hidden_workspace *self, const struct clv_field *augmented, struct clv_error *err)
{
    bool is_mixed = self->settings->visible_temperature != self->settings->hidden_temperature;
    struct clv_bp_options options = bp_options(self, is_mixed ? CLV_BP_MIXED : CLV_BP_SUM);
    options.is_visible = self->is_visible;
    options.visible_temperature = self->settings->visible_temperature;
    MUST(resume(self, &options, HIDDEN_OF_FREE, augmented, err));
    MUST(sum(self, &self->free, augmented, &options, err));
    keep(self, HIDDEN_OF_FREE);
    count(self);
    options.is_warm = 0;
    options.near = self->label;
    MUST(sum(self, &self->other, augmented, &options, err));
    if (self->other.value <= self->free.value)
        return CLV_OK;
    keep(self, HIDDEN_OF_FREE);
    swap_terms(&self->free, &self->other);
    return CLV_OK;
}

enum clv_status hidden_free(struct hidden_workspace *self, const struct clv_field *augmented, double truth,
                            struct clv_error *err)
{
    double visible = self->settings->visible_temperature, hidden = self->settings->hidden_temperature;
    if (self->item->free_by == HIDDEN_FOREST || self->item->free_by == HIDDEN_BUCKETS)
        return eliminate(self, &self->free, self->item->free_by, augmented, NULL, err);
    if (self->item->free_by == HIDDEN_CUT || hidden == 0)
        MUST(maximise(self, &self->free, HIDDEN_OF_FREE, augmented, bp_options(self, CLV_BP_MAX), err));
    else if (visible == 0)
        MUST(mix(self, augmented, err));
    else
        MUST(sum_all(self, augmented, err));
    if (visible == 0 && self->free.value < truth) {
        size_t n = (size_t)augmented->n_nodes, m = (size_t)augmented->n_edges, k = (size_t)augmented->n_labels;
        self->free.value = truth;
        memcpy(self->free.nodes, self->clamped.nodes, n * k * sizeof *self->free.nodes);
        memcpy(self->free.pairs, self->clamped.pairs, m * k * k * sizeof *self->free.pairs);
    }
    return CLV_OK;
}
