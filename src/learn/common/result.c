#include "learn/common/common.h"

#include <string.h>

#include "base/base.h"

void clv_training_result_release(struct clv_training_result *result)
{
    if (!result)
        return;
    array_free(result->w);
    array_free(result->variance);
    array_free(result->curve);
    array_free(result->validation_loss);
    *result = (struct clv_training_result){0};
}

enum clv_status curve_add(struct clv_training_result *result, struct clv_curve_point point, struct clv_error *err)
{
    struct clv_curve_point *grown = array_realloc(result->curve, result->n_curve + 1, sizeof point);
    if (!grown)
        return fail_memory(err);
    result->curve = grown;
    result->curve[result->n_curve++] = point;
    return CLV_OK;
}

static enum clv_status set_weights(double **to, const struct examples *self, const double *w, struct clv_error *err)
{
    if (!*to)
        *to = array_zalloc(clv_shape_size(&self->training->shape), sizeof *w);
    if (!*to)
        return fail_memory(err);
    memcpy(*to, w, clv_shape_size(&self->shape) * sizeof *w);
    return CLV_OK;
}

enum clv_status result_set(struct clv_training_result *result, const struct examples *self, const double *w,
                           struct clv_error *err)
{
    /* The oracle cuts two labels, which tables of any sign forbid. */
    const struct clv_shape *shape = &self->shape;
    if (shape->pairwise == CLV_PAIRWISE_FULL && shape->n_labels == 2 && result->decoding.rule == CLV_DECODE_ORACLE)
        result->decoding.rule = CLV_DECODE_MAP;
    return set_weights(&result->w, self, w, err);
}

enum clv_status result_set_variance(struct clv_training_result *result, const struct examples *self,
                                    const double *variance, struct clv_error *err)
{
    return set_weights(&result->variance, self, variance, err);
}

void result_note(struct clv_training_result *result, const char *name, double value)
{
    result->notes[result->n_notes++] = (struct clv_training_note){name, value};
}
