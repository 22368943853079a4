/* What every engine asks of a field before it trusts it. */
#ifndef INFER_FIELD_CHECK_H
#define INFER_FIELD_CHECK_H

#include <stdbool.h>

#include "cleave/problem.h"

/* Refuses, naming node or edge: sizes and edge ends out of range, values that are not finite, sums that could
 * overflow. For any number of labels and any form. O(n_nodes n_labels + the size of the tables). */
enum clv_status field_check(const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* field_check, and what belief propagation and elimination refuse besides: scores beyond 1e100 once divided by the
 * temperature, negative Potts couplings, more than 256 labels. */
enum clv_status field_check_scores(const struct clv_field *field, double temperature, struct clv_error *err) CLV_CHECK;

/* Adds times |value| to *total until one is not finite or the total is so large that adding scores up might overflow.
 * Returns where, or n; *total is 0 before the first call and stays 0 where nothing can go wrong. */
size_t scores_find_unsound(double *total, const double *value, size_t n, double times);
/* What to say of the score found, after its value. */
const char *scores_complaint(double value);

/* Full tables whose edge e joins nodes e and e + 1, and no others. */
bool field_is_chain(const struct clv_field *field);

#endif
