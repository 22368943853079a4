/* How likely labels are under a model's weights. */
#ifndef MODEL_LIKELIHOOD_H
#define MODEL_LIKELIHOOD_H

#include "cleave/model.h"
#include "infer/elimination/bucket.h"

/* Buffers; all zeros at first, not for two threads at once. */
struct likelihood {
    struct clv_forest *forest;
    struct bucket bucket;
};
void likelihood_release(struct likelihood *self);

/* *value = log P(known labels | x) = log sum_h exp f(y, h) - log sum_y,h exp f(y, h): h are the nodes whose label is
 * CLV_UNKNOWN, which are summed out, and f the scores as they are, whatever the learner took them for. Exact, by
 * elimination; CLV_ERR_USAGE on graphs that are too wide for it, and of models with label costs. */
enum clv_status likelihood_of(double *value, struct likelihood *self, const struct clv_model *model,
                              const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

#endif
