#include "segment/refining.h"

#include "base/error.h"

enum { N_OPTIONS = 5 };

static void list_options(double *list[N_OPTIONS], struct clv_refine_options *options)
{
    double *const each[N_OPTIONS] = {&options->prior, &options->nearby, &options->overall, &options->balance,
                                     &options->coupling};
    for (int k = 0; k < N_OPTIONS; k++)
        list[k] = each[k];
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
    if (tensor->dtype != CLV_F64 || tensor->n_dimensions != 1 || tensor->shape[0] != N_OPTIONS + model->recipe.n_maps)
        return fail(err, CLV_ERR_DATA, "the model's tensor \"" REFINING "\" is not f64 [%d]",
                    N_OPTIONS + model->recipe.n_maps);
    const double *learned = tensor->data;
    for (int64_t k = 0; k < tensor->shape[0]; k++)
        if (!(learned[k] >= 0 && learned[k] <= 1e6))
            return fail(err, CLV_ERR_DATA, "the model's tensor \"" REFINING "\" holds %g, must be 0..1e6", learned[k]);
    clv_refine_defaults(&defaults);
    list_options(own, &refining->options);
    list_options(usual, &defaults);
    for (int k = 0; k < N_OPTIONS; k++)
        if (!(*own[k] < *usual[k] || *own[k] > *usual[k]))
            *own[k] = learned[k];
    for (int32_t m = 0; m < model->recipe.n_maps; m++)
        refining->maps[m] = learned[N_OPTIONS + m];
    return CLV_OK;
}
