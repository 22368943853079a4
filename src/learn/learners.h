/* One line a method; table.c lists them. */
#ifndef LEARN_LEARNERS_H
#define LEARN_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner ssvm_learner;
extern const struct clv_learner perceptron_learner;
extern const struct clv_learner subgradient_learner;
extern const struct clv_learner independent_learner;
extern const struct clv_learner crf_learner;
extern const struct clv_learner pmap_learner;
extern const struct clv_learner mpmap_learner;
extern const struct clv_learner wmpmap_learner;
extern const struct clv_learner m3n_learner;
extern const struct clv_learner lapmedn_learner;
extern const struct clv_learner l1m3n_learner;
extern const struct clv_learner m3e_learner;
extern const struct clv_learner modlat_learner;
extern const struct clv_learner mssvm_learner;
extern const struct clv_learner lssvm_learner;
extern const struct clv_learner hcrf_learner;
extern const struct clv_learner eps_learner;

#endif
