/* Keeps named tensors that a model carries for other code. Start at clv_model_attach. */
#include "model/model.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

void tensor_release(struct clv_tensor *tensor)
{
    arrays_free((void *)tensor->name, (void *)tensor->data);
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
    FAIL_IF(!tensor_bytes(&bytes, tensor), CLV_ERR_USAGE, "tensor \"%s\": type or shape out of range", tensor->name);
    OWNED(tensor_release) struct clv_tensor result = *tensor;
    result.name = string_copy(tensor->name);
    result.data = array_copy(tensor->data, bytes, 1);
    NEED(result.name && result.data);
    *copy = TAKE(result);
    return CLV_OK;
}

enum clv_status clv_model_attach(struct clv_model *model, const struct clv_tensor *tensor, struct clv_error *err)
{
    OWNED(tensor_release) struct clv_tensor copy = {0};
    struct clv_tensor *present = find_extra(model, tensor->name);
    MUST(tensor_copy(&copy, tensor, err));
    if (present) {
        tensor_release(present);
        *present = TAKE(copy);
        return CLV_OK;
    }
    struct clv_tensor *grown = array_realloc(model->extra, model->n_extra + 1, sizeof *grown);
    NEED(grown);
    grown[model->n_extra++] = TAKE(copy);
    model->extra = grown;
    return CLV_OK;
}
