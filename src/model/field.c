/* Computes the unary and pairwise scores of a problem under given weights, as a field that inference labels. Start at
 * scored_field_init. */
#include "model/model.h"

#include "base/base.h"
#include "infer/infer.h"

enum clv_status scored_field_init(struct clv_field *field, const struct clv_weight_layout *layout, const double *w,
                                  const struct clv_problem *problem, struct clv_error *err)
{
    *field = (struct clv_field){0};
    MUST(clv_problem_check(problem, layout, err));
    size_t n = (size_t)problem->n_nodes, m = (size_t)problem->n_edges, k = (size_t)layout->n_labels;
    field_set_graph(field, problem, layout);
    field->unary = array_alloc(n * clv_weight_layout_rows(layout), sizeof(double));
    if (layout->pairwise != CLV_PAIRWISE_NONE)
        field->pairwise = array_alloc(m * (layout->pairwise == CLV_PAIRWISE_FULL ? k * k : 1), sizeof(double));
    if (!field->unary || (layout->pairwise != CLV_PAIRWISE_NONE && !field->pairwise))
        return fail_memory(err);
    clv_unary_scores(field->unary, problem, layout, w);
    clv_pairwise_scores(field->pairwise, problem, layout, w);
    return CLV_OK;
}

void scored_field_release(struct clv_field *field)
{
    arrays_free(field->unary, field->pairwise);
}
