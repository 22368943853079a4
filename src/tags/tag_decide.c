/* Decides the tags of an example from its input scores, for all forms of models: by signs, dynamic programming on a
 * chain, enumeration, branch and bound, or max-product messages and single flips. Start at clv_tag_decide, at the
 * end. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "cleave/infer.h"
#include "infer/infer.h"
#include "tags/tags.h"

/* State of a search with undirected couplings: y, and the activation a_i + sum_j c_ij y_j of each tag. */
struct state {
    const struct clv_tag_model *model;
    const double *scores;
    double *activation; /* [n_tags] */
    int8_t *y, *best;
};

/* Coupling c_ij = c_ji, stored once, in the order c_10, c_20, c_21, c_30 and so on. */
static double coupling(const struct clv_tag_model *model, size_t i, size_t j)
{
    size_t high = i > j ? i : j, low = i > j ? j : i;
    return i == j ? 0 : model->coupling[high * (high - 1) / 2 + low];
}

/* The objective to be minimised. LMBM: sum_i [1 - z_i]_+. FULL: -(sum_i a_i y_i + sum_{i<j} c_ij y_i y_j) = -1/2 sum_i
 * y_i (a_i + activation_i). */
static double objective(const struct state *self)
{
    double sum = 0;
    for (int32_t i = 0; i < self->model->n_tags; i++)
        if (self->model->form == CLV_TAGS_LMBM)
            sum += fmax(0, 1 - self->y[i] * self->activation[i]);
        else
            sum -= 0.5 * self->y[i] * (self->scores[i] + self->activation[i]);
    return sum;
}

static void compute_activations(struct state *self)
{
    size_t n = (size_t)self->model->n_tags;
    for (size_t i = 0; i < n; i++) {
        self->activation[i] = self->scores[i];
        for (size_t j = 0; j < n; j++)
            self->activation[i] += coupling(self->model, i, j) * self->y[j];
    }
}

static void flip(struct state *self, size_t k)
{
    self->y[k] = (int8_t)-self->y[k];
    for (size_t i = 0; i < (size_t)self->model->n_tags; i++)
        self->activation[i] += 2 * coupling(self->model, i, k) * self->y[k];
}

/* Tries all labellings in Gray code, so that successive labellings differ by one flip. */
static double enumerate(struct state *self, uint64_t *n_tried)
{
    size_t n = (size_t)self->model->n_tags;
    memset(self->y, -1, n);
    compute_activations(self);
    double least = objective(self);
    memcpy(self->best, self->y, n);
    *n_tried = (uint64_t)1 << n;
    for (uint64_t step = 1; step < *n_tried; step++) {
        flip(self, (size_t)__builtin_ctzll(step));
        double value = objective(self);
        if (value < least) {
            least = value;
            memcpy(self->best, self->y, n);
        }
    }
    return least;
}

/* Initialises y by max-product belief propagation for sum_i a_i y_i + sum_{i<j} c_ij y_i y_j. */
static enum clv_status start_from_messages(struct state *self, struct clv_error *err)
{
    const struct clv_tag_model *model = self->model;
    size_t n = (size_t)model->n_tags, n_edges = n * (n - 1) / 2;
    OWNED_ARRAY double *unary = array_alloc(2 * n, sizeof *unary);
    OWNED_ARRAY double *pairwise = array_alloc(4 * n_edges, sizeof *pairwise);
    OWNED_ARRAY int32_t(*edges)[2] = array_alloc(n_edges, sizeof *edges);
    OWNED_ARRAY int32_t *labels = array_alloc(n, sizeof *labels);
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    struct clv_bp_options options;
    NEED(unary && pairwise && edges && labels);
    MUST(clv_bp_new(&bp, err));
    for (size_t i = 0, e = 0; i < n; i++) {
        unary[2 * i] = -self->scores[i];
        unary[2 * i + 1] = self->scores[i];
        for (size_t j = 0; j < i; j++, e++) {
            double c = model->coupling[e];
            edges[e][0] = (int32_t)j;
            edges[e][1] = (int32_t)i;
            memcpy(pairwise + 4 * e, ((double[]){c, -c, -c, c}), 4 * sizeof c);
        }
    }
    const struct clv_field field = {.n_nodes = model->n_tags,
                                    .n_edges = (int32_t)n_edges,
                                    .n_labels = 2,
                                    .form = CLV_PAIRWISE_FULL,
                                    .edges = edges,
                                    .unary = unary,
                                    .pairwise = pairwise};
    clv_bp_defaults(&options);
    options.mode = CLV_BP_MAX;
    options.damping = 0.5;
    MUST(clv_bp_run(bp, NULL, labels, NULL, &field, &options, err));
    for (size_t i = 0; i < n; i++)
        self->y[i] = labels[i] ? 1 : -1;
    return CLV_OK;
}

/* Flips single tags of self->y while the objective decreases. */
static void descend(struct state *self, double *value, uint64_t *n_tried)
{
    size_t n = (size_t)self->model->n_tags;
    compute_activations(self);
    *value = objective(self);
    *n_tried = 1;
    for (bool is_better = 1; is_better;) {
        is_better = 0;
        for (size_t k = 0; k < n; k++, ++*n_tried) {
            flip(self, k);
            double now = objective(self);
            if (now < *value - 1e-12 * fabs(*value)) {
                *value = now;
                is_better = 1;
            } else {
                flip(self, k);
            }
        }
        compute_activations(self);
        *value = objective(self);
    }
    memcpy(self->best, self->y, n);
}

/* Solves the linear relaxation of FULL: sets the bound, and the tags of self->y that the relaxation decides. */
static enum clv_status relax(struct state *self, double *bound, struct clv_error *err)
{
    OWNED(tag_relaxation_release) struct tag_relaxation relaxation = {0};
    size_t n = (size_t)self->model->n_tags;
    OWNED_ARRAY int8_t *y = array_alloc(n, 1);
    double value = 0;
    NEED(y);
    MUST(tag_relaxation_init(&relaxation, self->model->n_tags, err));
    MUST(tag_relax(y, &value, &relaxation, self->model->coupling, self->scores, err));
    *bound = -value;
    for (size_t i = 0; i < n; i++)
        self->y[i] = y[i] ? y[i] : self->y[i];
    return CLV_OK;
}

static enum clv_status approximate(struct clv_belief_result *found, struct state *self, struct clv_error *err)
{
    bool is_lmbm = self->model->form == CLV_TAGS_LMBM;
    MUST(start_from_messages(self, err));
    if (!is_lmbm)
        MUST(relax(self, &found->bound, err));
    descend(self, &found->loss, &found->n_nodes);
    if (is_lmbm)
        found->bound = 0;
    found->is_optimal = found->loss <= found->bound + 1e-9 * fabs(found->bound);
    return CLV_OK;
}

static enum clv_status decide_undirected(int8_t *y, struct clv_belief_result *result, const struct clv_tag_model *model,
                                         const double *scores, struct clv_error *err)
{
    size_t n = (size_t)model->n_tags;
    OWNED_ARRAY double *activation = array_alloc(n, sizeof *activation);
    OWNED_ARRAY int8_t *tried = array_alloc(n, 1);
    NEED(activation && tried);
    struct state state = {model, scores, activation, tried, y};
    struct clv_belief_result found = {0};
    if (model->n_tags <= CLV_MAX_ENUMERATED) {
        found.loss = found.bound = enumerate(&state, &found.n_nodes);
        found.is_optimal = 1;
    } else {
        MUST(approximate(&found, &state, err));
    }
    *result = found;
    return CLV_OK;
}

static enum clv_status decide_chain(int8_t *y, struct clv_belief_result *result, const struct clv_tag_model *model,
                                    const double *scores, struct clv_error *err)
{
    size_t n = (size_t)model->n_tags;
    OWNED_ARRAY double *unary = array_alloc(2 * n, sizeof *unary);
    OWNED_ARRAY double *table = array_alloc(4 * n, sizeof *table);
    double score = 0;
    OWNED_ARRAY int32_t *labels = array_alloc(n, sizeof *labels);
    NEED(unary && table && labels);
    for (size_t i = 0; i < n; i++) {
        double c = i + 1 < n ? model->coupling[i] : 0;
        unary[2 * i] = -scores[i];
        unary[2 * i + 1] = scores[i];
        memcpy(table + 4 * i, ((double[]){c, -c, -c, c}), 4 * sizeof c);
    }
    const struct clv_chain chain = {model->n_tags, 2, 0, unary, table};
    MUST(clv_chain_map(labels, &score, &chain, err));
    for (size_t i = 0; i < n; i++)
        y[i] = labels[i] ? 1 : -1;
    *result = (struct clv_belief_result){.loss = -score, .bound = -score, .is_optimal = 1, .n_nodes = 2 * n};
    return CLV_OK;
}

static enum clv_status decide_network(int8_t *y, struct clv_belief_result *result, const struct clv_tag_model *model,
                                      const double *scores, const struct clv_belief_search *search,
                                      struct clv_error *err)
{
    size_t n = (size_t)model->n_tags;
    const struct clv_belief_net net = {model->n_tags, model->order, model->coupling};
    OWNED_ARRAY double *input = array_alloc(n, sizeof *input);
    OWNED_ARRAY int8_t *decision = array_alloc(n, 1);
    NEED(input && decision);
    for (size_t p = 0; p < n; p++)
        input[p] = scores[model->tag_of[p]];
    MUST(clv_belief_map(decision, result, &net, input, search, err));
    for (size_t p = 0; p < n; p++)
        y[model->tag_of[p]] = decision[p];
    return CLV_OK;
}

/* Decides each tag by the sign of its score. */
static void decide_alone(int8_t *y, struct clv_belief_result *result, const double *scores, size_t n)
{
    *result = (struct clv_belief_result){.is_optimal = 1, .n_nodes = n};
    for (size_t i = 0; i < n; i++) {
        y[i] = scores[i] > 0 ? 1 : -1;
        result->loss += fmax(0, 1 - fabs(scores[i]));
    }
    result->bound = result->loss;
}

enum clv_status clv_tag_decide(uint8_t *tags, struct clv_belief_result *result, const struct clv_tag_model *model,
                               const double *scores, const struct clv_belief_search *search, struct clv_error *err)
{
    size_t n = (size_t)model->n_tags;
    struct clv_belief_result found = {0};
    OWNED_ARRAY int8_t *y = array_alloc(n, 1);
    NEED(y);
    for (size_t i = 0; i < n; i++)
        FAIL_IF(!isfinite(scores[i]), CLV_ERR_DATA, "the score of tag %zu is %g", i, scores[i]);
    if (model->form == CLV_TAGS_INDEPENDENT || (model->order == 1 && model->form != CLV_TAGS_LMSBN))
        decide_alone(y, &found, scores, n);
    else if (model->form == CLV_TAGS_LMSBN)
        MUST(decide_network(y, &found, model, scores, search, err));
    else if (model->form == CLV_TAGS_CHAIN)
        MUST(decide_chain(y, &found, model, scores, err));
    else
        MUST(decide_undirected(y, &found, model, scores, err));
    for (size_t i = 0; i < n; i++)
        tags[i] = y[i] > 0;
    if (result)
        *result = found;
    return CLV_OK;
}
