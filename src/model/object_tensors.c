/* Keeps learned objects in a model: six named tensors, and a view of them as the networks and weights that
 * object_model_find uses. Start at learned_objects_attach and learned_objects_view. */
#include "model/object_tensors.h"

#include <math.h>

#include "base/base.h"
#include "model/model.h"

enum { SHRINK, STANDARD, NETWORK, STANDARD2, NETWORK2, BORDER, N_TENSORS };
static const char *const names[N_TENSORS] = {"objects.shrink",    "objects.standard", "objects.network",
                                             "objects.standard2", "objects.network2", "objects.border"};

/* Describes the tensors of learned objects: names, types and shapes, and the data of `objects`. */
static void describe(struct clv_tensor tensors[N_TENSORS], const struct object_model *objects)
{
    const struct pixel_net *nets = objects->nets;
    const void *const data[] = {&objects->shrink, nets[0].standard, nets[0].weights,
                                nets[1].standard, nets[1].weights,  objects->weights};
    const int64_t shapes[][2] = {{1},
                                 {2, PIXEL_BANK_SIZE},
                                 {object_net_copies[0], (int64_t)pixel_net_size(PIXEL_BANK_SIZE, OBJECT_CLASSES)},
                                 {2, PIXEL_CONTEXT_SIZE},
                                 {object_net_copies[1], (int64_t)pixel_net_size(PIXEL_CONTEXT_SIZE, OBJECT_CLASSES)},
                                 {EDGE_PROBLEM_OWN + BORDER_FEATURES}};
    for (int k = 0; k < N_TENSORS; k++)
        tensors[k] = (struct clv_tensor){.name = names[k],
                                         .dtype = k == BORDER ? CLV_F64 : CLV_F32,
                                         .n_dimensions = shapes[k][1] ? 2 : 1,
                                         .shape = {shapes[k][0], shapes[k][1]},
                                         .data = data[k]};
}

enum clv_status learned_objects_attach(struct clv_model *model, const struct object_model *objects,
                                       struct clv_error *err)
{
    struct clv_tensor tensors[N_TENSORS];
    describe(tensors, objects);
    for (int k = 0; k < N_TENSORS; k++)
        if (tensors[k].data)
            MUST(clv_model_attach(model, &tensors[k], err));
    return CLV_OK;
}

bool learned_objects_are_there(const struct clv_model *model)
{
    return clv_model_attached(model, names[NETWORK]) != NULL;
}

static bool is_finite(const struct clv_tensor *tensor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(tensor->dtype == CLV_F64 ? ((const double *)tensor->data)[i]
                                               : (double)((const float *)tensor->data)[i]))
            return false;
    return true;
}

enum clv_status learned_objects_view(struct object_model *objects, const struct clv_model *model, struct clv_error *err)
{
    struct clv_tensor wanted[N_TENSORS];
    const struct clv_tensor *found[N_TENSORS];
    describe(wanted, objects);
    for (int k = 0; k < N_TENSORS; k++) {
        const struct clv_tensor *tensor = found[k] = clv_model_attached(model, names[k]);
        if (!tensor && k == BORDER)
            continue;
        bool fits = tensor && tensor->dtype == wanted[k].dtype && tensor->n_dimensions == wanted[k].n_dimensions;
        size_t n = 1;
        for (int i = 0; fits && i < wanted[k].n_dimensions; i++) {
            fits = tensor->shape[i] == wanted[k].shape[i];
            n *= (size_t)wanted[k].shape[i];
        }
        FAIL_IF(!fits || !is_finite(tensor, n), CLV_ERR_DATA,
                "the model's tensor %s is not there, or not of its kind, shape and numbers", names[k]);
    }
    objects->shrink = *(const float *)found[SHRINK]->data;
    for (int k = 0; k < 2; k++)
        objects->nets[k] =
            (struct pixel_net){k ? PIXEL_CONTEXT_SIZE : PIXEL_BANK_SIZE, OBJECT_CLASSES, object_net_copies[k],
                               (float *)found[STANDARD + 2 * k]->data, (float *)found[NETWORK + 2 * k]->data};
    objects->n_weights = (int32_t)wanted[BORDER].shape[0];
    objects->weights = found[BORDER] ? (double *)found[BORDER]->data : NULL;
    return objects->shrink >= 1 ? CLV_OK
                                : fail(err, CLV_ERR_DATA, "the model's tensor %s is %g, not 1 or more", names[SHRINK],
                                       (double)objects->shrink);
}
