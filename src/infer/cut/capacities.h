/* Two-label fields as min-cut problems on whole numbers, the same for every engine. */
#ifndef INFER_CAPACITIES_H
#define INFER_CAPACITIES_H

#include <math.h>

#include "cleave/problem.h"

/* f(y) ~ (sum_i terminal[i] y_i - sum_e capacity[e] [y_a != y_b]) 2^-exponent + constant. */
struct capacities {
    int32_t *terminal;            /* [n_nodes], within +-MAXFLOW_LIMIT */
    int32_t *capacity;            /* [n_edges], 0..MAXFLOW_LIMIT */
    int exponent, slack_exponent; /* the latter: had no unary been clipped; a bound from above all the same */
    double limit;                 /* what unaries are clipped to, INFINITY: none is */
    double *unary, *coupling;     /* of full tables, reparametrised; unaries also where some are clipped */
    size_t node_capacity, edge_capacity;
};

void capacities_init(struct capacities *capacities);
void capacities_release(struct capacities *capacities);

/* sum[n_nodes] of every node's couplings. Returns the largest. */
double capacities_sum(double *sum, const struct clv_field *field, const double *coupling);

/* By how much a node's unary was clipped: what its margin lacks. */
static inline double capacities_clipped(const struct capacities *capacities, int32_t i)
{
    return isinf(capacities->limit) ? 0 : fmax(fabs(capacities->unary[i]) - capacities->limit, 0);
}

/* Checks the field (two labels, any form) and rounds it to the grid. Couplings are rounded to nearest like unaries, so
 * each term is off by at most 2^-exponent / 2. Refused, naming node or edge: values that are not finite, negative
 * couplings, tables that are not supermodular, edges without two different ends in range. */
enum clv_status capacities_set(struct capacities *capacities, const struct clv_field *field,
                               struct clv_error *err) CLV_CHECK;

/* Only keeps a copy of the unaries of a field with two labels. */
enum clv_status capacities_keep_unary(struct capacities *capacities, const struct clv_field *field,
                                      struct clv_error *err) CLV_CHECK;

#endif
