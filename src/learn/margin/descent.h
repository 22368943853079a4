/* The structured hinge by projected stochastic subgradient descent, for the learners that differ in penalty, steps and
 * ball:
 *
 *     min_w  ridge/2 |w|^2 + (1/n) sum_i H_i(w),  couplings >= 0, w in a ball,   H_i(w) = max_y L_i(y) + f_i(y) - f_i(y_i) */
#ifndef LEARN_DESCENT_H
#define LEARN_DESCENT_H

#include "learn/common/examples.h"

enum descent_step {
    DESCENT_PEGASOS,  /* 1 / (ridge t): Shalev-Shwartz et al. 2007 */
    DESCENT_ROOT,     /* rate / sqrt(t): Ratliff et al. 2007 */
    DESCENT_ADAPTIVE, /* rate / sqrt(sum of all |subgradient|^2 so far): Streeter and McMahan 2010 */
};

enum descent_ball {
    DESCENT_L2, /* the one that holds the optimum: ridge/2 |w*|^2 <= objective at 0 */
    DESCENT_L1, /* |w|_1 <= radius */
};

struct descent_rules {
    double ridge, rate, radius;
    enum descent_step step;
    enum descent_ball ball;
    size_t passes;
    double unit; /* of the objectives reported */
    bool averaging;
};

/* Trains into *result. From given weights, these are the best as long as no point of the curve is better. `examples`
 * are open; they are released by the caller. */
enum clv_status descent_train(struct clv_training_result *result, struct examples *examples,
                              const struct descent_rules *rules, struct clv_error *err) CLV_CHECK;

#endif
