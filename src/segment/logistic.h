/* Weighted logistic regression on a few numbers. */
#ifndef SEGMENT_LOGISTIC_H
#define SEGMENT_LOGISTIC_H

#include <stdbool.h>

#include "cleave/status.h"

enum { LOGISTIC_MOST = 32 };

#define LOGISTIC_LARGEST 1e6 /* of a weight's or the bias's size */

struct logistic_data {
    size_t n;
    int32_t n_columns;     /* at most LOGISTIC_MOST - 1 */
    const float *rows;     /* [n][n_columns] */
    const uint8_t *is_one; /* [n] */
    const double *weight;  /* [n], >= 0 */
};

/* w[n_columns], *bias: the minimum of the weighted mean of log(1 + exp(-+(<w, row> + bias))) + ridge / 2 |w s|^2, s the
 * columns' standard deviations, by Newton's method. Columns marked in `is_positive` have weights >= 0: the lowest one
 * below is left out until none is. A column that does not vary weighs 0, as does one that varies so little that its
 * weight would be beyond LOGISTIC_LARGEST / LOGISTIC_MOST (times its mean, too: no sum of theirs is beyond
 * LOGISTIC_LARGEST). O(n columns^2) a step. */
enum clv_status logistic_fit(double *w, double *bias, const struct logistic_data *data, const bool *is_positive,
                             double ridge, struct clv_error *err) CLV_CHECK;

#endif
