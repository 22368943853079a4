/* Shapes, and the checks that let every routine above index a problem without looking twice. */
#include "cleave/problem.h"

#include <math.h>

#include "base/error.h"

#define MAX_LABELS 255 /* as in masks */

size_t clv_shape_rows(const struct clv_shape *shape)
{
    return shape->n_labels == 2 ? 1 : (size_t)shape->n_labels;
}

size_t clv_shape_unary_size(const struct clv_shape *shape)
{
    return clv_shape_rows(shape) * (size_t)shape->n_features;
}

static size_t pairwise_size(const struct clv_shape *shape)
{
    size_t p = (size_t)shape->n_edge_features, k = (size_t)shape->n_labels;
    switch (shape->pairwise) {
    case CLV_PAIRWISE_NONE: return 0;
    case CLV_PAIRWISE_POTTS: return p;
    case CLV_PAIRWISE_FULL: return k * k * p;
    }
    return 0;
}

size_t clv_shape_size(const struct clv_shape *shape)
{
    return clv_shape_unary_size(shape) + pairwise_size(shape);
}

static enum clv_status check_shape(const struct clv_shape *shape, struct clv_error *err)
{
    if (shape->n_labels < 2 || shape->n_labels > MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "shape: %d labels, must be 2 to %d", shape->n_labels, MAX_LABELS);
    if (shape->n_features < 1)
        return fail(err, CLV_ERR_USAGE, "shape: %d features, must be at least 1", shape->n_features);
    if (shape->pairwise != CLV_PAIRWISE_NONE && shape->pairwise != CLV_PAIRWISE_POTTS &&
        shape->pairwise != CLV_PAIRWISE_FULL)
        return fail(err, CLV_ERR_USAGE, "shape: unknown pairwise form %d", (int)shape->pairwise);
    if (shape->pairwise != CLV_PAIRWISE_NONE && shape->n_edge_features < 1)
        return fail(err, CLV_ERR_USAGE, "shape: %d edge features, must be at least 1", shape->n_edge_features);
    return CLV_OK;
}

static enum clv_status check_sizes(const struct clv_problem *problem, const struct clv_shape *shape,
                                   struct clv_error *err)
{
    if (problem->n_nodes < 1 || problem->n_edges < 0)
        return fail(err, CLV_ERR_DATA, "problem has %d nodes and %d edges", problem->n_nodes, problem->n_edges);
    if (problem->n_features != shape->n_features)
        return fail(err, CLV_ERR_DATA, "problem has %d features per node, expected %d", problem->n_features,
                    shape->n_features);
    if (shape->pairwise != CLV_PAIRWISE_NONE && problem->n_edge_features != shape->n_edge_features)
        return fail(err, CLV_ERR_DATA, "problem has %d features per edge, expected %d", problem->n_edge_features,
                    shape->n_edge_features);
    if (!problem->row)
        return fail(err, CLV_ERR_DATA, "problem has no feature rows");
    if (problem->n_edges > 0 && !problem->edges)
        return fail(err, CLV_ERR_DATA, "problem has %d edges but no edge list", problem->n_edges);
    if (problem->n_edges > 0 && shape->pairwise != CLV_PAIRWISE_NONE && !problem->edge_features)
        return fail(err, CLV_ERR_DATA, "problem has %d edges but no edge features", problem->n_edges);
    return CLV_OK;
}

static enum clv_status check_rows(const struct clv_problem *problem, struct clv_error *err)
{
    const int64_t *row = problem->row;
    if (row[0] < 0)
        return fail(err, CLV_ERR_DATA, "node 0: its features start at %lld", (long long)row[0]);
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        if (row[i + 1] < row[i] || row[i + 1] - row[i] > problem->n_features)
            return fail(err, CLV_ERR_DATA, "node %d: its features run from %lld to %lld", i, (long long)row[i],
                        (long long)row[i + 1]);
        if (row[i + 1] > row[i] && (!problem->index || !problem->value))
            return fail(err, CLV_ERR_DATA, "node %d: its features are missing", i);
        int32_t previous = -1;
        for (int64_t k = row[i]; k < row[i + 1]; k++) {
            int32_t index = problem->index[k];
            if (index < 0 || index >= problem->n_features)
                return fail(err, CLV_ERR_DATA, "node %d: feature %d is outside 0..%d", i, index,
                            problem->n_features - 1);
            if (index <= previous)
                return fail(err, CLV_ERR_DATA, "node %d: feature %d comes after feature %d", i, index, previous);
            if (!isfinite(problem->value[k]))
                return fail(err, CLV_ERR_DATA, "node %d: feature %d is %g", i, index, (double)problem->value[k]);
            previous = index;
        }
    }
    return CLV_OK;
}

static enum clv_status check_edges(const struct clv_problem *problem, const struct clv_shape *shape,
                                   struct clv_error *err)
{
    for (int32_t e = 0; e < problem->n_edges; e++) {
        int32_t a = problem->edges[e][0], b = problem->edges[e][1];
        if (a < 0 || b >= problem->n_nodes || a >= b)
            return fail(err, CLV_ERR_DATA, "edge %d: its ends %d and %d must satisfy 0 <= first < second < %d", e, a, b,
                        problem->n_nodes);
    }
    if (shape->pairwise == CLV_PAIRWISE_NONE)
        return CLV_OK;
    size_t p = (size_t)problem->n_edge_features;
    for (int32_t e = 0; e < problem->n_edges; e++)
        for (size_t k = 0; k < p; k++) {
            double value = problem->edge_features[(size_t)e * p + k];
            if (!isfinite(value) || (value < 0 && shape->pairwise == CLV_PAIRWISE_POTTS))
                return fail(err, CLV_ERR_DATA, "edge %d: feature %zu is %g", e, k, value);
        }
    return CLV_OK;
}

static enum clv_status check_truth(const struct clv_problem *problem, const struct clv_shape *shape,
                                   struct clv_error *err)
{
    size_t n_labels = (size_t)shape->n_labels;
    for (int32_t i = 0; problem->label && i < problem->n_nodes; i++)
        if (problem->label[i] != CLV_UNKNOWN && (problem->label[i] < 0 || problem->label[i] >= shape->n_labels))
            return fail(err, CLV_ERR_DATA, "node %d: label %d is outside 0..%d", i, problem->label[i],
                        shape->n_labels - 1);
    for (int32_t i = 0; problem->theta && i < problem->n_nodes; i++)
        for (size_t b = 0; b < n_labels; b++) {
            double theta = problem->theta[(size_t)i * n_labels + b];
            if (!isfinite(theta) || theta < 0)
                return fail(err, CLV_ERR_DATA, "node %d: loss weight of label %zu is %g", i, b, theta);
        }
    for (int32_t i = 0; problem->volume && i < problem->n_nodes; i++)
        if (!isfinite(problem->volume[i]) || problem->volume[i] < 0)
            return fail(err, CLV_ERR_DATA, "node %d: volume is %g", i, (double)problem->volume[i]);
    for (int32_t i = 0; problem->place && i < problem->n_nodes; i++)
        if (!isfinite(problem->place[2 * (size_t)i]) || !isfinite(problem->place[2 * (size_t)i + 1]))
            return fail(err, CLV_ERR_DATA, "node %d: its place is %g, %g", i, (double)problem->place[2 * (size_t)i],
                        (double)problem->place[2 * (size_t)i + 1]);
    return CLV_OK;
}

enum clv_status clv_problem_check(const struct clv_problem *problem, const struct clv_shape *shape,
                                  struct clv_error *err)
{
    enum clv_status status = check_shape(shape, err);
    if (!status)
        status = check_sizes(problem, shape, err);
    if (!status)
        status = check_rows(problem, err);
    if (!status)
        status = check_edges(problem, shape, err);
    return status ? status : check_truth(problem, shape, err);
}
