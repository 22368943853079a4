/* Every labelling, one by one: the reference for every other routine. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/maths.h"
#include "cleave/exhaustive.h"
#include "infer/field_check.h"

#define MAX_LABELLINGS (1 << 24)

/* The next labelling in lexicographic order, node 0 most significant; 0 after the last. */
static int next_labelling(int32_t *y, const struct clv_field *field)
{
    for (int32_t i = field->n_nodes - 1; i >= 0; i--) {
        if (++y[i] < field->n_labels)
            return 1;
        y[i] = 0;
    }
    return 0;
}

static bool is_too_large(const struct clv_field *field)
{
    int64_t count = 1;
    for (int32_t i = 0; i < field->n_nodes && count <= MAX_LABELLINGS; i++)
        count *= field->n_labels;
    return count > MAX_LABELLINGS;
}

/* sum exp(f - best), and into sums[n_nodes][n_labels] its share of each node's label. */
static double add_weights(double *sums, int32_t *y, const struct clv_field *field, double best)
{
    size_t labels = (size_t)field->n_labels;
    double total = 0;
    memset(y, 0, (size_t)field->n_nodes * sizeof *y);
    do {
        double weight = portable_exp(clv_field_score(field, y) - best);
        total += weight;
        for (size_t i = 0; i < (size_t)field->n_nodes; i++)
            sums[i * labels + (size_t)y[i]] += weight;
    } while (next_labelling(y, field));
    return total;
}

enum clv_status clv_exhaustive(int32_t *y, double *score, double *log_partition, double *marginals,
                               const struct clv_field *field, struct clv_error *err)
{
    enum clv_status status = field_check(field, err);
    if (status)
        return status;
    if (is_too_large(field))
        return fail(err, CLV_ERR_USAGE, "%d nodes with %d labels have more than 2^24 labellings", field->n_nodes,
                    field->n_labels);
    size_t n = (size_t)field->n_nodes, cells = n * (size_t)field->n_labels;
    int32_t *current = array_zalloc(n, sizeof *current), *best = array_zalloc(n, sizeof *best);
    double *sums = array_zalloc(cells, sizeof *sums);
    if (!current || !best || !sums) {
        status = fail_memory(err);
        goto done;
    }
    double highest = -INFINITY;
    do {
        double f = clv_field_score(field, current);
        if (f > highest) {
            highest = f;
            memcpy(best, current, n * sizeof *best);
        }
    } while (next_labelling(current, field));
    if (log_partition || marginals) {
        double total = add_weights(sums, current, field, highest);
        if (log_partition)
            *log_partition = highest + portable_log(total);
        for (size_t k = 0; marginals && k < cells; k++)
            marginals[k] = sums[k] / total;
    }
    if (score)
        *score = highest;
    if (y)
        memcpy(y, best, n * sizeof *y);
done:
    array_free(current);
    array_free(best);
    array_free(sums);
    return status;
}
