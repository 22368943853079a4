/* One fit of a model of tags to some of a problem's examples, with its parameters and its sequence of tags given. What
 * training, cross-validation and the choice of the sequence are made of. */
#ifndef ANNOTATE_TAG_FIT_H
#define ANNOTATE_TAG_FIT_H

#include "annotate/annotate.h"
#include "annotate/tag_model.h"
#include "annotate/tag_problem.h"

/* *model: form, place, order, bias, coupling and weight, or coefficient [n_tags][n] over the examples with n_vectors =
 * n, but no row, index and value: tag_fit_scores does with the Gram matrix. */
enum clv_status tag_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                        const struct tag_fit_task *task, struct clv_error *err) CLV_CHECK;

#endif
