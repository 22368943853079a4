/* What the table of learners knows beside what is public. */
#ifndef LEARN_LEARNERS_H
#define LEARN_LEARNERS_H

#include "cleave/learn.h"

/* Whether a learner takes features that are read when they are wanted (feature/dataset/held.h). */
bool learner_reads_on_demand(const struct clv_learner *learner);

#endif
