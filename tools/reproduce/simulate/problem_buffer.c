#include "problem_buffer.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"

void problem_buffer_release(struct problem_buffer *buffer)
{
    array_free(buffer->row);
    array_free(buffer->index);
    array_free(buffer->value);
    array_free(buffer->edges);
    array_free(buffer->edge_features);
    array_free(buffer->area);
    array_free(buffer->label);
    array_free(buffer->theta);
    *buffer = (struct problem_buffer){0};
}

enum clv_status problem_buffer_init(struct problem_buffer *buffer, const struct clv_problem *problem, int32_t n_labels,
                                    int32_t n_entries, struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, p = (size_t)problem->n_edge_features;
    size_t entries = n * (size_t)n_entries;
    *buffer = (struct problem_buffer){
        .problem = *problem,
        .row = array_alloc(n + 1, sizeof *buffer->row),
        .index = array_zalloc(entries, sizeof *buffer->index),
        .value = array_alloc(entries, sizeof *buffer->value),
        .edges = array_zalloc(m, sizeof *buffer->edges),
        .edge_features = array_zalloc(m * p, sizeof *buffer->edge_features),
        .area = array_alloc(n, sizeof *buffer->area),
        .label = array_alloc(n, sizeof *buffer->label),
        .theta = array_alloc(n * (size_t)n_labels, sizeof *buffer->theta),
        .n_labels = n_labels,
    };
    if (!buffer->row || !buffer->index || !buffer->value || !buffer->edges || !buffer->edge_features || !buffer->area ||
        !buffer->label || !buffer->theta) {
        problem_buffer_release(buffer);
        return fail_memory(err);
    }
    for (size_t i = 0; i <= n; i++)
        buffer->row[i] = (int64_t)i * n_entries;
    for (size_t i = 0; i < n; i++)
        buffer->area[i] = 1;
    for (size_t k = 0; k < entries; k++)
        buffer->value[k] = 1;
    buffer->problem.row = buffer->row;
    buffer->problem.index = buffer->index;
    buffer->problem.value = buffer->value;
    buffer->problem.edges = (const int32_t(*)[2])buffer->edges;
    buffer->problem.edge_features = buffer->edge_features;
    buffer->problem.area = buffer->area;
    buffer->problem.label = buffer->label;
    buffer->problem.theta = buffer->theta;
    return CLV_OK;
}

void problem_buffer_label(struct problem_buffer *buffer, const int32_t *y, const uint8_t *is_hidden)
{
    size_t n = (size_t)buffer->problem.n_nodes, k = (size_t)buffer->n_labels;
    memset(buffer->theta, 0, n * k * sizeof *buffer->theta);
    for (size_t i = 0; i < n; i++) {
        bool known = !is_hidden || !is_hidden[i];
        buffer->label[i] = known ? y[i] : CLV_UNKNOWN;
        if (known)
            buffer->theta[i * k + (size_t)y[i]] = 1;
    }
}

enum clv_status simulated_dataset_new(struct clv_dataset **dataset, int32_t n_labels, struct clv_error *err)
{
    enum clv_status status = clv_dataset_new(dataset, n_labels, err);
    if (status == CLV_OK) {
        (*dataset)->pairwise = CLV_PAIRWISE_FULL;
        (*dataset)->counts_errors = true;
    }
    return status;
}
