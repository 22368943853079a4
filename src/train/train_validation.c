#include <stdio.h>

#include "base/base.h"
#include "cleave/train.h"
#include "feature/dataset/dataset.h"
#include "intake/intake.h"
#include "sequence/sequence.h"
#include "train/train.h"

/* A feature file made with the training's recipe, all with masks. */
static enum clv_status open_features(struct clv_dataset **dataset, const struct clv_train_options *options,
                                     const struct train_data *data, struct clv_error *err)
{
    struct loaded_item loaded = {0};
    MUST(options->feature_memory > 0
             ? features_open_on_demand(dataset, NULL, options->validate, options->feature_memory, err)
             : clv_features_open(dataset, NULL, options->validate, err));
    enum clv_status status = CLV_OK;
    struct clv_problem own = clv_dataset_problem(data->dataset, 0);
    struct clv_shape shape = {clv_dataset_n_labels(data->dataset), own.n_features, own.n_edge_features,
                              own.n_edge_features ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_NONE};
    if (clv_dataset_n_labels(*dataset) != shape.n_labels)
        status = fail(err, CLV_ERR_DATA, "%s: has %d labels, %s has %d", options->validate,
                      clv_dataset_n_labels(*dataset), options->data, shape.n_labels);
    for (size_t i = 0; status == CLV_OK && i < clv_dataset_size(*dataset); i++) {
        status = loaded_item_load(&loaded, *dataset, i, false, err);
        if (status != CLV_OK)
            break;
        status = clv_problem_check(&loaded.problem, &shape, err);
        TRY_IF(!loaded.problem.theta, fail(err, CLV_ERR_DATA, "has no truth to validate with"));
        if (status != CLV_OK)
            status = fail_within(err, status, clv_dataset_name(*dataset, i));
    }
    loaded_item_release(&loaded);
    if (status != CLV_OK) {
        clv_dataset_free(*dataset);
        *dataset = NULL;
    }
    return status;
}

static enum clv_status read_split(struct clv_set *set, const struct clv_train_options *options,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    enum clv_status status = training_set_read_more(set, options->data, options->validate, err);
    if (status == CLV_OK && !options->drafts)
        training_set_drop_drafts(set, options->data, DRAFTS_HINT, progress);
    TRY(training_set_hide(set, options->voids, err));
    TRY(training_set_require_masks(set, options->data, progress, err));
    TRY(map_options_add(set, &options->maps, err));
    return status;
}

enum clv_status train_validation_check(const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_set set = {0};
    if (!options->validate || is_tensor_file(options->validate) || is_tensor_file(options->data))
        return CLV_OK;
    enum clv_status status = read_split(&set, options, NULL, err);
    clv_set_release(&set);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, "--validate");
}

enum clv_status train_validation_load(struct clv_dataset **dataset, const struct clv_train_options *options,
                                      const struct train_data *data, struct clv_error *err)
{
    struct clv_set set = {0};
    *dataset = NULL;
    enum clv_loss_weights weights = dataset_counts_errors(data->dataset) ? CLV_LOSS_COUNTS : CLV_LOSS_BALANCED;
    if (is_tensor_file(options->validate)) {
        enum clv_status opened = open_features(dataset, options, data, err);
        return opened == CLV_OK ? dataset_weigh(*dataset, weights, err) : opened;
    }
    enum clv_status status = read_split(&set, options, options->progress, err);
    TRY_IF(!data->recipe.window, band_images_give(&set, &data->recipe, err));
    TRY_IF(data->recipe.window, sequences_sort(&(struct sequence_gaps){0}, &set, err));
    TRY(clv_dataset_extract(dataset, &set, &data->recipe, options->n_threads, &options->limits, options->progress,
                            err));
    TRY(dataset_weigh(*dataset, weights, err));
    clv_set_release(&set);
    return status;
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
    enum clv_status status = clv_evaluate_all(&loss, training->validation, &model->shape, model->w, &model->decoding,
                                              training->engine, training->n_threads, err);
    if (status == CLV_OK)
        report_message(options->progress, CLV_SUMMARY, "%-9s %s %.2f %% on %zu images", options->validate, unit.name,
                       100 * unit.scale * loss, n);
    return status;
}
