/* Writes a dataset that is in memory as a feature file. Start at clv_dataset_write. */
#include <stdbool.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"

#define N_TENSORS  10 /* nine and the palette */
#define N_METADATA 7  /* labels last */

/* The arrays of all items, concatenated as in the file. */
struct joined {
    int64_t *node_offset, *edge_offset; /* [n + 1] */
    int64_t *row;                       /* [n_nodes + 1] */
    int32_t *index;                     /* [n_entries] */
    float *value;
    int32_t (*edges)[2];  /* [n_edges] */
    float *edge_features; /* [n_edges][p] */
    float *counts;        /* [n_nodes][K] */
    float *area;          /* [n_nodes] */
    struct text n_labels, n_features, names, labels;
};

static void joined_release(struct joined *joined)
{
    arrays_free(joined->node_offset, joined->edge_offset, joined->row, joined->index, joined->value, joined->edges,
                joined->edge_features, joined->counts, joined->area);
    text_release(&joined->n_labels);
    text_release(&joined->n_features);
    text_release(&joined->names);
    text_release(&joined->labels);
}

static enum clv_status joined_init(struct joined *joined, const struct clv_dataset *dataset, struct clv_error *err)
{
    size_t n = dataset->n, n_nodes = 0, n_edges = 0, n_entries = 0;
    for (size_t i = 0; i < n; i++) {
        const struct clv_problem *problem = &dataset->items[i].problem;
        n_nodes += (size_t)problem->n_nodes;
        n_edges += (size_t)problem->n_edges;
        n_entries += (size_t)(problem->row[problem->n_nodes] - problem->row[0]);
    }
    *joined = (struct joined){
        .node_offset = array_zalloc(n + 1, sizeof *joined->node_offset),
        .edge_offset = array_zalloc(n + 1, sizeof *joined->edge_offset),
        .row = array_zalloc(n_nodes + 1, sizeof *joined->row),
        .index = array_alloc(n_entries, sizeof *joined->index),
        .value = array_alloc(n_entries, sizeof *joined->value),
        .edges = array_alloc(n_edges, sizeof *joined->edges),
        .edge_features = array_alloc(n_edges, (size_t)dataset->n_edge_features * sizeof *joined->edge_features),
        .counts = array_zalloc(n_nodes, (size_t)dataset->n_labels * sizeof *joined->counts),
        .area = array_alloc(n_nodes, sizeof *joined->area),
    };
    text_init(&joined->n_labels, 64);
    text_init(&joined->n_features, 64);
    text_init(&joined->names, SIZE_MAX / 2);
    text_init(&joined->labels, SIZE_MAX / 2);
    bool failed = !joined->node_offset || !joined->edge_offset || !joined->row || !joined->index || !joined->value ||
                  !joined->edges || !joined->edge_features || !joined->counts || !joined->area;
    return failed ? fail_memory(err) : CLV_OK;
}

static void join(struct joined *joined, const struct clv_dataset *dataset, size_t item)
{
    const struct clv_problem *problem = &dataset->items[item].problem;
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, k = (size_t)dataset->n_labels;
    size_t p = (size_t)dataset->n_edge_features, from = (size_t)problem->row[0];
    size_t n_entries = (size_t)problem->row[n] - from;
    size_t node = (size_t)joined->node_offset[item], edge = (size_t)joined->edge_offset[item];
    size_t entry = (size_t)joined->row[node];
    for (size_t i = 0; i < n; i++) {
        joined->row[node + i + 1] = (int64_t)entry + problem->row[i + 1] - problem->row[0];
        joined->area[node + i] = problem->area ? problem->area[i] : 1;
    }
    array_put(joined->index + entry, n_entries ? problem->index + from : NULL, n_entries, sizeof *joined->index);
    array_put(joined->value + entry, n_entries ? problem->value + from : NULL, n_entries, sizeof *joined->value);
    array_put(joined->edges + edge, problem->edges, m, sizeof *joined->edges);
    array_put(joined->edge_features + edge * p, problem->edge_features, m * p, sizeof *joined->edge_features);
    if (problem->theta)
        array_put(joined->counts + node * k, problem->theta, n * k, sizeof *joined->counts);
    joined->node_offset[item + 1] = (int64_t)(node + n);
    joined->edge_offset[item + 1] = (int64_t)(edge + m);
}

static struct clv_tensor tensor_of(const char *name, enum clv_dtype dtype, const void *data, int64_t rows,
                                   int64_t columns)
{
    return (struct clv_tensor){
        .name = name, .dtype = dtype, .n_dimensions = columns ? 2 : 1, .shape = {rows, columns}, .data = data};
}

static enum clv_status write_joined(const char *path, const struct joined *joined, const struct clv_dataset *dataset,
                                    struct clv_error *err)
{
    struct clv_tensor tensors[N_TENSORS];
    size_t n = 0, n_metadata = N_METADATA - 1;
    int64_t n_items = (int64_t)dataset->n, n_nodes = joined->node_offset[n_items];
    int64_t n_edges = joined->edge_offset[n_items];
    tensors[n++] = tensor_of("node_offset", CLV_I64, joined->node_offset, n_items + 1, 0);
    tensors[n++] = tensor_of("row", CLV_I64, joined->row, n_nodes + 1, 0);
    tensors[n++] = tensor_of("index", CLV_I32, joined->index, joined->row[n_nodes], 0);
    tensors[n++] = tensor_of("value", CLV_F32, joined->value, joined->row[n_nodes], 0);
    tensors[n++] = tensor_of("counts", CLV_F32, joined->counts, n_nodes, dataset->n_labels);
    tensors[n++] = tensor_of(AREA_TENSOR, CLV_F32, joined->area, n_nodes, 0);
    if (dataset->n_edge_features) {
        tensors[n++] = tensor_of("edge_offset", CLV_I64, joined->edge_offset, n_items + 1, 0);
        tensors[n++] = tensor_of("edges", CLV_I32, joined->edges, n_edges, 2);
        tensors[n++] = tensor_of("edge_features", CLV_F32, joined->edge_features, n_edges, dataset->n_edge_features);
    }
    const char *metadata[N_METADATA][2] = {
        {"format", FEATURES_FORMAT FEATURES_VERSION},
        {"n_labels", joined->n_labels.bytes},
        {"n_features", joined->n_features.bytes},
        {"names", joined->names.bytes},
        {"pairwise", dataset->pairwise == CLV_PAIRWISE_FULL ? "full" : "potts"},
        {"loss", "counts"},
        {"labels", joined->labels.bytes},
    };
    if (dataset->labels.n_labels) {
        tensors[n++] = labels_tensor(&dataset->labels);
        n_metadata++;
    }
    return clv_tensors_write(path, tensors, n, metadata, n_metadata, err);
}

static enum clv_status put_texts(struct joined *joined, const struct clv_dataset *dataset, struct clv_error *err)
{
    const struct text *const texts[] = {&joined->n_labels, &joined->n_features, &joined->names, &joined->labels};
    text_printf(&joined->n_labels, "%d", dataset->n_labels);
    text_printf(&joined->n_features, "%d", dataset->n_features);
    for (size_t i = 0; i < dataset->n; i++)
        text_printf(&joined->names, "%s%s", i ? "\n" : "", dataset->items[i].name);
    if (dataset->labels.n_labels)
        labels_put_json(&joined->labels, &dataset->labels);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->failed)
            return fail_memory(err);
    return CLV_OK;
}

enum clv_status clv_dataset_write(const char *path, const struct clv_dataset *dataset, struct clv_error *err)
{
    OWNED(joined_release) struct joined joined = {0};
    FAIL_IF(!dataset->n, CLV_ERR_USAGE, "%s: nothing to write", path);
    for (size_t i = 0; i < dataset->n; i++)
        MUST(features_check_name(dataset->items[i].name, err));
    MUST(joined_init(&joined, dataset, err));
    for (size_t i = 0; i < dataset->n; i++)
        join(&joined, dataset, i);
    MUST(put_texts(&joined, dataset, err));
    return write_joined(path, &joined, dataset, err);
}
