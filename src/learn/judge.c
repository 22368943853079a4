/* Judges the result of every training, whatever the learner: warns if the training ended above its objective at w = 0,
 * or far from its optimum by its own bound. Start at training_judge. */
#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/learners.h"

/* A training that did not reach its `gap` is far from the optimum if its duality gap exceeds this fraction of the gap
 * at w = 0. */
#define FAR 0.25

static const char *remedy(const struct clv_learner *learner, const struct clv_training *training)
{
    if (learner_is_published(learner, training))
        return "training without --paper 1"; /* its steps are the published ones, which --rate does not change */
    return learner_role(learner, CLV_ROLE_RATE) >= 0 ? "a lower --rate" : "more --passes";
}

void training_judge(const struct clv_learner *learner, const struct clv_training *training,
                    const struct clv_training_result *result)
{
    if (result->interrupted || !result->n_curve)
        return;
    const struct clv_curve_point *last = &result->curve[result->n_curve - 1];
    bool is_loss = isnan(result->curve[0].objective); /* a learner without an objective */
    double reached = is_loss ? last->train_loss : last->objective, zero = result->at_zero;
    double gap = reached - last->dual, wanted = learner_value(learner, training, CLV_ROLE_GAP, NAN);
    if (isnan(zero))
        return;
    if (!(reached <= zero + 1e-6 * fabs(zero))) /* the tolerance covers rounding of MAP solvers */
        report_message(training->progress, CLV_WARNING,
                       "%s: training ended at %s of %g, above the %g of weights that are all 0: it went astray; %s may "
                       "help",
                       learner->name, is_loss ? "a loss" : "an objective", reached, zero, remedy(learner, training));
    else if (gap > wanted * fabs(reached) && gap > FAR * (zero - last->dual))
        report_message(training->progress, CLV_WARNING,
                       "%s: training ended far from its optimum: an objective of %g, where %g is the bound; more "
                       "--passes may help",
                       learner->name, reached, last->dual);
}
