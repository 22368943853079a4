/* Solves the MAP problems of learners: loads the scores of a problem under weights, with or without its loss, and finds
 * the MAP labelling. Every thread has a decoder, which keeps its memory. Start at decode. */
#include "learn/common/common.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "infer/infer.h"

/* Decoders under construction, which decoders_new releases if it fails. */
struct decoder_list {
    struct decoder *decoders; /* [n] */
    int n;
};

static void decoder_list_release(struct decoder_list *list)
{
    decoders_free(list->decoders, list->n);
}

enum clv_status decoders_new(struct decoder **decoders, int n, enum clv_engine engine, struct clv_error *err)
{
    *decoders = NULL;
    OWNED(decoder_list_release) struct decoder_list result = {array_zalloc((size_t)n, sizeof *result.decoders), n};
    NEED(result.decoders);
    for (int t = 0; t < n; t++)
        MUST(clv_oracle_new(&result.decoders[t].oracle, engine, err));
    *decoders = TAKE(result.decoders);
    return CLV_OK;
}

void decoders_free(struct decoder *decoders, int n)
{
    for (int t = 0; decoders && t < n; t++) {
        clv_oracle_free(decoders[t].oracle);
        arrays_free(decoders[t].field.unary, decoders[t].field.pairwise, decoders[t].y, decoders[t].is_visible);
    }
    array_free(decoders);
}

void decoders_watch(struct decoder *decoders, int n, const struct clv_dataset *source)
{
    for (int t = 0; t < n; t++)
        decoders[t].source = source;
}

/* The number of entries in the pairwise table of one edge. */
static size_t entries_per_edge(const struct clv_weight_layout *layout)
{
    switch (layout->pairwise) {
    case CLV_PAIRWISE_NONE: return 0;
    case CLV_PAIRWISE_POTTS: return 1;
    case CLV_PAIRWISE_FULL: return (size_t)layout->n_labels * (size_t)layout->n_labels;
    }
    return 0;
}

/* Whether every edge has one feature, which is 1. All edges then have the same table, which is stored once. */
static bool shares_table(const struct clv_problem *problem, const struct clv_weight_layout *layout)
{
    int same = layout->pairwise == CLV_PAIRWISE_FULL && layout->n_edge_features == 1;
    for (int32_t e = 0; same && e < problem->n_edges; e++)
        same = problem->edge_features[e] == 1;
    return same;
}

static bool any_unknown(const struct clv_problem *problem)
{
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (problem->label[i] == CLV_UNKNOWN)
            return 1;
    return 0;
}

static enum clv_status load(struct decoder *self, const struct clv_problem *problem,
                            const struct clv_weight_layout *layout, const double *w, bool is_shared,
                            struct clv_error *err)
{
    struct clv_field *field = &self->field;
    dataset_notify_access(self->source, problem);
    size_t n = (size_t)problem->n_nodes, n_tables = is_shared ? 1 : (size_t)problem->n_edges;
    size_t n_pairwise = n_tables * entries_per_edge(layout);
    if (array_reserve((void **)&field->unary, &self->unary_capacity, n * clv_weight_layout_rows(layout),
                      sizeof(double)) ||
        array_reserve((void **)&field->pairwise, &self->pairwise_capacity, n_pairwise, sizeof(double)) ||
        array_reserve((void **)&self->y, &self->y_capacity, n, sizeof(int32_t)))
        return fail_memory(err);
    field_set_graph(field, problem, layout);
    field->is_shared = is_shared;
    clv_unary_scores(field->unary, problem, layout, w);
    if (is_shared)
        memcpy(field->pairwise, w + clv_weight_layout_unary_size(layout), n_pairwise * sizeof *field->pairwise);
    else
        clv_pairwise_scores(field->pairwise, problem, layout, w);
    return CLV_OK;
}

enum clv_status decoder_load(struct decoder *self, const struct clv_problem *problem,
                             const struct clv_weight_layout *layout, const double *w, struct clv_error *err)
{
    return load(self, problem, layout, w, shares_table(problem, layout), err);
}

/* Loads a field for drop_unknown, which needs a table for every edge if nodes are unlabelled. */
static enum clv_status load_for_known(struct decoder *self, const struct clv_problem *problem,
                                      const struct clv_weight_layout *layout, const double *w, struct clv_error *err)
{
    return load(self, problem, layout, w, shares_table(problem, layout) && !any_unknown(problem), err);
}

/* Sets the scores of unlabelled nodes and of their edges to 0. */
static void drop_unknown(struct clv_field *field, const struct clv_problem *problem,
                         const struct clv_weight_layout *layout)
{
    size_t n_rows = clv_weight_layout_rows(layout), n_entries = entries_per_edge(layout);
    const int32_t *label = problem->label;
    if (!any_unknown(problem))
        return;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++)
        if (label[i] == CLV_UNKNOWN)
            memset(field->unary + i * n_rows, 0, n_rows * sizeof *field->unary);
    for (size_t e = 0; e < (size_t)field->n_edges; e++)
        if (label[field->edges[e][0]] == CLV_UNKNOWN || label[field->edges[e][1]] == CLV_UNKNOWN)
            memset(field->pairwise + e * n_entries, 0, n_entries * sizeof *field->pairwise);
}

enum clv_status decoder_load_known(struct decoder *self, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout, const double *w, struct clv_error *err)
{
    MUST(load_for_known(self, problem, layout, w, err));
    drop_unknown(&self->field, problem, layout);
    return CLV_OK;
}

static enum clv_status map_known(struct decoder *self, double *score, const struct clv_problem *problem,
                                 struct clv_error *err)
{
    MUST(clv_oracle_map(self->oracle, self->y, score, &self->field, err));
    for (int32_t i = 0; i < problem->n_nodes; i++)
        if (problem->label[i] == CLV_UNKNOWN)
            self->y[i] = CLV_UNKNOWN;
    return CLV_OK;
}

enum clv_status decode(struct decoder *self, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                       const double *w, struct clv_error *err)
{
    MUST(decoder_load(self, problem, layout, w, err));
    return clv_oracle_map(self->oracle, self->y, NULL, &self->field, err);
}

enum clv_status decode_by(struct decoder *self, const struct clv_decoding *decoding, const struct clv_problem *problem,
                          const struct clv_weight_layout *layout, const double *w, struct clv_error *err)
{
    if (!decoding || decoding->rule == CLV_DECODE_ORACLE)
        return decode(self, problem, layout, w, err);
    MUST(decoder_load(self, problem, layout, w, err));
    size_t n = (size_t)problem->n_nodes;
    if (array_reserve((void **)&self->is_visible, &self->visible_capacity, n, 1))
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        self->is_visible[i] = problem->label[i] != CLV_UNKNOWN;
    return clv_oracle_decode(self->oracle, self->y, &self->field, self->is_visible, decoding, err);
}

enum clv_status decode_known(struct decoder *self, double *score, const struct clv_problem *problem,
                             const struct clv_weight_layout *layout, const double *w, struct clv_error *err)
{
    MUST(decoder_load_known(self, problem, layout, w, err));
    return map_known(self, score, problem, err);
}

enum clv_status decode_augmented(struct decoder *self, double *score, const struct clv_problem *problem,
                                 const struct clv_weight_layout *layout, const double *w, struct clv_error *err)
{
    MUST(load_for_known(self, problem, layout, w, err));
    clv_field_add_loss(&self->field, problem);
    drop_unknown(&self->field, problem, layout);
    return map_known(self, score, problem, err);
}

double decoder_truth_score(const struct decoder *self, const struct clv_problem *problem)
{
    const struct clv_field *field = &self->field;
    const int32_t *label = problem->label;
    size_t n_labels = (size_t)field->n_labels;
    double score = 0;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++)
        if (label[i] != CLV_UNKNOWN && n_labels > 2)
            score += field->unary[i * n_labels + (size_t)label[i]];
        else if (label[i] == 1)
            score += field->unary[i];
    for (size_t e = 0; e < (size_t)field->n_edges; e++) {
        int32_t a = label[field->edges[e][0]], b = label[field->edges[e][1]];
        if (a == CLV_UNKNOWN || b == CLV_UNKNOWN)
            continue;
        if (field->form == CLV_PAIRWISE_FULL)
            score += clv_field_table(field, (int32_t)e)[(size_t)a * n_labels + (size_t)b];
        else if (a != b)
            score -= field->pairwise[e];
    }
    return score;
}

double most_known_loss(const struct clv_problem *problem, int32_t n_labels)
{
    double loss = 0;
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++) {
        const float *theta = problem->theta + i * (size_t)n_labels;
        double total = 0, least = INFINITY;
        for (int32_t b = 0; b < n_labels; b++) {
            total += (double)theta[b];
            least = fmin(least, (double)theta[b]);
        }
        loss += problem->label[i] == CLV_UNKNOWN ? 0 : total - least;
    }
    return loss;
}

double known_loss(const struct clv_problem *problem, int32_t n_labels, const int32_t *y)
{
    double loss = 0;
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (int32_t b = 0; b < n_labels && problem->label[i] != CLV_UNKNOWN; b++)
            if (b != y[i])
                loss += (double)problem->theta[i * (size_t)n_labels + (size_t)b];
    return loss;
}
