#include "learn/pmap/pmap.h"

#include "base/base.h"
#include "data/data.h"
#include "learn/common/common.h"

#define N_PLACE 5 /* numbers of struct pmap_place, and the steps made */

/* The weights, sums and place; the average where the training has one. */
static size_t list_fields(struct state_field fields[5], int64_t *place, const struct pmap_state *state)
{
    size_t size = state->ascent->size;
    fields[0] = (struct state_field){"w", CLV_F64, size, state->ascent->w, STATE_FINITE};
    fields[1] = (struct state_field){"squares", CLV_F64, size, state->ascent->squares, STATE_NOT_NEGATIVE};
    fields[2] = (struct state_field){"start", CLV_F64, size, state->start, STATE_FINITE};
    fields[3] = (struct state_field){"place", CLV_I64, N_PLACE, place, STATE_FINITE};
    fields[4] = (struct state_field){"average", CLV_F64, size, state->ascent->average, STATE_FINITE};
    return state->ascent->average ? 5 : 4;
}

enum clv_status pmap_state_write(struct checkpoints *checkpoints, const struct pmap_state *state, struct clv_error *err)
{
    const struct pmap_place *place = &state->place;
    int64_t numbers[N_PLACE] = {place->round, place->pass, place->n_taken, place->next_draw,
                                (int64_t)state->ascent->n_steps};
    struct state_field fields[5];
    size_t n = list_fields(fields, numbers, state);
    return state_write(checkpoints, fields, n, state->result, err);
}

enum clv_status pmap_state_read(bool *found, struct pmap_state *state, const struct checkpoints *checkpoints,
                                struct clv_error *err)
{
    struct clv_tensors *tensors;
    struct state_field fields[5];
    int64_t numbers[N_PLACE];
    *found = false;
    enum clv_status status = checkpoint_read(&tensors, checkpoints, err);
    if (status || !tensors)
        return status;
    size_t n = list_fields(fields, numbers, state);
    status = state_read(fields, n, tensors, checkpoints, err);
    TRY(state_read_curve(state->result, tensors, checkpoints, err));
    if (!status) {
        state->place = (struct pmap_place){numbers[0], numbers[1], numbers[2], numbers[3]};
        state->ascent->n_steps = (double)numbers[4];
    }
    clv_tensors_close(tensors);
    *found = !status;
    return status;
}
