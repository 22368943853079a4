/* Every labelling, one by one. */
#include "support/exhaustive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#define MAX_LABELLINGS (1 << 24)

/* The next labelling in lexicographic order, node 0 most significant; false after the last. */
static bool next_labelling(int32_t *y, const struct clv_field *field)
{
    for (int32_t i = field->n_nodes - 1; i >= 0; i--) {
        if (++y[i] < field->n_labels)
            return true;
        y[i] = 0;
    }
    return false;
}

static void check_count(const struct clv_field *field)
{
    int64_t count = 1;
    for (int32_t i = 0; i < field->n_nodes; i++) {
        count *= field->n_labels;
        ck_assert_msg(count <= MAX_LABELLINGS, "%d nodes with %d labels", field->n_nodes, field->n_labels);
    }
}

/* sum exp(f - best), and into sums[n_nodes][n_labels] its share of each node's label. */
static double add_weights(double *sums, int32_t *y, const struct clv_field *field, double best)
{
    size_t labels = (size_t)field->n_labels;
    double total = 0;
    do {
        double weight = exp(clv_field_score(field, y) - best);
        total += weight;
        for (size_t i = 0; i < (size_t)field->n_nodes; i++)
            sums[i * labels + (size_t)y[i]] += weight;
    } while (next_labelling(y, field));
    return total;
}

void exhaustive(int32_t *y, double *score, double *log_partition, double *marginals, const struct clv_field *field)
{
    check_count(field);
    size_t n = (size_t)field->n_nodes, cells = n * (size_t)field->n_labels;
    OWNED_ARRAY int32_t *current = calloc(n + 1, sizeof *current);
    OWNED_ARRAY double *sums = calloc(cells + 1, sizeof *sums);
    double highest = -INFINITY;
    do {
        double f = clv_field_score(field, current);
        if (f <= highest)
            continue;
        highest = f;
        if (y)
            memcpy(y, current, n * sizeof *y);
    } while (next_labelling(current, field)); /* which leaves zeros */
    if (log_partition || marginals) {
        double total = add_weights(sums, current, field, highest);
        if (log_partition)
            *log_partition = highest + log(total);
        for (size_t k = 0; marginals && k < cells; k++)
            marginals[k] = sums[k] / total;
    }
    if (score)
        *score = highest;
}
