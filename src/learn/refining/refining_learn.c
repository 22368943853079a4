/* Learns how a model refines labels, and attaches it to the model: by scores of pixels if a cut labels the nodes,
 * otherwise by votes. */
#include "learn/refining/refining.h"

#include "base/base.h"
#include "pixel_net/pixel_net.h"
#include "refine/by_model/by_model.h"

static void refining_release(struct refinement *self)
{
    pixel_net_release(&self->net);
}

enum clv_status refining_learn(struct clv_model *model, const struct refining_source *source, struct clv_error *err)
{
    OWNED(refining_release) struct refinement learned = {.is_learned = true};
    if (!refining_is_learned(model, source->wants_net) || !source->n_examples)
        return CLV_OK;
    clv_refine_defaults(&learned.options);
    MUST(refining_is_cut(model) ? refining_learn_scores(&learned, model, source, err)
                                : refining_learn_votes(&learned, model, source, err));
    return refining_attach(model, &learned, err);
}
