/* Datasets without some of their features. */
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/dataset/dataset.h"
#include "feature/dataset/held.h"

/* Scratch for the largest problem. */
struct sieve {
    int64_t *row;
    int32_t *index;
    float *value, *edge_features;
};

static void sieve_release(struct sieve *sieve)
{
    array_free(sieve->row);
    array_free(sieve->index);
    array_free(sieve->value);
    array_free(sieve->edge_features);
}

static enum clv_status sieve_init(struct sieve *sieve, const struct clv_dataset *dataset, struct clv_error *err)
{
    size_t n_nodes = 0, n_entries = 0, n_edges = 0, p = (size_t)dataset->n_edge_features;
    for (size_t i = 0; i < dataset->n; i++) {
        const struct clv_problem *problem = &dataset->items[i].problem;
        size_t n = (size_t)problem->n_nodes, entries = (size_t)(problem->row[n] - problem->row[0]);
        n_nodes = n > n_nodes ? n : n_nodes;
        n_entries = entries > n_entries ? entries : n_entries;
        n_edges = (size_t)problem->n_edges > n_edges ? (size_t)problem->n_edges : n_edges;
    }
    *sieve = (struct sieve){.row = array_alloc(n_nodes + 1, sizeof *sieve->row),
                            .index = array_alloc(n_entries, sizeof *sieve->index),
                            .value = array_alloc(n_entries, sizeof *sieve->value),
                            .edge_features = array_alloc(n_edges * p, sizeof *sieve->edge_features)};
    return sieve->row && sieve->index && sieve->value && sieve->edge_features ? CLV_OK : fail_memory(err);
}

/* A problem that points into the sieve where it differs. */
static struct clv_problem sift(struct sieve *sieve, const struct clv_problem *problem, const uint8_t *kept)
{
    struct clv_problem left = *problem;
    const uint8_t *kept_edges = kept + problem->n_features;
    size_t p = (size_t)problem->n_edge_features;
    int64_t n = 0;
    sieve->row[0] = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        for (int64_t k = problem->row[i]; k < problem->row[i + 1]; k++)
            if (kept[problem->index[k]]) {
                sieve->index[n] = problem->index[k];
                sieve->value[n++] = problem->value[k];
            }
        sieve->row[i + 1] = n;
    }
    for (size_t e = 0; e < (size_t)problem->n_edges * p; e++)
        sieve->edge_features[e] = kept_edges[e % p] ? problem->edge_features[e] : 0;
    left.row = sieve->row;
    left.index = sieve->index;
    left.value = sieve->value;
    left.edge_features = sieve->edge_features;
    return left;
}

enum clv_status clv_dataset_keep(struct clv_dataset **copy, const struct clv_dataset *dataset, const uint8_t *kept,
                                 struct clv_error *err)
{
    struct sieve sieve = {0};
    *copy = NULL;
    if (dataset_is_on_demand(dataset))
        return fail(err, CLV_ERR_USAGE, "features that are read on demand cannot be left out");
    enum clv_status status = sieve_init(&sieve, dataset, err);
    if (status == CLV_OK)
        status = clv_dataset_new(copy, dataset->n_labels, err);
    for (size_t i = 0; i < dataset->n && status == CLV_OK; i++) {
        struct clv_problem problem = sift(&sieve, &dataset->items[i].problem, kept);
        status = clv_dataset_add(*copy, &problem, dataset->items[i].name, err);
        dataset_looked_at(dataset, &dataset->items[i].problem);
    }
    if (status == CLV_OK && dataset->labels.n_labels)
        status = clv_labels_copy(&(*copy)->labels, &dataset->labels, err);
    if (status == CLV_OK) {
        (*copy)->pairwise = dataset->pairwise;
        (*copy)->counts_errors = dataset->counts_errors;
    } else {
        clv_dataset_free(*copy);
        *copy = NULL;
    }
    sieve_release(&sieve);
    return status;
}
