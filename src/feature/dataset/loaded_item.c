/* Reads the features of one item of a dataset whose features stay in their file, or takes them from the cache. Start
 * at loaded_item_load. */
#include "feature/dataset/dataset.h"

#include "base/base.h"
#include "data/data.h"

bool dataset_is_on_demand(const struct clv_dataset *dataset)
{
    return dataset->cache;
}

/* An item's features in one block: rows first, which are the widest; dense ones share theirs. */
struct layout {
    size_t row, index, value, edges, edge_features, size; /* where they begin, and where all ends */
    size_t n_entries;
};

static struct layout layout_of(const struct clv_problem *problem, bool is_dense)
{
    struct layout at = {0};
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges;
    at.n_entries = (size_t)(problem->row[n] - problem->row[0]);
    at.index = is_dense ? 0 : (n + 1) * sizeof *problem->row;
    at.value = at.index + (is_dense ? 0 : at.n_entries * sizeof *problem->index);
    at.edges = at.value + at.n_entries * sizeof *problem->value;
    at.edge_features = at.edges + m * sizeof *problem->edges;
    at.size = at.edge_features + m * (size_t)problem->n_edge_features * sizeof *problem->edge_features;
    return at;
}

static void point_into(struct clv_problem *problem, char *block, const struct layout *at, bool is_dense)
{
    if (!is_dense) {
        problem->row = (const int64_t *)(void *)(block + at->row);
        problem->index = (const int32_t *)(void *)(block + at->index);
    }
    problem->value = (const float *)(void *)(block + at->value);
    if (problem->n_edges) {
        problem->edges = (const int32_t(*)[2])(void *)(block + at->edges);
        problem->edge_features = (const float *)(void *)(block + at->edge_features);
    }
}

enum clv_status loaded_item_read(void **block, size_t *size, struct clv_problem *problem,
                                 const struct clv_dataset *dataset, size_t index, struct clv_error *err)
{
    dataset = dataset_part(&index, dataset);
    const struct clv_tensors *tensors = dataset->file.tensors;
    const struct features_arrays *arrays = &dataset->file.arrays;
    const struct clv_problem *lean = &dataset->items[index].problem;
    bool is_dense = arrays->x;
    const struct layout at = layout_of(lean, is_dense);
    size_t p = (size_t)lean->n_edge_features, n_edges = (size_t)lean->n_edges;
    size_t first = is_dense ? (size_t)((const int64_t *)arrays->node_offset->data)[index] * (size_t)lean->n_features
                            : (size_t)lean->row[0];
    OWNED_ARRAY char *bytes = array_alloc(at.size, 1);
    *block = NULL;
    NEED(bytes);
    MUST(tensors_read(bytes + at.value, tensors, is_dense ? arrays->x : arrays->value, first * sizeof *lean->value,
                      at.n_entries * sizeof *lean->value, err));
    if (!is_dense)
        MUST(tensors_read(bytes + at.index, tensors, arrays->index, first * sizeof *lean->index,
                          at.n_entries * sizeof *lean->index, err));
    if (n_edges) {
        size_t edge = (size_t)((const int64_t *)arrays->edge_offset->data)[index];
        MUST(tensors_read(bytes + at.edges, tensors, arrays->edges, edge * sizeof *lean->edges,
                          n_edges * sizeof *lean->edges, err));
        MUST(tensors_read(bytes + at.edge_features, tensors, arrays->edge_features,
                          edge * p * sizeof *lean->edge_features, n_edges * p * sizeof *lean->edge_features, err));
    }
    int64_t *row = (int64_t *)(void *)bytes;
    for (int32_t i = 0; !is_dense && i <= lean->n_nodes; i++)
        row[i] = lean->row[i] - lean->row[0];
    struct clv_problem result = *lean;
    point_into(&result, bytes, &at, is_dense);
    /* A file may change without a new time: all that is read is checked again. */
    const struct clv_shape shape = {dataset->n_labels, lean->n_features, lean->n_edge_features,
                                    lean->n_edge_features ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_NONE};
    MUST(clv_problem_check(&result, &shape, err));
    *problem = result;
    *block = TAKE(bytes);
    *size = at.size;
    return CLV_OK;
}

enum clv_status loaded_item_load(struct loaded_item *self, const struct clv_dataset *dataset, size_t index, bool keeps,
                                 struct clv_error *err)
{
    if (self->dataset == dataset && self->index == index)
        return CLV_OK;
    loaded_item_release(self);
    FAIL_IF(index >= dataset->n, CLV_ERR_USAGE, "there is no item %zu of %zu", index, dataset->n);
    struct clv_problem problem = dataset->items[index].problem;
    OWNED_ARRAY void *own = NULL;
    void *cached = dataset->cache ? feature_cache_find(dataset->cache, index) : NULL;
    if (cached) {
        size_t number = index;
        bool is_dense = dataset_part(&number, dataset)->file.arrays.x;
        const struct layout at = layout_of(&problem, is_dense);
        point_into(&problem, cached, &at, is_dense);
    } else if (dataset->cache) {
        size_t size = 0;
        enum clv_status status = loaded_item_read(&own, &size, &problem, dataset, index, err);
        if (status)
            return fail_within(err, status, dataset->items[index].name);
        if (keeps && feature_cache_keep(dataset->cache, index, own, size))
            own = NULL; /* the cache's now */
    }
    *self = (struct loaded_item){dataset, index, problem, TAKE(own)};
    return CLV_OK;
}

void loaded_item_release(struct loaded_item *self)
{
    array_free(self->own);
    *self = (struct loaded_item){0};
}
