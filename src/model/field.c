/* Computes the unary and pairwise scores of a problem under given weights, as a field that inference labels. Start at
 * scored_field_init. */
#include "model/model.h"

#include "base/base.h"

enum clv_status scored_field_init(struct clv_field *field, const struct clv_shape *shape, const double *w,
                                  const struct clv_problem *problem, struct clv_error *err)
{
    *field = (struct clv_field){0};
    MUST(clv_problem_check(problem, shape, err));
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, k = (size_t)shape->n_labels;
    *field = (struct clv_field){
        .n_nodes = problem->n_nodes,
        .n_edges = shape->pairwise == CLV_PAIRWISE_NONE ? 0 : problem->n_edges,
        .n_labels = shape->n_labels,
        .form = shape->pairwise,
        .edges = problem->edges,
        .unary = array_alloc(n * clv_shape_rows(shape), sizeof(double)),
    };
    if (shape->pairwise != CLV_PAIRWISE_NONE)
        field->pairwise = array_alloc(m * (shape->pairwise == CLV_PAIRWISE_FULL ? k * k : 1), sizeof(double));
    if (!field->unary || (shape->pairwise != CLV_PAIRWISE_NONE && !field->pairwise))
        return fail_memory(err);
    clv_unary_scores(field->unary, problem, shape, w);
    clv_pairwise_scores(field->pairwise, problem, shape, w);
    return CLV_OK;
}

void scored_field_release(struct clv_field *field)
{
    arrays_free(field->unary, field->pairwise);
}
