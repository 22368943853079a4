/* The state of block-coordinate Frank-Wolfe: starts blocks at a labelling, counts their support, and writes and reads
 * checkpoints, for which the numbers of all blocks are gathered into arrays. Start at bcfw_save. */
#include "learn/margin/margin.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "learn/common/common.h"
#include "mrf/problem.h"

enum { POSITION_PASS, POSITION_DRAW, POSITION_CHECKED, POSITION_PASSES, POSITION_STEPS, N_POSITION };
enum { OF_LOSS, OF_OBJECTIVE, OF_HINGE, OF_DUAL, N_NUMBERS };

/* Arrays that blocks own, one after the other. */
struct gathered {
    struct arena arena; /* of the arrays below */
    int64_t position[N_POSITION];
    double numbers[N_NUMBERS];
    double *loss, *gap; /* [n] */
    int64_t *n_support; /* [n] */
    int64_t *labelling; /* [n_shares] */
    double *share;      /* [n_shares] */
    size_t n_shares;
};

static enum clv_status gathered_open(struct gathered *self, const struct bcfw *bcfw, struct clv_error *err)
{
    *self = (struct gathered){0};
    self->loss = arena_zalloc(&self->arena, bcfw->n, sizeof *self->loss);
    self->gap = arena_zalloc(&self->arena, bcfw->n, sizeof *self->gap);
    self->n_support = arena_zalloc(&self->arena, bcfw->n, sizeof *self->n_support);
    return self->arena.failed ? fail_memory(err) : CLV_OK;
}

static enum clv_status gathered_open_shares(struct gathered *self, struct clv_error *err)
{
    self->labelling = arena_zalloc(&self->arena, self->n_shares, sizeof *self->labelling);
    self->share = arena_zalloc(&self->arena, self->n_shares, sizeof *self->share);
    return self->arena.failed ? fail_memory(err) : CLV_OK;
}

/* All but the shares, whose number is not known at first. */
static size_t list_fields(struct state_field fields[STATE_MAX_FIELDS], const struct bcfw *bcfw,
                          struct gathered *gathered)
{
    size_t n = 0;
    fields[n++] = (struct state_field){"place", CLV_I64, N_POSITION, gathered->position, STATE_FINITE};
    fields[n++] = (struct state_field){"numbers", CLV_F64, N_NUMBERS, gathered->numbers, STATE_NUMBER};
    fields[n++] = (struct state_field){"dual", CLV_F64, bcfw->size, bcfw->dual.v, STATE_FINITE};
    fields[n++] = (struct state_field){"best", CLV_F64, bcfw->size, bcfw->best, STATE_FINITE};
    fields[n++] = (struct state_field){"blocks", CLV_F64, bcfw->block_memory_size, bcfw->block_memory, STATE_FINITE};
    fields[n++] = (struct state_field){"losses", CLV_F64, bcfw->n, gathered->loss, STATE_FINITE};
    fields[n++] = (struct state_field){"gaps", CLV_F64, bcfw->n, gathered->gap, STATE_NOT_NEGATIVE};
    fields[n++] = (struct state_field){"supports", CLV_I64, bcfw->n, gathered->n_support, STATE_FINITE};
    if (bcfw->average)
        fields[n++] = (struct state_field){"average", CLV_F64, bcfw->size, bcfw->average, STATE_FINITE};
    for (size_t k = 0; k < bcfw->course.n_fields; k++)
        fields[n++] = bcfw->course.fields[k];
    return n;
}

static size_t list_shares(struct state_field fields[2], const struct gathered *gathered)
{
    fields[0] = (struct state_field){"labellings", CLV_I64, gathered->n_shares, gathered->labelling, STATE_FINITE};
    fields[1] = (struct state_field){"shares", CLV_F64, gathered->n_shares, gathered->share, STATE_NOT_NEGATIVE};
    return 2;
}

static enum clv_status gather(struct gathered *gathered, const struct bcfw *bcfw, struct clv_error *err)
{
    const struct bcfw_position *position = &bcfw->position;
    MUST(gathered_open(gathered, bcfw, err));
    const int64_t numbers[] = {[POSITION_PASS] = (int64_t)position->pass,
                               [POSITION_DRAW] = (int64_t)position->draw,
                               [POSITION_CHECKED] = position->is_checked,
                               [POSITION_PASSES] = bcfw->n_passes,
                               [POSITION_STEPS] = (int64_t)bcfw->n_steps};
    memcpy(gathered->position, numbers, sizeof numbers);
    const double values[] = {[OF_LOSS] = bcfw->dual.loss,
                             [OF_OBJECTIVE] = bcfw->best_objective,
                             [OF_HINGE] = bcfw->best_hinge,
                             [OF_DUAL] = bcfw->best_dual};
    memcpy(gathered->numbers, values, sizeof values);
    for (size_t i = 0; i < bcfw->n; i++) {
        const struct bcfw_block *block = &bcfw->blocks[i];
        gathered->loss[i] = block->loss;
        gathered->gap[i] = block->gap;
        gathered->n_support[i] = (int64_t)block->n_support;
        gathered->n_shares += block->n_support;
    }
    MUST(gathered_open_shares(gathered, err));
    for (size_t i = 0, s = 0; i < bcfw->n; i++)
        for (size_t k = 0; k < bcfw->blocks[i].n_support; k++, s++) {
            memcpy(&gathered->labelling[s], &bcfw->blocks[i].support[k].labelling, sizeof(int64_t));
            gathered->share[s] = bcfw->blocks[i].support[k].share;
        }
    return CLV_OK;
}

static void gathered_release(struct gathered *gathered)
{
    arena_release(&gathered->arena);
}

enum clv_status bcfw_save(void *bcfw, struct clv_error *err)
{
    struct bcfw *self = bcfw;
    OWNED(gathered_release) struct gathered gathered = {0};
    struct state_field fields[STATE_MAX_FIELDS];
    MUST(gather(&gathered, self, err));
    size_t n = list_fields(fields, self, &gathered);
    n += list_shares(&fields[n], &gathered);
    return state_write(&self->course.checkpoints, fields, n, self->course.result, err);
}

static enum clv_status check_position(const int64_t *position, const struct bcfw *bcfw, struct clv_error *err)
{
    int64_t n = (int64_t)bcfw->n, most = (int64_t)bcfw->rules.passes, n_passes = position[POSITION_PASSES];
    const struct checkpoints *checkpoints = &bcfw->course.checkpoints;
    if (position[POSITION_PASS] < 0 || position[POSITION_PASS] > most || n_passes < position[POSITION_PASS] ||
        n_passes > UINT32_MAX || position[POSITION_DRAW] < 0 || position[POSITION_DRAW] > n)
        return state_refuse(checkpoints, "at a pass or a draw that there is not", err);
    if ((position[POSITION_CHECKED] != 0 && position[POSITION_CHECKED] != 1) ||
        (position[POSITION_DRAW] > 0 && !position[POSITION_CHECKED]) ||
        (position[POSITION_PASS] == most && position[POSITION_CHECKED]))
        return state_refuse(checkpoints, "between a pass and its check", err);
    if (position[POSITION_STEPS] < 0 ||
        position[POSITION_STEPS] > n * position[POSITION_PASS] + position[POSITION_DRAW])
        return state_refuse(checkpoints, "after more steps than draws", err);
    return CLV_OK;
}

/* Numbers of shares, each at most one step's, and in all as many as there are. */
static enum clv_status count_shares(struct gathered *gathered, const struct bcfw *bcfw, struct clv_error *err)
{
    int64_t most = ((int64_t)gathered->position[POSITION_PASSES] + 1) * (int64_t)bcfw->n;
    for (size_t i = 0; i < bcfw->n; i++) {
        if (gathered->n_support[i] < 0 || gathered->n_support[i] > most ||
            (gathered->n_support[i] && !bcfw->rules.keeps_support))
            return state_refuse(&bcfw->course.checkpoints, "with more labellings than steps", err);
        gathered->n_shares += (size_t)gathered->n_support[i];
    }
    return CLV_OK;
}

static enum clv_status scatter(struct bcfw *bcfw, const struct gathered *gathered, struct clv_error *err)
{
    const int64_t *position = gathered->position;
    bcfw->position = (struct bcfw_position){(size_t)position[POSITION_PASS], (size_t)position[POSITION_DRAW],
                                            position[POSITION_CHECKED] != 0};
    bcfw->n_passes = (uint32_t)position[POSITION_PASSES];
    bcfw->n_steps = (size_t)position[POSITION_STEPS];
    bcfw->dual.loss = gathered->numbers[OF_LOSS];
    bcfw->best_objective = gathered->numbers[OF_OBJECTIVE];
    bcfw->best_hinge = gathered->numbers[OF_HINGE];
    bcfw->best_dual = gathered->numbers[OF_DUAL];
    for (size_t i = 0, s = 0; i < bcfw->n; i++) {
        struct bcfw_block *block = &bcfw->blocks[i];
        size_t n = (size_t)gathered->n_support[i];
        block->loss = gathered->loss[i];
        block->gap = gathered->gap[i];
        MUST(block_reserve(block, n, err));
        for (; block->n_support < n; block->n_support++, s++) {
            struct bcfw_share *share = &block->support[block->n_support];
            memcpy(&share->labelling, &gathered->labelling[s], sizeof share->labelling);
            share->share = gathered->share[s];
        }
    }
    return CLV_OK;
}

static enum clv_status read_all(struct bcfw *self, struct gathered *gathered, const struct clv_tensors *tensors,
                                struct clv_error *err)
{
    struct state_field fields[STATE_MAX_FIELDS];
    const struct checkpoints *checkpoints = &self->course.checkpoints;
    size_t n = list_fields(fields, self, gathered);
    MUST(state_read(fields, n, tensors, checkpoints, err));
    MUST(check_position(gathered->position, self, err));
    MUST(count_shares(gathered, self, err));
    const struct clv_tensor *shares; /* before memory is taken for as many */
    MUST(clv_tensors_require(&shares, tensors, "shares", CLV_F64, 1, (int64_t[]){(int64_t)gathered->n_shares}, err));
    MUST(gathered_open_shares(gathered, err));
    MUST(state_read(fields, list_shares(fields, gathered), tensors, checkpoints, err));
    MUST(state_read_curve(self->course.result, tensors, checkpoints, err));
    return scatter(self, gathered, err);
}

enum clv_status bcfw_resume(bool *found, struct bcfw *self, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    *found = false;
    MUST(checkpoint_read(&tensors, &self->course.checkpoints, err));
    if (!tensors)
        return CLV_OK;
    OWNED(gathered_release) struct gathered gathered = {0};
    MUST(gathered_open(&gathered, self, err));
    MUST(read_all(self, &gathered, tensors, err));
    *found = true;
    return CLV_OK;
}

#define NO_SHARE     1e-6 /* a labelling of less dual weight is forgotten */
#define SOME_SHARE   1e-3 /* one of more is counted */
#define SUPPORT_STEP 8    /* labellings by which a block's support grows */

void block_indicator(double *indicator, const struct bcfw *self, const struct clv_problem *problem, const int32_t *y)
{
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (size_t r = 0; r < self->n_rows; r++)
            indicator[i * self->n_rows + r] = y[i] == (self->n_rows == 1 ? 1 : (int32_t)r);
}

uint64_t block_hash(const struct clv_problem *problem, const int32_t *y)
{
    return hash_bytes(HASH_START, y, (size_t)problem->n_nodes * sizeof *y);
}

void block_start(struct bcfw *self, size_t index)
{
    struct bcfw_block *block = &self->blocks[index];
    const struct clv_problem *problem = &self->examples.problems[index];
    block_indicator(block->marginal, self, problem, problem->label);
    pairwise_feature_add(block->pairwise, problem, &self->examples.layout, problem->label, 1);
    block->loss = self->examples.truth_loss[index];
    block->gap = 1;
    block->truth = block_hash(problem, problem->label);
}

enum clv_status block_reserve(struct bcfw_block *block, size_t n, struct clv_error *err)
{
    size_t capacity = (n + SUPPORT_STEP - 1) / SUPPORT_STEP * SUPPORT_STEP;
    struct bcfw_share *grown = array_realloc(block->support, capacity, sizeof *grown);
    NEED(grown);
    block->support = grown;
    return CLV_OK;
}

enum clv_status block_move_support(struct bcfw_block *block, uint64_t labelling, double step, struct clv_error *err)
{
    size_t n = 0;
    bool is_there = labelling == block->truth;
    for (size_t k = 0; k < block->n_support; k++) {
        struct bcfw_share share = block->support[k];
        share.share = (1 - step) * share.share + (share.labelling == labelling ? step : 0);
        is_there |= share.labelling == labelling;
        if (share.share > NO_SHARE)
            block->support[n++] = share;
    }
    block->n_support = n;
    if (is_there || step <= NO_SHARE)
        return CLV_OK;
    if (n % SUPPORT_STEP == 0)
        MUST(block_reserve(block, n + 1, err));
    block->support[block->n_support++] = (struct bcfw_share){labelling, step};
    return CLV_OK;
}

size_t bcfw_n_support(const struct bcfw *self)
{
    size_t n = 0;
    for (size_t i = 0; i < self->n; i++)
        for (size_t k = 0; k < self->blocks[i].n_support; k++)
            n += self->blocks[i].support[k].share > SOME_SHARE;
    return n;
}
