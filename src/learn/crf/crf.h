/* Conditional random fields. */
#ifndef LEARN_CRF_H
#define LEARN_CRF_H

#include "cleave/learn.h"

extern const struct clv_learner crf_learner;

#endif
