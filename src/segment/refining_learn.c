#include "segment/segment.h"

enum clv_status refining_learn(struct clv_model *model, const struct refining_source *source, struct clv_error *err)
{
    struct refining learned = {.is_learned = true};
    if (!model->recipe.n_maps || !source->n_examples)
        return CLV_OK;
    clv_refine_defaults(&learned.options);
    enum clv_status status = refining_is_cut(model) ? refining_learn_scores(&learned, model, source, err)
                                                    : refining_learn_votes(&learned, model, source, err);
    return status == CLV_OK ? refining_attach(model, &learned, err) : status;
}
