/* What a training tells: its summary, and the model's record. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "task/train.h"

static enum clv_status record_curve(struct clv_model *model, const struct clv_training_result *result,
                                    struct clv_error *err)
{
    struct text text;
    text_init(&text, 1 << 20);
    text_put(&text, "pass objective dual train_loss");
    text_put(&text, result->validation_loss ? " validation_loss" : "");
    for (size_t i = 0; i < result->n_curve; i++) {
        const struct clv_curve_point *point = &result->curve[i];
        const double values[] = {point->pass, point->objective, point->dual, point->train_loss,
                                 result->validation_loss ? result->validation_loss[i] : NAN};
        text_put(&text, ";");
        for (size_t k = 0; k < (result->validation_loss ? 5 : 4); k++) {
            text_put(&text, " ");
            text_put_json_number(&text, values[k]);
        }
    }
    enum clv_status status = text.failed ? fail_memory(err) : clv_record_set(&model->record, "curve", text.bytes, err);
    text_release(&text);
    return status;
}

enum clv_status train_record(struct clv_model *model, const struct clv_train_options *options,
                             const struct train_data *data, const struct clv_training *training,
                             const struct train_outcome *outcome, struct clv_error *err)
{
    const struct clv_training_result *result = &outcome->result;
    const struct clv_learner *learner = options->learner;
    char seed[32], key[80];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    const char *const entries[][2] = {
        {"version", clv_version()},
        {"command", options->command},
        {"data", options->data},
        {"data_digest", options->data ? data->digest : NULL},
        {"seed", seed},
        {"loss", clv_dataset_counts_errors(data->dataset) ? "counts" : "balanced"},
        {"learner", learner->name},
    };
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < sizeof entries / sizeof *entries && status == CLV_OK; i++)
        status = entries[i][1] ? clv_record_set(&model->record, entries[i][0], entries[i][1], err) : CLV_OK;
    for (int i = 0; learner->parameters[i].name && status == CLV_OK; i++) {
        snprintf(key, sizeof key, "parameter.%s", learner->parameters[i].name);
        const char *const *names = clv_learner_choices(learner, i);
        status = names ? clv_record_set(&model->record, key, names[(size_t)training->parameters[i]], err)
                       : record_number(model, key, training->parameters[i], err);
    }
    const struct {
        const char *key;
        size_t n;
        bool always;
    } counts[] = {{"images", training->n_examples, true},
                  {"boxed_images", data->n_boxed, false},
                  {"unlabelled_images", data->n_unlabelled, false}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts && status == CLV_OK; i++)
        if (counts[i].n || counts[i].always)
            status = record_number(model, counts[i].key, (double)counts[i].n, err);
    struct loss_unit unit = train_loss_unit(data, data->dataset);
    if (status == CLV_OK && !isnan(outcome->train_loss))
        status = record_number(model, unit.key, unit.scale * outcome->train_loss, err);
    if (status == CLV_OK)
        status = clv_record_set(&model->record, "interrupted", result->interrupted ? "yes" : "no", err);
    if (status == CLV_OK && data->label_weights > 0)
        status = record_number(model, "label_weights", data->label_weights, err);
    if (status == CLV_OK && options->label_costs > 0)
        status = record_number(model, "label_costs", options->label_costs, err);
    if (status == CLV_OK && options->stages > 1)
        status = record_number(model, "stages", options->stages, err);
    for (size_t i = 0; i < result->n_notes && status == CLV_OK; i++)
        status = record_number(model, result->notes[i].name, result->notes[i].value, err);
    if (status == CLV_OK)
        status = record_curve(model, result, err);
    return status;
}

void report_text(const struct clv_progress *progress, struct text *line)
{
    report_message(progress, CLV_SUMMARY, "%s", line->bytes ? line->bytes : "");
    text_release(line);
}

void train_report_data(const struct clv_train_options *options, const struct train_data *data, double seconds)
{
    const struct clv_progress *progress = options->progress;
    size_t n = clv_dataset_size(data->dataset);
    int64_t n_nodes = 0, n_edges = 0;
    for (size_t i = 0; i < n; i++) {
        struct clv_problem problem = clv_dataset_problem(data->dataset, i);
        n_nodes += problem.n_nodes;
        n_edges += problem.n_edges;
    }
    struct clv_problem first = clv_dataset_problem(data->dataset, 0);
    report_message(progress, CLV_SUMMARY, "images    %zu, %lld nodes of %d features, %lld edges of %d; %d labels", n,
                   (long long)n_nodes, first.n_features, (long long)n_edges, first.n_edge_features,
                   clv_dataset_n_labels(data->dataset));
    if (data->n_mirrored)
        report_message(progress, CLV_SUMMARY, "          %zu of them mirror images", data->n_mirrored);
    else if (data->n_masks < n)
        report_message(progress, CLV_SUMMARY, "          %zu with masks, %zu with boxes, %zu unlabelled", data->n_masks,
                       data->n_boxed, data->n_unlabelled);
    report_message(progress, CLV_SUMMARY, "features  %.1f s", seconds);
}

void train_report_learning(const struct clv_train_options *options, const struct train_data *data,
                           const struct train_outcome *outcome)
{
    const struct clv_training_result *result = &outcome->result;
    struct loss_unit unit = train_loss_unit(data, data->dataset);
    struct text line;
    text_init(&line, 1 << 10);
    text_printf(&line, "learning  %.1f s with %s", outcome->seconds, options->learner->name);
    if (result->n_curve) {
        const struct clv_curve_point *last = &result->curve[result->n_curve - 1];
        text_printf(&line, ", %g passes", last->pass);
        if (!isnan(last->objective))
            text_printf(&line, ", objective %.6g", last->objective);
        if (!isnan(last->objective) && !isnan(last->dual))
            text_printf(&line, ", duality gap %.2g", last->objective - last->dual);
    }
    text_put(&line, result->interrupted ? " (interrupted)" : "");
    report_text(options->progress, &line);
    if (!isnan(outcome->train_loss))
        report_message(options->progress, CLV_SUMMARY, "training  %s %.2f %% on the images learned from%s", unit.name,
                       100 * unit.scale * outcome->train_loss,
                       options->cv || options->validate ? "" : "; new ones get more: --cv 5 or --validate tells");
}
