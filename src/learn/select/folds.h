/* Trainings that hold out a part of their examples, to see how well they do there.
 *
 * learn/select chooses by them: a parameter (cross_validate.c, clv_cross_validate) or features to leave out
 * (feature_elimination.c, clv_eliminate). It stands above all learners and calls clv_train. */
#ifndef LEARN_FOLDS_H
#define LEARN_FOLDS_H

#include "cleave/learn.h"

struct folds {
    const struct clv_learner *learner;
    const struct clv_training *training;
    int32_t n_folds;
    int32_t *order; /* [n_examples] its examples, shuffled by its seed; fold f holds places f, f + n_folds, .. */
};
enum clv_status folds_init(struct folds *folds, const struct clv_learner *learner, const struct clv_training *training,
                           int32_t n_folds, struct clv_error *err) CLV_CHECK;
void folds_release(struct folds *folds);

/* What a fold is trained with instead of the training's own. */
struct fold_choice {
    const struct clv_dataset *dataset;
    int parameter; /* -1: none */
    double value;  /* of it */
};

/* Trains on all but one fold, on one thread; losses[n_thresholds][n_examples] of its examples, by place in `order`,
 * become those of the weights pruned at thresholds[n_thresholds] (clv_weights_prune; 0: as they are). A lambda against
 * the mean of losses is meant for all examples: the training, on fewer, takes it so many times larger.
 * CLV_ERR_INTERRUPTED when asked to stop. *made (NULL: not wanted) receives what was learned. */
enum clv_status fold_losses(double *losses, struct clv_training_result *made, const struct folds *self,
                            const struct fold_choice *choice, size_t fold, const double *thresholds,
                            size_t n_thresholds, struct clv_error *err) CLV_CHECK;

#endif
