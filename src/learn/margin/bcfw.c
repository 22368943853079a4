/* Block-coordinate Frank-Wolfe on the structured hinge: Lacoste-Julien et al. 2013, Algorithm 4 with exact line search
 * and weighted averaging; gap sampling as in Osokin et al. 2016. frank_wolfe.c has the dual. Start at bcfw_solve.
 *
 * The dual variables of example i, a block, are a distribution over labellings. The dual depends on it only through the
 * marginals of its nodes and the pairwise part of E[Psi]. So a block is stored as N_i marginals and a few numbers, a
 * few per cent of the size of the example's features, instead of a dense v_i; <w, v_i> and the block's gap follow from
 * the unary scores that the MAP solver needs anyway. The first half of the file starts blocks at a labelling, counts
 * their support, and writes and reads checkpoints, for which the numbers of all blocks are gathered into arrays. */
#include "learn/margin/margin.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "data/data.h"
#include "infer/oracle/oracle_state.h"
#include "learn/common/common.h"
#include "mrf/problem.h"

#define CHECK_EVERY  10   /* passes between checks of all gaps */
#define NO_SHARE     1e-6 /* a labelling of less dual weight is dropped */
#define SOME_SHARE   1e-3 /* one of more is counted */
#define SUPPORT_STEP 8    /* labellings by which a block's support grows */

/* Reserves capacity for n labellings. */
static enum clv_status block_reserve(struct bcfw_block *block, size_t n, struct clv_error *err)
{
    size_t capacity = (n + SUPPORT_STEP - 1) / SUPPORT_STEP * SUPPORT_STEP;
    struct bcfw_share *grown = array_realloc(block->support, capacity, sizeof *grown);
    NEED(grown);
    block->support = grown;
    return CLV_OK;
}

/* Sets indicator[n_nodes][rows] to 1 at the labels y and to 0 elsewhere, in all rows of unlabelled nodes. */
static void block_indicator(double *indicator, const struct bcfw *self, const struct clv_problem *problem,
                            const int32_t *y)
{
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (size_t r = 0; r < self->n_rows; r++)
            indicator[i * self->n_rows + r] = y[i] == (self->n_rows == 1 ? 1 : (int32_t)r);
}

static uint64_t block_hash(const struct clv_problem *problem, const int32_t *y)
{
    return hash_bytes(HASH_START, y, (size_t)problem->n_nodes * sizeof *y);
}

/* Starts the dual of an example at its true labels, where v_i = 0. */
static void block_start(struct bcfw *self, size_t index)
{
    struct bcfw_block *block = &self->blocks[index];
    const struct clv_problem *problem = &self->examples.problems[index];
    block_indicator(block->marginal, self, problem, problem->label);
    pairwise_feature_add(block->pairwise, problem, &self->examples.layout, problem->label, 1);
    block->loss = self->examples.truth_loss[index];
    block->gap = 1;
    block->truth = block_hash(problem, problem->label);
}

enum clv_status block_move_support(struct bcfw_block *block, uint64_t labelling, double step, struct clv_error *err)
{
    size_t n = 0;
    bool is_listed = labelling == block->truth;
    for (size_t k = 0; k < block->n_support; k++) {
        struct bcfw_share share = block->support[k];
        share.share = (1 - step) * share.share + (share.labelling == labelling ? step : 0);
        is_listed |= share.labelling == labelling;
        if (share.share > NO_SHARE)
            block->support[n++] = share;
    }
    block->n_support = n;
    if (is_listed || step <= NO_SHARE)
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

enum { POSITION_PASS, POSITION_DRAW, POSITION_CHECKED, POSITION_PASSES, POSITION_STEPS, N_POSITION };
enum { OF_LOSS, OF_OBJECTIVE, OF_HINGE, OF_DUAL, N_NUMBERS };

/* The state of all blocks, copied into arrays for a checkpoint. */
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

/* Lists all fields except the shares, whose number is not known at first. */
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

/* Writes the checkpoint of a struct bcfw; the `save` of its course. */
static enum clv_status bcfw_save(void *bcfw, struct clv_error *err)
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

/* Checks the number of shares of each block, at most one per step, and adds up these numbers. */
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
    const struct clv_tensor *shares; /* before memory for them is allocated */
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

/* Returns E[L + f] - L(0) of the block under the loaded, loss-augmented field; it is linear in the marginals. */
static double block_score(const struct bcfw *self, const struct bcfw_block *block, const struct decoder *decoder,
                          const double *w)
{
    size_t n = (size_t)decoder->field.n_nodes * self->n_rows;
    return inner_product(block->marginal, decoder->field.unary, n) +
           inner_product(block->pairwise, w + self->unary_size, self->pairwise_size);
}

/* Lists the weights that the direction can change: the rows of W in which direction->change is not 0, and the
 * couplings. With many labels these are few of all weights. */
static void find_spans(struct bcfw_direction *direction, const struct bcfw *self, size_t n_nodes)
{
    size_t n = 0, d = self->unary_size / self->n_rows;
    bool touched[CLV_MAX_LABELS] = {false};
    for (size_t i = 0; i < n_nodes; i++)
        for (size_t r = 0; r < self->n_rows; r++)
            touched[r] = touched[r] || direction->change[i * self->n_rows + r] != 0;
    for (size_t r = 0; r < self->n_rows; r++) {
        if (!touched[r])
            continue;
        if (n && direction->spans[n - 1].end == r * d)
            direction->spans[n - 1].end += d;
        else
            direction->spans[n++] = (struct dual_span){r * d, (r + 1) * d};
    }
    if (self->pairwise_size)
        direction->spans[n++] = (struct dual_span){self->unary_size, self->size};
    direction->n_spans = n;
}

/* Finds the loss-augmented MAP labelling at the current w (in the first pass at rules.start, if given) and the
 * direction towards it: Algorithm 4, lines 5 and 6. */
static enum clv_status find_direction(void *context, size_t slot, int thread, struct clv_error *err)
{
    struct bcfw *self = context;
    struct bcfw_direction *direction = &self->directions[slot];
    size_t example = direction->example;
    struct bcfw_block *block = &self->blocks[example];
    struct decoder *decoder = &self->examples.decoders[thread];
    const struct clv_problem *problem = &self->examples.problems[example];
    const struct clv_weight_layout *layout = &self->examples.layout;
    double score, scale = 1 / (self->dual.lambda * (double)self->n);
    const double *w = self->rules.start && self->n_passes == 0 ? self->rules.start : self->dual.w;
    MUST(decode_augmented(decoder, &score, problem, layout, w, err));
    block->gap = fmax(0, score - block_score(self, block, decoder, w));
    memcpy(direction->y, decoder->y, (size_t)problem->n_nodes * sizeof *direction->y);
    direction->loss = known_loss(problem, layout->n_labels, direction->y);

    /* v_i holds psi_i = Psi(x, y_i) - Psi(x, y), so the direction is E[Psi] - Psi(x, y), up to 1 / (lambda n). */
    block_indicator(direction->change, self, problem, direction->y);
    for (size_t k = 0; k < (size_t)problem->n_nodes * self->n_rows; k++)
        direction->change[k] = block->marginal[k] - direction->change[k];
    find_spans(direction, self, (size_t)problem->n_nodes);
    for (size_t s = 0; s < direction->n_spans; s++)
        memset(direction->delta + direction->spans[s].begin, 0,
               (direction->spans[s].end - direction->spans[s].begin) * sizeof *direction->delta);
    unary_feature_add(direction->delta, problem, layout, direction->change);
    memset(direction->pairwise, 0, self->pairwise_size * sizeof *direction->pairwise);
    pairwise_feature_add(direction->pairwise, problem, layout, direction->y, 1);
    for (size_t k = 0; k < self->pairwise_size; k++)
        direction->delta[self->unary_size + k] = block->pairwise[k] - direction->pairwise[k];
    for (size_t s = 0; s < direction->n_spans; s++)
        scale_by(direction->delta + direction->spans[s].begin, scale,
                 direction->spans[s].end - direction->spans[s].begin);
    return CLV_OK;
}

/* Lists the results of find_direction for other processes. */
static bool direction_results(struct comm_piece *piece, void *context, size_t slot, size_t k)
{
    struct bcfw *self = context;
    struct bcfw_direction *direction = &self->directions[slot];
    size_t n_nodes = (size_t)self->examples.problems[direction->example].n_nodes;
    const struct comm_piece pieces[] = {
        {direction->y, n_nodes * sizeof *direction->y},
        {direction->change, n_nodes * self->n_rows * sizeof *direction->change},
        {direction->pairwise, self->pairwise_size * sizeof *direction->pairwise},
        {direction->delta, self->size * sizeof *direction->delta},
        {direction->spans, (self->n_rows + 1) * sizeof *direction->spans},
        {&direction->n_spans, sizeof direction->n_spans},
        {&direction->loss, sizeof direction->loss},
        {&self->blocks[direction->example].gap, sizeof self->blocks->gap},
    };
    if (k >= sizeof pieces / sizeof *pieces)
        return false;
    *piece = pieces[k];
    return true;
}

/* Takes a step by line search: Algorithm 4, lines 7 to 10, and the weighted average with rho = 2 / (k + 2). */
static enum clv_status take_step(struct bcfw *self, const struct bcfw_direction *direction, struct clv_error *err)
{
    struct bcfw_block *block = &self->blocks[direction->example];
    const struct clv_problem *problem = &self->examples.problems[direction->example];
    self->dual.spans = direction->spans;
    self->dual.n_spans = direction->n_spans;
    double loss_change = (direction->loss - block->loss) / (double)self->n;
    double step = dual_line_search(&self->dual, direction->delta, loss_change);
    if (step > 0) {
        dual_step(&self->dual, direction->delta, loss_change, step);
        size_t n_marginals = (size_t)problem->n_nodes * self->n_rows;
        for (size_t k = 0; k < n_marginals; k++)
            block->marginal[k] -= step * direction->change[k];
        for (size_t k = 0; k < self->pairwise_size; k++)
            block->pairwise[k] += step * (direction->pairwise[k] - block->pairwise[k]);
        block->loss += step * (direction->loss - block->loss);
        if (self->rules.keeps_support)
            MUST(block_move_support(block, block_hash(problem, direction->y), step, err));
    }
    double rho = 2 / ((double)self->n_steps++ + 2);
    if (self->average)
        move_towards(self->average, self->dual.w, rho, self->size);
    return CLV_OK;
}

/* Returns the next example: sampled in proportion to the gaps, or the next one of the pass's order. Returns n if no gap
 * is known to be open. */
static size_t pick_example(const struct bcfw *self, uint32_t pass, size_t draw)
{
    if (!self->rules.sampling)
        return (size_t)self->order[draw];
    double total = 0;
    size_t n_buckets = (self->n + BCFW_BUCKET - 1) / BCFW_BUCKET, last = self->n, bucket = 0;
    for (size_t b = 0; b < n_buckets; b++)
        total += self->bucket_gap[b];
    double left = total * rng_uniform(self->training->seed, RNG_STREAM(RNG_ORDER, pass), draw);
    for (size_t b = 0; b < n_buckets && left >= 0; b++)
        if (self->bucket_gap[b] > 0) {
            bucket = b;
            left -= self->bucket_gap[b];
        }
    left += self->bucket_gap[bucket]; /* the position within the chosen bucket; rounding may put it past the end */
    for (size_t i = bucket * BCFW_BUCKET; i < self->n && i < (bucket + 1) * BCFW_BUCKET && left >= 0; i++)
        if (self->blocks[i].gap > 0) {
            last = i;
            left -= self->blocks[i].gap;
        }
    return last;
}

/* Sums the gaps of a bucket, always in the same order. */
static void sum_bucket(struct bcfw *self, size_t bucket)
{
    double sum = 0;
    for (size_t i = bucket * BCFW_BUCKET; i < self->n && i < (bucket + 1) * BCFW_BUCKET; i++)
        sum += self->blocks[i].gap;
    self->bucket_gap[bucket] = sum;
}

/* Chooses the examples of the next steps, each at most once, and returns their number: 0 if no gap is known to be
 * open. */
static size_t choose_batch(struct bcfw *self)
{
    size_t left = self->n - self->position.draw, n = 0;
    while (n < self->batch && n < left) {
        size_t example = pick_example(self, self->n_passes, self->position.draw + n);
        if (example == self->n)
            break;
        self->directions[n++].example = example;
        self->blocks[example].gap = 0; /* until find_direction computes it */
        sum_bucket(self, example / BCFW_BUCKET);
    }
    return n;
}

/* Finds the directions of a batch in parallel, then takes the steps one after the other. Later directions do not take
 * the earlier steps into account; they lead towards a point of the dual nevertheless, and the line search goes only as
 * far as the dual rises. */
static enum clv_status take_steps(struct bcfw *self, size_t n, struct clv_error *err)
{
    if (n == 1)
        MUST(find_direction(self, 0, 0, err));
    else
        MUST(comm_for(n, self->examples.n_threads, find_direction, direction_results, self, err));
    for (size_t t = 0; t < n; t++) {
        MUST(take_step(self, &self->directions[t], err));
        sum_bucket(self, self->directions[t].example / BCFW_BUCKET);
    }
    self->position.draw += n;
    return CLV_OK;
}

/* Runs the rest of the current pass, which has n steps. */
static enum clv_status run_pass(struct bcfw *self, struct clv_error *err)
{
    rng_permutation(self->order, self->n, self->training->seed, RNG_STREAM(RNG_ORDER, self->n_passes));
    while (self->position.draw < self->n) {
        if (!self->rules.sampling)
            examples_expect(&self->examples, self->order + self->position.draw, self->n - self->position.draw);
        size_t n = course_stops(&self->course) ? 0 : choose_batch(self);
        if (!n)
            return CLV_OK;
        MUST(take_steps(self, n, err));
        MUST(course_keep(&self->course, err));
    }
    return CLV_OK;
}

/* Computes hinge and gap of one example at w. */
static enum clv_status check_example(void *context, size_t index, int thread, struct clv_error *err)
{
    struct bcfw *self = context;
    struct decoder *decoder = &self->examples.decoders[thread];
    const struct clv_problem *problem = &self->examples.problems[index];
    FAIL_IF(stop_requested(self->training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    double score;
    MUST(decode_augmented(decoder, &score, problem, &self->examples.layout, self->dual.w, err));
    double bound = score + oracle_slack(decoder->oracle);
    self->hinge[index] = fmax(0, bound - decoder_truth_score(decoder, problem)) + self->examples.truth_loss[index];
    self->blocks[index].gap = fmax(0, score - block_score(self, &self->blocks[index], decoder, self->dual.w));
    return CLV_OK;
}

static bool check_results(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct bcfw *self = context;
    *piece = k ? (struct comm_piece){&self->blocks[index].gap, sizeof self->blocks[index].gap}
               : (struct comm_piece){&self->hinge[index], sizeof *self->hinge};
    return k < 2;
}

static void keep_if_best(struct bcfw *self, const double *w)
{
    double hinge = mean_of(self->hinge, self->n);
    double objective = self->dual.lambda / 2 * dual_product(&self->dual, w, w) + hinge;
    if (objective < self->best_objective) {
        self->best_objective = objective;
        self->best_hinge = hinge;
        memcpy(self->best, w, self->size * sizeof *w);
    }
}

static enum clv_status add_to_curve(struct bcfw *self, size_t pass, struct clv_error *err)
{
    double unit = self->rules.unit;
    /* The objective is an upper bound of the dual. Only rounding of sums can make the gap negative, so it is
     * clipped. */
    double dual = fmin(self->best_dual, self->best_objective);
    self->course.pass = pass;
    self->course.result->at_zero = unit * self->examples.most_loss;
    return course_add_point(&self->course,
                            (struct clv_curve_point){(double)pass, unit * self->best_objective, unit * dual, NAN}, "",
                            self->best, err);
}

/* Evaluates all examples: updates the gaps, the bounds and the best weights. */
static enum clv_status check(struct bcfw *self, size_t pass, struct clv_error *err)
{
    MUST(comm_for(self->n, self->examples.n_threads, check_example, check_results, self, err));
    for (size_t b = 0; b * BCFW_BUCKET < self->n; b++)
        sum_bucket(self, b);
    keep_if_best(self, self->dual.w);
    self->best_dual = fmax(self->best_dual, dual_value(&self->dual));
    const double *other = pass > 0 ? self->average : self->rules.start;
    if (other) {
        MUST(examples_hinges(self->hinge, &self->examples, other, err));
        keep_if_best(self, other);
    }
    return CLV_OK;
}

void bcfw_set_variance(struct bcfw *self, const double *variance)
{
    dual_set_variance(&self->dual, variance);
    if (isfinite(self->best_objective)) /* best weights exist */
        self->best_objective =
            self->dual.lambda / 2 * dual_product(&self->dual, self->best, self->best) + self->best_hinge;
    self->best_dual = -INFINITY;
    self->n_steps = 0;
}

void bcfw_put_variance(struct bcfw *self, const double *variance)
{
    dual_set_variance(&self->dual, variance);
    for (size_t b = 0; b * BCFW_BUCKET < self->n; b++)
        sum_bucket(self, b);
}

/* Begins a pass, with a check of all examples every CHECK_EVERY passes. *is_over: no further pass is needed. */
static enum clv_status begin_pass(bool *is_over, struct bcfw *self, struct clv_error *err)
{
    size_t pass = self->position.pass;
    *is_over = false;
    if (self->position.is_checked || (pass % CHECK_EVERY != 0 && pass != self->rules.passes)) {
        self->position.is_checked = true;
        return CLV_OK;
    }
    MUST(check(self, pass, err));
    if (self->rules.unit > 0)
        MUST(add_to_curve(self, pass, err));
    double gap = self->best_objective - self->best_dual;
    *is_over = pass == self->rules.passes || gap <= self->rules.gap * self->best_objective;
    self->position.is_checked = true;
    return CLV_OK;
}

static enum clv_status run_passes(struct bcfw *self, struct clv_error *err)
{
    bool is_over = false;
    MUST(begin_pass(&is_over, self, err));
    while (!is_over) {
        MUST(run_pass(self, err));
        if (self->course.stopped)
            break;
        self->n_passes++;
        self->position = (struct bcfw_position){.pass = self->position.pass + 1};
        MUST(begin_pass(&is_over, self, err));
    }
    return CLV_OK;
}

enum clv_status bcfw_solve(struct bcfw *self, struct clv_error *err)
{
    MUST(course_take(&self->course, run_passes(self, err)));
    if (!self->course.stopped)
        self->position = (struct bcfw_position){0};
    return CLV_OK;
}

const double *bcfw_weights(const struct bcfw *self)
{
    return !self->course.stopped ? self->best : self->average ? self->average : self->dual.w;
}

static enum clv_status allocate_blocks(struct bcfw *self, struct clv_error *err)
{
    size_t n_marginals = 0, most_nodes = 0;
    for (size_t i = 0; i < self->n; i++) {
        size_t n_nodes = (size_t)self->examples.problems[i].n_nodes;
        n_marginals += n_nodes * self->n_rows;
        most_nodes = n_nodes > most_nodes ? n_nodes : most_nodes;
    }
    size_t n_direction = most_nodes * self->n_rows + self->pairwise_size + self->size;
    self->blocks = arena_zalloc(&self->arena, self->n, sizeof *self->blocks);
    self->block_memory_size = n_marginals + self->n * self->pairwise_size;
    self->block_memory = arena_zalloc(&self->arena, self->block_memory_size, sizeof(double));
    self->directions = arena_zalloc(&self->arena, self->batch, sizeof *self->directions);
    self->direction_memory = arena_zalloc(&self->arena, self->batch, n_direction * sizeof(double));
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t t = 0; t < self->batch; t++) {
        struct bcfw_direction *direction = &self->directions[t];
        direction->y = arena_alloc(&self->arena, most_nodes, sizeof *direction->y);
        direction->spans = arena_zalloc(&self->arena, self->n_rows + 1, sizeof *direction->spans);
        if (self->arena.failed)
            return fail_memory(err);
        direction->change = self->direction_memory + t * n_direction;
        direction->pairwise = direction->change + most_nodes * self->n_rows;
        direction->delta = direction->pairwise + self->pairwise_size;
    }
    double *memory = self->block_memory;
    for (size_t i = 0; i < self->n; i++) {
        self->blocks[i].marginal = memory;
        memory += (size_t)self->examples.problems[i].n_nodes * self->n_rows;
        self->blocks[i].pairwise = memory;
        memory += self->pairwise_size;
        block_start(self, i);
    }
    return CLV_OK;
}

enum clv_status bcfw_open(struct bcfw *self, const struct clv_learner *learner, struct clv_training_result *result,
                          const struct clv_training *training, const struct bcfw_rules *rules, struct clv_error *err)
{
    *self = (struct bcfw){.training = training, .rules = *rules, .best_objective = INFINITY, .best_dual = -INFINITY};
    MUST(examples_open(&self->examples, training, true, err));
    course_open(&self->course, learner, result, &self->examples);
    self->course.n_passes = rules->passes;
    self->course.save = bcfw_save;
    self->course.owner = self;
    const struct clv_weight_layout *layout = &self->examples.layout;
    self->n = self->examples.n;
    self->batch = rules->batch > self->n ? self->n : rules->batch ? rules->batch : 1;
    self->n_rows = clv_weight_layout_rows(layout);
    self->size = clv_weight_layout_size(layout);
    self->unary_size = clv_weight_layout_unary_size(layout);
    self->pairwise_size = self->size - self->unary_size;
    self->dual.size = self->size;
    self->dual.free_size = layout->pairwise == CLV_PAIRWISE_POTTS ? self->unary_size : self->size;
    self->dual.loss = mean_of(self->examples.truth_loss, self->n);
    self->dual.v = arena_zalloc(&self->arena, self->size, sizeof(double));
    self->dual.w = arena_zalloc(&self->arena, self->size, sizeof(double));
    self->best = arena_zalloc(&self->arena, self->size, sizeof(double));
    self->average = rules->averaging ? arena_zalloc(&self->arena, self->size, sizeof(double)) : NULL;
    self->hinge = arena_alloc(&self->arena, self->n, sizeof(double));
    self->order = arena_alloc(&self->arena, self->n, sizeof *self->order);
    self->bucket_gap = arena_zalloc(&self->arena, (self->n + BCFW_BUCKET - 1) / BCFW_BUCKET, sizeof(double));
    if (self->arena.failed)
        return fail_memory(err);
    return allocate_blocks(self, err);
}

void bcfw_release(struct bcfw *self)
{
    for (size_t i = 0; self->blocks && i < self->n; i++)
        array_free(self->blocks[i].support);
    examples_release(&self->examples);
    arena_release(&self->arena);
}

double bcfw_bytes(const struct clv_training *training, double batch)
{
    double n_rows = (double)clv_weight_layout_rows(&training->layout),
           size = (double)clv_weight_layout_size(&training->layout);
    double pairwise = size - (double)clv_weight_layout_unary_size(&training->layout), n = (double)training->n_examples;
    double blocks = n_rows * training_n_nodes(training) + n * pairwise, directions = fmin(batch, n) * (size + pairwise);
    return (blocks + directions) * (double)sizeof(double);
}
