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

/* The form the data is meant for, or the next simpler one that the learner trains. */
static enum clv_pairwise fall_back(const struct clv_learner *learner, const struct clv_dataset *dataset,
                                   enum clv_graph graph)
{
    int32_t n_labels = clv_dataset_n_labels(dataset);
    enum clv_pairwise meant = clv_dataset_pairwise(dataset), form = meant;
    while (!clv_learner_trains(learner, form, n_labels, graph))
        form = (enum clv_pairwise)(form - 1);
    if (form != meant)
        console_note("%s does not learn %s pairwise terms of %d labels here: learning with --pairwise %s",
                     learner->name, form_names[meant], n_labels, form_names[form]);
    return form;
}

enum clv_status train_shape_choose(struct clv_shape *shape, const struct train_options *options,
                                   const struct clv_dataset *dataset, struct clv_error *err)
{
    struct clv_problem first = clv_dataset_problem(dataset, 0);
    enum clv_graph graph;
    enum clv_status status = clv_dataset_graph(&graph, dataset, err);
    if (status != CLV_OK)
        return status;
    *shape = (struct clv_shape){
        .n_labels = clv_dataset_n_labels(dataset),
        .n_features = first.n_features,
        .n_edge_features = first.n_edge_features,
    };
    switch (options->pairwise) {
    case PAIRWISE_AUTO: shape->pairwise = fall_back(options->learner.learner, dataset, graph); break;
    case PAIRWISE_NONE: shape->pairwise = CLV_PAIRWISE_NONE; break;
    case PAIRWISE_POTTS: shape->pairwise = CLV_PAIRWISE_POTTS; break;
    case PAIRWISE_FULL: shape->pairwise = CLV_PAIRWISE_FULL; break;
    }
    if (shape->pairwise != CLV_PAIRWISE_NONE && first.n_edge_features < 1)
        return fail(err, CLV_ERR_USAGE, "--pairwise %s: the data has no edges", form_names[shape->pairwise]);
    return CLV_OK;
}
