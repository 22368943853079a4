/* What a training with hidden variables is resumed from: weights, what its solver keeps besides them, the messages that
 * belief propagation goes on from, the place. */
#ifndef LEARN_HIDDEN_STATE_H
#define LEARN_HIDDEN_STATE_H

#include "data/tensors.h"
#include "learn/hidden/cccp_dual.h"
#include "learn/hidden/hidden_descent.h"

/* Opens the checkpoint to go on from, if there is one, and puts back the place: *tensors, NULL if there is none or
 * nothing was done before it. */
enum clv_status hidden_state_open(struct clv_tensors **tensors, struct hidden_descent *self,
                                  struct clv_error *err) CLV_CHECK;

/* Puts back the rest, once temperatures and memory are those of the place, and closes the tensors either way. */
enum clv_status hidden_state_take(struct hidden_descent *self, struct clv_tensors *tensors,
                                  struct clv_error *err) CLV_CHECK;

/* Writes a checkpoint. */
enum clv_status hidden_state_write(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

/* The same, if one is due. */
enum clv_status hidden_state_keep(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

#endif
