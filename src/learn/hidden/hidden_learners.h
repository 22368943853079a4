/* Learners with hidden variables (Ping, Liu & Ihler 2014): nodes whose label is unknown take part.
 *
 * Read objective.h first: one objective, and the four learners are its temperatures. hidden_learners.c has their
 * parameters. A training: hidden_descent.c takes steps by AdaGrad or the plain subgradient, or cccp.c alternates
 * linearisations and convex problems (by their dual, cccp_dual.c). Both ask objective.c for gradients over examples;
 * inference.c chooses, for one example, between elimination and belief propagation. full_adagrad.c is only for --solver
 * adagrad-full. messages.c is what an objective remembers from step to step, hidden_state.c what a checkpoint holds. */
#ifndef LEARN_HIDDEN_LEARNERS_H
#define LEARN_HIDDEN_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner mssvm_learner;
extern const struct clv_learner lssvm_learner;
extern const struct clv_learner hcrf_learner;
extern const struct clv_learner eps_learner;

#endif
