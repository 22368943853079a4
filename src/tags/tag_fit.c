/* Fits a model of tags to some examples: gathers their rows, or products of rows, and solves one SVM per decision, or
 * one SVM for all tags if couplings are shared. Start at tag_fit, at the end. */
#include "tags/tags.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "tags/dual_coordinate.h"

#define FEATURES_TIMES 4 /* rows are multiplied if examples are at most this many times the mean number of features */

/* The examples of a fit, gathered. */
struct gathered {
    struct hinge_inputs inputs;
    int64_t *row;
    int32_t *index;
    double *value, *gram;
    int8_t *y;   /* [n_tags][n] */
    double *phi; /* [n][n_tags] y as doubles, tags in the order of decisions */
};

static void gathered_release(struct gathered *self)
{
    hinge_inputs_release(&self->inputs);
    arrays_free(self->row, self->index, self->value, self->gram, self->y, self->phi);
}

static enum clv_status gather_rows(struct gathered *self, const struct tag_fit_task *task, struct clv_error *err)
{
    const struct kernel_rows *rows = &task->problem->rows;
    size_t n_values = 0;
    for (size_t l = 0; l < task->n; l++)
        n_values += (size_t)(rows->row[task->examples[l] + 1] - rows->row[task->examples[l]]);
    self->row = array_alloc(task->n + 1, sizeof *self->row);
    self->index = array_alloc(n_values, sizeof *self->index);
    self->value = array_alloc(n_values, sizeof *self->value);
    NEED(self->row && self->index && self->value);
    self->row[0] = 0;
    for (size_t l = 0; l < task->n; l++) {
        int64_t from = rows->row[task->examples[l]];
        size_t count = (size_t)(rows->row[task->examples[l] + 1] - from);
        memcpy(self->index + self->row[l], rows->index + from, count * sizeof *self->index);
        memcpy(self->value + self->row[l], rows->value + from, count * sizeof *self->value);
        self->row[l + 1] = self->row[l] + (int64_t)count;
    }
    return CLV_OK;
}

static enum clv_status gather_gram(struct gathered *self, const struct tag_fit_task *task, struct clv_error *err)
{
    size_t n = task->n, all = task->problem->rows.n;
    self->gram = array_alloc(n * n, sizeof *self->gram);
    NEED(self->gram);
    for (size_t l = 0; l < n; l++) {
        const double *from = task->problem->gram + (size_t)task->examples[l] * all;
        for (size_t m = 0; m < n; m++)
            self->gram[l * n + m] = from[task->examples[m]];
    }
    return CLV_OK;
}

/* Computes the Gram matrix of few examples with many features: the solver then updates stored scores instead of summing
 * over features. w is rounded differently, so this is done only in cross-validation (is_compared). */
static enum clv_status multiply_rows(struct gathered *self, const struct tag_fit_task *task, struct clv_error *err)
{
    size_t n = task->n, d = (size_t)task->problem->rows.n_features;
    if (!task->is_compared || n * n > FEATURES_TIMES * (size_t)self->row[n])
        return CLV_OK;
    OWNED_ARRAY double *row = array_zalloc(d, sizeof *row);
    self->gram = array_alloc(n * n, sizeof *self->gram);
    NEED(row && self->gram);
    for (size_t l = 0; l < n; l++) {
        for (int64_t k = self->row[l]; k < self->row[l + 1]; k++)
            row[self->index[k]] += self->value[k];
        for (size_t m = 0; m <= l; m++) {
            double sum = 0;
            for (int64_t k = self->row[m]; k < self->row[m + 1]; k++)
                sum += row[self->index[k]] * self->value[k];
            self->gram[l * n + m] = self->gram[m * n + l] = sum;
        }
        for (int64_t k = self->row[l]; k < self->row[l + 1]; k++)
            row[self->index[k]] = 0;
    }
    return CLV_OK;
}

static int32_t tag_at(const struct tag_fit_task *task, size_t decision)
{
    return task->tag_of ? task->tag_of[decision] : (int32_t)decision;
}

static enum clv_status gather(struct gathered *self, const struct tag_fit_task *task, struct clv_error *err)
{
    size_t n = task->n, k = (size_t)task->problem->n_tags;
    MUST(task->problem->gram ? gather_gram(self, task, err) : gather_rows(self, task, err));
    if (!task->problem->gram)
        MUST(multiply_rows(self, task, err));
    self->inputs = (struct hinge_inputs){.n = n,
                                         .row = self->row,
                                         .index = self->index,
                                         .value = self->value,
                                         .n_features = task->problem->rows.n_features,
                                         .gram = self->gram,
                                         .bias = 1};
    self->y = array_alloc(n * k, 1);
    self->phi = array_alloc(n * k, sizeof *self->phi);
    NEED(self->y && self->phi);
    for (size_t l = 0; l < n; l++)
        for (size_t p = 0; p < k; p++) {
            size_t tag = (size_t)tag_at(task, p);
            int8_t y = task->problem->tags[(size_t)task->examples[l] * k + tag] ? 1 : -1;
            self->y[tag * n + l] = y;
            self->phi[l * k + p] = y;
        }
    return hinge_inputs_init(&self->inputs, err);
}

/* The hinge problems of a fit, one per tag in the order of decisions, and their results. */
struct fit_state {
    const struct tag_fit_task *task;
    struct gathered data;
    struct clv_tag_model *model;
    double *alpha; /* [n_tags][n] by tag */
    struct hinge_result *results;
};

static struct hinge_options solver_options(const struct tag_fit_task *task)
{
    return (struct hinge_options){.tolerance = task->parameters[CLV_TAG_TOLERANCE],
                                  .max_passes = (int32_t)task->parameters[CLV_TAG_PASSES],
                                  .warm = task->alpha ? task->warm : 0,
                                  .seed = task->seed,
                                  .progress = task->progress};
}

static struct hinge_tag hinge_tag_of(struct fit_state *self, int32_t tag)
{
    size_t n = self->task->n, i = (size_t)tag;
    return (struct hinge_tag){
        .number = tag,
        .y = self->data.y + i * n,
        .alpha = self->alpha + i * n,
        .w = self->model->weight ? self->model->weight + i * (size_t)self->model->n_features : NULL,
    };
}

static struct hinge_block block_of(struct fit_state *self, struct hinge_tag *tags, size_t n_tags, bool is_shared)
{
    const double *parameters = self->task->parameters;
    return (struct hinge_block){
        .inputs = &self->data.inputs,
        .tags = tags,
        .n_tags = n_tags,
        .is_shared = is_shared,
        .c = 1 / (parameters[CLV_TAG_LAMBDA] * (double)self->task->n),
        .eta = 1 + parameters[CLV_TAG_ETA0],
    };
}

/* Fits one decision: an SVM on the input's features and on products of the tags decided before. */
static enum clv_status fit_decision(void *context, size_t decision, int thread, struct clv_error *err)
{
    (void)thread;
    struct fit_state *self = context;
    struct clv_tag_model *model = self->model;
    size_t n = self->task->n, k = (size_t)model->n_tags;
    struct hinge_tag tag = hinge_tag_of(self, tag_at(self->task, decision));
    OWNED_ARRAY double *products = NULL;
    double nothing = 0;
    tag.phi = self->data.phi;
    tag.stride = k;
    tag.v = &nothing;
    if (model->form == CLV_TAGS_LMSBN) {
        tag.n_phi = clv_belief_count((int32_t)decision, model->order);
        tag.v = model->coupling + clv_belief_offset((int32_t)decision, model->order);
    }
    if (model->form == CLV_TAGS_LMSBN && model->order > 2) {
        tag.phi = products = array_alloc(n * tag.n_phi, sizeof *products);
        tag.stride = tag.n_phi;
        NEED(products);
        for (size_t l = 0; l < n; l++)
            clv_belief_products(products + l * tag.n_phi, self->data.phi + l * k, (int32_t)decision, model->order);
    }
    struct hinge_block block = block_of(self, &tag, 1, 0);
    struct hinge_options options = solver_options(self->task);
    MUST(hinge_solve(&self->results[decision], &block, &options, err));
    if (tag.w && self->data.gram)
        hinge_weigh(&tag, &self->data.inputs);
    model->bias[tag.number] = tag.b;
    return CLV_OK;
}

/* Fits all tags together with shared couplings, as a Boltzmann machine. */
static enum clv_status fit_together(struct fit_state *self, struct clv_error *err)
{
    struct clv_tag_model *model = self->model;
    size_t k = (size_t)model->n_tags;
    OWNED_ARRAY double *matrix = array_zalloc(k * k, sizeof *matrix);
    OWNED_ARRAY struct hinge_tag *tags = array_alloc(k, sizeof *tags);
    NEED(matrix && tags);
    for (size_t i = 0; i < k; i++) {
        tags[i] = hinge_tag_of(self, (int32_t)i);
        tags[i].phi = self->data.phi;
        tags[i].n_phi = tags[i].stride = k;
        tags[i].v = matrix + i * k;
    }
    struct hinge_block block = block_of(self, tags, k, 1);
    struct hinge_options options = solver_options(self->task);
    MUST(hinge_solve(&self->results[0], &block, &options, err));
    for (size_t i = 0; i < k; i++) {
        if (tags[i].w && self->data.gram)
            hinge_weigh(&tags[i], &self->data.inputs);
        model->bias[i] = tags[i].b;
        for (size_t j = 0; j < i; j++)
            model->coupling[i * (i - 1) / 2 + j] = matrix[i * k + j];
    }
    return CLV_OK;
}

static enum clv_status model_init(struct clv_tag_model *model, const struct tag_fit_task *task, struct clv_error *err)
{
    size_t k = (size_t)task->problem->n_tags, d = (size_t)task->problem->rows.n_features;
    int32_t order = task->form == CLV_TAGS_INDEPENDENT ? 1 : (int32_t)task->parameters[CLV_TAG_ORDER];
    *model = (struct clv_tag_model){
        .form = task->form,
        .n_tags = (int32_t)k,
        .n_features = (int32_t)d,
        .order = order,
        .tag_of = array_alloc(k, sizeof *model->tag_of),
        .bias = array_zalloc(k, sizeof *model->bias),
        .coupling = array_zalloc(clv_tag_coupling_count(task->form, (int32_t)k, order), sizeof *model->coupling),
    };
    if (task->problem->gram) {
        model->n_vectors = task->n;
        model->coefficient = array_zalloc(k * task->n, sizeof *model->coefficient);
        model->gamma = task->parameters[CLV_TAG_GAMMA];
    } else {
        model->weight = array_zalloc(k * d, sizeof *model->weight);
    }
    if (!model->tag_of || !model->bias || !model->coupling || (!model->weight && !model->coefficient))
        return fail_memory(err);
    for (size_t p = 0; p < k; p++)
        model->tag_of[p] = tag_at(task, p);
    return CLV_OK;
}

/* Sums objectives times lambda, which gives equation (6): the mean of the hinges over examples. */
static struct clv_tag_training_result sum_results(const struct fit_state *self, size_t n_results)
{
    struct clv_tag_training_result sum = {.is_converged = true};
    double lambda = self->task->parameters[CLV_TAG_LAMBDA];
    for (size_t i = 0; i < n_results; i++) {
        sum.primal += lambda * self->results[i].primal;
        sum.dual += lambda * self->results[i].dual;
        sum.is_converged &= self->results[i].is_converged;
        if (self->results[i].n_passes > sum.n_passes)
            sum.n_passes = self->results[i].n_passes;
    }
    sum.interrupted = stop_requested(self->task->progress);
    return sum;
}

static void fitting_release(struct fit_state *self)
{
    gathered_release(&self->data);
    array_free(self->results);
}

static enum clv_status fit_hinges(struct clv_tag_model *model, struct clv_tag_training_result *result,
                                  const struct tag_fit_task *task, struct clv_error *err)
{
    size_t k = (size_t)model->n_tags, n = task->n;
    OWNED_ARRAY double *own_alpha = task->alpha ? NULL : array_zalloc(k * n, sizeof *own_alpha);
    OWNED(fitting_release) struct fit_state self = {
        .task = task,
        .model = model,
        .alpha = task->alpha ? task->alpha : own_alpha,
        .results = array_zalloc(k, sizeof *self.results),
    };
    NEED(self.alpha && self.results);
    /* Without shared couplings every decision is a separate problem; without any couplings all forms are K binary
     * classifiers. */
    bool is_joined = model->form == CLV_TAGS_LMBM && model->order > 1;
    MUST(gather(&self.data, task, err));
    MUST(is_joined ? fit_together(&self, err) : parallel_for(k, task->n_threads, fit_decision, &self, err));
    for (size_t i = 0; model->coefficient && i < k * n; i++)
        model->coefficient[i] = self.alpha[i] * self.data.y[i];
    *result = sum_results(&self, is_joined ? 1 : k);
    return CLV_OK;
}

enum clv_status tag_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                        const struct tag_fit_task *task, struct clv_error *err)
{
    OWNED(clv_tag_model_release) struct clv_tag_model fitted = {0};
    struct clv_tag_training_result summary = {0};
    MUST(model_init(&fitted, task, err));
    MUST(task->is_structural ? tag_structural_fit(&fitted, &summary, task, err)
                             : fit_hinges(&fitted, &summary, task, err));
    *model = TAKE(fitted);
    *result = summary;
    return CLV_OK;
}
