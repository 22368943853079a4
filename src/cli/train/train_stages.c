/* --stages 2: a first stage, whose marginals of the images that it has not seen are features of what is learned then. */
#include <stdio.h>

#include "base/error.h"
#include "cli/common/console.h"
#include "cli/train/train.h"
#include "learn/select/stages.h"
#include "model/stage.h"

enum clv_status train_stages_learn(struct clv_stage **first, struct clv_training *training,
                                   const struct train_options *options, struct train_data *data,
                                   struct clv_dataset *validation, struct clv_error *err)
{
    if (options->n_stages < 2)
        return CLV_OK;
    enum clv_status status = stages_learn(first, data->dataset, options->learner.learner, training, err);
    if (status != CLV_OK)
        return status;
    training->shape = stage_next_shape(&(*first)->shape, training->shape.pairwise);
    if (validation)
        status = stages_extend(validation, *first, &training->shape, training->n_threads, err);
    console_clear();
    fprintf(options->summary, "stage 1   %d folds, %d features of context, %d of edges, temperature %.3g\n",
            STAGE_FOLDS, training->shape.n_features - (*first)->shape.n_features,
            training->shape.n_edge_features - (*first)->shape.n_edge_features, (*first)->temperature);
    fflush(options->summary);
    return status;
}
