/* Learners of large margins: each looks for weights under which the truth scores higher than any other labelling, by a
 * margin.
 *
 * Read ssvm.c first, then bcfw.c, the solver of ssvm, m3n and lapmedn. A training: bcfw_open takes the examples
 * (common/examples.h); each step decodes one example with the loss added (common/decoder.h) and moves towards what was
 * found (common/frank_wolfe.h); bcfw_solve ends when the duality gap is small; result_set hands the weights back.
 * descent.c is the subgradient method of subgradient, m3n and l1m3n. perceptron.c and independent.c are whole by
 * themselves. The linear program of l1m3n --solver lp is apart, in learn/constraint_generation. */
#ifndef LEARN_MARGIN_LEARNERS_H
#define LEARN_MARGIN_LEARNERS_H

#include "cleave/learn.h"

extern const struct clv_learner ssvm_learner;
extern const struct clv_learner subgradient_learner;
extern const struct clv_learner perceptron_learner;
extern const struct clv_learner independent_learner;
extern const struct clv_learner m3n_learner;
extern const struct clv_learner l1m3n_learner;
extern const struct clv_learner lapmedn_learner;

#endif
