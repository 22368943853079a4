/* The feature rows of an example's nodes, every block in its columns. */
#ifndef FEATURE_ROWS_H
#define FEATURE_ROWS_H

#include "feature/example/views.h"

/* Row, index and value of the example's first n_nodes nodes. O(pixels + entries). */
enum clv_status rows_fill(struct clv_example *example, int32_t n_nodes, struct views *views,
                          const struct clv_recipe *recipe, const struct layout *at, struct clv_error *err) CLV_CHECK;

#endif
