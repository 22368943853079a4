/* What a perturb-and-MAP training is resumed from. */
#ifndef LEARN_PMAP_STATE_H
#define LEARN_PMAP_STATE_H

#include "learn/common/ascent.h"
#include "learn/common/checkpoint.h"

/* The place in a training between two steps. */
struct pmap_place {
    int64_t round;     /* 0: over examples with masks alone */
    int64_t pass;      /* of the round, from 1 */
    int64_t n_taken;   /* examples of the pass that steps have taken */
    int64_t next_draw; /* number of the next step's first draw */
};

struct pmap_state {
    struct pmap_place place;
    struct ascent *ascent;
    double *start;                      /* [size] where the round began: weak examples are pseudo-labelled from it */
    struct clv_training_result *result; /* its curve */
};

enum clv_status pmap_state_write(struct checkpoints *checkpoints, const struct pmap_state *state,
                                 struct clv_error *err) CLV_CHECK;

/* Fills the state, whose arrays are there already, if there is a checkpoint to go on from: *found. Its place is any:
 * the caller knows which ones there are. */
enum clv_status pmap_state_read(bool *found, struct pmap_state *state, const struct checkpoints *checkpoints,
                                struct clv_error *err) CLV_CHECK;

#endif
