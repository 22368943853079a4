/* Writes and reads the state of a training in its checkpoint: fields of numbers by name, and the curve. Every number is
 * checked as it is read. Start at state_write. */
#include "learn/common/common.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

#define N_CURVE 5 /* numbers of a point: those of struct clv_curve_point, and the validation loss */

enum clv_status state_write(struct checkpoints *checkpoints, const struct state_field *fields, size_t n,
                            const struct clv_training_result *result, struct clv_error *err)
{
    struct clv_tensor tensors[STATE_MAX_FIELDS + 1];
    for (size_t k = 0; k < n; k++)
        tensors[k] = (struct clv_tensor){fields[k].name, fields[k].dtype, 1, {(int64_t)fields[k].n}, fields[k].values};
    OWNED_ARRAY double(*curve)[N_CURVE] = array_alloc(result->n_curve, sizeof *curve);
    NEED(curve);
    for (size_t i = 0; i < result->n_curve; i++) {
        const struct clv_curve_point *point = &result->curve[i];
        curve[i][0] = point->pass;
        curve[i][1] = point->objective;
        curve[i][2] = point->dual;
        curve[i][3] = point->train_loss;
        curve[i][4] = result->validation_loss ? result->validation_loss[i] : NAN;
    }
    tensors[n] = (struct clv_tensor){"curve", CLV_F64, 2, {(int64_t)result->n_curve, N_CURVE}, curve};
    return checkpoint_write(checkpoints, tensors, n + 1, err);
}

static bool is_allowed(double value, enum state_range range)
{
    return range == STATE_NUMBER ? !isnan(value) : isfinite(value) && (range == STATE_FINITE || value >= 0);
}

static enum clv_status read_field(const struct state_field *field, const struct clv_tensors *tensors, const char *path,
                                  struct clv_error *err)
{
    static const size_t sizes[] = {[CLV_F64] = sizeof(double), [CLV_F32] = sizeof(float), [CLV_I64] = sizeof(int64_t)};
    const struct clv_tensor *tensor;
    MUST(clv_tensors_require(&tensor, tensors, field->name, field->dtype, 1, (int64_t[]){(int64_t)field->n}, err));
    memcpy(field->values, tensor->data, field->n * sizes[field->dtype]);
    for (size_t i = 0; i < field->n; i++) {
        double value = field->dtype == CLV_F64   ? ((double *)field->values)[i]
                       : field->dtype == CLV_F32 ? (double)((float *)field->values)[i]
                                                 : (double)((int64_t *)field->values)[i];
        FAIL_IF(!is_allowed(value, field->range), CLV_ERR_DATA, "%s: %s[%zu] is %g", path, field->name, i, value);
    }
    return CLV_OK;
}

enum clv_status state_read(const struct state_field *fields, size_t n, const struct clv_tensors *tensors,
                           const struct checkpoints *checkpoints, struct clv_error *err)
{
    for (size_t k = 0; k < n; k++)
        MUST(read_field(&fields[k], tensors, checkpoints->training->checkpoints->path, err));
    return CLV_OK;
}

enum clv_status state_read_curve(struct clv_training_result *result, const struct clv_tensors *tensors,
                                 const struct checkpoints *checkpoints, struct clv_error *err)
{
    const struct clv_tensor *tensor;
    MUST(clv_tensors_require(&tensor, tensors, "curve", CLV_F64, 2, (int64_t[]){-1, N_CURVE}, err));
    size_t n = (size_t)tensor->shape[0];
    const double(*curve)[N_CURVE] = tensor->data;
    bool validated = checkpoints->training->validation && n > 0;
    result->curve = array_alloc(n, sizeof *result->curve);
    result->validation_loss = validated ? array_alloc(n, sizeof *result->validation_loss) : NULL;
    if (!result->curve || (validated && !result->validation_loss))
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        result->curve[i] = (struct clv_curve_point){curve[i][0], curve[i][1], curve[i][2], curve[i][3]};
        if (validated)
            result->validation_loss[i] = curve[i][4];
    }
    result->n_curve = n;
    return CLV_OK;
}

enum clv_status state_refuse(const struct checkpoints *checkpoints, const char *what, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA,
                "%s: holds a state that this training is never in: %s; remove it to train from the start",
                checkpoints->training->checkpoints->path, what);
}
