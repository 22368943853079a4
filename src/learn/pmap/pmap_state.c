#include "learn/pmap/pmap_state.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define N_PLACE 5 /* numbers of struct pmap_place, and the steps made */
#define N_CURVE 5 /* numbers of a point: those of struct clv_curve_point, and the validation loss */

/* The weights and sums: name and array, NULL where the training has none. */
struct vectors {
    const char *name;
    double *values; /* [size] */
};

static size_t list_vectors(struct vectors vectors[4], const struct pmap_state *state)
{
    vectors[0] = (struct vectors){"w", state->ascent->w};
    vectors[1] = (struct vectors){"squares", state->ascent->squares};
    vectors[2] = (struct vectors){"start", state->start};
    vectors[3] = (struct vectors){"average", state->ascent->average};
    return state->ascent->average ? 4 : 3;
}

enum clv_status pmap_state_write(struct checkpoints *checkpoints, const struct pmap_state *state, struct clv_error *err)
{
    const struct clv_training_result *result = state->result;
    const struct pmap_place *place = &state->place;
    const int64_t numbers[N_PLACE] = {place->round, place->pass, place->n_taken, place->next_draw,
                                      (int64_t)state->ascent->n_steps};
    struct vectors vectors[4];
    struct clv_tensor tensors[6];
    size_t n = list_vectors(vectors, state);
    for (size_t k = 0; k < n; k++)
        tensors[k] =
            (struct clv_tensor){vectors[k].name, CLV_F64, 1, {(int64_t)state->ascent->size}, vectors[k].values};
    double(*curve)[N_CURVE] = array_alloc(result->n_curve, sizeof *curve);
    if (!curve)
        return fail_memory(err);
    for (size_t i = 0; i < result->n_curve; i++) {
        const struct clv_curve_point *point = &result->curve[i];
        curve[i][0] = point->pass;
        curve[i][1] = point->objective;
        curve[i][2] = point->dual;
        curve[i][3] = point->train_loss;
        curve[i][4] = result->validation_loss ? result->validation_loss[i] : NAN;
    }
    tensors[n++] = (struct clv_tensor){"place", CLV_I64, 1, {N_PLACE}, numbers};
    tensors[n++] = (struct clv_tensor){"curve", CLV_F64, 2, {(int64_t)result->n_curve, N_CURVE}, curve};
    enum clv_status status = checkpoint_write(checkpoints, tensors, n, err);
    array_free(curve);
    return status;
}

static enum clv_status read_curve(struct clv_training_result *result, const struct clv_tensor *tensor, bool validated,
                                  struct clv_error *err)
{
    size_t n = (size_t)tensor->shape[0];
    const double(*curve)[N_CURVE] = tensor->data;
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

static void read_place(struct pmap_state *state, const struct clv_tensor *tensor)
{
    const int64_t *numbers = tensor->data;
    state->place = (struct pmap_place){numbers[0], numbers[1], numbers[2], numbers[3]};
    state->ascent->n_steps = (double)numbers[4];
}

/* Finite numbers; sums of squares are none below 0, whose root would be taken. */
static enum clv_status read_vector(struct vectors *vector, const struct clv_tensors *tensors, size_t size,
                                   const char *path, struct clv_error *err)
{
    const struct clv_tensor *tensor;
    double lowest = strcmp(vector->name, "squares") == 0 ? 0 : -INFINITY;
    enum clv_status status =
        clv_tensors_require(&tensor, tensors, vector->name, CLV_F64, 1, (int64_t[]){(int64_t)size}, err);
    if (status)
        return status;
    memcpy(vector->values, tensor->data, size * sizeof *vector->values);
    for (size_t i = 0; i < size; i++)
        if (!isfinite(vector->values[i]) || vector->values[i] < lowest)
            return fail(err, CLV_ERR_DATA, "%s: %s[%zu] is %g", path, vector->name, i, vector->values[i]);
    return CLV_OK;
}

enum clv_status pmap_state_read(bool *found, struct pmap_state *state, const struct checkpoints *checkpoints,
                                struct clv_error *err)
{
    struct clv_tensors *tensors;
    struct vectors vectors[4];
    *found = false;
    enum clv_status status = checkpoint_read(&tensors, checkpoints, err);
    if (status || !tensors)
        return status;
    const struct clv_training *training = checkpoints->training;
    const char *path = training->checkpoints->path;
    size_t n = list_vectors(vectors, state), size = state->ascent->size;
    const struct clv_tensor *tensor;
    for (size_t k = 0; k < n && !status; k++)
        status = read_vector(&vectors[k], tensors, size, path, err);
    if (!status)
        status = clv_tensors_require(&tensor, tensors, "place", CLV_I64, 1, (int64_t[]){N_PLACE}, err);
    if (!status)
        read_place(state, tensor);
    if (!status)
        status = clv_tensors_require(&tensor, tensors, "curve", CLV_F64, 2, (int64_t[]){-1, N_CURVE}, err);
    if (!status)
        status = read_curve(state->result, tensor, training->validation != NULL, err);
    clv_tensors_close(tensors);
    *found = !status;
    return status;
}
