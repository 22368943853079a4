#include "learn/crf/crf.h"

#include "base/base.h"
#include "data/data.h"
#include "learn/common/common.h"

#define N_PLACE 3 /* moves kept, the next one's place, evaluations */

static size_t list_vectors(struct state_field fields[5], double numbers[2], const struct lbfgs *lbfgs)
{
    size_t size = lbfgs->size, kept = lbfgs->n_kept * size;
    fields[0] = (struct state_field){"w", CLV_F64, size, lbfgs->x, STATE_FINITE};
    fields[1] = (struct state_field){"gradient", CLV_F64, size, lbfgs->gradient, STATE_FINITE};
    fields[2] = (struct state_field){"moves", CLV_F64, kept, lbfgs->moves, STATE_FINITE};
    fields[3] = (struct state_field){"changes", CLV_F64, kept, lbfgs->changes, STATE_FINITE};
    fields[4] = (struct state_field){"objective", CLV_F64, 2, numbers, STATE_FINITE};
    return 5;
}

/* Before the first step there is nothing but the weights to start from: the first evaluation is made again. */
enum clv_status crf_state_write(struct checkpoints *checkpoints, const struct crf_state *state, struct clv_error *err)
{
    const struct lbfgs *lbfgs = state->lbfgs;
    bool has_moved = state->result->n_curve > 0;
    int64_t place[N_PLACE] = {(int64_t)lbfgs->n_kept, (int64_t)lbfgs->next,
                              has_moved ? (int64_t)state->n_evaluations : 0};
    double numbers[2] = {lbfgs->value, state->first_objective};
    struct state_field fields[6] = {{"place", CLV_I64, N_PLACE, place, STATE_FINITE}};
    size_t n = 1 + (has_moved ? list_vectors(&fields[1], numbers, lbfgs) : 0);
    return state_write(checkpoints, fields, n, state->result, err);
}

static enum clv_status read_steps(struct crf_state *state, const struct clv_tensors *tensors, const int64_t *place,
                                  const struct checkpoints *checkpoints, struct clv_error *err)
{
    struct lbfgs *lbfgs = state->lbfgs;
    double numbers[2], memory = (double)lbfgs->memory;
    struct state_field fields[5];
    size_t n_steps = state->result->n_curve;
    if (place[0] < 0 || place[1] < 0 || (double)place[0] > memory || (double)place[1] > memory ||
        place[2] <= (int64_t)n_steps)
        return state_refuse(checkpoints, "moves and evaluations that the steps did not take", err);
    lbfgs->n_kept = (size_t)place[0];
    lbfgs->next = (size_t)place[1];
    size_t n = list_vectors(fields, numbers, lbfgs);
    enum clv_status status = state_read(fields, n, tensors, checkpoints, err);
    if (!status && !lbfgs_resume(lbfgs))
        status = state_refuse(checkpoints, "moves along which the gradient does not rise", err);
    lbfgs->value = status ? 0 : numbers[0];
    state->first_objective = status ? 0 : numbers[1];
    state->n_evaluations = (size_t)place[2];
    return status;
}

enum clv_status crf_state_read(struct crf_state *state, const struct checkpoints *checkpoints, struct clv_error *err)
{
    struct clv_tensors *tensors;
    int64_t place[N_PLACE];
    const struct state_field field = {"place", CLV_I64, N_PLACE, place, STATE_FINITE};
    enum clv_status status = checkpoint_read(&tensors, checkpoints, err);
    if (status || !tensors)
        return status;
    status = state_read(&field, 1, tensors, checkpoints, err);
    TRY(state_read_curve(state->result, tensors, checkpoints, err));
    if (!status && (place[2] != 0) != (state->result->n_curve > 0))
        status = state_refuse(checkpoints, "steps without evaluations, or none with them", err);
    if (!status && place[2] != 0)
        status = read_steps(state, tensors, place, checkpoints, err);
    clv_tensors_close(tensors);
    return status;
}
