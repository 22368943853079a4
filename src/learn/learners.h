/* Functions on the table of learners, besides the public ones. */
#ifndef LEARN_LEARNERS_H
#define LEARN_LEARNERS_H

#include "cleave/learn.h"

/* Returns the first learner that supports Potts couplings and full tables on any graph, to be recommended if another
 * learner does not support a problem. */
const struct clv_learner *learner_of_any_graph(void);

/* Warns (CLV_WARNING) if a training ended above its objective at w = 0, or far from its optimum by its own bound. Does
 * not judge a training that was interrupted. */
void training_judge(const struct clv_learner *learner, const struct clv_training *training,
                    const struct clv_training_result *result);

/* CLV_ERR_USAGE if all examples with masks have one and the same label, unless weak examples may have others. */
enum clv_status training_check_labels(const struct clv_training *training, struct clv_error *err) CLV_CHECK;

/* clv_train for a subset of a training's examples, such as a fold, which may have only one label. */
enum clv_status train_part(struct clv_training_result *result, const struct clv_learner *learner,
                           const struct clv_training *training, struct clv_error *err) CLV_CHECK;

#endif
