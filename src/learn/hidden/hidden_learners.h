/* Learners with hidden variables. */
#ifndef LEARN_HIDDEN_LEARNERS_H
#define LEARN_HIDDEN_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner mssvm_learner;
extern const struct clv_learner lssvm_learner;
extern const struct clv_learner hcrf_learner;
extern const struct clv_learner eps_learner;
extern const struct clv_learner m3e_learner;
extern const struct clv_learner modlat_learner;

#endif
