#include "base/error.h"
#include "cleave/learn.h"

enum clv_status clv_learner_shape(struct clv_shape *shape, const struct clv_learner *learner,
                                  const struct clv_dataset *dataset, struct clv_error *err)
{
    enum clv_graph graph;
    if (!clv_dataset_size(dataset))
        return fail(err, CLV_ERR_USAGE, "there are no examples whose shape could be learned");
    enum clv_status status = clv_dataset_graph(&graph, dataset, err);
    if (status != CLV_OK)
        return status;
    struct clv_problem first = clv_dataset_problem(dataset, 0);
    struct clv_shape chosen = {.n_labels = clv_dataset_n_labels(dataset),
                               .n_features = first.n_features,
                               .n_edge_features = first.n_edge_features,
                               .pairwise = clv_dataset_pairwise(dataset)};
    while (!clv_learner_trains(learner, chosen.pairwise, chosen.n_labels, graph))
        chosen.pairwise = (enum clv_pairwise)(chosen.pairwise - 1);
    *shape = chosen;
    return CLV_OK;
}
