/* Models in memory: what is attached to them, and decoding. */
#include "cleave/model.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "data/safetensors.h"
#include "model/field.h"
#include "model/model_file.h"
#include "model/record.h"

static void release_tensor(struct clv_tensor *tensor)
{
    array_free((void *)tensor->name);
    array_free((void *)tensor->data);
}

void clv_model_release(struct clv_model *model)
{
    array_free(model->w);
    clv_recipe_release(&model->recipe);
    clv_labels_release(&model->labels);
    record_release(&model->record);
    for (size_t i = 0; i < model->n_extra; i++)
        release_tensor(&model->extra[i]);
    array_free(model->extra);
    *model = (struct clv_model){0};
}

static struct clv_tensor *find_extra(const struct clv_model *model, const char *name)
{
    for (size_t i = 0; i < model->n_extra; i++)
        if (strcmp(model->extra[i].name, name) == 0)
            return &model->extra[i];
    return NULL;
}

const struct clv_tensor *clv_model_attached(const struct clv_model *model, const char *name)
{
    return find_extra(model, name);
}

enum clv_status tensor_copy(struct clv_tensor *copy, const struct clv_tensor *tensor, struct clv_error *err)
{
    size_t bytes;
    if (!tensor_bytes(&bytes, tensor))
        return fail(err, CLV_ERR_USAGE, "tensor \"%s\": type or shape out of range", tensor->name);
    struct clv_tensor made = *tensor;
    made.name = string_copy(tensor->name);
    made.data = array_copy(tensor->data, bytes, 1);
    if (!made.name || !made.data) {
        release_tensor(&made);
        return fail_memory(err);
    }
    *copy = made;
    return CLV_OK;
}

enum clv_status clv_model_attach(struct clv_model *model, const struct clv_tensor *tensor, struct clv_error *err)
{
    struct clv_tensor copy, *there = find_extra(model, tensor->name);
    enum clv_status status = tensor_copy(&copy, tensor, err);
    if (status != CLV_OK)
        return status;
    if (there) {
        release_tensor(there);
        *there = copy;
        return CLV_OK;
    }
    struct clv_tensor *grown = array_realloc(model->extra, model->n_extra + 1, sizeof *grown);
    if (!grown) {
        release_tensor(&copy);
        return fail_memory(err);
    }
    grown[model->n_extra++] = copy;
    model->extra = grown;
    return CLV_OK;
}

enum clv_status model_field_init(struct clv_field *field, const struct clv_model *model,
                                 const struct clv_problem *problem, struct clv_error *err)
{
    const struct clv_shape *shape = &model->shape;
    *field = (struct clv_field){0};
    enum clv_status status = clv_problem_check(problem, shape, err);
    if (status != CLV_OK)
        return status;
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
    clv_unary_scores(field->unary, problem, shape, model->w);
    clv_pairwise_scores(field->pairwise, problem, shape, model->w);
    return CLV_OK;
}

void model_field_release(struct clv_field *field)
{
    array_free(field->unary);
    array_free(field->pairwise);
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
