/* Checkpoint files: a training's facts, which a resumed one must share, and tensors of the learner's own. */
#ifndef LEARN_CHECKPOINT_H
#define LEARN_CHECKPOINT_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "data/tensors.h"

struct checkpoints {
    const struct clv_training *training; /* without checkpoints nothing below does anything */
    const struct clv_learner *learner;
    const char *format; /* of the file */
    uint64_t digest;    /* of the examples */
    double written_s;
};

/* Of a learner's, which is the usual one, and of what cross-validation has of folds before that: whoever reads the one
 * passes over the other. */
#define CHECKPOINT_OF_LEARNER "cleave checkpoint 1"
#define CHECKPOINT_OF_FOLDS   "cleave folds 1"

/* fingerprint: a number that depends on all features. */
void checkpoints_open(struct checkpoints *self, const struct clv_learner *learner, const struct clv_training *training,
                      double fingerprint);

/* Whether one should be written now. */
bool checkpoint_is_due(const struct checkpoints *self);

enum clv_status checkpoint_write(struct checkpoints *self, const struct clv_tensor *state, size_t n,
                                 struct clv_error *err) CLV_CHECK;

/* *state: the tensors to go on from (clv_tensors_close), NULL if there are none. CLV_ERR_USAGE names what differs. */
enum clv_status checkpoint_read(struct clv_tensors **state, const struct checkpoints *self,
                                struct clv_error *err) CLV_CHECK;

#endif
