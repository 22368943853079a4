/* The structured hinge on an L1 ball by constraint generation with a linear program: l1m3n --solver lp, in builds
 * WITH_LP=1; in others this folder is empty. Nothing else enters here; lp.c is the solver. */
#ifndef LEARN_MARGIN_CONSTRAINT_GENERATION_H
#define LEARN_MARGIN_CONSTRAINT_GENERATION_H

#include "cleave/status.h"
#include "learn/common/common.h"

struct generation_rules {
    double radius; /* |w|_1 <= radius */
    double gap;    /* ends once (objective - bound) / objective is this small */
    size_t rounds; /* at most */
};

/* min_w mean_i H_i(w), couplings >= 0, |w|_1 <= radius, into *result. Memory and time grow with rounds x examples x
 * weights: for small sets. */
enum clv_status constraint_generation_train(struct clv_training_result *result, struct examples *examples,
                                            const struct generation_rules *rules, struct clv_error *err) CLV_CHECK;

/* Linear programs that grow by rows: min <cost, x> subject to rows >= their right sides and bounds. The one place that
 * knows the solver, Clp. */

struct lp;

/* Columns with their costs, from 0 to infinity at first. */
enum clv_status lp_new(struct lp **lp, size_t n_columns, const double *cost, struct clv_error *err) CLV_CHECK;
void lp_free(struct lp *lp);
DROPS(lp_drop, struct lp, lp_free)

void lp_set_bounds(struct lp *lp, size_t column, double least, double most);

/* sum_k value[k] x[column[k]] >= at_least; columns do not repeat. */
enum clv_status lp_add_row(struct lp *lp, size_t n, const int *column, const double *value, double at_least,
                           struct clv_error *err) CLV_CHECK;

/* x[n_columns] = an optimum, *value = its cost. Starts from the last call's basis. CLV_ERR_INTERNAL: infeasible,
 * unbounded, or given up. */
enum clv_status lp_optimise(struct lp *lp, double *x, double *value, struct clv_error *err) CLV_CHECK;

#endif
