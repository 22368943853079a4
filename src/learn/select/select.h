/* Trainings that hold out a part of their examples, to see how well they do there.
 *
 * cross_validate.c chooses a parameter by them (clv_cross_validate). It stands above all learners and calls
 * clv_train. */
#ifndef LEARN_SELECT_SELECT_H
#define LEARN_SELECT_SELECT_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/problem.h"

struct folds {
    const struct clv_learner *learner;
    const struct clv_training *training;
    int32_t n_folds;
    int32_t *order; /* [n_examples] its examples, shuffled by its seed, of windows in runs; fold f: f, f + n_folds .. */
};
enum clv_status folds_init(struct folds *folds, const struct clv_learner *learner, const struct clv_training *training,
                           int32_t n_folds, struct clv_error *err) CLV_CHECK;
void folds_release(struct folds *folds);

/* Trains on all but one fold, on one thread and with another value of a parameter; losses[n_examples] of the fold's
 * examples, by place in `order`, become those that were held out. A lambda against the mean of losses is meant for all
 * examples: the training, on fewer, takes it so many times larger. CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status fold_losses(double *losses, const struct folds *self, size_t fold, int parameter, double value,
                            struct clv_error *err) CLV_CHECK;

/* One training for each candidate and fold, each on one thread, so that nothing depends on their number. */
struct validation {
    struct folds folds;
    int parameter;
    const double *candidates;
    size_t n_candidates;
    double *loss; /* [n_candidates][n_examples] of each example when it was held out, by place in order; NaN: unknown */
    size_t n_done; /* counted by parallel_progress */
};
double *losses_unknown(size_t n); /* [n], array_free it; NULL: out of memory */

/* clv_cross_validate: folds whose losses are known are not tried again. When it is asked to stop, the losses of folds
 * that were tried are known. */
enum clv_status cross_validate(double *best, double *means, double *standard_errors, struct validation *self,
                               struct clv_error *err) CLV_CHECK;

#endif
