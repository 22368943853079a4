/* Subgradient descent (Ratliff, Bagnell & Zinkevich 2007). A step on example i, with the loss-augmented labelling y*:
 *
 *     w <- (1 - step ridge) w + step (Psi(x_i, y_i) - Psi(x_i, y*)),    y* = argmax_y L_i(y) + f(y)
 *
 * then w is projected onto couplings >= 0 and onto the ball. (One after the other is the projection onto both: scaling
 * keeps a cone, and so does moving all magnitudes towards 0 alike.) The average weighs step t by t, which makes the
 * error O(1/t) without a logarithm for Pegasos's steps (Lacoste-Julien, Schmidt, Bach 2012). */
#include "learn/margin/margin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"

#define CHECK_EVERY 5 /* passes between points of the curve */

struct descent {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct examples *examples;
    struct descent_rules rules;
    size_t size;
    double radius, n_steps, squares;
    double *w, *average, *hinge, *scratch, *change;
    double *best; /* of the start and the checks; NULL without a start */
    double best_objective;
    int32_t *order;
};

static void project(struct descent *self)
{
    project_couplings(self->w, &self->examples->shape);
    if (self->rules.ball == DESCENT_L1) {
        l1_ball_project(self->w, self->size, self->radius, self->scratch);
        return;
    }
    if (self->rules.ball == DESCENT_NO_BALL)
        return;
    double norm = sqrt(squares_of(self->w, self->size)), shrink = norm > self->radius ? self->radius / norm : 1;
    for (size_t j = 0; j < self->size; j++)
        self->w[j] *= shrink;
}

/* The step's length, and by how much w shrinks first. self->change is Psi(x, y_i) - Psi(x, y*) for adaptive steps. */
static void choose_step(double *step, double *shrink, struct descent *self)
{
    const struct descent_rules *rules = &self->rules;
    double t = self->n_steps;
    switch (rules->step) {
    case DESCENT_ROOT:
        *step = rules->rate / sqrt(t);
        *shrink = fmax(0, 1 - rules->rate / sqrt(t) * rules->ridge);
        return;
    case DESCENT_ADAPTIVE:
        self->squares += squares_of(self->change, self->size);
        *step = self->squares > 0 ? rules->rate / sqrt(self->squares) : 0;
        *shrink = 1 - *step * rules->ridge;
        return;
    case DESCENT_PEGASOS: break;
    }
    *step = 1 / (rules->ridge * t);
    *shrink = 1 - 1 / t;
}

/* change = Psi(x, y_i) - Psi(x, y), the direction of a step. */
static void subgradient_at(struct descent *self, const struct clv_problem *problem, const int32_t *y)
{
    const struct clv_shape *shape = &self->examples->shape;
    memset(self->change, 0, self->size * sizeof *self->change);
    clv_joint_feature_add(self->change, problem, shape, problem->label, 1);
    clv_joint_feature_add(self->change, problem, shape, y, -1);
}

static enum clv_status take_step(struct descent *self, const struct clv_problem *problem, struct clv_error *err)
{
    const struct clv_shape *shape = &self->examples->shape;
    struct decoder *decoder = &self->examples->decoders[0];
    MUST(decode_augmented(decoder, NULL, problem, shape, self->w, err));
    if (self->change)
        subgradient_at(self, problem, decoder->y);
    double step, shrink, t = ++self->n_steps;
    choose_step(&step, &shrink, self);
    for (size_t j = 0; j < self->size; j++)
        self->w[j] *= shrink;
    clv_joint_feature_add(self->w, problem, shape, problem->label, step);
    clv_joint_feature_add(self->w, problem, shape, decoder->y, -step);
    project(self);
    if (self->average)
        for (size_t j = 0; j < self->size; j++)
            self->average[j] += 2 / (t + 1) * (self->w[j] - self->average[j]);
    return CLV_OK;
}

static enum clv_status run_pass(struct descent *self, uint32_t pass, bool *stopped, struct clv_error *err)
{
    struct examples *examples = self->examples;
    rng_permutation(self->order, examples->n, self->training->seed, RNG_STREAM(RNG_ORDER, pass));
    for (size_t k = 0; k < examples->n; k++) {
        *stopped = stop_requested(self->training->progress);
        if (*stopped)
            return CLV_OK;
        MUST(take_step(self, &examples->problems[self->order[k]], err));
    }
    return CLV_OK;
}

static enum clv_status objective_of(double *objective, struct descent *self, const double *w, struct clv_error *err)
{
    MUST(examples_hinges(self->hinge, self->examples, w, err));
    *objective = self->rules.ridge / 2 * squares_of(w, self->size) + mean_of(self->hinge, self->examples->n);
    return CLV_OK;
}

/* The weights that a training which ended now would return. */
static const double *result_of(const struct descent *self)
{
    return self->best ? self->best : self->average ? self->average : self->w;
}

static enum clv_status check(struct descent *self, struct clv_training_result *result, size_t pass,
                             struct clv_error *err)
{
    const double *w = self->average ? self->average : self->w;
    double objective, train_loss;
    MUST(objective_of(&objective, self, w, err));
    if (self->best && objective < self->best_objective) {
        memcpy(self->best, w, self->size * sizeof *w);
        self->best_objective = objective;
    }
    MUST(examples_loss(&train_loss, self->examples, result_of(self), NULL, err));
    objective = self->rules.unit * (self->best ? self->best_objective : objective);
    result->at_zero = self->rules.unit * self->examples->most_loss;
    char note[96];
    snprintf(note, sizeof note, "objective %.4f, training loss %.4f", objective, train_loss);
    report_progress(self->training->progress, "training", pass, self->rules.passes, note);
    return curve_add(result, (struct clv_curve_point){(double)pass, objective, NAN, train_loss}, err);
}

/* The squares that one pass at w would sum up. */
static enum clv_status look_ahead(struct descent *self, struct clv_error *err)
{
    for (size_t i = 0; i < self->examples->n; i++) {
        const struct clv_problem *problem = &self->examples->problems[i];
        struct decoder *decoder = &self->examples->decoders[0];
        MUST(decode_augmented(decoder, NULL, problem, &self->examples->shape, self->w, err));
        subgradient_at(self, problem, decoder->y);
        self->squares += squares_of(self->change, self->size);
    }
    return CLV_OK;
}

/* At the training's start, as if a pass had led there: the first of Pegasos's steps forgets where it is, and the first
 * of adaptive ones leaps. The start is the best so far. */
static enum clv_status start_at_init(struct descent *self, struct clv_error *err)
{
    if (!self->training->init)
        return CLV_OK;
    memcpy(self->w, self->training->init, self->size * sizeof *self->w);
    project(self);
    if (self->average)
        memcpy(self->average, self->w, self->size * sizeof *self->w);
    self->n_steps = (double)self->examples->n;
    self->best = array_copy(self->w, self->size, sizeof *self->w);
    NEED(self->best);
    MUST(objective_of(&self->best_objective, self, self->w, err));
    return self->change ? look_ahead(self, err) : CLV_OK;
}

static enum clv_status descent_open(struct descent *self, struct examples *examples, const struct descent_rules *rules,
                                    struct clv_error *err)
{
    *self = (struct descent){.training = examples->training, .examples = examples, .rules = *rules};
    self->size = clv_shape_size(&examples->shape);
    self->radius = rules->radius;
    self->w = arena_zalloc(&self->arena, self->size, sizeof *self->w);
    self->hinge = arena_alloc(&self->arena, examples->n, sizeof *self->hinge);
    self->order = arena_alloc(&self->arena, examples->n, sizeof *self->order);
    bool is_l1 = rules->ball == DESCENT_L1, is_adaptive = rules->step == DESCENT_ADAPTIVE;
    if (rules->averaging)
        self->average = arena_zalloc(&self->arena, self->size, sizeof *self->average);
    if (is_l1)
        self->scratch = arena_alloc(&self->arena, self->size, sizeof *self->scratch);
    if (is_adaptive)
        self->change = arena_alloc(&self->arena, self->size, sizeof *self->change);
    if (self->arena.failed)
        return fail_memory(err);
    if (rules->ball == DESCENT_L2) {
        double at_zero;
        MUST(objective_of(&at_zero, self, self->w, err));
        self->radius = sqrt(2 * at_zero / rules->ridge);
    }
    return start_at_init(self, err);
}

static void descent_release(struct descent *self)
{
    arena_release(&self->arena);
    array_free(self->best);
}

static enum clv_status run_passes(struct descent *self, struct clv_training_result *result, bool *stopped,
                                  struct clv_error *err)
{
    for (size_t pass = 1; !*stopped && pass <= self->rules.passes; pass++) {
        MUST(run_pass(self, (uint32_t)pass, stopped, err));
        if (!*stopped && (pass % CHECK_EVERY == 0 || pass == self->rules.passes))
            MUST(check(self, result, pass, err));
    }
    return CLV_OK;
}

enum clv_status descent_train(struct clv_training_result *result, struct examples *examples,
                              const struct descent_rules *rules, struct clv_error *err)
{
    OWNED(descent_release) struct descent self = {0};
    bool stopped = false;
    enum clv_status status = descent_open(&self, examples, rules, err);
    if (!status)
        status = run_passes(&self, result, &stopped, err);
    if (status && (status != CLV_ERR_INTERRUPTED || !result_of(&self)))
        return status;
    result->interrupted = stopped || status == CLV_ERR_INTERRUPTED;
    MUST(result_set(result, examples, result_of(&self), err));
    if (rules->share) {
        *rules->share = 0;
        for (size_t j = 0; j < self.size; j++)
            *rules->share += fabs(self.w[j]) / self.radius;
    }
    return CLV_OK;
}
