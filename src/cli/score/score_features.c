/* cleave score of a feature file: nodes, not pixels. */
#include "cli/score/score_features.h"

#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/score.h"
#include "cli/common/console.h"
#include "cli/common/print_values.h"
#include "feature/dataset/feature_shards.h"
#include "model/likelihood.h"

struct scoring {
    const struct clv_dataset *dataset;
    const struct clv_model *model;
    struct clv_oracle **oracles;      /* [n_threads] */
    struct clv_confusion *confusions; /* [n_threads] of known nodes: whole numbers add up to the same in any order */
    struct likelihood *likelihoods;   /* [n_threads]; NULL: not asked for */
    double *loss;                     /* [examples]; NaN: without truth, not scored */
    double *node_error;               /* [examples] that are scored: the share of known nodes that are wrong */
    double *log_likelihood;           /* [examples] of those that are scored, if asked for */
    size_t n_scored;
};

/* Of the examples that are scored: the share of wrong nodes of all, and means over examples. */
struct means {
    double n_known, error, loss, node_error, log_likelihood;
};

static enum clv_status score_example(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct scoring *self = context;
    struct clv_problem problem = clv_dataset_problem(self->dataset, index);
    size_t n = (size_t)problem.n_nodes;
    self->loss[index] = NAN;
    if (!problem.label || !problem.theta)
        return CLV_OK;
    int32_t *y = array_alloc(n, sizeof *y);
    uint8_t *is_visible = array_alloc(n, 1);
    enum clv_status status = y && is_visible ? CLV_OK : fail_memory(err);
    for (size_t i = 0; status == CLV_OK && i < n; i++)
        is_visible[i] = problem.label[i] != CLV_UNKNOWN;
    TRY(clv_model_decode(y, self->model, &problem, is_visible, self->oracles[thread], err));
    size_t n_known = 0, n_wrong = 0;
    for (size_t i = 0; status == CLV_OK && i < n; i++)
        if (is_visible[i]) {
            clv_confusion_add_weighted(&self->confusions[thread], problem.label[i], y[i], 1);
            n_wrong += y[i] != problem.label[i];
            n_known++;
        }
    if (status == CLV_OK) {
        self->node_error[index] = (double)n_wrong / (double)n_known;
        self->loss[index] = clv_loss(&problem, self->model->shape.n_labels, y);
    }
    if (status == CLV_OK && self->likelihoods) {
        status = likelihood_of(&self->log_likelihood[index], &self->likelihoods[thread], self->model, &problem, err);
        if (status == CLV_ERR_USAGE)
            status = fail_within(err, status, "--likelihood");
    }
    array_free(y);
    array_free(is_visible);
    return status;
}

static enum clv_status score_examples(struct scoring *self, bool wants_likelihood, int n_threads, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    self->oracles = array_zalloc((size_t)n_threads, sizeof *self->oracles);
    self->confusions = array_zalloc((size_t)n_threads, sizeof *self->confusions);
    self->loss = array_alloc(clv_dataset_size(self->dataset), sizeof *self->loss);
    self->node_error = array_alloc(clv_dataset_size(self->dataset), sizeof *self->node_error);
    if (!self->oracles || !self->confusions || !self->loss || !self->node_error)
        return fail_memory(err);
    if (wants_likelihood) {
        self->likelihoods = array_zalloc((size_t)n_threads, sizeof *self->likelihoods);
        self->log_likelihood = array_zalloc(clv_dataset_size(self->dataset), sizeof *self->log_likelihood);
        if (!self->likelihoods || !self->log_likelihood)
            return fail_memory(err);
    }
    for (int t = 0; t < n_threads && status == CLV_OK; t++) {
        status = clv_oracle_new(&self->oracles[t], CLV_ENGINE_DEFAULT, err);
        TRY(clv_confusion_init(&self->confusions[t], self->model->shape.n_labels, err));
    }
    TRY(parallel_for(clv_dataset_size(self->dataset), n_threads, score_example, self, err));
    for (int t = 1; t < n_threads && status == CLV_OK; t++)
        clv_confusion_merge(&self->confusions[0], &self->confusions[t]);
    for (size_t i = 0; status == CLV_OK && i < clv_dataset_size(self->dataset); i++)
        self->n_scored += !isnan(self->loss[i]);
    TRY_IF(!self->n_scored, fail(err, CLV_ERR_DATA, "%s: has no true labels to score by, nor has any other",
                                 clv_dataset_name(self->dataset, 0)));
    return status;
}

static void release(struct scoring *self, int n_threads)
{
    for (int t = 0; t < n_threads; t++) {
        if (self->oracles)
            clv_oracle_free(self->oracles[t]);
        if (self->confusions)
            clv_confusion_release(&self->confusions[t]);
        if (self->likelihoods)
            likelihood_release(&self->likelihoods[t]);
    }
    array_free(self->oracles);
    array_free(self->confusions);
    array_free(self->likelihoods);
    array_free(self->loss);
    array_free(self->node_error);
    array_free(self->log_likelihood);
}

static const char *label_name(char number[16], const struct clv_labels *labels, int32_t label)
{
    snprintf(number, 16, "%d", label);
    return labels->names[label][0] ? labels->names[label] : number;
}

static void print_text(const struct scoring *self, const struct means *mean)
{
    const struct clv_labels *labels = &self->model->labels;
    printf("examples      %zu\nnodes         %.0f with a known label\naccuracy      %.2f %%\nnode error    %.2f %%, "
           "%.2f %% on the mean over examples\nmean loss     %.6g\n",
           self->n_scored, mean->n_known, 100 * (1 - mean->error), 100 * mean->error, 100 * mean->node_error,
           mean->loss);
    if (self->likelihoods)
        printf("likelihood    %.6g, mean log of an example's known labels\n", mean->log_likelihood);
    for (int32_t label = 0; label < labels->n_labels; label++) {
        char number[16];
        double right = clv_confusion_class_accuracy(&self->confusions[0], label);
        if (!isnan(right))
            printf("  %-11s %.2f %%\n", label_name(number, labels, label), 100 * right);
    }
}

static enum clv_status print_json(const struct scoring *self, const struct means *mean, struct clv_error *err)
{
    const struct clv_labels *labels = &self->model->labels;
    struct text text;
    bool is_first = true;
    text_init(&text, 1 << 20);
    text_printf(&text, "{\"examples\":%zu,\"nodes\":%.0f", self->n_scored, mean->n_known);
    json_put_number(&text, "accuracy", 1 - mean->error);
    json_put_number(&text, "node_error", mean->error);
    json_put_number(&text, "mean_node_error", mean->node_error);
    json_put_number(&text, "mean_loss", mean->loss);
    if (self->likelihoods) {
        json_put_number(&text, "mean_log_likelihood", mean->log_likelihood);
    }
    text_put(&text, ",\"class_accuracy\":{");
    for (int32_t label = 0; label < labels->n_labels; label++) {
        char number[16];
        double right = clv_confusion_class_accuracy(&self->confusions[0], label);
        if (isnan(right))
            continue;
        text_put(&text, is_first ? "" : ",");
        text_put_json(&text, label_name(number, labels, label));
        text_put(&text, ":");
        text_put_json_number(&text, right);
        is_first = false;
    }
    text_put(&text, "}}\n");
    return console_output(&text, err);
}

static enum clv_status print(const struct scoring *self, bool json, struct clv_error *err)
{
    struct clv_image_score score = clv_confusion_score(&self->confusions[0]);
    struct means mean = {.error = score.hamming, .n_known = (double)score.n_pixels};
    for (size_t i = 0; i < clv_dataset_size(self->dataset); i++) {
        if (isnan(self->loss[i]))
            continue;
        mean.loss += self->loss[i];
        mean.node_error += self->node_error[i];
        mean.log_likelihood += self->likelihoods ? self->log_likelihood[i] : 0;
    }
    mean.loss /= (double)self->n_scored;
    mean.node_error /= (double)self->n_scored;
    mean.log_likelihood /= (double)self->n_scored;
    if (json)
        return print_json(self, &mean, err);
    print_text(self, &mean);
    return CLV_OK;
}

enum clv_status score_features(const struct features_task *task, struct clv_error *err)
{
    struct clv_model model = {0};
    struct clv_dataset *dataset = NULL;
    struct scoring scoring = {0};
    int n_threads = parallel_threads(task->n_threads);
    enum clv_status status = clv_model_read(&model, task->model_path, err);
    TRY(features_open_list(&dataset, NULL, task->paths, 0, err));
    TRY_IF(clv_dataset_n_labels(dataset) != model.shape.n_labels,
           fail(err, CLV_ERR_DATA, "%s: has %d labels, the model %d", task->paths->paths[0],
                clv_dataset_n_labels(dataset), model.shape.n_labels));
    decoding_choose(&model.decoding, task->decoding);
    scoring.dataset = dataset;
    scoring.model = &model;
    TRY(score_examples(&scoring, task->wants_likelihood, n_threads, err));
    TRY(print(&scoring, task->json, err));
    release(&scoring, n_threads);
    clv_dataset_free(dataset);
    clv_model_release(&model);
    return status;
}
