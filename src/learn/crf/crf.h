/* Conditional random fields: the exact likelihood of the known labels, by L-BFGS.
 *
 * Read crf.c first, the learner. lbfgs.c minimises what it says, along lines by line_search.c. crf_objective.c has the
 * likelihood and its gradient over all examples, crf_worker.c those of one example (chain, forest or no edges),
 * crf_rows.c the sparse products with W. */
#ifndef LEARN_CRF_H
#define LEARN_CRF_H

#include "cleave/learn.h"

extern const struct clv_learner crf_learner;

#endif
