#include "learn/refining/refining.h"

#include "base/base.h"
#include "pixel_net/pixel_net.h"
#include "refine/by_model/by_model.h"

enum clv_status refining_learn(struct clv_model *model, const struct refining_source *source, struct clv_error *err)
{
    struct refining learned = {.is_learned = true};
    if (!refining_is_learned(model, source->wants_net) || !source->n_examples)
        return CLV_OK;
    clv_refine_defaults(&learned.options);
    enum clv_status status = refining_is_cut(model) ? refining_learn_scores(&learned, model, source, err)
                                                    : refining_learn_votes(&learned, model, source, err);
    TRY(refining_attach(model, &learned, err));
    pixel_net_release(&learned.net);
    return status;
}
