/* What a pruned model keeps, in words; `cleave prune', `train --prune' and `inspect' tell it. */
#ifndef CLI_PRUNING_H
#define CLI_PRUNING_H

#include <stdio.h>

#include "cleave/model.h"

struct kept_count {
    size_t node, n_node, pairwise, n_pairwise; /* weights that are not 0, and all */
};
struct kept_count pruning_count(const struct clv_model *model);

/* A line of counts, and for models with a recipe a table of its groups of features. */
enum clv_status pruning_print(FILE *stream, const struct clv_model *model, double threshold,
                              struct clv_error *err) CLV_CHECK;

/* Sets the weights of groups of features ("sift2,zones") to 0. CLV_ERR_USAGE for a name that is none, telling those
 * there are. */
enum clv_status pruning_drop(struct clv_model *model, const char *names, struct clv_error *err) CLV_CHECK;

/* "sift2 sift8": the groups of which the recipe keeps nothing, "" if there are none; array_free it. NULL: out of
 * memory. */
char *pruning_left_out(const struct clv_recipe *recipe);

#endif
