#include "segment/refining_learn.h"

enum clv_status refining_learn(struct clv_model *model, const struct refining_lesson *lesson, struct clv_error *err)
{
    struct refining learned = {.is_learned = true};
    if (!model->recipe.n_maps || !lesson->n_examples)
        return CLV_OK;
    clv_refine_defaults(&learned.options);
    enum clv_status status = refining_is_cut(model) ? refining_learn_scores(&learned, model, lesson, err)
                                                    : refining_learn_votes(&learned, model, lesson, err);
    return status == CLV_OK ? refining_attach(model, &learned, err) : status;
}
