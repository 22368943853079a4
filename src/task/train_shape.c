/* Which weights are to be learned. */
#include "base/error.h"
#include "task/train.h"

static const char *const form_names[] = {
    [CLV_PAIRWISE_NONE] = "none", [CLV_PAIRWISE_POTTS] = "potts", [CLV_PAIRWISE_FULL] = "full"};

enum clv_status train_shape_choose(struct clv_shape *shape, const struct clv_train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err)
{
    const struct clv_learner *learner = options->learner;
    enum clv_pairwise meant = clv_dataset_pairwise(dataset);
    enum clv_status status = clv_learner_shape(shape, learner, dataset, err);
    if (status != CLV_OK)
        return status;
    if (options->pairwise != CLV_AUTO)
        shape->pairwise = (enum clv_pairwise)options->pairwise;
    else if (shape->pairwise != meant)
        report_message(options->progress, CLV_NOTE,
                       "%s does not learn %s pairwise terms of %d labels here: learning with --pairwise %s",
                       learner->name, form_names[meant], shape->n_labels, form_names[shape->pairwise]);
    if (shape->pairwise != CLV_PAIRWISE_NONE && shape->n_edge_features < 1)
        return fail(err, CLV_ERR_USAGE, "--pairwise %s: the data has no edges", form_names[shape->pairwise]);
    return CLV_OK;
}
