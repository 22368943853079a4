/* The structured hinge on an L1 ball by constraint generation with a linear program: l1m3n --solver lp, in builds
 * WITH_LP=1; in others this folder is empty. Nothing else enters here; lp.h is the solver. */
#ifndef LEARN_CONSTRAINT_GENERATION_H
#define LEARN_CONSTRAINT_GENERATION_H

#include "learn/common/examples.h"

struct generation_rules {
    double radius; /* |w|_1 <= radius */
    double gap;    /* ends once (objective - bound) / objective is this small */
    size_t rounds; /* at most */
};

/* min_w mean_i H_i(w), couplings >= 0, |w|_1 <= radius, into *result. Memory and time grow with rounds x examples x
 * weights: for small sets. */
enum clv_status constraint_generation_train(struct clv_training_result *result, struct examples *examples,
                                            const struct generation_rules *rules, struct clv_error *err) CLV_CHECK;

#endif
