/* Linear programs that grow by rows: min <cost, x> subject to rows >= their right sides and bounds. The one place that
 * knows the solver, Clp. */
#ifndef LEARN_LP_H
#define LEARN_LP_H

#include "cleave/status.h"

struct lp;

/* Columns with their costs, from 0 to infinity at first. */
enum clv_status lp_new(struct lp **lp, size_t n_columns, const double *cost, struct clv_error *err) CLV_CHECK;
void lp_free(struct lp *lp);

void lp_set_bounds(struct lp *lp, size_t column, double least, double most);

/* sum_k value[k] x[column[k]] >= at_least; columns do not repeat. */
enum clv_status lp_add_row(struct lp *lp, size_t n, const int *column, const double *value, double at_least,
                           struct clv_error *err) CLV_CHECK;

/* x[n_columns] = an optimum, *value = its cost. Starts from the last call's basis. CLV_ERR_INTERNAL: infeasible,
 * unbounded, or given up. */
enum clv_status lp_optimise(struct lp *lp, double *x, double *value, struct clv_error *err) CLV_CHECK;

#endif
