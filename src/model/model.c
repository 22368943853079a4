/* Keeps models in memory and labels problems by them. Start at clv_model_decode. */
#include "cleave/model.h"

#include "base/base.h"
#include "cleave/infer.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "model/model.h"

void clv_model_release(struct clv_model *model)
{
    array_free(model->w);
    clv_recipe_release(&model->recipe);
    clv_labels_release(&model->labels);
    record_release(&model->record);
    for (size_t i = 0; i < model->n_extra; i++)
        tensor_release(&model->extra[i]);
    array_free(model->extra);
    if (model->first)
        stage_free(model->first);
    *model = (struct clv_model){0};
}

enum clv_status clv_model_decode(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                 const uint8_t *is_visible, struct clv_oracle *oracle, struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    double cost[UINT8_MAX + 1];
    bool has_costs = model->n_extra && label_costs_are_there(model);
    MUST(model->first ? model_field_init(&field, model, problem, err)
                      : scored_field_init(&field, &model->layout, model->w, problem, err));
    if (has_costs)
        MUST(label_costs_of(cost, model, problem, err));
    return has_costs ? clv_oracle_decode_costs(oracle, y, &field, cost, is_visible, &model->decoding, err)
                     : clv_oracle_decode(oracle, y, &field, is_visible, &model->decoding, err);
}

enum clv_status clv_model_predict(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                  struct clv_oracle *oracle, struct clv_error *err)
{
    return clv_model_decode(y, model, problem, NULL, oracle, err);
}

/* Returns how marginals are computed in components with loops. */
static enum clv_marginals looped_marginals_of(const struct clv_model *model)
{
    return model->decoding.rule == CLV_DECODE_ORACLE ? CLV_MARGINALS_SAMPLED : CLV_MARGINALS_PROPAGATED;
}

enum clv_status clv_model_marginals_kind(enum clv_marginals *kind, const struct clv_model *model,
                                         const struct clv_problem *problem, struct clv_error *err)
{
    struct clv_weight_layout layout = model->first ? model->first->layout : model->layout;
    MUST(clv_problem_check(problem, &layout, err));
    struct clv_field graph = {.unary = NULL};
    field_set_graph(&graph, problem, &model->layout);
    return model_field_marginals_kind(kind, model, &graph, err);
}

enum clv_status model_field_marginals_kind(enum clv_marginals *kind, const struct clv_model *model,
                                           const struct clv_field *field, struct clv_error *err)
{
    return field_marginals_kind(kind, field, looped_marginals_of(model), err);
}

enum clv_status model_field_marginals(double *marginals, double *bound, double *standard_error,
                                      const struct clv_model *model, struct clv_field *field, struct clv_oracle *oracle,
                                      const struct draw_settings *draws, struct clv_error *err)
{
    const struct marginals_options options = {looped_marginals_of(model), draws->seed, draws->n_samples};
    struct marginals_found found = {.marginals = marginals};
    if (clv_model_scores(model) == CLV_SCORES_MARGIN)
        model_scale_scores(field, 0);
    MUST(field_marginals(oracle, &found, field, &options, err));
    if (bound)
        *bound = found.log_partition;
    if (standard_error)
        *standard_error = found.standard_error;
    return CLV_OK;
}

enum clv_status clv_model_marginals(double *marginals, double *bound, double *standard_error,
                                    const struct clv_model *model, const struct clv_problem *problem,
                                    struct clv_oracle *oracle, uint64_t seed, uint32_t n_samples, struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    MUST(model_field_init(&field, model, problem, err));
    size_t n = (size_t)field.n_nodes, k = (size_t)field.n_labels;
    OWNED_ARRAY double *of_node = array_alloc(n, k * sizeof *of_node);
    NEED(of_node);
    MUST(model_field_marginals(of_node, bound, standard_error, model, &field, oracle,
                               &(struct draw_settings){seed, n_samples}, err));
    if (marginals)
        array_put(marginals, of_node, n * k, sizeof *of_node);
    return CLV_OK;
}

enum clv_status clv_model_max_marginals(double *max_marginals, double *witness_counts, const struct clv_model *model,
                                        const struct clv_problem *problem, struct clv_oracle *oracle,
                                        struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    MUST(model_field_init(&field, model, problem, err));
    return clv_oracle_max_marginals(oracle, max_marginals, witness_counts, &field, err);
}

enum clv_status model_marginals(double *marginals, const struct clv_model *model, const struct clv_problem *problem,
                                struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    MUST(model_field_init(&field, model, problem, err));
    if (clv_model_scores(model) == CLV_SCORES_MARGIN)
        model_scale_scores(&field, 0);
    return stage_propagate(marginals, &field, 1, err);
}
