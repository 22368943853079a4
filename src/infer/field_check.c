/* Checks a field before any engine uses it: edge ends, finite scores, sums that cannot overflow, couplings that
 * are not negative; and recognises chains and supermodular fields. Start at field_check. */
#include "infer/infer.h"

#include <float.h>
#include <math.h>

#include "base/base.h"
#include "cleave/infer.h"

/* Largest score in units of the temperature. Sums of messages of larger scores could overflow. */
#define LARGEST_SCORE 1e100

static enum clv_status check_edges(const struct clv_field *field, struct clv_error *err)
{
    uint32_t n = (uint32_t)field->n_nodes, is_bad = 0;
    for (int32_t e = 0; e < field->n_edges; e++) {
        uint32_t a = (uint32_t)field->edges[e][0], b = (uint32_t)field->edges[e][1];
        is_bad |= (uint32_t)((a >= n) | (b >= n) | (a == b));
    }
    for (int32_t e = 0; is_bad && e < field->n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1];
        if (a < 0 || b < 0 || a >= field->n_nodes || b >= field->n_nodes || a == b)
            return fail(err, CLV_ERR_DATA, "edge %d joins nodes %d and %d of %d", e, a, b, field->n_nodes);
    }
    return CLV_OK;
}

/* Returns whether all values are so small that no sum of scores of a field can overflow. x - x is 0 for a finite x,
 * else NaN, so the loop has no branches and runs in vector lanes. */
static int all_small(const double *value, size_t n)
{
    double sum[4] = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] += value[k + j] * 0x1p60 - value[k + j] * 0x1p60;
    for (; k < n; k++)
        sum[0] += value[k] * 0x1p60 - value[k] * 0x1p60;
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

size_t scores_find_unsound(double *total, const double *value, size_t n, double times)
{
    size_t k = 0;
    if (all_small(value, n))
        return n;
    while (k < n && (*total += times * fabs(value[k])) <= DBL_MAX / 4)
        k++;
    return k;
}

const char *scores_complaint(double value)
{
    return isfinite(value) ? ", and what it adds up to overflows" : "";
}

enum clv_status field_check(const struct clv_field *field, struct clv_error *err)
{
    if (field->n_nodes < 0 || field->n_edges < 0 || field->n_labels < 1)
        return fail(err, CLV_ERR_USAGE, "a field of %d nodes, %d edges and %d labels", field->n_nodes, field->n_edges,
                    field->n_labels);
    size_t labels = (size_t)field->n_labels, columns = labels == 2 ? 1 : labels;
    size_t n_unary = (size_t)field->n_nodes * columns;
    double total = 0;
    size_t bad = scores_find_unsound(&total, field->unary, n_unary, 1);
    if (bad < n_unary)
        return fail(err, CLV_ERR_DATA, "node %zu: its unary score is %g%s", bad / columns, field->unary[bad],
                    scores_complaint(field->unary[bad]));
    if (field->form == CLV_PAIRWISE_NONE)
        return CLV_OK;
    MUST(check_edges(field, err));
    bool is_shared = field->form == CLV_PAIRWISE_FULL && field->is_shared && field->n_edges > 0;
    size_t cells = field->form == CLV_PAIRWISE_FULL ? labels * labels : 1;
    size_t n_pairwise = (is_shared ? 1 : (size_t)field->n_edges) * cells;
    bad = scores_find_unsound(&total, field->pairwise, n_pairwise, is_shared ? field->n_edges : 1);
    if (bad < n_pairwise)
        return fail(err, CLV_ERR_DATA, "edge %zu: its pairwise score is %g%s", bad / cells, field->pairwise[bad],
                    scores_complaint(field->pairwise[bad]));
    return CLV_OK;
}

enum clv_status field_check_couplings(const struct clv_field *field, struct clv_error *err)
{
    for (int32_t e = 0; field->form == CLV_PAIRWISE_POTTS && e < field->n_edges; e++)
        FAIL_IF(field->pairwise[e] < 0, CLV_ERR_DATA, "edge %d (nodes %d and %d): its coupling is %g, below 0", e,
                field->edges[e][0], field->edges[e][1], field->pairwise[e]);
    return CLV_OK;
}

enum clv_status field_check_scores(const struct clv_field *field, double temperature, struct clv_error *err)
{
    MUST(field_check(field, err));
    if (field->n_labels > CLV_BP_MAX_LABELS || field->n_edges > INT32_MAX / 2)
        return fail(err, CLV_ERR_USAGE, "%d labels or %d edges are too many for elimination and belief propagation",
                    field->n_labels, field->n_edges);
    double largest = LARGEST_SCORE * fmin(temperature, 1);
    size_t k = (size_t)field->n_labels, columns = k == 2 ? 1 : k;
    for (size_t c = 0; c < (size_t)field->n_nodes * columns; c++)
        if (fabs(field->unary[c]) > largest)
            return fail(err, CLV_ERR_DATA, "node %zu: its unary score %g is too large", c / columns, field->unary[c]);
    size_t cells = field->form == CLV_PAIRWISE_FULL ? k * k : 1;
    size_t n_tables = field->is_shared && field->n_edges > 0 ? 1 : (size_t)field->n_edges;
    size_t n_scores = field->form == CLV_PAIRWISE_NONE ? 0 : n_tables * cells;
    for (size_t c = 0; c < n_scores; c++) {
        if (field->form == CLV_PAIRWISE_POTTS && field->pairwise[c] < 0)
            return fail(err, CLV_ERR_DATA, "edge %zu: its coupling %g is negative", c, field->pairwise[c]);
        if (fabs(field->pairwise[c]) > largest)
            return fail(err, CLV_ERR_DATA, "edge %zu: its pairwise score %g is too large", c / cells,
                        field->pairwise[c]);
    }
    return CLV_OK;
}

bool field_is_supermodular(const struct clv_field *field)
{
    if (field->n_labels != 2 || field->form != CLV_PAIRWISE_FULL)
        return field->n_labels == 2;
    for (int32_t e = 0; e < (field->is_shared && field->n_edges > 0 ? 1 : field->n_edges); e++)
        if (table_supermodularity(clv_field_table(field, e)) < 0)
            return false;
    return true;
}

bool field_is_chain(const struct clv_field *field)
{
    if (field->form != CLV_PAIRWISE_FULL || field->n_edges != field->n_nodes - 1)
        return false;
    for (int32_t e = 0; e < field->n_edges; e++)
        if (field->edges[e][0] != e || field->edges[e][1] != e + 1)
            return false;
    return true;
}
