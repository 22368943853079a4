/* Weights the nodes in the loss: sets theta from the counts of pixels of each true label. Start at dataset_weigh. */
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "feature/example/example.h"
#include "mrf/problem.h"

/* An item's truth, with writable arrays; theta is NULL if it has none. */
struct truth {
    const float *counts; /* [n_nodes][n_labels] */
    float *theta;        /* [n_nodes][n_labels] */
    int32_t *label;      /* [n_nodes] */
};

/* Returns the truth of an item. In a feature file, its arrays are parts of those of the whole file. */
static struct truth truth_of(const struct clv_dataset *dataset, const struct dataset_item *item)
{
    const struct dataset_file *file = item->file;
    if (item->theta || !item->problem.theta)
        return (struct truth){item->counts, item->theta, item->label};
    size_t first = (size_t)(item->problem.theta - file->theta), first_node = first / (size_t)dataset->n_labels;
    return (struct truth){file->counts + first, file->theta + first, file->label + first_node};
}

static double sum_of(const float *values, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (double)values[k];
    return sum;
}

enum clv_status dataset_weigh(struct clv_dataset *dataset, enum clv_loss_weights weights, struct clv_error *err)
{
    int32_t n_labels = dataset->n_labels;
    double pixels = 0, n_known = 0;
    if (dataset->counts_errors == (weights == CLV_LOSS_COUNTS))
        return CLV_OK;
    for (size_t i = 0; i < dataset->n; i++) {
        struct truth truth = truth_of(dataset, &dataset->items[i]);
        FAIL_IF(truth.theta && !truth.counts, CLV_ERR_USAGE,
                "%s: its loss has weights of its own, not of counted pixels", dataset->items[i].name);
        if (truth.theta) {
            pixels += sum_of(truth.counts, (size_t)dataset->items[i].problem.n_nodes * (size_t)n_labels);
            n_known++;
        }
    }
    for (size_t i = 0; i < dataset->n; i++) {
        struct truth truth = truth_of(dataset, &dataset->items[i]);
        int32_t n_nodes = dataset->items[i].problem.n_nodes;
        if (!truth.theta)
            continue;
        if (weights == CLV_LOSS_BALANCED)
            balanced_theta(truth.theta, truth.counts, n_nodes, n_labels);
        for (size_t k = 0; weights == CLV_LOSS_COUNTS && k < (size_t)n_nodes * (size_t)n_labels; k++)
            truth.theta[k] = (float)((double)truth.counts[k] * n_known / pixels);
        majority_labels(truth.label, truth.theta, n_nodes, n_labels);
    }
    dataset->counts_errors = weights == CLV_LOSS_COUNTS;
    return CLV_OK;
}

/* Computes share[n_labels], each label's sum of theta over the dataset, and returns their total. */
static double add_shares(double *share, const struct clv_dataset *dataset)
{
    size_t n_labels = (size_t)dataset->n_labels;
    double total = 0;
    for (size_t i = 0; i < dataset->n; i++)
        label_shares_add(share, &dataset->items[i].problem, dataset->n_labels);
    for (size_t b = 0; b < n_labels; b++)
        total += share[b];
    return total;
}

enum clv_status dataset_weigh_labels(struct clv_dataset *dataset, double exponent, struct clv_error *err)
{
    size_t n_labels = (size_t)dataset->n_labels;
    FAIL_IF(!(exponent >= 0 && exponent <= 1), CLV_ERR_USAGE, "the exponent of label weights is %g, must be in 0..1",
            exponent);
    OWNED_ARRAY double *share = array_zalloc(n_labels, 2 * sizeof *share);
    double weighed = 0;
    NEED(share);
    double *weight = share + n_labels, total = add_shares(share, dataset);
    for (size_t b = 0; b < n_labels; b++) {
        weight[b] = share[b] > 0 ? portable_pow(total / share[b], exponent) : 0;
        weighed += weight[b] * share[b];
    }
    for (size_t i = 0; i < dataset->n && exponent > 0 && weighed > 0; i++) {
        struct truth truth = truth_of(dataset, &dataset->items[i]);
        int32_t n_nodes = dataset->items[i].problem.n_nodes;
        if (!truth.theta)
            continue;
        for (size_t k = 0; k < (size_t)n_nodes * n_labels; k++)
            truth.theta[k] = (float)((double)truth.theta[k] * weight[k % n_labels] * (total / weighed));
        majority_labels(truth.label, truth.theta, n_nodes, (int32_t)n_labels);
    }
    return CLV_OK;
}
