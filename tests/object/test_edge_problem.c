/* The problem of which edges of a region graph cut. */
#include <math.h>

#include "object/object.h"
#include "superpixel/region_graph.h"
#include "support/cut_map.h"

TEST(the_nodes_of_an_edge_problem_are_the_edges)
{
    OWNED_ARRAY int32_t *labels = random_labels(20, 12, 5, 3, 3);
    OWNED(cut_map_release) struct cut_map map = cut_map_of(labels, 20, 12, 8);
    const struct region_graph *graph = &map.graph;
    size_t n = (size_t)graph->n_edges;
    OWNED_ARRAY float *more = malloc(n * 3 * sizeof *more);
    OWNED_ARRAY int32_t *object = malloc((size_t)graph->n_nodes * sizeof *object);
    double total[2] = {0}, theta[2] = {0};
    for (size_t k = 0; k < 3 * n; k++)
        more[k] = (float)k;
    for (int32_t i = 0; i < graph->n_nodes; i++)
        object[i] = map.of[i] == 4 ? CLV_UNKNOWN : map.of[i];
    struct edge_problem edges = {0};
    must(edge_problem_init(&edges, graph, more, 3, object, err));
    const struct clv_problem *problem = &edges.problem;
    const struct clv_weight_layout layout = {2, EDGE_PROBLEM_OWN + 2 + 3, 1, CLV_PAIRWISE_NONE};
    must(clv_problem_check(problem, &layout, err));
    ck_assert_int_eq(problem->n_nodes, graph->n_edges);
    ck_assert_int_eq(problem->n_edges, 0);
    for (size_t e = 0; e < n; e++) {
        float row[EDGE_PROBLEM_OWN + 5] = {0};
        int32_t a = map.of[graph->edges[e][0]], b = map.of[graph->edges[e][1]];
        for (int64_t k = problem->row[e]; k < problem->row[e + 1]; k++)
            row[problem->index[k]] = problem->value[k];
        ck_assert(row[EDGE_PROBLEM_BIAS] == 1);
        ck_assert(row[EDGE_PROBLEM_SEAM] == (graph->kind[e] == REGION_SEAM));
        ck_assert(row[EDGE_PROBLEM_NEXT] == 0);
        ck_assert_double_eq_tol((double)row[EDGE_PROBLEM_CONTACT], log(1 + (double)graph->contact[e]), 1e-6);
        ck_assert_mem_eq(row + EDGE_PROBLEM_OWN, graph->edge_features + 2 * e, 2 * sizeof(float));
        ck_assert_mem_eq(row + EDGE_PROBLEM_OWN + 2, more + 3 * e, 3 * sizeof(float));
        ck_assert(problem->area[e] == graph->contact[e]);
        ck_assert_int_eq(problem->label[e], a == 4 || b == 4 ? CLV_UNKNOWN : a != b);
        if (problem->label[e] >= 0)
            total[problem->label[e]] += (double)graph->contact[e];
    }
    for (size_t e = 0; e < n; e++)
        for (int b = 0; b < 2; b++) {
            double expected = problem->label[e] == b ? (double)graph->contact[e] / (2 * total[b]) : 0;
            ck_assert_double_eq_tol((double)problem->theta[2 * e + (size_t)b], expected, 1e-7);
            theta[b] += (double)problem->theta[2 * e + (size_t)b];
        }
    ck_assert_double_eq_tol(theta[0], 0.5, 1e-5);
    ck_assert_double_eq_tol(theta[1], 0.5, 1e-5);
    edge_problem_release(&edges);
    must(edge_problem_init(&edges, graph, NULL, 0, NULL, err));
    ck_assert_int_eq(edges.problem.n_features, EDGE_PROBLEM_OWN + 2);
    ck_assert_ptr_null(edges.problem.label);
    edge_problem_release(&edges);
    const struct region_graph alone = {.n_nodes = 1};
    must_fail(CLV_ERR_DATA, "no edges to cut", edge_problem_init(&edges, &alone, NULL, 0, NULL, err));
}
