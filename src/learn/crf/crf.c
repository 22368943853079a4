/* Conditional random fields by maximum likelihood (Lafferty, McCallum, Pereira 2001), the baseline of Zhu & Xing 2009
 * and Shpakova et al. 2018:
 *
 *     min_w  F(w) = NLL(w) + R(w),    R(w) = 0, lambda |w|^2 or lambda sum_k |w_k|
 *
 * NLL is computed by crf_objective.c. L-BFGS minimises F, OWL-QN if R has absolute values (lbfgs.c). F is convex. With
 * the squared penalty F - lambda |w|^2 is convex too, so F* >= F(w) - |dF/dw|^2 / (4 lambda), a lower bound at no
 * cost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "learn/common/common.h"
#include "learn/crf/crf.h"
#include "mrf/problem.h"

/* The state from which a training resumes. */
struct crf_state {
    struct lbfgs *lbfgs;                /* its state */
    size_t n_evaluations;               /* evaluations that led to its x; 0: none yet */
    double first_objective;             /* before any step */
    struct clv_training_result *result; /* its curve has a point for each step */
};

#define N_POSITION 3 /* moves that are kept, index of the next one, evaluations */

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

/* Writes the state. Before the first step only the position is written: a resumed training repeats the first
 * evaluation. */
static enum clv_status crf_state_write(struct checkpoints *checkpoints, const struct crf_state *state,
                                       struct clv_error *err)
{
    const struct lbfgs *lbfgs = state->lbfgs;
    bool has_moved = state->result->n_curve > 0;
    int64_t position[N_POSITION] = {(int64_t)lbfgs->n_kept, (int64_t)lbfgs->next,
                                    has_moved ? (int64_t)state->n_evaluations : 0};
    double numbers[2] = {lbfgs->value, state->first_objective};
    struct state_field fields[6] = {{"place", CLV_I64, N_POSITION, position, STATE_FINITE}};
    size_t n = 1 + (has_moved ? list_vectors(&fields[1], numbers, lbfgs) : 0);
    return state_write(checkpoints, fields, n, state->result, err);
}

static enum clv_status read_steps(struct crf_state *state, const struct clv_tensors *tensors, const int64_t *position,
                                  const struct checkpoints *checkpoints, struct clv_error *err)
{
    struct lbfgs *lbfgs = state->lbfgs;
    double numbers[2], memory = (double)lbfgs->memory;
    struct state_field fields[5];
    size_t n_steps = state->result->n_curve;
    if (position[0] < 0 || position[1] < 0 || (double)position[0] > memory || (double)position[1] > memory ||
        position[2] <= (int64_t)n_steps)
        return state_refuse(checkpoints, "moves and evaluations that the steps did not take", err);
    lbfgs->n_kept = (size_t)position[0];
    lbfgs->next = (size_t)position[1];
    size_t n = list_vectors(fields, numbers, lbfgs);
    MUST(state_read(fields, n, tensors, checkpoints, err));
    if (!lbfgs_resume(lbfgs))
        return state_refuse(checkpoints, "moves along which the gradient does not rise", err);
    lbfgs->value = numbers[0];
    state->first_objective = numbers[1];
    state->n_evaluations = (size_t)position[2];
    return CLV_OK;
}

/* Fills the state, whose lbfgs is open, if there is a checkpoint to resume from. */
static enum clv_status crf_state_read(struct crf_state *state, const struct checkpoints *checkpoints,
                                      struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    int64_t position[N_POSITION];
    const struct state_field field = {"place", CLV_I64, N_POSITION, position, STATE_FINITE};
    MUST(checkpoint_read(&tensors, checkpoints, err));
    if (!tensors)
        return CLV_OK;
    MUST(state_read(&field, 1, tensors, checkpoints, err));
    MUST(state_read_curve(state->result, tensors, checkpoints, err));
    if ((position[2] != 0) != (state->result->n_curve > 0))
        return state_refuse(checkpoints, "steps without evaluations, or none with them", err);
    return position[2] != 0 ? read_steps(state, tensors, position, checkpoints, err) : CLV_OK;
}

enum { PENALTY, LAMBDA, PASSES, TOLERANCE, MEMORY };
enum { PENALTY_NONE, PENALTY_L2, PENALTY_L1 };
static const char *const penalties[] = {[PENALTY_NONE] = "none", [PENALTY_L2] = "l2", [PENALTY_L1] = "l1", NULL};

static const struct clv_parameter parameters[] = {
    [PENALTY] = {"penalty", PENALTY_L2, 0, 2,
                 "what is added to the negative log-likelihood: nothing, lambda |w|^2, lambda |w|_1",
                 .choices = penalties},
    [LAMBDA] = {"lambda", 1, 1e-12, 1e12, "weight of the penalty; the likelihood is summed over the examples",
                .role = CLV_ROLE_REGULARISATION, .needs = {NEEDS(PENALTY, 1 << PENALTY_L2 | 1 << PENALTY_L1)}},
    [PASSES] = {"passes", 2000, 1, 1e6, "most steps, each of one pass over the examples or a few",
                .role = CLV_ROLE_PASSES},
    [TOLERANCE] = {"tolerance", 1e-5, 0, 1, "stop once ten steps lower the objective by less than this share"},
    [MEMORY] = {"memory", 20, 3, 100, "steps that L-BFGS remembers"},
    {0},
};

#define SMALLEST_GRADIENT 1e-7 /* relative to the weights; a smaller one counts as 0 */
#define WINDOW            10   /* steps that `tolerance` looks back over */

struct crf {
    const struct clv_training *training;
    struct examples examples;
    struct course course; /* in which a pass is a step */
    struct crf_objective objective;
    struct lbfgs lbfgs;
    int penalty;
    double lambda;
    size_t size;
    struct crf_state state; /* the state that checkpoints hold */
};

static enum clv_status save(void *crf, struct clv_error *err)
{
    struct crf *self = crf;
    return crf_state_write(&self->course.checkpoints, &self->state, err);
}

/* Computes F and its gradient without the absolute values, which OWL-QN handles. */
static enum clv_status evaluate(double *value, double *gradient, void *context, const double *w, struct clv_error *err)
{
    struct crf *self = context;
    double squares = 0;
    MUST(crf_objective_at(value, gradient, &self->objective, w, err));
    for (size_t k = 0; k < self->size && self->penalty == PENALTY_L2; k++) {
        squares += w[k] * w[k];
        gradient[k] += 2 * self->lambda * w[k];
    }
    *value += self->lambda * squares;
    return CLV_OK;
}

/* Adds a step's point to the curve. */
static enum clv_status add_point(struct crf *self, struct clv_error *err)
{
    double objective = self->lbfgs.value, slope = lbfgs_slope(&self->lbfgs);
    double dual = self->penalty == PENALTY_L2 ? objective - slope * slope / (4 * self->lambda) : NAN;
    char note[96];
    point_snprintf(note, sizeof note, "objective %.4f, gradient %.2g", objective, slope);
    self->course.pass = self->course.result->n_curve + 1;
    return course_add_point(&self->course,
                            (struct clv_curve_point){(double)self->state.n_evaluations, objective, dual, NAN}, note,
                            self->lbfgs.x, err);
}

static bool is_done(const struct crf *self)
{
    const struct lbfgs *lbfgs = &self->lbfgs;
    const struct clv_training_result *result = self->course.result;
    size_t n_steps = result->n_curve;
    double length = sqrt(inner_product(lbfgs->x, lbfgs->x, self->size));
    if (n_steps >= (size_t)self->training->parameters[PASSES] ||
        lbfgs_slope(lbfgs) <= SMALLEST_GRADIENT * fmax(1, length))
        return true;
    if (n_steps < WINDOW)
        return false;
    double before = n_steps == WINDOW ? self->state.first_objective : result->curve[n_steps - WINDOW - 1].objective;
    return before - lbfgs->value < self->training->parameters[TOLERANCE] * lbfgs->value;
}

/* Minimises F, beginning at the state. */
static enum clv_status minimise(struct crf *self, struct clv_error *err)
{
    struct crf_state *state = &self->state;
    if (!state->n_evaluations) {
        MUST(lbfgs_start(&self->lbfgs, err));
        state->n_evaluations = 1;
        state->first_objective = self->lbfgs.value;
    }
    while (!is_done(self)) {
        bool moved;
        int n_tried;
        if (course_stops(&self->course))
            break;
        MUST(lbfgs_step(&moved, &n_tried, &self->lbfgs, err));
        if (!moved)
            break;
        state->n_evaluations += (size_t)n_tried;
        MUST(add_point(self, err));
        MUST(course_keep(&self->course, err));
    }
    return CLV_OK;
}

static enum clv_status crf_open(struct crf *self, const struct clv_training *training,
                                struct clv_training_result *result, struct clv_error *err)
{
    *self = (struct crf){.training = training};
    MUST(examples_open(&self->examples, training, true, err));
    self->penalty = (int)training->parameters[PENALTY];
    self->lambda = self->penalty == PENALTY_NONE ? 0 : training->parameters[LAMBDA];
    self->size = clv_weight_layout_size(&self->examples.layout);
    const struct lbfgs_function function = {evaluate, self, self->penalty == PENALTY_L1 ? self->lambda : 0};
    MUST(lbfgs_open(&self->lbfgs, &function, self->size, (size_t)training->parameters[MEMORY], err));
    self->state = (struct crf_state){.lbfgs = &self->lbfgs, .result = result};
    course_open(&self->course, &crf_learner, result, &self->examples);
    self->course.n_passes = (size_t)training->parameters[PASSES];
    self->course.skips_loss = true;
    self->course.save = save;
    self->course.owner = self;
    if (training->init)
        memcpy(self->lbfgs.x, training->init, self->size * sizeof *self->lbfgs.x);
    return crf_objective_open(&self->objective, &self->examples, err);
}

/* Chooses the default rule without edges, and for chains with more than two labels or a shared table; for other forests
 * CLV_DECODE_MAP. Each is exact there. */
static enum clv_status choose_decoding(struct clv_decoding *decoding, const struct crf *self, struct clv_error *err)
{
    bool is_chain = self->objective.k > 2 || self->objective.is_shared;
    for (size_t i = 0; i < self->examples.n && is_chain && self->objective.has_pairs; i++) {
        enum clv_graph graph;
        dataset_notify_access(self->examples.training->dataset, &self->examples.problems[i]);
        MUST(problem_graph(&graph, &self->examples.problems[i], err));
        is_chain = graph == CLV_GRAPH_CHAIN;
    }
    decoding->rule = is_chain || !self->objective.has_pairs ? CLV_DECODE_ORACLE : CLV_DECODE_MAP;
    return CLV_OK;
}

static void crf_release(struct crf *self)
{
    crf_objective_release(&self->objective);
    examples_release(&self->examples);
    lbfgs_release(&self->lbfgs);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    OWNED(crf_release) struct crf self = {0};
    MUST(crf_open(&self, training, result, err));
    MUST(choose_decoding(&result->decoding, &self, err));
    /* at w = 0 all labels of a known node are equally probable */
    result->at_zero =
        (double)self.examples.n * self.examples.mean_known * portable_log((double)self.examples.layout.n_labels);
    MUST(crf_state_read(&self.state, &self.course.checkpoints, err));
    MUST(course_take(&self.course, minimise(&self, err)));
    return course_end(&self.course, self.lbfgs.x, err);
}

/* L-BFGS keeps two vectors per remembered step. */
static double bytes(const struct clv_training *training)
{
    double moves = 2 * training->parameters[MEMORY] * (double)clv_weight_layout_size(&training->layout);
    return crf_objective_bytes(training) + moves * (double)sizeof(double);
}

const struct clv_learner crf_learner = {
    .name = "crf",
    .summary = "conditional random field, exact on chains and forests (Lafferty et al. 2001)",
    .parameters = parameters,
    .takes_init = true,
    .trains = CLV_TRAINS_FULL_CHAINS | CLV_TRAINS_FULL_FORESTS,
    .scores = CLV_SCORES_WEIGHTED_LIKELIHOOD, /* decisions use the marginals without a factor, see cleave/model.h */
    .n_vectors = 7,
    .train = train,
    .bytes = bytes,
};
