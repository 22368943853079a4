/* Perturb-and-MAP learning: pmap.c states the objectives and the algorithm. */
#ifndef LEARN_PMAP_H
#define LEARN_PMAP_H

#include "cleave/learn.h"
#include "learn/pmap/pmap_targets.h"

/* Indices into clv_training's parameters. PMAP_JOINT's learner has none from PMAP_DRAWS on. */
enum pmap_parameter {
    PMAP_LAMBDA,
    PMAP_PASSES,
    PMAP_BATCH,
    PMAP_STEP,
    PMAP_RATE,
    PMAP_AVERAGING,
    PMAP_EDGES,
    PMAP_TABLE_VARIANCE,
    PMAP_KAPPA,
    PMAP_ROUNDS,
    PMAP_CONDITIONAL,
    PMAP_DRAWS,
    PMAP_SHARPNESS,
    PMAP_REDUCTION,
    PMAP_DYNAMIC,
};

/* `learner` is the one that checkpoints name. */
enum clv_status pmap_train(struct clv_training_result *result, const struct clv_training *training,
                           const struct clv_learner *learner, enum pmap_objective objective,
                           struct clv_error *err) CLV_CHECK;

#endif
