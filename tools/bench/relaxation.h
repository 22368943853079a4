/* The linear program that Miao and Rao compare branch and bound with (their Figure 3): decisions u_i in [0, 1] and
 * products p_ij, relaxed to what holds for each pair (Wainwright, Jaakkola and Willsky 2005),
 *
 *     min sum_i xi_i   subject to   xi_i >= 1 - a_i y_i - sum_{j < i} w_ij y_i y_j,   xi_i >= 0,
 *     p_ij <= u_i,   p_ij <= u_j,   p_ij >= u_i + u_j - 1,   p_ij >= 0,
 *     y_i = 2 u_i - 1,   y_i y_j = 4 p_ij - 2 u_i - 2 u_j + 1.
 */
#ifndef RELAXATION_H
#define RELAXATION_H

#include <stdlib.h>

#include "lp.h"
#include "tags/tags.h"

/* xi_i + a_i y_i + sum_j w_ij y_i y_j >= 1, of pairs alone. column[], value[] of 2 n + 1 entries. */
static inline enum clv_status relaxation_add_hinge(struct lp *lp, const double *input, const double *weight, int n,
                                                   int i, int *column, double *value, struct clv_error *err)
{
    double of_own = 2 * input[i], least = 1 + input[i];
    size_t m = 0;
    for (int j = 0; j < i; j++) {
        column[m] = j;
        value[m++] = -2 * weight[j];
        column[m] = 2 * n + i * (i - 1) / 2 + j;
        value[m++] = 4 * weight[j];
        of_own -= 2 * weight[j];
        least -= weight[j];
    }
    column[m] = i;
    value[m++] = of_own;
    column[m] = n + i;
    value[m++] = 1;
    return lp_add_row(lp, m, column, value, least, err);
}

static inline enum clv_status relaxation_add_pair(struct lp *lp, int n, int i, int j, struct clv_error *err)
{
    const int p = 2 * n + i * (i - 1) / 2 + j;
    enum clv_status status = lp_add_row(lp, 2, (const int[]){i, p}, (const double[]){1, -1}, 0, err);
    if (status == CLV_OK)
        status = lp_add_row(lp, 2, (const int[]){j, p}, (const double[]){1, -1}, 0, err);
    return status == CLV_OK ? lp_add_row(lp, 3, (const int[]){p, i, j}, (const double[]){1, -1, -1}, -1, err) : status;
}

/* y[K] = the relaxation's optimum, rounded; *bound = its value, which no labelling is below. Of order 2. */
static inline enum clv_status relaxation_solve(int8_t *y, double *bound, const struct clv_belief_net *net,
                                               const double *input, struct clv_error *err)
{
    int n = net->n_tags;
    size_t n_columns = (size_t)(2 * n + n * (n - 1) / 2);
    double *cost = calloc(2 * n_columns, sizeof *cost), *x = cost + n_columns;
    double *value = malloc((size_t)(2 * n + 2) * sizeof *value);
    int *column = malloc((size_t)(2 * n + 2) * sizeof *column);
    struct lp *lp = NULL;
    if (!cost || !value || !column)
        exit(1);
    for (int i = 0; i < n; i++)
        cost[n + i] = 1;
    enum clv_status status = lp_new(&lp, n_columns, cost, err);
    const double *weight = net->weight;
    for (int i = 0; i < n && status == CLV_OK; weight += i++) {
        lp_set_bounds(lp, (size_t)i, 0, 1);
        status = relaxation_add_hinge(lp, input, weight, n, i, column, value, err);
        for (int j = 0; j < i && status == CLV_OK; j++)
            status = relaxation_add_pair(lp, n, i, j, err);
    }
    if (status == CLV_OK)
        status = lp_optimise(lp, x, bound, err);
    for (int i = 0; i < n && status == CLV_OK; i++)
        y[i] = x[i] > 0.5 ? 1 : -1;
    lp_free(lp);
    free(cost);
    free(value);
    free(column);
    return status;
}

#endif
