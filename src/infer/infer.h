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

/* Sets out[c] = exp(value[c] - shift) for values from -inf to shift + 700, within 2 units in the last place; below
 * exp(-708) it is 0. The bits are the same on every machine and for any n. out may be value. */
void exponentials(double *out, const double *value, double shift, size_t n);

/* Checks that every engine makes before it uses a field. */

/* Refuses, naming node or edge: sizes and edge ends out of range, values that are not finite, sums that could
 * overflow. For any number of labels and any form. O(n_nodes n_labels + the size of the tables). */
enum clv_status field_check(const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Refuses negative Potts couplings, naming the edge. */
enum clv_status field_check_couplings(const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Calls field_check, and refuses what belief propagation and elimination cannot use: scores whose size divided by the
 * temperature exceeds 1e100, negative Potts couplings, more than 256 labels. */
enum clv_status field_check_scores(const struct clv_field *field, double temperature, struct clv_error *err) CLV_CHECK;

/* Adds times |value[k]| to *total. Returns the index of the first value that is not finite, or at which the total is so
 * large that sums of scores might overflow; n if all are sound. *total is 0 before the first call. Values too small to
 * overflow any sum are not added. */
size_t scores_find_unsound(double *total, const double *value, size_t n, double times);
/* Returns the clause that an error message appends to the value that scores_find_unsound found. */
const char *scores_complaint(double value);

/* Returns the number of edges that have scores. */
static inline int32_t field_n_edges(const struct clv_field *field)
{
    return field->form == CLV_PAIRWISE_NONE ? 0 : field->n_edges;
}

/* Sets a field's graph, number of labels and form to those of a problem under a layout of weights; its scores stay. */
static inline void field_set_graph(struct clv_field *field, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout)
{
    field->n_nodes = problem->n_nodes;
    field->n_edges = layout->pairwise == CLV_PAIRWISE_NONE ? 0 : problem->n_edges;
    field->n_labels = layout->n_labels;
    field->form = layout->pairwise;
    field->edges = problem->edges;
}

/* Scores of labels. */

static inline double field_unary_score(const struct clv_field *field, int32_t node, int32_t label)
{
    if (field->n_labels == 2)
        return label ? field->unary[node] : 0;
    return field->unary[(size_t)node * (size_t)field->n_labels + (size_t)label];
}

/* Returns the pairwise score of an edge whose first end has label a and whose second one has label b, in form POTTS or
 * FULL. */
static inline double field_pair_score(const struct clv_field *field, int32_t edge, int32_t a, int32_t b)
{
    if (field->form == CLV_PAIRWISE_POTTS)
        return a == b ? 0 : -field->pairwise[edge];
    return clv_field_table(field, edge)[(size_t)a * (size_t)field->n_labels + (size_t)b];
}

/* Returns the pairwise score of an edge whose end `node`, first or second, has label a and whose other end has label
 * b. */
static inline double field_link_score(const struct clv_field *field, int32_t edge, int32_t node, int32_t a, int32_t b)
{
    bool is_first = field->edges[edge][0] == node;
    return field_pair_score(field, edge, is_first ? a : b, is_first ? b : a);
}

/* Returns whether the field has full tables and is one chain: edge e joins nodes e and e + 1. */
bool field_is_chain(const struct clv_field *field);

/* Returns D = P11 + P00 - P01 - P10 of a full table of two labels. It is below 0 if the table is not supermodular. A D
 * that is negative only by rounding counts as 0. Sums do not overflow in fields that field_check accepts. They are
 * exact for subnormal scores, which a division before the sum would round. */
static inline double table_supermodularity(const double *table)
{
    double p00 = table[0], p01 = table[1], p10 = table[2], p11 = table[3];
    double d = (p11 + p00) - (p01 + p10);
    double size = fabs(p00) + fabs(p01) + fabs(p10) + fabs(p11);
    return d < 0 && d >= -0x1p-40 * size ? 0 : d;
}

/* Returns whether the field has two labels and all full tables are supermodular, so that a minimum cut solves it. Potts
 * couplings are not checked. */
bool field_is_supermodular(const struct clv_field *field);

/* Sums of exponentials in the log domain. */

/* Return the maximum, and log sum exp, of n >= 1 values. */
double maximum(const double *value, size_t n);
double log_sum_exp(const double *value, size_t n);

/* Sets out[b] = sum_a weight[a] kernel[a][b], or kernel[b][a] if transposed. */
void apply_kernel(double *out, const double *weight, const double *kernel, size_t n_labels, bool is_transposed);

/* Clipping of large unaries, so that the others keep more digits when scores are rounded to whole numbers. */

#define UNARY_LARGE 1024 /* times a sum of couplings */

/* Returns the size to which unaries are clipped, INFINITY in ordinary fields, which keep their scale. `largest` is the
 * largest |unary|, largest_sum the largest sum of a node's couplings. A clipped unary is twice that sum, so it still
 * decides its node. Without couplings the limit is a multiple of `least`, the smallest |unary| above 0, whose sign must
 * not be lost. */
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
