/* Trainings that hold out some of their examples and measure the loss on them.
 *
 * cross_validate.c chooses a parameter by these losses (clv_cross_validate). It works with all learners and calls
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
    int32_t *order; /* [n_examples] examples, shuffled by the seed, windows in runs; fold f: f, f + n_folds .. */
};
enum clv_status folds_init(struct folds *folds, const struct clv_learner *learner, const struct clv_training *training,
                           int32_t n_folds, struct clv_error *err) CLV_CHECK;
void folds_release(struct folds *folds);

/* Trains on all folds except one, on one thread and with another value of a parameter. Sets those of
 * losses[n_examples], by index in `order`, that belong to the fold's examples. A lambda relative to the mean loss is
 * meant for all examples and is increased for the smaller number. CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status fold_losses(double *losses, const struct folds *self, size_t fold, int parameter, double value,
                            struct clv_error *err) CLV_CHECK;

/* One training per candidate and fold, each on one thread, so that results do not depend on the number of threads. */
struct validation {
    struct folds folds;
    int parameter;
    const double *candidates;
    size_t n_candidates;
    double *loss;  /* [n_candidates][n_examples] held-out losses, by index in `order`; NaN: unknown */
    size_t n_done; /* counted by parallel_progress */
};
double *losses_unknown(size_t n); /* [n], array_free it; NULL: out of memory */

/* clv_cross_validate, except that folds whose losses are known are skipped. After an interruption the losses of the
 * complete folds are known. */
enum clv_status cross_validate(double *best, double *means, double *standard_errors, struct validation *self,
                               struct clv_error *err) CLV_CHECK;

#endif
