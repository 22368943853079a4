/* What the max-margin Markov networks share: the paper's C and lambda, and the units of what they report. */
#ifndef LEARN_M3N_H
#define LEARN_M3N_H

#include "learn/common/examples.h"

/* relative: weights are measured against the size s of the features, as w s, s^2 = the scale of examples_open, so that
 * C, lambda and radius suit features of any size; raw: as they are. */
enum m3n_units { M3N_RELATIVE, M3N_RAW };
extern const char *const m3n_units[];

/* s^2, or 1. */
double m3n_squared_unit(const struct examples *examples, double units);

#endif
