/* The structured SVM over tags. */
#ifndef ANNOTATE_TAG_STRUCTURAL_H
#define ANNOTATE_TAG_STRUCTURAL_H

#include "annotate/annotate.h"
#include "annotate/tag_model.h"
#include "annotate/tag_problem.h"

/* A structured SVM's part of tag_fit: weight, bias and coupling of a linear model whose arrays are there, zeroed. */
enum clv_status tag_structural_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                                   const struct tag_fit_task *task, struct clv_error *err) CLV_CHECK;

#endif
