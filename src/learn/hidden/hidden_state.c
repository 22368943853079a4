/* Checkpoints of trainings with hidden variables: weights, sums of the solver, messages of belief propagation, and the
 * position in the training. Start at hidden_save. */
#include "learn/hidden/hidden.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

enum {
    POSITION_DONE,
    POSITION_TAKEN,
    POSITION_SHARP,
    POSITION_STEPS,
    POSITION_STAGE,
    POSITION_INNER,
    POSITION_NEXT_POINT,
    N_POSITION
};
enum { OF_LOWEST, OF_LOSS, OF_STEPS, N_NUMBERS };

/* Most runs, and most sweeps, of belief propagation for one example that a checkpoint may count: more than any training
 * can make, and far from overflow. */
#define MOST_RUNS ((int64_t)1 << 53)

/* Parts of the state that are not arrays of the descent. */
struct gathered {
    int64_t position[N_POSITION];
    double numbers[N_NUMBERS];
    float *messages;
    int64_t *counts; /* [n][MESSAGES_COUNTS] */
    size_t n_messages, n_counts;
};

static enum clv_status gathered_open(struct gathered *self, const struct hidden_descent *descent, struct clv_error *err)
{
    size_t n = descent->hidden.examples.n;
    *self = (struct gathered){.n_messages = messages_size(&descent->hidden, descent->all, n),
                              .n_counts = n * MESSAGES_COUNTS};
    self->messages = array_zalloc(self->n_messages, sizeof *self->messages);
    self->counts = array_zalloc(self->n_counts, sizeof *self->counts);
    return self->messages && self->counts ? CLV_OK : fail_memory(err);
}

static void gathered_release(struct gathered *self)
{
    arrays_free(self->messages, self->counts);
}

static void add(struct state_field *fields, size_t *n, const char *name, double *values, size_t size,
                enum state_range range)
{
    fields[(*n)++] = (struct state_field){name, CLV_F64, size, values, range};
}

/* Lists the fields of the concave-convex procedure. */
static size_t list_cccp(struct state_field *fields, size_t n, const struct hidden_descent *self, double *numbers)
{
    size_t size = self->hidden.size, n_examples = self->hidden.examples.n;
    struct hidden_dual *dual = self->dual;
    add(fields, &n, "numbers", numbers, N_NUMBERS, STATE_NUMBER);
    add(fields, &n, "best", self->best, size, STATE_FINITE);
    add(fields, &n, "plane", self->plane, size, STATE_FINITE);
    if (!dual)
        return n;
    add(fields, &n, "slopes", dual->slope, n_examples * size, STATE_FINITE);
    add(fields, &n, "heights", dual->height, n_examples, STATE_FINITE);
    add(fields, &n, "dual", dual->point.v, size, STATE_FINITE);
    add(fields, &n, "average", dual->average, size, STATE_FINITE);
    return n;
}

/* Lists all fields except the position. */
static size_t list_fields(struct state_field fields[STATE_MAX_FIELDS], const struct hidden_descent *self,
                          struct gathered *gathered)
{
    const struct ascent *ascent = &self->ascent;
    size_t size = self->hidden.size, n = 0;
    fields[n++] = (struct state_field){"messages", CLV_F32, gathered->n_messages, gathered->messages, STATE_FINITE};
    fields[n++] = (struct state_field){"counts", CLV_I64, gathered->n_counts, gathered->counts, STATE_FINITE};
    add(fields, &n, "w", ascent->w, size, STATE_FINITE);
    if (self->solver == SOLVER_CCCP)
        return list_cccp(fields, n, self, gathered->numbers);
    add(fields, &n, "squares", ascent->squares, size, STATE_NOT_NEGATIVE);
    if (ascent->average)
        add(fields, &n, "average", ascent->average, size, STATE_FINITE);
    if (self->solver == SOLVER_FULL_ADAGRAD) {
        add(fields, &n, "products", self->full.products, size * size, STATE_FINITE);
        add(fields, &n, "vectors", self->full.vectors, size * size, STATE_FINITE);
    }
    return n;
}

enum clv_status hidden_save(void *descent, struct clv_error *err)
{
    struct hidden_descent *self = descent;
    struct course *course = &self->course;
    OWNED(gathered_release) struct gathered gathered = {0};
    struct state_field fields[STATE_MAX_FIELDS];
    const struct hidden_position *position = &self->position;
    MUST(gathered_open(&gathered, self, err));
    const int64_t numbers[N_POSITION] = {[POSITION_DONE] = (int64_t)course->pass,
                                         [POSITION_TAKEN] = (int64_t)course->n_taken,
                                         [POSITION_SHARP] = position->is_sharp,
                                         [POSITION_STEPS] = (int64_t)self->ascent.n_steps,
                                         [POSITION_STAGE] = position->stage,
                                         [POSITION_INNER] = (int64_t)position->n_inner,
                                         [POSITION_NEXT_POINT] = (int64_t)position->next_point};
    memcpy(gathered.position, numbers, sizeof numbers);
    gathered.numbers[OF_LOWEST] = position->lowest;
    gathered.numbers[OF_LOSS] = self->dual ? self->dual->point.loss : 0;
    gathered.numbers[OF_STEPS] = self->dual ? self->dual->n_steps : 0;
    messages_copy(gathered.messages, gathered.counts, &self->hidden, self->all, self->hidden.examples.n);
    size_t n = position->stage == STAGE_START ? 0 : list_fields(fields, self, &gathered);
    fields[n] = (struct state_field){"place", CLV_I64, N_POSITION, gathered.position, STATE_FINITE};
    return state_write(&course->checkpoints, fields, n + 1, course->result, err);
}

static enum clv_status check_position(const int64_t *position, const struct hidden_descent *self, struct clv_error *err)
{
    const struct course *course = &self->course;
    size_t n = self->hidden.examples.n, most = course->n_passes;
    bool is_cccp = self->solver == SOLVER_CCCP;
    if (!state_lies_within(position[POSITION_DONE], most) || !state_lies_within(position[POSITION_TAKEN], n) ||
        !state_lies_within(position[POSITION_SHARP], 1) ||
        (position[POSITION_SHARP] && position[POSITION_DONE] < (int64_t)self->n_smooth))
        return state_refuse(&self->course.checkpoints, "at a pass or an example that there is not", err);
    if (position[POSITION_TAKEN] % (is_cccp ? HIDDEN_PARTS : (int64_t)course->batch) &&
        position[POSITION_TAKEN] != (int64_t)n)
        return state_refuse(&self->course.checkpoints, "within a step", err);
    if (!state_lies_within(position[POSITION_STEPS], most * n))
        return state_refuse(&self->course.checkpoints, "after steps that were not made", err);
    if (!state_lies_within(position[POSITION_STAGE], is_cccp ? STAGE_POINT : STAGE_LOWER) ||
        !state_lies_within(position[POSITION_INNER], self->n_inner) ||
        !state_lies_within(position[POSITION_NEXT_POINT], most + course->passes_per_point))
        return state_refuse(&self->course.checkpoints, "at a stage that there is not", err);
    return CLV_OK;
}

enum clv_status hidden_state_open(struct clv_tensors **tensors, struct hidden_descent *self, struct clv_error *err)
{
    int64_t position[N_POSITION] = {0};
    const struct state_field field = {"place", CLV_I64, N_POSITION, position, STATE_FINITE};
    OWNED(tensors_drop) struct clv_tensors *result = NULL;
    *tensors = NULL;
    MUST(checkpoint_read(&result, &self->course.checkpoints, err));
    if (!result)
        return CLV_OK;
    MUST(state_read(&field, 1, result, &self->course.checkpoints, err));
    MUST(check_position(position, self, err));
    if (position[POSITION_STAGE] == STAGE_START)
        return CLV_OK;
    self->course.pass = (size_t)position[POSITION_DONE];
    self->course.n_taken = (size_t)position[POSITION_TAKEN];
    self->ascent.n_steps = (double)position[POSITION_STEPS];
    self->position = (struct hidden_position){.is_sharp = position[POSITION_SHARP] != 0,
                                              .stage = (enum hidden_stage)position[POSITION_STAGE],
                                              .n_inner = (size_t)position[POSITION_INNER],
                                              .next_point = (size_t)position[POSITION_NEXT_POINT]};
    *tensors = TAKE(result);
    return CLV_OK;
}

enum clv_status hidden_state_take(struct hidden_descent *self, struct clv_tensors *tensors, struct clv_error *err)
{
    OWNED(gathered_release) struct gathered gathered = {0};
    struct state_field fields[STATE_MAX_FIELDS];
    MUST(gathered_open(&gathered, self, err));
    MUST(state_read(fields, list_fields(fields, self, &gathered), tensors, &self->course.checkpoints, err));
    MUST(state_read_curve(self->course.result, tensors, &self->course.checkpoints, err));
    for (size_t k = 0; k < gathered.n_counts; k++)
        if (gathered.counts[k] < 0 || gathered.counts[k] > MOST_RUNS ||
            (k % MESSAGES_COUNTS < HIDDEN_N_MESSAGES && gathered.counts[k] > 1))
            return state_refuse(&self->course.checkpoints, "after runs of belief propagation that were not made", err);
    messages_put(&self->hidden, gathered.messages, gathered.counts, self->all, self->hidden.examples.n);
    self->position.lowest = gathered.numbers[OF_LOWEST];
    if (self->dual) {
        self->dual->point.loss = gathered.numbers[OF_LOSS];
        self->dual->n_steps = gathered.numbers[OF_STEPS];
    }
    return CLV_OK;
}
