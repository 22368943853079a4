/* Linear programs whose rows are added one after the other: min <cost, x> subject to rows >= their right sides and
 * bounds. A wrapper of Clp's dual simplex. Start at lp_optimise. */
#ifndef LP_H
#define LP_H

#include <coin/Clp_C_Interface.h>
#include <float.h>
#include <string.h>

#include "base/base.h"

/* Rows wait until the next optimum is asked for: the solver copies its matrix whenever some are added. */
struct lp {
    Clp_Simplex *program;
    size_t n_columns;
    double *least, *most; /* [n_columns] */
    CoinBigIndex *start;  /* [n_rows + 1] */
    int *column;          /* [start[n_rows]] */
    double *value, *at_least;
    size_t n_rows, row_capacity, entry_capacity;
};

static inline void lp_free(struct lp *lp)
{
    if (!lp)
        return;
    if (lp->program)
        Clp_deleteModel(lp->program);
    arrays_free(lp->least, lp->most, lp->start, lp->column, lp->value, lp->at_least, lp);
}
DROPS(lp_drop, struct lp, lp_free)

static inline enum clv_status lp_new(struct lp **lp, size_t n_columns, const double *cost, struct clv_error *err)
{
    *lp = NULL;
    OWNED(lp_drop) struct lp *result = array_zalloc(1, sizeof *result);
    NEED(result);
    result->n_columns = n_columns;
    result->program = Clp_newModel();
    result->least = array_zalloc(n_columns, sizeof *result->least);
    result->most = array_alloc(n_columns, sizeof *result->most);
    NEED(result->program && result->least && result->most);
    for (size_t k = 0; k < n_columns; k++)
        result->most[k] = DBL_MAX;
    Clp_setLogLevel(result->program, 0);
    Clp_resize(result->program, 0, (int)n_columns);
    Clp_chgObjCoefficients(result->program, cost);
    *lp = TAKE(result);
    return CLV_OK;
}

static inline void lp_set_bounds(struct lp *lp, size_t column, double least, double most)
{
    lp->least[column] = least;
    lp->most[column] = most;
}

/* Capacity for one more row of n entries. */
static inline enum clv_status lp_reserve(struct lp *lp, size_t n, struct clv_error *err)
{
    size_t used = lp->n_rows ? (size_t)lp->start[lp->n_rows] : 0;
    const struct array_part by_row[] = {{&lp->start, sizeof *lp->start}, {&lp->at_least, sizeof *lp->at_least}};
    const struct array_part by_entry[] = {{&lp->column, sizeof *lp->column}, {&lp->value, sizeof *lp->value}};
    if (array_reserve_all(by_row, 2, &lp->row_capacity, lp->n_rows + 2) ||
        array_reserve_all(by_entry, 2, &lp->entry_capacity, used + n))
        return fail_memory(err);
    lp->start[0] = 0;
    return CLV_OK;
}

static inline enum clv_status lp_add_row(struct lp *lp, size_t n, const int *column, const double *value,
                                         double at_least, struct clv_error *err)
{
    MUST(lp_reserve(lp, n, err));
    size_t used = (size_t)lp->start[lp->n_rows];
    memcpy(lp->column + used, column, n * sizeof *column);
    memcpy(lp->value + used, value, n * sizeof *value);
    lp->at_least[lp->n_rows] = at_least;
    lp->start[++lp->n_rows] = (CoinBigIndex)(used + n);
    return CLV_OK;
}

static inline enum clv_status lp_optimise(struct lp *lp, double *x, double *value, struct clv_error *err)
{
    Clp_chgColumnLower(lp->program, lp->least);
    Clp_chgColumnUpper(lp->program, lp->most);
    if (lp->n_rows)
        Clp_addRows(lp->program, (int)lp->n_rows, lp->at_least, NULL, lp->start, lp->column, lp->value);
    lp->n_rows = 0;
    Clp_dual(lp->program, 0); /* new rows leave the basis dual feasible */
    if (Clp_status(lp->program) != 0)
        return fail(err, CLV_ERR_INTERNAL, "a linear program of %zu columns and %d rows was given up (status %d)",
                    lp->n_columns, Clp_getNumRows(lp->program), Clp_status(lp->program));
    *value = Clp_objectiveValue(lp->program);
    memcpy(x, Clp_getColSolution(lp->program), lp->n_columns * sizeof *x);
    return CLV_OK;
}

#endif
