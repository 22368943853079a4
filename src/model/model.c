/* Models in memory, and decoding by them. */
#include "cleave/model.h"

#include "base/array.h"
#include "model/attachment.h"
#include "model/field.h"
#include "model/record.h"

void clv_model_release(struct clv_model *model)
{
    array_free(model->w);
    clv_recipe_release(&model->recipe);
    clv_labels_release(&model->labels);
    record_release(&model->record);
    for (size_t i = 0; i < model->n_extra; i++)
        tensor_release(&model->extra[i]);
    array_free(model->extra);
    *model = (struct clv_model){0};
}

enum clv_status clv_model_decode(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                 const uint8_t *is_visible, struct clv_oracle *oracle, struct clv_error *err)
{
    struct clv_field field;
    enum clv_status status = model_field_init(&field, model, problem, err);
    if (status == CLV_OK)
        status = clv_oracle_decode(oracle, y, &field, is_visible, &model->decoding, err);
    model_field_release(&field);
    return status;
}

enum clv_status clv_model_predict(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                  struct clv_oracle *oracle, struct clv_error *err)
{
    return clv_model_decode(y, model, problem, NULL, oracle, err);
}

enum clv_status clv_model_marginals(double *marginals, double *bound, double *standard_error,
                                    const struct clv_model *model, const struct clv_problem *problem,
                                    struct clv_oracle *oracle, uint64_t seed, uint32_t n_draws, struct clv_error *err)
{
    struct clv_field field;
    enum clv_status status = model_field_init(&field, model, problem, err);
    if (status == CLV_OK)
        status = clv_perturbed_marginals(oracle, marginals, bound, standard_error, &field, seed, n_draws, err);
    model_field_release(&field);
    return status;
}
