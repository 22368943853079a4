/* Models of two stages: what the first one says of a problem's nodes becomes features that the second one sees, and
 * the field of a problem under a model, whatever its stages. */
#ifndef MODEL_STAGE_H
#define MODEL_STAGE_H

#include "base/text.h"
#include "cleave/model.h"
#include "feature/context/context.h"

void stage_free(struct clv_stage *stage); /* NULL is fine */

/* marginals[n_nodes][n_labels] under a stage: sum-product belief propagation for a few iterations, whether or not it
 * converges by then; exact without edges. The problem is checked against the stage's shape. */
enum clv_status stage_marginals(double *marginals, const struct clv_stage *stage, const struct clv_problem *problem,
                                struct clv_error *err) CLV_CHECK;

/* The shape of the stage that comes after a stage, with pairwise terms of that form. */
struct clv_shape stage_next_shape(const struct clv_shape *shape, enum clv_pairwise form);

/* The problem as the stage after sees it, whose shape is `next`: context_release whatever the status. */
enum clv_status stage_context(struct context *context, const struct clv_stage *stage, const struct clv_shape *next,
                              const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

/* The field of a problem, which is checked against the shape of the model's first stage; memory of its own:
 * scored_field_release whatever the status. */
enum clv_status model_field_init(struct clv_field *field, const struct clv_model *model,
                                 const struct clv_problem *problem, struct clv_error *err) CLV_CHECK;

#endif
