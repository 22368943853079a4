/* Checks that training and cross-validation of models of tags share. */
#ifndef ANNOTATE_TAG_TRAINING_H
#define ANNOTATE_TAG_TRAINING_H

#include "annotate/annotate.h"

/* CLV_ERR_USAGE names the parameter and its range. */
enum clv_status tag_parameter_check(enum clv_tag_parameter index, double value, struct clv_error *err) CLV_CHECK;

/* Parameters in their ranges, and a set that the learner can learn from. */
enum clv_status tag_training_check(const struct clv_tag_training *training, struct clv_error *err) CLV_CHECK;

#endif
