/* Perturb-and-MAP learning by doubly stochastic gradient ascent.
 *
 *     max_w  (1/N) sum_n l(w, x_n, y_n) - lambda/2 <w, S^-1 w>,   couplings >= 0
 *
 * where S = I except for full tables (examples.c). Shpakova, Bach, Osokin: Marginal weighted maximum log-likelihood for
 * efficient learning of perturb-and-MAP models (UAI 2018).
 *
 *     pmap    l = log P(y|x)                          Algorithm 1
 *     mpmap   l = sum_i log P(y_i|x)                  Algorithm 2, (5)
 *     wmpmap  l = sum_i sum_b theta_i(b) log P(b|x)   Algorithm 2, (6)
 *
 * theta_i weighs both labels if a node has pixels of both. The first two objectives are divided by the mean number of
 * known nodes, so that in all three the nodes of an image have the weight 1 in total, and one lambda and one rate suit
 * them. A step takes the next `batch` images of a random order and one sample of Gumbel variables for each, whose
 * gradient pmap_draw.c computes. Noise and orders are functions of the seed and of counters, so a checkpoint holds only
 * weights, sums and the position between two steps.
 *
 * By default steps are AdaGrad's and the result is the mean of the iterates: the published steps 1 / (lambda h) are
 * very long at first, and their result after a hundred passes is worse. Rounds do not reset h, because a step with h =
 * 1 would discard w.
 *
 * Images without masks (Algorithms 3 and 4) follow the passes over those with masks: pmap_targets.c labels them, by
 * marginals or for pmap by MAP, and as many passes over all images follow, in which each of them has kappa times the
 * weight of an image with a mask. This is repeated `rounds` times.
 *
 * The learners, their parameters and the objective that each maximises are at the end. */
#include "learn/pmap/pmap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "data/data.h"
#include "learn/common/common.h"

/* The position in a training between two steps. */
struct pmap_position {
    int64_t round;     /* 0: only over examples with masks */
    int64_t pass;      /* of the round, from 1 */
    int64_t n_taken;   /* examples of the pass that steps have taken */
    int64_t next_draw; /* number of the next step's first draw */
};

/* The state from which a training resumes. */
struct pmap_state {
    struct pmap_position position;
    struct ascent *ascent;
    double *start;                      /* [size] weights at the round's start, which pseudo-label the weak examples */
    struct clv_training_result *result; /* its curve */
};

#define N_POSITION 5 /* numbers of struct pmap_position, and the steps made */

/* Lists weights, sums, position and, if the training has one, the average. */
static size_t list_fields(struct state_field fields[5], int64_t *position, const struct pmap_state *state)
{
    size_t size = state->ascent->size;
    fields[0] = (struct state_field){"w", CLV_F64, size, state->ascent->w, STATE_FINITE};
    fields[1] = (struct state_field){"squares", CLV_F64, size, state->ascent->squares, STATE_NOT_NEGATIVE};
    fields[2] = (struct state_field){"start", CLV_F64, size, state->start, STATE_FINITE};
    fields[3] = (struct state_field){"place", CLV_I64, N_POSITION, position, STATE_FINITE};
    fields[4] = (struct state_field){"average", CLV_F64, size, state->ascent->average, STATE_FINITE};
    return state->ascent->average ? 5 : 4;
}

static enum clv_status pmap_state_write(struct checkpoints *checkpoints, const struct pmap_state *state,
                                        struct clv_error *err)
{
    const struct pmap_position *position = &state->position;
    int64_t numbers[N_POSITION] = {position->round, position->pass, position->n_taken, position->next_draw,
                                   (int64_t)state->ascent->n_steps};
    struct state_field fields[5];
    size_t n = list_fields(fields, numbers, state);
    return state_write(checkpoints, fields, n, state->result, err);
}

/* Fills the state, whose arrays are allocated, from the checkpoint, if there is one, and sets *found. Does not check
 * the position. */
static enum clv_status pmap_state_read(bool *found, struct pmap_state *state, const struct checkpoints *checkpoints,
                                       struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    struct state_field fields[5];
    int64_t numbers[N_POSITION];
    *found = false;
    MUST(checkpoint_read(&tensors, checkpoints, err));
    if (!tensors)
        return CLV_OK;
    size_t n = list_fields(fields, numbers, state);
    MUST(state_read(fields, n, tensors, checkpoints, err));
    MUST(state_read_curve(state->result, tensors, checkpoints, err));
    state->position = (struct pmap_position){numbers[0], numbers[1], numbers[2], numbers[3]};
    state->ascent->n_steps = (double)numbers[4];
    *found = true;
    return CLV_OK;
}

#define CHECK_EVERY 5 /* passes between points of the curve */

/* The seed of the curve's samples, which are fixed and differ from those of the steps. */
#define CURVE_SEED(seed) ((seed) ^ 0x6375727665ULL)

struct pmap {
    struct arena arena; /* of the arrays below */
    const struct clv_learner *learner;
    const struct clv_training *training;
    struct examples examples;
    struct course course; /* its passes are those of all rounds */
    struct pmap_targets targets;
    size_t n; /* targets in use: labelled ones, later also weak ones */
    struct pmap_draws draws;
    struct pmap_workspace *workspaces; /* [n_threads] */
    struct ascent ascent;
    int32_t *order;
    size_t batch, n_taken;
    int32_t *taken;      /* [batch] examples of this step */
    double *gradients;   /* [batch][size + 1] gradient and estimate of each example */
    double step_value;   /* mean of the last step's estimates */
    double *values;      /* [n] estimates of the curve */
    double *zero;        /* [size] of zeros */
    const double *point; /* weights of the current estimate */
    size_t n_passes;     /* of a round */
    size_t n_rounds;
    struct pmap_state state; /* the state that checkpoints hold */
    double running;          /* running mean of the steps' log-likelihoods; NaN at first */
};

static enum clv_status save(void *pmap, struct clv_error *err)
{
    struct pmap *self = pmap;
    return pmap_state_write(&self->course.checkpoints, &self->state, err);
}

static enum clv_status draw_slot(void *context, size_t slot, int thread, struct clv_error *err)
{
    struct pmap *self = context;
    const struct pmap_example *target = &self->targets.list[self->taken[slot]];
    double *row = &self->gradients[slot * (self->ascent.size + 1)];
    return pmap_draw(&row[self->ascent.size], row,
                     &(struct pmap_estimate){&self->draws, target,
                                             (uint32_t)((size_t)self->state.position.next_draw + slot), self->ascent.w},
                     &self->workspaces[thread], &self->examples.decoders[thread], err);
}

/* Takes a step: lines 3 to 11 of Algorithm 2. The first slot receives the sum of the gradients. */
static enum clv_status take_step(struct pmap *self, struct clv_error *err)
{
    size_t n = self->n_taken, size = self->ascent.size;
    MUST(comm_for_sum(n, self->examples.n_threads, draw_slot, self, self->gradients, size + 1, err));
    self->step_value = self->gradients[size] / (double)n;
    self->state.position.next_draw += (int64_t)n;
    self->state.position.n_taken += (int64_t)n;
    for (size_t k = 0; k < size; k++)
        self->gradients[k] /= (double)n;
    ascent_step(&self->ascent, self->gradients);
    return CLV_OK;
}

/* The number of steps of one pass over n examples. */
static size_t steps_of(const struct pmap *self, size_t n)
{
    return (n + self->batch - 1) / self->batch;
}

/* The number of targets of a round. Weak ones take part from the second round on. */
static size_t targets_of(const struct pmap *self, int64_t round)
{
    return round ? self->targets.n_labelled + self->targets.n_weak : self->examples.n;
}

/* The total count at a position, where a pass of the first round counts `first`, a pass of other rounds `later`, and
 * the current pass `rest` so far. */
static size_t count_to(const struct pmap *self, const struct pmap_position *position, size_t first, size_t later,
                       size_t rest)
{
    size_t before = position->round ? self->n_passes * (first + ((size_t)position->round - 1) * later) : 0;
    return before + ((size_t)position->pass - 1) * (position->round ? later : first) + rest;
}

static size_t steps_to(const struct pmap *self, const struct pmap_position *position)
{
    return count_to(self, position, steps_of(self, targets_of(self, 0)), steps_of(self, targets_of(self, 1)),
                    steps_of(self, (size_t)position->n_taken));
}

static void report(struct pmap *self)
{
    const struct clv_progress *progress = self->training->progress;
    const struct pmap_position *position = &self->state.position;
    if (!progress || !progress->report)
        return;
    size_t first = steps_of(self, targets_of(self, 0)), later = steps_of(self, targets_of(self, 1));
    size_t done = steps_to(self, position);
    double mean = self->step_value;
    self->running = isnan(self->running) ? mean : self->running + 0.01 * (mean - self->running);
    char note[320];
    const char *last = self->course.note;
    point_snprintf(note, sizeof note, "log-likelihood %.3f%s%s", self->running, *last ? "; " : "", last);
    progress->report(progress->context, "learning: step", done, self->n_passes * (first + (self->n_rounds - 1) * later),
                     note);
}

/* Runs the rest of the current pass. */
static enum clv_status run_pass(struct pmap *self, uint32_t pass, struct clv_error *err)
{
    struct pmap_position *position = &self->state.position;
    size_t n = self->n;
    rng_permutation(self->order, n, self->training->seed, RNG_STREAM(RNG_ORDER, pass));
    while ((size_t)position->n_taken < n) {
        if (course_stops(&self->course))
            break;
        size_t begin = (size_t)position->n_taken;
        examples_expect(&self->examples, self->order + begin, n - begin);
        self->n_taken = n - begin < self->batch ? n - begin : self->batch;
        memcpy(self->taken, self->order + begin, self->n_taken * sizeof *self->taken);
        MUST(take_step(self, err));
        report(self);
        MUST(course_keep(&self->course, err));
    }
    return CLV_OK;
}

/* Chains are decoded by their exact marginals, for the least expected Hamming loss, other models by MAP. */
static struct clv_decoding decoding_of(const struct pmap *self)
{
    bool is_chain = self->examples.layout.pairwise == CLV_PAIRWISE_FULL;
    return (struct clv_decoding){.rule = is_chain ? CLV_DECODE_MARGINALS : CLV_DECODE_ORACLE};
}

static enum clv_status estimate_example(void *context, size_t index, int thread, struct clv_error *err)
{
    struct pmap *self = context;
    struct pmap_draws fixed = self->draws;
    fixed.seed = CURVE_SEED(self->draws.seed);
    FAIL_IF(stop_requested(self->training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    const struct pmap_example *target = &self->targets.list[index];
    return pmap_draw(&self->values[index], NULL, &(struct pmap_estimate){&fixed, target, (uint32_t)index, self->point},
                     &self->workspaces[thread], &self->examples.decoders[thread], err);
}

static bool estimate_results(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct pmap *self = context;
    *piece = (struct comm_piece){&self->values[index], sizeof *self->values};
    return k == 0;
}

/* Estimates the objective at w with one fixed sample per example. It is negated, to be minimised like those of other
 * learners. */
static enum clv_status estimate(double *objective, struct pmap *self, const double *w, struct clv_error *err)
{
    self->point = w;
    MUST(comm_for(self->n, self->examples.n_threads, estimate_example, estimate_results, self, err));
    *objective = ascent_penalty(&self->ascent, w) - mean_of(self->values, self->n);
    return CLV_OK;
}

/* Adds a point to the curve. */
static enum clv_status check(struct pmap *self, size_t pass, struct clv_error *err)
{
    const double *w = ascent_point(&self->ascent);
    double objective;
    MUST(estimate(&objective, self, w, err));
    return course_add_point(&self->course, (struct clv_curve_point){(double)pass, objective, NAN, NAN}, "", w, err);
}

static double setting(const struct pmap *self, enum pmap_parameter parameter)
{
    return learner_setting(self->learner, self->training, (int)parameter);
}

static enum clv_status pmap_open(struct pmap *self, struct clv_training_result *result,
                                 const struct clv_learner *learner, const struct clv_training *training,
                                 enum pmap_objective objective, struct clv_error *err)
{
    const double *parameters = training->parameters;
    *self = (struct pmap){.learner = learner, .training = training, .running = NAN};
    MUST(examples_open(&self->examples, training, true, err));
    struct examples *examples = &self->examples;
    FAIL_IF(examples->layout.pairwise == CLV_PAIRWISE_FULL && training->n_weak, CLV_ERR_USAGE,
            "weak examples go with Potts couplings, not with full pairwise tables");
    course_open(&self->course, learner, result, examples);
    self->course.save = save;
    self->course.owner = self;
    self->course.is_quiet = true; /* progress is reported in steps */
    result->decoding = decoding_of(self);
    self->draws = (struct pmap_draws){.layout = examples->layout, .seed = training->seed};
    self->draws.reduction = objective != PMAP_JOINT && parameters[PMAP_REDUCTION] != 0;
    self->draws.dynamic = objective != PMAP_JOINT && parameters[PMAP_DYNAMIC] != 0;
    size_t n_all = examples->n + training->n_weak;
    self->n = examples->n;
    self->batch = (size_t)parameters[PMAP_BATCH] < n_all ? (size_t)parameters[PMAP_BATCH] : n_all;
    self->n_passes = (size_t)parameters[PMAP_PASSES];
    self->n_rounds = 1 + (training->n_weak ? (size_t)parameters[PMAP_ROUNDS] : 0);
    MUST(pmap_targets_open(&self->targets, examples, objective, setting(self, PMAP_CONDITIONAL) != 0, err));
    MUST(ascent_open(&self->ascent, &examples->layout,
                     (struct ascent_rules){setting(self, PMAP_STEP) != 0 ? STEP_ADAGRAD : STEP_PUBLISHED,
                                           parameters[PMAP_LAMBDA] * examples->node_scale,
                                           parameters[PMAP_RATE] / sqrt(examples->node_scale),
                                           setting(self, PMAP_AVERAGING) != 0},
                     err));
    ascent_set_table_variance(&self->ascent, examples_table_variance(examples, parameters[PMAP_TABLE_VARIANCE]));
    if (training->init)
        ascent_start(&self->ascent, training->init, ceil((double)n_all / (double)self->batch));
    self->workspaces = arena_zalloc(&self->arena, (size_t)examples->n_threads, sizeof *self->workspaces);
    self->order = arena_alloc(&self->arena, n_all, sizeof *self->order);
    self->taken = arena_alloc(&self->arena, self->batch, sizeof *self->taken);
    self->gradients = arena_alloc(&self->arena, self->batch, (self->ascent.size + 1) * sizeof *self->gradients);
    self->values = arena_alloc(&self->arena, n_all, sizeof *self->values);
    self->zero = arena_zalloc(&self->arena, self->ascent.size, sizeof *self->zero);
    double *start = arena_zalloc(&self->arena, self->ascent.size, sizeof *start);
    self->state = (struct pmap_state){{0, 1, 0, 0}, &self->ascent, start, result};
    if (self->arena.failed)
        return fail_memory(err);
    return CLV_OK;
}

static void pmap_release(struct pmap *self)
{
    for (int t = 0; self->workspaces && t < self->examples.n_threads; t++)
        pmap_workspace_release(&self->workspaces[t]);
    pmap_targets_release(&self->targets);
    examples_release(&self->examples);
    ascent_release(&self->ascent);
    arena_release(&self->arena);
}

/* Runs the rest of the current round, whose pseudo-labels are set. */
static enum clv_status run_round(struct pmap *self, struct clv_error *err)
{
    struct pmap_position *position = &self->state.position;
    while ((size_t)position->pass <= self->n_passes) {
        size_t pass = (size_t)position->round * self->n_passes + (size_t)position->pass;
        MUST(run_pass(self, (uint32_t)pass, err));
        if (self->course.stopped)
            break;
        if (position->pass % CHECK_EVERY == 0 || (size_t)position->pass == self->n_passes)
            MUST(check(self, pass, err));
        position->pass++;
        position->n_taken = 0;
    }
    return CLV_OK;
}

/* Labels the weak examples: in the first round with them by their teacher's pseudo-labels, if there are any, otherwise
 * by the weights state.start. */
static enum clv_status label_weak(struct pmap *self, struct clv_error *err)
{
    struct partial_options options = pseudo_labelled_options(self->learner, self->training);
    options.weighted = self->targets.objective == PMAP_WEIGHTED;
    const struct pmap_labelling labelling = {
        .pseudo_labels = self->state.position.round == 1 ? self->training->pseudo_labels : NULL,
        .w = self->state.start,
        .options = options,
        .kappa = self->training->parameters[PMAP_KAPPA],
        .seed = self->training->seed + (uint64_t)self->state.position.round,
    };
    self->n = targets_of(self, self->state.position.round);
    return pmap_targets_label(&self->targets, &labelling, err);
}

/* Algorithm 3: trains on the labelled examples, then on all, with weak ones labelled by the weights of the round
 * before. `resumed`: the state was read from a checkpoint. */
static enum clv_status run_rounds(struct pmap *self, bool resumed, struct clv_error *err)
{
    struct pmap_position *position = &self->state.position;
    while ((size_t)position->round < self->n_rounds) {
        if (!resumed)
            memcpy(self->state.start, ascent_point(&self->ascent), self->ascent.size * sizeof *self->state.start);
        resumed = false;
        if (position->round > 0)
            MUST(label_weak(self, err));
        MUST(run_round(self, err));
        if (self->course.stopped)
            break;
        position->round++;
        position->pass = 1;
        position->n_taken = 0;
    }
    return CLV_OK;
}

/* Checks that a checkpoint's position is one of this training and has its numbers of draws and steps. */
static enum clv_status check_position(const struct pmap *self, double n_first_steps, struct clv_error *err)
{
    const struct pmap_position *position = &self->state.position;
    const char *path = self->training->checkpoints->path;
    size_t n_first = targets_of(self, 0), n_later = targets_of(self, 1), n_taken = (size_t)position->n_taken;
    if (position->round < 0 || (size_t)position->round >= self->n_rounds || position->pass < 1 ||
        (size_t)position->pass > self->n_passes)
        return fail(err, CLV_ERR_DATA, "%s: stands at pass %lld after %lld rounds, of %zu and %zu", path,
                    (long long)position->pass, (long long)position->round, self->n_passes, self->n_rounds);
    if (position->n_taken < 0 || n_taken > targets_of(self, position->round) ||
        (n_taken % self->batch && n_taken != targets_of(self, position->round)))
        return fail(err, CLV_ERR_DATA, "%s: %lld of the pass's %zu examples are taken", path,
                    (long long)position->n_taken, targets_of(self, position->round));
    if (position->next_draw < 0 || (size_t)position->next_draw != count_to(self, position, n_first, n_later, n_taken) ||
        self->ascent.n_steps != n_first_steps + (double)steps_to(self, position))
        return fail(err, CLV_ERR_DATA, "%s: has %lld draws and %g steps, which its position does not have", path,
                    (long long)position->next_draw, self->ascent.n_steps);
    return CLV_OK;
}

/* Runs all rounds, from the checkpoint or the beginning, and computes the objective at w = 0. */
static enum clv_status learn(struct pmap *self, struct clv_error *err)
{
    bool resumed;
    double n_first_steps = self->ascent.n_steps;
    MUST(pmap_state_read(&resumed, &self->state, &self->course.checkpoints, err));
    if (resumed)
        MUST(check_position(self, n_first_steps, err));
    MUST(run_rounds(self, resumed, err));
    return self->course.stopped ? CLV_OK : estimate(&self->course.result->at_zero, self, self->zero, err);
}

/* Trains `learner`, which checkpoints name. */
static enum clv_status pmap_train(struct clv_training_result *result, const struct clv_training *training,
                                  const struct clv_learner *learner, enum pmap_objective objective,
                                  struct clv_error *err)
{
    OWNED(pmap_release) struct pmap self = {0};
    MUST(pmap_open(&self, result, learner, training, objective, err));
    MUST(course_take(&self.course, learn(&self, err)));
    return course_end(&self.course, ascent_point(&self.ascent), err);
}

/* paper 1: Algorithms 1 to 4 of the paper and its section on partial labels, without changes. */
#define SHARED_PARAMETERS                                                                                              \
    [PMAP_LAMBDA] = ROW("lambda", 1e-5, 1e-12, 1e12, "regularisation, relative to the size of the features",           \
                        .role = CLV_ROLE_LAMBDA_OF_MEAN),                                                              \
    [PMAP_PASSES] = ROW("passes", 100, 1, 1e9, "passes over the examples", .role = CLV_ROLE_PASSES),                   \
    [PMAP_BATCH] = ROW("batch", 1, 1, 65536, "examples in a step, drawn in parallel", .role = CLV_ROLE_BATCH),         \
    [PMAP_STEP] =                                                                                                      \
        ROW("step", 1, 0, 1, "1: AdaGrad's; 0: 1 / (lambda h) in step h, as published", .published = {true, 0}),       \
    [PMAP_RATE] = ROW("rate", 0.3, 1e-9, 1e9, "size of AdaGrad's first step, relative to the size of the features",    \
                      .role = CLV_ROLE_RATE, .needs = {NEEDS(PMAP_STEP, ON)}),                                         \
    [PMAP_AVERAGING] =                                                                                                 \
        ROW("averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one", .published = {true, 0}),    \
    [PMAP_TABLE_VARIANCE] = TABLE_VARIANCE_PARAMETER,                                                                  \
    [PMAP_KAPPA] = ROW("kappa", 1, 0, 1e6, "weight of an image without a mask against one with",                       \
                       .role = CLV_ROLE_KAPPA, .needs = {{CLV_NEEDS_MIXTURE}}),                                        \
    [PMAP_ROUNDS] = ROW("rounds", 1, 1, 1000, "times that images without masks are labelled and learned from",         \
                        .needs = {{CLV_NEEDS_MIXTURE}}),                                                               \
    [PMAP_CONDITIONAL] = ROW("conditional", 0, 0, 1,                                                                   \
                             "of images with boxes 1: the likelihood given what is outside them; 0: of all labels",    \
                             .needs = {{CLV_NEEDS_GIVEN}, {CLV_NEEDS_MIXTURE}}, .published = {true, 1}),               \
    [PMAP_PAPER] = ROW("paper", 0, 0, 1,                                                                               \
                       "1: the source's algorithm: --step 0, --averaging 0, --conditional 1, marginals by no power, "  \
                       "areas as their sums and not agreeing with the weights, and images with boxes labelled by the " \
                       "model of the masks, not by a teacher that sees boxes' cuts",                                   \
                       .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MASKS}})

static const struct clv_parameter joint_parameters[] = {
    SHARED_PARAMETERS,
    [PMAP_DRAWS] = {0},
};

#define MARGINAL_PARAMETERS(sharpness_needs)                                                                           \
    SHARED_PARAMETERS,                                                                                                 \
        [PMAP_DRAWS] = ROW("samples", 100, 1, 1e6, "samples for the marginals of an image without a mask",             \
                           .role = CLV_ROLE_DRAWS, .needs = {{CLV_NEEDS_WEAK}}),                                       \
        [PMAP_SHARPNESS] = ROW("sharpness", 3, 1, 100, "power of those marginals; 1: as published",                    \
                               .role = CLV_ROLE_SHARPNESS, .needs = {{sharpness_needs}}, .published = {true, 1}),      \
        [PMAP_REDUCTION] =                                                                                             \
            ROW("reduction", 1, 0, 1, "0: find every node's clamped labelling, even where it is known beforehand"),    \
        [PMAP_DYNAMIC] = ROW("dynamic", 1, 0, 1, "0: solve again for each clamped labelling, not from the solution")

/* Without any mask, mpmap uses the most probable labels as masks. A power of marginals does not change these. */
static const struct clv_parameter marginal_parameters[] = {MARGINAL_PARAMETERS(CLV_NEEDS_MIXTURE), {0}};
static const struct clv_parameter weighted_parameters[] = {MARGINAL_PARAMETERS(CLV_NEEDS_WEAK), {0}};

static enum clv_status train_joint(struct clv_training_result *result, const struct clv_training *training,
                                   struct clv_error *err)
{
    return pmap_train(result, training, &pmap_learner, PMAP_JOINT, err);
}

static enum clv_status train_marginal(struct clv_training_result *result, const struct clv_training *training,
                                      struct clv_error *err)
{
    return pmap_train(result, training, &mpmap_learner, PMAP_MARGINAL, err);
}

static enum clv_status train_weighted(struct clv_training_result *result, const struct clv_training *training,
                                      struct clv_error *err)
{
    return pmap_train(result, training, &wmpmap_learner, PMAP_WEIGHTED, err);
}

/* Bytes of a gradient for each example of a batch. */
static double bytes(const struct clv_training *training)
{
    double n_all = (double)training->n_examples + (double)training->n_weak;
    double gradients =
        fmin(training->parameters[PMAP_BATCH], n_all) * (double)clv_weight_layout_size(&training->layout);
    return gradients * (double)sizeof(double);
}

/* The bytes of joint training, and those of a weight for each label of every node. */
static double marginal_bytes(const struct clv_training *training)
{
    double weights = training_n_nodes(training) * (double)training->layout.n_labels;
    return bytes(training) + weights * (double)sizeof(float);
}

/* A row of the learners' table: the three share all other fields. */
#define LEARNER(NAME, SUMMARY, PARAMETERS, TRAIN, BYTES, SCORES)                                                       \
    {                                                                                                                  \
        .name = (NAME), .summary = (SUMMARY), .parameters = (PARAMETERS), .takes_init = true, .train = (TRAIN),        \
        .n_vectors = 6, .bytes = (BYTES), .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS, .scores = (SCORES),      \
    }

const struct clv_learner pmap_learner =
    LEARNER("pmap", "perturb-and-MAP likelihood of whole labellings (Hazan and Jaakkola 2012; Shpakova et al. 2018)",
            joint_parameters, train_joint, bytes, CLV_SCORES_LIKELIHOOD);

const struct clv_learner mpmap_learner =
    LEARNER("mpmap", "perturb-and-MAP likelihood of each node's label (Shpakova et al. 2018)", marginal_parameters,
            train_marginal, marginal_bytes, CLV_SCORES_LIKELIHOOD);

const struct clv_learner wmpmap_learner =
    LEARNER("wmpmap", "the same, weighed as the loss weighs (Shpakova et al. 2018)", weighted_parameters,
            train_weighted, bytes, CLV_SCORES_WEIGHTED_LIKELIHOOD);
