/* What a training of a conditional random field is resumed from. */
#ifndef LEARN_CRF_STATE_H
#define LEARN_CRF_STATE_H

#include "learn/common/checkpoint.h"
#include "learn/crf/lbfgs.h"

struct crf_state {
    struct lbfgs *lbfgs;                /* its state */
    size_t n_evaluations;               /* that led to its x; 0: none yet */
    double first_objective;             /* before any step */
    struct clv_training_result *result; /* its curve has a point for each step */
};

enum clv_status crf_state_write(struct checkpoints *checkpoints, const struct crf_state *state,
                                struct clv_error *err) CLV_CHECK;

/* Fills the state, whose lbfgs is open, if there is a checkpoint to go on from. */
enum clv_status crf_state_read(struct crf_state *state, const struct checkpoints *checkpoints,
                               struct clv_error *err) CLV_CHECK;

#endif
