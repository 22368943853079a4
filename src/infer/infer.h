#ifndef INFER_INFER_H
#define INFER_INFER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "cleave/infer.h"
#include "cleave/oracle.h"
#include "cleave/problem.h"

/* Exponentials of whole arrays. */

/* out[c] = exp(value[c] - shift) for values from -inf to shift + 700: within 2 units in the last place, 0 below
 * exp(-708); the same bits on every machine and whatever n is. out may be value. */
void exponentials(double *out, const double *value, double shift, size_t n);

/* Checks that every engine makes before it uses a field. */

/* Refuses, naming node or edge: sizes and edge ends out of range, values that are not finite, sums that could
 * overflow. For any number of labels and any form. O(n_nodes n_labels + the size of the tables). */
enum clv_status field_check(const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Refuses negative Potts couplings, naming the edge. */
enum clv_status field_check_couplings(const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* field_check, and what belief propagation and elimination refuse besides: scores beyond 1e100 once divided by the
 * temperature, negative Potts couplings, more than 256 labels. */
enum clv_status field_check_scores(const struct clv_field *field, double temperature, struct clv_error *err) CLV_CHECK;

/* Adds times |value| to *total until one is not finite or the total is so large that adding scores up might overflow.
 * Returns where, or n; *total is 0 before the first call and stays 0 where nothing can go wrong. */
size_t scores_find_unsound(double *total, const double *value, size_t n, double times);
/* Returns the text that follows the value of the score found in a message. */
const char *scores_complaint(double value);

/* Full tables whose edge e joins nodes e and e + 1, and no others. */
bool field_is_chain(const struct clv_field *field);

/* D / 4 of a full table of two labels, D = P11 + P00 - P01 - P10: below 0 if it is not supermodular, 0 where D is what
 * rounding leaves of 0. */
static inline double table_supermodularity(const double *table)
{
    double p00 = table[0], p01 = table[1], p10 = table[2], p11 = table[3];
    double d = (p11 / 4 + p00 / 4) - (p01 / 4 + p10 / 4);
    double size = fabs(p00) / 4 + fabs(p01) / 4 + fabs(p10) / 4 + fabs(p11) / 4;
    return d < 0 && d >= -0x1p-40 * size ? 0 : d;
}

/* Returns whether a minimum cut solves a field of two labels, as far as its full tables decide it. */
bool field_is_supermodular(const struct clv_field *field);

/* Sums of exponentials, whose logarithms are what is kept. */

/* Largest value, and log sum exp, of n >= 1 values. */
double maximum(const double *value, size_t n);
double log_sum_exp(const double *value, size_t n);

/* out[b] = sum_a weight[a] kernel[a][b], or kernel[b][a] if transposed. */
void apply_kernel(double *out, const double *weight, const double *kernel, size_t n_labels, bool is_transposed);

/* Clipping of large unaries, so that the others keep their digits when scores become whole numbers. */

#define UNARY_LARGE 1024 /* times a sum of couplings */

/* The size to which unaries are clipped, INFINITY in ordinary fields, which keep their scale. `largest` is the largest
 * size of a unary, largest_sum that of a node's couplings: what is clipped decides its node as before. Without
 * couplings, signs must not be lost: `least` is the least size of a unary that is not 0. */
static inline double unary_limit(double largest, double largest_sum, double least)
{
    double sum = largest_sum > 0 ? largest_sum : 0x1p18 * least;
    return largest > UNARY_LARGE * sum ? 2 * sum : INFINITY;
}

static inline double unary_clip(double unary, double limit)
{
    return unary > limit ? limit : unary < -limit ? -limit : unary;
}

DROPS(oracle_drop, struct clv_oracle, clv_oracle_free)
DROPS(bp_drop, struct clv_bp, clv_bp_free)

#endif
