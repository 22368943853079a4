/* Two baselines with latent variables, for chains of visible and hidden nodes in turn and trees like them: max-margin
 * min-entropy models (m3e.c) and ModLat (modlat.c). They stand apart: both descend by latent.c, and nothing else uses
 * that. The learners with hidden variables for any graph are those of learn/hidden. */
#ifndef LEARN_LATENT_LEARNERS_H
#define LEARN_LATENT_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner m3e_learner;
extern const struct clv_learner modlat_learner;

#endif
