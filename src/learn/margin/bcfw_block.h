/* The dual variables of one example, for bcfw.c. */
#ifndef LEARN_BCFW_BLOCK_H
#define LEARN_BCFW_BLOCK_H

#include "learn/margin/bcfw.h"

/* The dual starts at the true labels: v = 0. */
enum clv_status block_start(struct bcfw *self, size_t index, struct clv_error *err) CLV_CHECK;

/* indicator[n_nodes][rows] of y; unknown nodes have none. */
void block_indicator(double *indicator, const struct bcfw *self, const struct clv_problem *problem, const int32_t *y);

uint64_t block_hash(const struct clv_problem *problem, const int32_t *y);

/* alpha_i = (1 - step) alpha_i + step [y]. */
enum clv_status block_move_support(struct bcfw_block *block, uint64_t labelling, double step,
                                   struct clv_error *err) CLV_CHECK;

/* Capacity for n labellings. */
enum clv_status block_reserve(struct bcfw_block *block, size_t n, struct clv_error *err) CLV_CHECK;

#endif
