/* Which weights are to be learned. */
#include "base/error.h"
#include "cli/common/console.h"
#include "cli/train/train.h"

static const char *const form_names[] = {
    [CLV_PAIRWISE_NONE] = "none", [CLV_PAIRWISE_POTTS] = "potts", [CLV_PAIRWISE_FULL] = "full"};

error_t option_pairwise(enum pairwise_choice *choice, const char *arg, struct common_options *common)
{
    static const char *const names[] = {"auto", "none", "potts", "full"};
    int index = 0;
    error_t failed = option_choice(&index, "--pairwise", arg, names, sizeof names / sizeof *names, common);
    if (!failed)
        *choice = (enum pairwise_choice)index;
    return failed;
}

enum clv_status train_shape_choose(struct clv_shape *shape, const struct train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err)
{
    static const enum clv_pairwise forms[] = {[PAIRWISE_NONE] = CLV_PAIRWISE_NONE,
                                              [PAIRWISE_POTTS] = CLV_PAIRWISE_POTTS,
                                              [PAIRWISE_FULL] = CLV_PAIRWISE_FULL};
    const struct clv_learner *learner = options->learner.learner;
    enum clv_pairwise meant = clv_dataset_pairwise(dataset);
    enum clv_status status = clv_learner_shape(shape, learner, dataset, err);
    if (status != CLV_OK)
        return status;
    if (options->pairwise != PAIRWISE_AUTO)
        shape->pairwise = forms[options->pairwise];
    else if (shape->pairwise != meant)
        console_note("%s does not learn %s pairwise terms of %d labels here: learning with --pairwise %s",
                     learner->name, form_names[meant], shape->n_labels, form_names[shape->pairwise]);
    if (shape->pairwise != CLV_PAIRWISE_NONE && shape->n_edge_features < 1)
        return fail(err, CLV_ERR_USAGE, "--pairwise %s: the data has no edges", form_names[shape->pairwise]);
    return CLV_OK;
}
