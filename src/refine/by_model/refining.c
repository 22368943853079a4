/* Reads and writes the learned weights of refinement as tensors of the model, and decides which models have them. Start
 * at refining_of_model. */
#include "refine/by_model/by_model.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "model/model.h"
#include "pixel_net/pixel_net.h"

enum { N_OPTIONS = 5, N_FIXED = N_OPTIONS + 1, A_MAP = 3 };

#define STANDARD "refining.standard"

static void list_options(double *list[N_OPTIONS], struct clv_refine_options *options)
{
    double *const each[N_OPTIONS] = {&options->prior, &options->nearby, &options->overall, &options->balance,
                                     &options->coupling};
    for (int k = 0; k < N_OPTIONS; k++)
        list[k] = each[k];
}

/* Describes the two tensors of a network, to write them or to check a model's. */
static void describe(struct clv_tensor tensors[2], const struct pixel_net *net)
{
    tensors[0] = (struct clv_tensor){
        .name = STANDARD, .dtype = CLV_F32, .n_dimensions = 2, .shape = {2, net->n_inputs}, .data = net->standard};
    tensors[1] = (struct clv_tensor){.name = REFINING_NETWORK,
                                     .dtype = CLV_F32,
                                     .n_dimensions = 2,
                                     .shape = {net->n_copies, (int64_t)pixel_net_size(net->n_inputs, net->n_classes)},
                                     .data = net->weights};
}

static enum clv_status view_net(struct pixel_net *net, const struct clv_model *model, struct clv_error *err)
{
    struct clv_tensor wanted[2];
    const float *data[2];
    *net = (struct pixel_net){
        .n_inputs = refining_net_inputs(model), .n_classes = refining_net_classes(model), .n_copies = REFINING_COPIES};
    FAIL_IF(net->n_classes > PIXEL_NET_CLASSES, CLV_ERR_DATA,
            "the model has a tensor \"" REFINING_NETWORK "\" and %d labels, must have %d at most", net->n_classes,
            PIXEL_NET_CLASSES);
    describe(wanted, net);
    for (int k = 0; k < 2; k++) {
        const struct clv_tensor *found = clv_model_attached(model, wanted[k].name);
        bool fits = found && found->dtype == CLV_F32 && found->n_dimensions == 2 &&
                    found->shape[0] == wanted[k].shape[0] && found->shape[1] == wanted[k].shape[1];
        data[k] = fits ? found->data : NULL;
        for (int64_t i = 0; fits && i < wanted[k].shape[0] * wanted[k].shape[1]; i++)
            fits = fabsf(data[k][i]) <= 1e6F;
        if (!fits)
            return fail(err, CLV_ERR_DATA, "the model's tensor \"%s\" is not f32 [%d][%d] of -1e6..1e6", wanted[k].name,
                        (int)wanted[k].shape[0], (int)wanted[k].shape[1]);
    }
    net->standard = (float *)data[0];
    net->weights = (float *)data[1];
    return CLV_OK;
}

bool refining_is_by_net(const struct clv_model *model)
{
    return refining_has_net(model) && clv_model_attached(model, REFINING) && !refining_is_cut(model) &&
           model->has_recipe && !model->recipe.n_maps;
}

bool refining_is_learned(const struct clv_model *model, bool wants_net)
{
    return model->recipe.n_maps || wants_net || (model->first && refining_is_cut(model));
}

enum clv_status refining_of_model(struct refinement *refining, const struct clv_model *model,
                                  const struct clv_refine_options *options, struct clv_error *err)
{
    double *option[N_OPTIONS], *initial[N_OPTIONS];
    struct clv_refine_options defaults;
    const struct clv_tensor *tensor = clv_model_attached(model, REFINING);
    *refining = (struct refinement){.options = *options};
    if (!tensor || !model->has_recipe)
        return CLV_OK;
    bool has_net = refining_has_net(model);
    int32_t n = N_FIXED + A_MAP * model->recipe.n_maps + has_net;
    if (tensor->dtype != CLV_F64 || tensor->n_dimensions != 1 || tensor->shape[0] != n)
        return fail(err, CLV_ERR_DATA, "the model's tensor \"" REFINING "\" is not f64 [%d]", n);
    const double *learned = tensor->data;
    for (int32_t k = 0; k < n; k++)
        if (!(learned[k] >= (k < N_OPTIONS ? 0 : -1e6) && learned[k] <= 1e6))
            return fail(err, CLV_ERR_DATA, "the model's tensor \"" REFINING "\" holds %g, must be %s..1e6", learned[k],
                        k < N_OPTIONS ? "0" : "-1e6");
    clv_refine_defaults(&defaults);
    list_options(option, &refining->options);
    list_options(initial, &defaults);
    for (int k = 0; k < N_OPTIONS; k++)
        if (!(*option[k] < *initial[k] || *option[k] > *initial[k]))
            *option[k] = learned[k];
    refining->is_learned = true;
    refining->bias = learned[N_OPTIONS];
    memcpy(refining->maps, learned + N_FIXED, (size_t)model->recipe.n_maps * sizeof *refining->maps);
    refining->net_weight = has_net ? learned[n - 1] : 0;
    return has_net ? view_net(&refining->net, model, err) : CLV_OK;
}

enum clv_status refining_attach(struct clv_model *model, const struct refinement *refining, struct clv_error *err)
{
    double values[REFINING_FREE], *list[N_OPTIONS];
    struct clv_refine_options options = refining->options;
    list_options(list, &options);
    for (int k = 0; k < N_OPTIONS; k++)
        values[k] = *list[k];
    values[N_OPTIONS] = refining->bias;
    memcpy(values + N_FIXED, refining->maps, sizeof refining->maps);
    int32_t n = N_FIXED + A_MAP * model->recipe.n_maps;
    if (refining->net.weights) {
        struct clv_tensor tensors[2];
        values[n++] = refining->net_weight;
        describe(tensors, &refining->net);
        for (int k = 0; k < 2; k++)
            MUST(clv_model_attach(model, &tensors[k], err));
    }
    const struct clv_tensor tensor = {
        .name = REFINING, .dtype = CLV_F64, .n_dimensions = 1, .shape = {n}, .data = values};
    return clv_model_attach(model, &tensor, err);
}
