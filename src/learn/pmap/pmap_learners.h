/* Perturb-and-MAP learners (Shpakova et al. 2018): likelihoods estimated from the maxima of randomly perturbed scores.
 *
 * Read pmap.c first. A training: pmap_targets.c says what each example asks for, its labels or the marginals of an
 * image without a mask; each step of pmap.c draws perturbed labellings of a batch (pmap_draw.c, for chains with
 * pmap_tables.c), adds up their gradients and goes up (common/ascent.h); pmap_state.c writes and reads the checkpoints
 * between two steps. */
#ifndef LEARN_PMAP_LEARNERS_H
#define LEARN_PMAP_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner pmap_learner;
extern const struct clv_learner mpmap_learner;
extern const struct clv_learner wmpmap_learner;

#endif
