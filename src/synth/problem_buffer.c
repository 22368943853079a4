#include "synth/problem_buffer.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/dataset/dataset.h"

void problem_room_release(struct problem_room *room)
{
    array_free(room->row);
    array_free(room->index);
    array_free(room->value);
    array_free(room->edges);
    array_free(room->edge_features);
    array_free(room->volume);
    array_free(room->label);
    array_free(room->theta);
    *room = (struct problem_room){0};
}

enum clv_status problem_room_init(struct problem_room *room, const struct clv_problem *problem, int32_t n_labels,
                                  int32_t n_entries, struct clv_error *err)
{
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, p = (size_t)problem->n_edge_features;
    size_t entries = n * (size_t)n_entries;
    *room = (struct problem_room){
        .problem = *problem,
        .row = array_alloc(n + 1, sizeof *room->row),
        .index = array_zalloc(entries, sizeof *room->index),
        .value = array_alloc(entries, sizeof *room->value),
        .edges = array_zalloc(m, sizeof *room->edges),
        .edge_features = array_zalloc(m * p, sizeof *room->edge_features),
        .volume = array_alloc(n, sizeof *room->volume),
        .label = array_alloc(n, sizeof *room->label),
        .theta = array_alloc(n * (size_t)n_labels, sizeof *room->theta),
        .n_labels = n_labels,
    };
    if (!room->row || !room->index || !room->value || !room->edges || !room->edge_features || !room->volume ||
        !room->label || !room->theta) {
        problem_room_release(room);
        return fail_memory(err);
    }
    for (size_t i = 0; i <= n; i++)
        room->row[i] = (int64_t)i * n_entries;
    for (size_t i = 0; i < n; i++)
        room->volume[i] = 1;
    for (size_t k = 0; k < entries; k++)
        room->value[k] = 1;
    room->problem.row = room->row;
    room->problem.index = room->index;
    room->problem.value = room->value;
    room->problem.edges = (const int32_t(*)[2])room->edges;
    room->problem.edge_features = room->edge_features;
    room->problem.volume = room->volume;
    room->problem.label = room->label;
    room->problem.theta = room->theta;
    return CLV_OK;
}

void problem_room_label(struct problem_room *room, const int32_t *y, const uint8_t *is_hidden)
{
    size_t n = (size_t)room->problem.n_nodes, k = (size_t)room->n_labels;
    memset(room->theta, 0, n * k * sizeof *room->theta);
    for (size_t i = 0; i < n; i++) {
        bool known = !is_hidden || !is_hidden[i];
        room->label[i] = known ? y[i] : CLV_UNKNOWN;
        if (known)
            room->theta[i * k + (size_t)y[i]] = 1;
    }
}

enum clv_status simulated_dataset_new(struct clv_dataset **dataset, int32_t n_labels, struct clv_error *err)
{
    enum clv_status status = clv_dataset_new(dataset, n_labels, err);
    if (status == CLV_OK) {
        (*dataset)->pairwise = CLV_PAIRWISE_FULL;
        (*dataset)->counts_errors = 1;
    }
    return status;
}
