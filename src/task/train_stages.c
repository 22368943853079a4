/* --stages 2: a first stage, whose marginals of the images that it has not seen are features of what is learned then,
 * and say for --label-costs what an image has. */
#include <stdio.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "model/model.h"
#include "task/task.h"

enum clv_status train_stages_learn(struct stages_learned *learned, struct clv_training *training,
                                   const struct clv_train_options *options, struct train_data *data,
                                   struct clv_dataset *validation, struct clv_error *err)
{
    const struct stages_wanted wanted = {.presence = options->label_costs > 0,
                                         .label_weights = options->label_weights < 0};
    if (options->stages < 2)
        return CLV_OK;
    MUST(wanted.presence ? stages_check_costs(training, "--label-costs", err) : CLV_OK);
    MUST(stages_learn(learned, data->dataset, options->learner, training, &wanted, err));
    enum clv_status status = CLV_OK;
    const struct clv_stage *first = learned->first;
    training->shape = stage_next_shape(&first->shape, training->shape.pairwise);
    if (options->label_weights < 0) {
        data->label_weights = learned->label_weights;
        status = dataset_weigh_labels(data->dataset, learned->label_weights, err);
    }
    if (status == CLV_OK && validation)
        status = stages_extend(validation, first, &training->shape, training->n_threads, err);
    report_message(options->progress, CLV_SUMMARY,
                   "stage 1   %d folds, %d features of context, %d of edges, temperature %.3g", STAGE_FOLDS,
                   training->shape.n_features - first->shape.n_features,
                   training->shape.n_edge_features - first->shape.n_edge_features, first->temperature);
    if (options->label_weights < 0)
        report_message(options->progress, CLV_SUMMARY, "          label weights %g", learned->label_weights);
    return status;
}
