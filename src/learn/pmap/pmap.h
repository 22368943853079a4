/* Perturb-and-MAP learners. */
#ifndef LEARN_PMAP_H
#define LEARN_PMAP_H

#include "cleave/learn.h"

extern const struct clv_learner pmap_learner;
extern const struct clv_learner mpmap_learner;
extern const struct clv_learner wmpmap_learner;

#endif
