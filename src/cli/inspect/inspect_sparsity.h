/* How many of a model's weights count, and what is known of their posterior. */
#ifndef CLI_INSPECT_SPARSITY_H
#define CLI_INSPECT_SPARSITY_H

#include <stdbool.h>

#include "base/text.h"
#include "cleave/model.h"

/* The variances of a posterior, [clv_shape_size(shape)], or NULL: the model has none, or not of that many weights. */
const double *inspect_variances(const struct clv_model *model);

/* Weights whose magnitude exceeds `threshold` times the largest one's. */
size_t inspect_count_weights(const struct clv_model *model, double threshold);

/* Lines of text; members of a JSON object, each with a comma before it. */
void inspect_sparsity_print(const struct clv_model *model, double threshold);
void inspect_sparsity_put(struct text *text, const struct clv_model *model, double threshold);

#endif
