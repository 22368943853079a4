#include "base/array.h"
#include "base/error.h"
#include "cleave/segment.h"
#include "learn/learners.h"
#include "learn/select/stages.h"
#include "model/label_costs.h"
#include "model/stage.h"

enum clv_status stages_check_costs(const struct clv_training *training, const char *option, struct clv_error *err)
{
    if (training->shape.n_labels < 3)
        return fail(err, CLV_ERR_USAGE, "%s: of two labels, which are in nearly all images, neither costs", option);
    if (!training->n_examples)
        return fail(err, CLV_ERR_USAGE, "%s: no image has a mask to learn from which labels it has", option);
    return CLV_OK;
}

enum clv_status stages_price(struct clv_model *model, const double *presence, double label_costs,
                             const struct clv_training *training, const double *w, struct clv_error *err)
{
    double size;
    if (!presence)
        return CLV_OK;
    enum clv_status status = stages_score_size(&size, training, w, err);
    return status == CLV_OK ? label_costs_attach(model, presence, size * label_costs, err) : status;
}

enum clv_status clv_train_two_stages(struct clv_training_result *result, struct clv_model *model,
                                     struct clv_dataset *dataset, const struct clv_learner *learner,
                                     struct clv_training *training, double label_costs, struct clv_error *err)
{
    const struct stages_wanted wanted = {.presence = label_costs > 0};
    struct stages_learned learned = {0};
    if (training->dataset != dataset)
        return fail(err, CLV_ERR_USAGE, "two stages: the training is of another dataset");
    if (!(label_costs >= 0) || label_costs > CLV_MAX_LABEL_COSTS)
        return fail(err, CLV_ERR_USAGE, "label costs are %g, must be 0..%d", label_costs, CLV_MAX_LABEL_COSTS);
    enum clv_status status = training_check_labels(training, err);
    if (status == CLV_OK && label_costs > 0)
        status = stages_check_costs(training, "label costs", err);
    TRY(stages_learn(&learned, dataset, learner, training, &wanted, err));
    if (status == CLV_OK) {
        model->first = learned.first;
        training->shape = stage_next_shape(&model->first->shape, training->shape.pairwise);
        model->shape = training->shape;
        status = clv_train(result, learner, training, err);
    }
    TRY(stages_price(model, learned.presence, label_costs, training, result->w, err));
    array_free(learned.presence);
    return status;
}
