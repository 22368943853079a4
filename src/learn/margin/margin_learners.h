/* Learners of large margins, each defined in its own file. */
#ifndef LEARN_MARGIN_LEARNERS_H
#define LEARN_MARGIN_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner ssvm_learner;
extern const struct clv_learner subgradient_learner;
extern const struct clv_learner perceptron_learner;
extern const struct clv_learner independent_learner;
extern const struct clv_learner m3n_learner;
extern const struct clv_learner l1m3n_learner;
extern const struct clv_learner lapmedn_learner;

#endif
