/* Loads the images of --validate, splits of the dataset or a feature file, with the recipe of the training, and reports
 * the model's loss on them. Start at train_validation_load. */
#include <stdio.h>

#include "base/base.h"
#include "cleave/train.h"
#include "feature/dataset/dataset.h"
#include "intake/intake.h"
#include "sequence/sequence.h"
#include "train/train.h"

static enum clv_status check_truth(const struct clv_problem *problem, const struct clv_weight_layout *layout,
                                   struct clv_error *err)
{
    MUST(clv_problem_check(problem, layout, err));
    FAIL_IF(!problem->theta, CLV_ERR_DATA, "has no truth to validate with");
    return CLV_OK;
}

/* Opens a feature file, which must have been made with the training's recipe, with ground truth for all images. */
static enum clv_status open_features(struct clv_dataset **dataset, const struct clv_train_options *options,
                                     const struct train_data *data, struct clv_error *err)
{
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    MUST(clv_features_open(&result, NULL, options->validate, err));
    struct clv_problem first = clv_dataset_problem(data->dataset, 0);
    struct clv_weight_layout layout = {clv_dataset_n_labels(data->dataset), first.n_features, first.n_edge_features,
                                       first.n_edge_features ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_NONE};
    FAIL_IF(clv_dataset_n_labels(result) != layout.n_labels, CLV_ERR_DATA, "%s: has %d labels, %s has %d",
            options->validate, clv_dataset_n_labels(result), options->data, layout.n_labels);
    for (size_t i = 0; i < clv_dataset_size(result); i++) {
        const struct clv_problem problem = clv_dataset_problem(result, i);
        enum clv_status status = check_truth(&problem, &layout, err);
        dataset_notify_access(result, &problem);
        if (status)
            return fail_within(err, status, clv_dataset_name(result, i));
    }
    *dataset = TAKE(result);
    return CLV_OK;
}

static enum clv_status read_split(struct clv_set *set, const struct clv_train_options *options,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    MUST(training_set_read_more(set, options->data, options->validate, err));
    MUST(band_images_join(set, &options->limits, err));
    if (!options->drafts)
        training_set_drop_drafts(set, options->data, DRAFTS_HINT, progress);
    MUST(training_set_hide(set, options->voids, err));
    MUST(training_set_require_masks(set, options->data, progress, err));
    return map_options_add(set, &options->maps, err);
}

enum clv_status train_validation_check(const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    FAIL_IF(options->validate && is_tensor_file(options->data) && !is_tensor_file(options->validate), CLV_ERR_USAGE,
            "--validate: %s is a feature file, which has no splits", options->data);
    if (!options->validate || is_tensor_file(options->validate) || is_tensor_file(options->data))
        return CLV_OK;
    enum clv_status status = read_split(&set, options, NULL, err);
    return status ? fail_about(err, status, "--validate") : CLV_OK;
}

enum clv_status train_validation_load(struct clv_dataset **dataset, const struct clv_train_options *options,
                                      const struct train_data *data, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    *dataset = NULL;
    enum clv_loss_weights weights = dataset_counts_errors(data->dataset) ? CLV_LOSS_COUNTS : CLV_LOSS_BALANCED;
    if (is_tensor_file(options->validate)) {
        MUST(open_features(dataset, options, data, err));
        return dataset_weigh(*dataset, weights, err);
    }
    MUST(read_split(&set, options, options->progress, err));
    if (!data->recipe.window)
        MUST(band_images_give(&set, &data->recipe, err));
    if (options->skip_bad)
        MUST(usable_images_keep(&set, options->data, &data->recipe, options->n_threads, &options->limits,
                                options->progress, err));
    if (data->recipe.window)
        MUST(sequences_sort(&(struct sequence_gaps){0}, &set, err));
    MUST(clv_dataset_extract(dataset, &set, &data->recipe, options->n_threads, &options->limits, options->progress,
                             err));
    return dataset_weigh(*dataset, weights, err);
}

enum clv_status train_validation_report(const struct clv_train_options *options, const struct train_data *data,
                                        const struct clv_training *training, const struct clv_model *model,
                                        struct clv_error *err)
{
    double loss;
    size_t n = 0;
    for (size_t i = 0; i < clv_dataset_size(training->validation); i++)
        n += clv_dataset_problem(training->validation, i).theta != NULL;
    struct loss_unit unit = train_loss_unit(data, training->validation);
    MUST(clv_evaluate_all(&loss, training->validation, &model->layout, model->w, &model->decoding, training->engine,
                          training->n_threads, err));
    report_message(options->progress, CLV_SUMMARY, "%-9s %s %.2f %% on %zu images", options->validate, unit.name,
                   100 * unit.scale * loss, n);
    return CLV_OK;
}
