/* What block-coordinate Frank-Wolfe is resumed from: the dual, a block of marginals for each example, the best weights,
 * the place. w, the pass's order and the buckets' gaps follow from these. */
#ifndef LEARN_BCFW_STATE_H
#define LEARN_BCFW_STATE_H

#include "learn/margin/bcfw.h"

enum clv_status bcfw_state_write(struct bcfw *self, struct clv_error *err) CLV_CHECK;

/* After bcfw_keep: if there is a checkpoint to go on from, self is where it was written, the owner's arrays are filled,
 * and *found is set. S is the caller's to put back, by bcfw_put_variance. */
enum clv_status bcfw_resume(bool *found, struct bcfw *self, struct clv_error *err) CLV_CHECK;

#endif
