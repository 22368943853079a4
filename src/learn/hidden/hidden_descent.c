/* Descent on the objective of learners with hidden variables: by AdaGrad, with diagonal or full matrices, or by the
 * plain steps of Algorithm 1 of Ping, Liu & Ihler (2014), from a checkpoint if there is one. Start at
 * hidden_descent_run. */
#include "learn/hidden/hidden.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "learn/common/common.h"

#define SHARP_STEPS 8 /* the factor by which steps are shorter after smooth passes */

bool hidden_descent_is_adagrad(const struct hidden_descent *self)
{
    return self->solver == SOLVER_ADAGRAD || self->solver == SOLVER_FULL_ADAGRAD;
}

enum clv_status hidden_descent_open(struct hidden_descent *self, bool averaging, struct clv_error *err)
{
    size_t size = self->hidden.size, n = self->hidden.examples.n;
    averaging = averaging && hidden_descent_is_adagrad(self) && !self->is_published;
    self->gradient = arena_alloc(&self->arena, size, sizeof *self->gradient);
    self->plane = arena_zalloc(&self->arena, size, sizeof *self->plane);
    self->best = arena_alloc(&self->arena, size, sizeof *self->best);
    self->order = arena_alloc(&self->arena, n, sizeof *self->order);
    self->all = arena_alloc(&self->arena, n, sizeof *self->all);
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        self->all[i] = (int32_t)i;
    self->course.order = self->order;
    FAIL_IF(self->solver == SOLVER_FULL_ADAGRAD && size > FULL_ADAGRAD_MAX_SIZE, CLV_ERR_USAGE,
            "solver adagrad-full is for at most %d weights, and this model has %zu", FULL_ADAGRAD_MAX_SIZE, size);
    if (self->solver == SOLVER_FULL_ADAGRAD)
        MUST(full_adagrad_open(&self->full, size, err));
    return ascent_open(&self->ascent, &self->hidden.examples.layout,
                       (struct ascent_rules){STEP_ADAGRAD, self->lambda, self->rate, averaging}, err);
}

void hidden_descent_release(struct hidden_descent *self)
{
    ascent_release(&self->ascent);
    full_adagrad_release(&self->full);
    arena_release(&self->arena);
}

void hidden_descent_step(struct hidden_descent *self)
{
    double *w = self->ascent.w;
    double rate = self->is_constant ? self->rate : self->rate / sqrt(1 + (double)self->course.pass / 10);
    for (size_t k = 0; k < self->hidden.size; k++)
        self->gradient[k] = -self->gradient[k];
    if (self->is_published) {
        for (size_t k = 0; k < self->hidden.size; k++)
            w[k] += rate * (self->gradient[k] / self->lambda - w[k]);
        project_couplings(w, &self->hidden.examples.layout);
    } else if (self->solver == SOLVER_FULL_ADAGRAD) {
        for (size_t k = 0; k < self->hidden.size; k++)
            self->gradient[k] -= self->lambda * w[k];
        full_adagrad_turn(self->gradient, &self->full);
        ascent_move(&self->ascent, self->gradient);
    } else {
        ascent_step(&self->ascent, self->gradient);
    }
}

enum clv_status hidden_descent_add_point(struct hidden_descent *self, const double *w, struct clv_error *err)
{
    struct course *course = &self->course;
    double free, clamped;
    MUST(hidden_gradient(self->gradient, &free, &clamped, &self->hidden,
                         &(struct hidden_pass){HIDDEN_EVALUATE, self->all, self->hidden.examples.n, w}, err));
    double objective = self->lambda / 2 * squares_of(w, self->hidden.size) + free - clamped;
    return course_add_point(course, (struct clv_curve_point){(double)course->pass, objective, NAN, NAN}, "", w, err);
}

/* Replaces sums by maxima from now on, with steps that are short enough to stay near the current weights. */
static enum clv_status use_maxima(struct hidden_descent *self, const struct hidden_settings *settings,
                                  struct clv_error *err)
{
    ascent_restart(&self->ascent, self->rate / SHARP_STEPS);
    full_adagrad_restart(&self->full);
    return hidden_set_temperatures(&self->hidden, settings->visible_temperature, settings->hidden_temperature, err);
}

/* Runs the rest of the current pass. */
static enum clv_status run_pass(struct hidden_descent *self, struct clv_error *err)
{
    struct course *course = &self->course;
    size_t n = self->hidden.examples.n;
    if (course->batch < n)
        rng_permutation(self->order, n, self->training->seed, RNG_STREAM(RNG_ORDER, (uint32_t)course->pass));
    else
        memcpy(self->order, self->all, n * sizeof *self->order);
    while (course_pass_goes_on(course)) {
        const struct hidden_pass step = {HIDDEN_BOTH, &self->order[course->n_taken], course_batch(course),
                                         self->ascent.w};
        MUST(hidden_gradient(self->gradient, NULL, NULL, &self->hidden, &step, err));
        hidden_descent_step(self);
        MUST(course_step(course, err));
    }
    return CLV_OK;
}

/* Starts from the checkpoint, or at the beginning. */
static enum clv_status begin(struct hidden_descent *self, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    MUST(hidden_state_open(&tensors, self, err));
    self->position.stage = STAGE_LOWER;
    if (self->position.is_sharp)
        self->ascent.rate = self->rate / SHARP_STEPS;
    else if (self->n_smooth > 0)
        MUST(hidden_set_temperatures(&self->hidden, 1, 1, err));
    return tensors ? hidden_state_take(self, tensors, err) : CLV_OK;
}

/* Runs Algorithm 1, or AdaGrad, for which one rate suits features of any size. AdaGrad's first passes may be smooth:
 * they maximise the loss-augmented likelihood, whose gradient changes gradually. From the weights at which they end,
 * hinges reach lower objectives than from the first weights. */
static enum clv_status run_passes(struct hidden_descent *self, struct clv_error *err)
{
    const struct hidden_settings settings = self->hidden.settings;
    struct course *course = &self->course;
    if (settings.visible_temperature > 0)
        self->n_smooth = 0;
    MUST(begin(self, err));
    while (course_goes_on(course)) {
        if (course_needs_point(course)) {
            MUST(hidden_descent_add_point(self, ascent_point(&self->ascent), err));
            continue;
        }
        if (course->pass == self->n_smooth && self->n_smooth > 0 && !self->position.is_sharp) {
            MUST(use_maxima(self, &settings, err));
            self->position.is_sharp = true;
        }
        MUST(run_pass(self, err));
    }
    return CLV_OK;
}

enum clv_status hidden_descent_run(struct hidden_descent *self, struct clv_error *err)
{
    MUST(course_take(&self->course, run_passes(self, err)));
    return course_end(&self->course, ascent_point(&self->ascent), err);
}
