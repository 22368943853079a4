/* Models in memory, and decoding by them. */
#include "cleave/model.h"

#include <string.h>

#include "base/base.h"
#include "cleave/infer.h"
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
    struct clv_field field;
    double cost[UINT8_MAX + 1];
    bool has_costs = model->n_extra && label_costs_are_there(model);
    enum clv_status status = model->first ? model_field_init(&field, model, problem, err)
                                          : scored_field_init(&field, &model->shape, model->w, problem, err);
    TRY_IF(has_costs, label_costs_of(cost, model, problem, err));
    TRY(has_costs ? clv_oracle_decode_costs(oracle, y, &field, cost, is_visible, &model->decoding, err)
                  : clv_oracle_decode(oracle, y, &field, is_visible, &model->decoding, err));
    scored_field_release(&field);
    return status;
}

enum clv_status clv_model_predict(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                  struct clv_oracle *oracle, struct clv_error *err)
{
    return clv_model_decode(y, model, problem, NULL, oracle, err);
}

/* Of models that no cut decodes: by sum-product, damped the more the longer it goes to and fro. */
static enum clv_status propagated_marginals(double *marginals, double *bound, const struct clv_field *field,
                                            struct clv_error *err)
{
    static const double damping[] = {0, 0.5, 0.75, 0.9};
    struct clv_bp_options options;
    struct clv_bp_result result = {.is_converged = false};
    struct clv_bp *bp;
    clv_bp_defaults(&options);
    enum clv_status status = clv_bp_new(&bp, err);
    for (size_t i = 0; i < sizeof damping / sizeof *damping && status == CLV_OK && !result.is_converged; i++) {
        options.damping = damping[i];
        status = clv_bp_run(bp, marginals, NULL, &result, field, &options, err);
    }
    if (status == CLV_OK && bound)
        *bound = result.value;
    clv_bp_free(bp);
    return status;
}

/* Learners that maximise a likelihood determine the scale of the scores; a margin does not. */
static bool has_scale(const struct clv_model *model)
{
    static const char *const likelihood[] = {"pmap", "mpmap", "wmpmap", "crf", "hcrf"};
    const char *learner = clv_record_get(&model->record, "learner");
    bool found = !learner;
    for (size_t k = 0; k < sizeof likelihood / sizeof *likelihood; k++)
        found = found || strcmp(learner, likelihood[k]) == 0;
    return found;
}

enum clv_status clv_model_marginals(double *marginals, double *bound, double *standard_error,
                                    const struct clv_model *model, const struct clv_problem *problem,
                                    struct clv_oracle *oracle, uint64_t seed, uint32_t n_draws, struct clv_error *err)
{
    struct clv_field field;
    enum clv_status status = model_field_init(&field, model, problem, err);
    bool is_cut = model->decoding.rule == CLV_DECODE_ORACLE;
    if (status == CLV_OK && !has_scale(model))
        model_scale_scores(&field, 0);
    if (status == CLV_OK && !is_cut && standard_error)
        *standard_error = 0;
    if (status == CLV_OK && !is_cut)
        status = propagated_marginals(marginals, bound, &field, err);
    else if (status == CLV_OK)
        status = clv_perturbed_marginals(oracle, marginals, bound, standard_error, &field, seed, n_draws, err);
    scored_field_release(&field);
    return status;
}

enum clv_status model_marginals(double *marginals, const struct clv_model *model, const struct clv_problem *problem,
                                struct clv_error *err)
{
    struct clv_field field;
    enum clv_status status = model_field_init(&field, model, problem, err);
    if (status == CLV_OK && !has_scale(model))
        model_scale_scores(&field, 0);
    TRY(stage_propagate(marginals, &field, 1, err));
    scored_field_release(&field);
    return status;
}
