/* cleave prune: a model without its small weights, whose features are then computed no more. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cleave/learn.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/common/options.h"
#include "cli/common/outputs.h"
#include "cli/common/pruning.h"
#include "cli/common/record.h"
#include "cli/common/training_set.h"
#include "feature/dataset/feature_shards.h"

struct prune {
    struct common_options common;
    const char *model_path, *output, *data, *split, *drop;
    double threshold, keep; /* keep < 0: the threshold counts */
    bool threshold_given, overwrite;
};

enum prune_keys { KEY_SPLIT = KEYS_COMMAND, KEY_THRESHOLD, KEY_KEEP, KEY_DROP };

static const struct argp_option prune_options[] = {
    {"model", 'm', "FILE", 0, "The model", 0},
    {"output", 'o', "FILE", 0, "The pruned model to write, all or nothing", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"threshold", KEY_THRESHOLD, "X", 0,
     "Drop weights of at most this share of the largest, node and pairwise weights apart (default 0.001; 0: only "
     "zeros)",
     0},
    {"keep", KEY_KEEP, "SHARE", 0, "Instead: keep this share of the node weights, the largest", 0},
    {"drop", KEY_DROP, "GROUP,..", 0, "Also drop these groups of features, as sift2,zones; the summary has their names",
     0},
    {"data", 'd', "PATH", 0,
     "Images with masks, or feature files, --data again for each: tell the loss before and after", 0},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of --data (default: all)", 0},
    {0},
};

static error_t parse_prune(int key, char *arg, struct argp_state *state)
{
    struct prune *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &self->common; return 0;
    case ARGP_KEY_ARG: return option_error(&self->common, "%s: prune takes no arguments; -m names the model", arg);
    case 'm': self->model_path = arg; return 0;
    case 'o': self->output = arg; return 0;
    case 'd': return option_path(&self->data, arg, &self->common);
    case KEY_OVERWRITE: self->overwrite = true; return 0;
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_DROP: self->drop = arg; return 0;
    case KEY_THRESHOLD:
        self->threshold_given = true;
        return option_number(&self->threshold, "--threshold", arg, 0, 0.999999, &self->common);
    case KEY_KEEP: return option_number(&self->keep, "--keep", arg, 0.000001, 1, &self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum clv_status parse(struct prune *self, int argc, char **argv, struct clv_error *err)
{
    static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        prune_options,
        parse_prune,
        NULL,
        "Drops a model's small weights. Features that no weight is left for are computed no more: `cleave segment' "
        "makes the same masks as with all features, sooner.\v"
        "What costs time are whole groups of features, which the summary lists: `cleave train --prune' chooses "
        "groups to do without. `cleave train --init' learns anew on what is left.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status != CLV_OK)
        return status;
    if (!self->model_path)
        return fail(err, CLV_ERR_USAGE, "prune: -m is missing: which model?");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "prune: -o is missing: where does the pruned model go?");
    if (self->threshold_given && self->keep >= 0)
        return fail(err, CLV_ERR_USAGE, "--threshold and --keep: one of them");
    if (self->split && !self->data)
        return fail(err, CLV_ERR_USAGE, "--split: --data is missing: splits of what?");
    const char *why = !self->data                  ? "--data is missing: images of what?"
                      : is_tensor_file(self->data) ? "a feature file holds no images"
                                                   : NULL;
    status = common_options_check(&self->common, why, err);
    if (status != CLV_OK)
        return status;
    const char *const inputs[] = {self->data && path_is_folder(self->data) ? NULL : self->data, self->model_path};
    status = feature_paths_check(&self->common.paths, "--data", err);
    if (status == CLV_OK)
        status = outputs_claim(&self->common.outputs, self->output, self->overwrite, "", inputs, 2, err);
    for (size_t i = 1; i < self->common.paths.n && status == CLV_OK; i++)
        status = outputs_spare(&self->common.outputs, self->common.paths.paths[i], err);
    return status;
}

static enum clv_status load_data(struct clv_dataset **dataset, const struct prune *self, const struct clv_model *model,
                                 struct clv_error *err)
{
    const struct common_options *common = &self->common;
    struct clv_progress progress = console_progress();
    struct clv_set set = {0};
    if (!self->data)
        return CLV_OK;
    if (is_tensor_file(self->data))
        return self->split ? fail(err, CLV_ERR_USAGE, "--split: %s is a feature file, which has no splits", self->data)
                           : features_open_list(dataset, NULL, &common->paths, 0, err);
    if (!model->has_recipe)
        return fail(err, CLV_ERR_USAGE, "--data: %s was not learned from images; a feature file is needed",
                    self->model_path);
    enum clv_status status = training_set_read(&set, self->data, self->split, false, &common->outputs, err);
    if (status == CLV_OK)
        training_set_drop_drafts(&set, self->data, "");
    if (status == CLV_OK)
        status = training_set_require_masks(&set, self->data, err);
    if (status == CLV_OK)
        status = clv_dataset_extract(dataset, &set, &model->recipe, common->n_threads, &common->limits, &progress, err);
    clv_set_release(&set);
    return status;
}

static enum clv_status evaluate(double *loss, const struct prune *self, const struct clv_model *model,
                                const struct clv_dataset *dataset, struct clv_error *err)
{
    *loss = NAN;
    if (!dataset)
        return CLV_OK;
    enum clv_status status = clv_evaluate_all(loss, dataset, &model->shape, model->w, &model->decoding,
                                              CLV_ENGINE_DEFAULT, self->common.n_threads, err);
    return status == CLV_OK ? status : fail_within(err, status, self->data);
}

static int by_magnitude(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* The threshold that leaves the given share of node weights: the largest magnitude that goes, as a share of the largest
 * of all. */
static enum clv_status find_threshold(double *threshold, const struct clv_model *model, double share,
                                      struct clv_error *err)
{
    size_t n = clv_shape_unary_size(&model->shape);
    double *sorted = array_copy(model->w, n, sizeof *sorted);
    if (!sorted)
        return fail_memory(err);
    qsort(sorted, n, sizeof *sorted, by_magnitude);
    size_t n_left = (size_t)fmax(1, floor(share * (double)n + 1e-9));
    *threshold = n_left < n && sorted[0] != 0 ? fmin(fabs(sorted[n_left] / sorted[0]), 0.999999) : 0;
    array_free(sorted);
    return CLV_OK;
}

static enum clv_status prune_model(struct clv_model *model, struct prune *self, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    if (self->keep >= 0)
        status = find_threshold(&self->threshold, model, self->keep, err);
    if (status != CLV_OK)
        return status;
    if (self->drop)
        status = pruning_drop(model, self->drop, err);
    if (status != CLV_OK)
        return status;
    clv_weights_prune(model->w, &model->shape, self->threshold);
    if (model->has_recipe)
        status = clv_model_leave_out(model, err);
    return status == CLV_OK ? record_number(model, "pruned_threshold", self->threshold, err) : status;
}

static enum clv_status run(struct prune *self, struct clv_error *err)
{
    struct clv_model model = {0};
    struct clv_dataset *dataset = NULL;
    double before, after;
    FILE *summary = strcmp(self->output, "-") == 0 ? stderr : stdout;
    enum clv_status status = clv_model_read(&model, self->model_path, err);
    if (status == CLV_OK && model.first)
        status = fail(err, CLV_ERR_USAGE, "%s: has two stages, which both look at features; prune takes models of one",
                      self->model_path);
    if (status == CLV_OK)
        status = load_data(&dataset, self, &model, err);
    if (status == CLV_OK)
        status = evaluate(&before, self, &model, dataset, err);
    if (status == CLV_OK)
        status = prune_model(&model, self, err);
    if (status == CLV_OK)
        status = evaluate(&after, self, &model, dataset, err);
    console_clear();
    if (status == CLV_OK)
        status = pruning_print(summary, &model, self->threshold, err);
    if (status == CLV_OK && dataset)
        fprintf(summary, "%s %.2f %% before, %.2f %% after, on %zu images\n",
                clv_dataset_counts_errors(dataset) ? "loss     " : "loss      weighted Hamming", 100 * before,
                100 * after, clv_dataset_size(dataset));
    if (status == CLV_OK)
        status = clv_model_write(self->output, &model, err);
    clv_dataset_free(dataset);
    clv_model_release(&model);
    return status;
}

enum clv_status cmd_prune(int argc, char **argv, struct clv_error *err)
{
    struct prune self = {.threshold = 0.001, .keep = -1};
    enum clv_status status = parse(&self, argc, argv, err);
    if (status == CLV_OK)
        status = run(&self, err);
    common_options_release(&self.common);
    return status;
}
