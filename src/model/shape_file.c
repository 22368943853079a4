#include "model/shape_file.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cleave/data.h"
#include "data/safetensors.h"
#include "model/metadata.h"

static const char *const forms[] = {
    [CLV_PAIRWISE_NONE] = "none", [CLV_PAIRWISE_POTTS] = "potts", [CLV_PAIRWISE_FULL] = "full"};
#define N_FORMS ((int)(sizeof forms / sizeof *forms))

bool shape_has_form(const struct clv_shape *shape)
{
    return (int)shape->pairwise >= 0 && (int)shape->pairwise < N_FORMS;
}

void shape_put_json(struct text *text, const struct clv_shape *shape)
{
    text_printf(text, "\"n_labels\":%d,\"n_features\":%d,\"n_edge_features\":%d,\"pairwise\":\"%s\"", shape->n_labels,
                shape->n_features, shape->n_edge_features, forms[shape->pairwise]);
}

enum clv_status shape_read(struct clv_shape *shape, const struct json_value *object, const char *path,
                           struct clv_error *err)
{
    const char *form = "";
    enum clv_status status = metadata_count(&shape->n_labels, object, "n_labels", INT32_MIN, INT32_MAX, path, err);
    if (status == CLV_OK)
        status = metadata_count(&shape->n_features, object, "n_features", INT32_MIN, INT32_MAX, path, err);
    if (status == CLV_OK)
        status = metadata_count(&shape->n_edge_features, object, "n_edge_features", INT32_MIN, INT32_MAX, path, err);
    if (status != CLV_OK)
        return status;
    int i = 0;
    json_get_text(json_member(object, "pairwise"), &form);
    while (i < N_FORMS && strcmp(form, forms[i]) != 0)
        i++;
    shape->pairwise = (enum clv_pairwise)i;
    return i < N_FORMS
               ? CLV_OK
               : fail(err, CLV_ERR_DATA, "%s: pairwise form \"%.60s\" is none of none, potts, full", path, form);
}

enum clv_status shape_check(const struct clv_shape *shape, const char *name, struct clv_error *err)
{
    if (shape->n_labels < 2 || shape->n_labels > CLV_MAX_LABELS)
        return fail(err, CLV_ERR_DATA, "%s: n_labels is %d, must be 2 to %d", name, shape->n_labels, CLV_MAX_LABELS);
    if (shape->n_features < 1 || shape->n_edge_features < 0 ||
        (shape->n_edge_features < 1 && shape->pairwise != CLV_PAIRWISE_NONE))
        return fail(err, CLV_ERR_DATA, "%s: n_features is %d and n_edge_features %d", name, shape->n_features,
                    shape->n_edge_features);
    return CLV_OK;
}

static enum clv_status check_parts(const struct clv_shape *shape, const double *unary, const double *pairwise,
                                   const char *name, struct clv_error *err)
{
    size_t n_unary = clv_shape_unary_size(shape), n_pairwise = clv_shape_size(shape) - n_unary;
    for (size_t i = 0; i < n_unary; i++)
        if (!isfinite(unary[i]))
            return fail(err, CLV_ERR_DATA, "%s: unary weight %zu is %g", name, i, unary[i]);
    for (size_t i = 0; pairwise && i < n_pairwise; i++) {
        if (!isfinite(pairwise[i]))
            return fail(err, CLV_ERR_DATA, "%s: pairwise weight %zu is %g", name, i, pairwise[i]);
        if (pairwise[i] < 0 && shape->pairwise == CLV_PAIRWISE_POTTS)
            return fail(err, CLV_ERR_DATA, "%s: coupling %zu is %g, must not be negative", name, i, pairwise[i]);
    }
    return CLV_OK;
}

enum clv_status weights_check(const struct clv_shape *shape, const double *w, const char *name, struct clv_error *err)
{
    return check_parts(shape, w, w + clv_shape_unary_size(shape), name, err);
}

size_t weights_tensors(struct clv_tensor tensors[2], const struct clv_shape *shape, const double *w,
                       const struct weight_names *names)
{
    int64_t k = shape->n_labels, p = shape->n_edge_features;
    const double *pairwise = w + clv_shape_unary_size(shape);
    size_t n = 0;
    tensors[n++] = (struct clv_tensor){.name = names->unary,
                                       .dtype = CLV_F64,
                                       .n_dimensions = 2,
                                       .shape = {(int64_t)clv_shape_rows(shape), shape->n_features},
                                       .data = w};
    if (shape->pairwise == CLV_PAIRWISE_POTTS)
        tensors[n++] = (struct clv_tensor){
            .name = names->pairwise, .dtype = CLV_F64, .n_dimensions = 1, .shape = {p}, .data = pairwise};
    if (shape->pairwise == CLV_PAIRWISE_FULL)
        tensors[n++] = (struct clv_tensor){
            .name = names->pairwise, .dtype = CLV_F64, .n_dimensions = 3, .shape = {k, k, p}, .data = pairwise};
    return n;
}

enum clv_status weights_read(double **w, const struct clv_shape *shape, const struct clv_tensors *tensors,
                             const struct weight_names *names, const char *path, struct clv_error *err)
{
    int64_t k = shape->n_labels, p = shape->n_edge_features;
    const struct clv_tensor *unary, *pairwise = NULL;
    enum clv_status status = clv_tensors_require(&unary, tensors, names->unary, CLV_F64, 2,
                                                 (int64_t[]){(int64_t)clv_shape_rows(shape), shape->n_features}, err);
    if (status == CLV_OK && shape->pairwise == CLV_PAIRWISE_POTTS)
        status = clv_tensors_require(&pairwise, tensors, names->pairwise, CLV_F64, 1, (int64_t[]){p}, err);
    if (status == CLV_OK && shape->pairwise == CLV_PAIRWISE_FULL)
        status = clv_tensors_require(&pairwise, tensors, names->pairwise, CLV_F64, 3, (int64_t[]){k, k, p}, err);
    if (status == CLV_OK)
        status = check_parts(shape, unary->data, pairwise ? pairwise->data : NULL, path, err);
    if (status != CLV_OK)
        return status;
    size_t n_unary = clv_shape_unary_size(shape), n = clv_shape_size(shape);
    double *read = array_alloc(n, sizeof *read);
    if (!read)
        return fail_memory(err);
    memcpy(read, unary->data, n_unary * sizeof *read);
    if (pairwise)
        memcpy(read + n_unary, pairwise->data, (n - n_unary) * sizeof *read);
    *w = read;
    return CLV_OK;
}
