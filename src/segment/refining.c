#include "segment/segment.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "model/model.h"

enum { N_OPTIONS = 5, N_FIXED = N_OPTIONS + 1, A_MAP = 3 };

static void list_options(double *list[N_OPTIONS], struct clv_refine_options *options)
{
    double *const each[N_OPTIONS] = {&options->prior, &options->nearby, &options->overall, &options->balance,
                                     &options->coupling};
    for (int k = 0; k < N_OPTIONS; k++)
        list[k] = each[k];
}

bool refining_is_cut(const struct clv_model *model)
{
    return model->shape.n_labels == 2 && model->decoding.rule == CLV_DECODE_ORACLE;
}

enum clv_status refining_of_model(struct refining *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err)
{
    double *own[N_OPTIONS], *usual[N_OPTIONS];
    struct clv_refine_options defaults;
    const struct clv_tensor *tensor = clv_model_attached(model, REFINING);
    *refining = (struct refining){.options = *options};
    if (!tensor || !model->has_recipe)
        return CLV_OK;
    int32_t n = N_FIXED + A_MAP * model->recipe.n_maps;
    if (tensor->dtype != CLV_F64 || tensor->n_dimensions != 1 || tensor->shape[0] != n)
        return fail(err, CLV_ERR_DATA, "the model's tensor \"" REFINING "\" is not f64 [%d]", n);
    const double *learned = tensor->data;
    for (int32_t k = 0; k < n; k++)
        if (!(learned[k] >= (k < N_OPTIONS ? 0 : -1e6) && learned[k] <= 1e6))
            return fail(err, CLV_ERR_DATA, "the model's tensor \"" REFINING "\" holds %g, must be %s..1e6", learned[k],
                        k < N_OPTIONS ? "0" : "-1e6");
    clv_refine_defaults(&defaults);
    list_options(own, &refining->options);
    list_options(usual, &defaults);
    for (int k = 0; k < N_OPTIONS; k++)
        if (!(*own[k] < *usual[k] || *own[k] > *usual[k]))
            *own[k] = learned[k];
    refining->is_learned = true;
    refining->bias = learned[N_OPTIONS];
    memcpy(refining->maps, learned + N_FIXED, (size_t)model->recipe.n_maps * sizeof *refining->maps);
    return CLV_OK;
}

enum clv_status refining_attach(struct clv_model *model, const struct refining *refining, struct clv_error *err)
{
    double values[REFINING_FREE], *list[N_OPTIONS];
    struct clv_refine_options options = refining->options;
    list_options(list, &options);
    for (int k = 0; k < N_OPTIONS; k++)
        values[k] = *list[k];
    values[N_OPTIONS] = refining->bias;
    memcpy(values + N_FIXED, refining->maps, sizeof refining->maps);
    const struct clv_tensor tensor = {.name = REFINING,
                                      .dtype = CLV_F64,
                                      .n_dimensions = 1,
                                      .shape = {N_FIXED + A_MAP * model->recipe.n_maps},
                                      .data = values};
    return clv_model_attach(model, &tensor, err);
}
