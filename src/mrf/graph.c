/* Recognises the kind of graph that a problem's edges make: a chain, a forest (by union-find), or any other. */
#include <stdbool.h>

#include "base/base.h"
#include "cleave/problem.h"
#include "mrf/problem.h"

static bool is_chain(const struct clv_problem *problem)
{
    if (problem->n_edges != problem->n_nodes - 1)
        return false;
    for (int32_t e = 0; e < problem->n_edges; e++)
        if (problem->edges[e][0] != e || problem->edges[e][1] != e + 1)
            return false;
    return true;
}

/* Finds loops by union-find: an edge within a component closes one. */
static bool is_forest(int32_t *parent, const struct clv_problem *problem)
{
    for (int32_t i = 0; i < problem->n_nodes; i++)
        parent[i] = i;
    for (int32_t e = 0; e < problem->n_edges; e++) {
        int32_t a = root_of(parent, problem->edges[e][0]), b = root_of(parent, problem->edges[e][1]);
        if (a == b)
            return false;
        parent[a > b ? a : b] = a > b ? b : a;
    }
    return true;
}

enum clv_status problem_graph(enum clv_graph *graph, const struct clv_problem *problem, struct clv_error *err)
{
    *graph = CLV_GRAPH_ANY;
    if (is_chain(problem)) {
        *graph = CLV_GRAPH_CHAIN;
        return CLV_OK;
    }
    if (problem->n_edges >= problem->n_nodes)
        return CLV_OK;
    OWNED_ARRAY int32_t *parent = array_alloc((size_t)problem->n_nodes, sizeof *parent);
    NEED(parent);
    if (is_forest(parent, problem))
        *graph = CLV_GRAPH_FOREST;
    return CLV_OK;
}
