/* What a training comes to: how learners fill struct clv_training_result. */
#ifndef LEARN_RESULT_H
#define LEARN_RESULT_H

#include "learn/common/examples.h"

/* Appends to the result's curve. */
enum clv_status curve_add(struct clv_training_result *result, struct clv_curve_point point,
                          struct clv_error *err) CLV_CHECK;

/* result->w = w, with zero couplings where they were not learned. Two labels with a full table are to be decoded by
 * their MAP in chains, unless the learner has said how. */
enum clv_status result_set(struct clv_training_result *result, const struct examples *self, const double *w,
                           struct clv_error *err) CLV_CHECK;

/* The same for result->variance. */
enum clv_status result_set_variance(struct clv_training_result *result, const struct examples *self,
                                    const double *variance, struct clv_error *err) CLV_CHECK;

/* Appends a note; at most CLV_MAX_NOTES. */
void result_note(struct clv_training_result *result, const char *name, double value);

#endif
