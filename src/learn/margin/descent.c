/* Subgradient descent (Ratliff, Bagnell & Zinkevich 2007). A step on example i, with the loss-augmented labelling y*:
 *
 *     w <- (1 - step ridge) w + step (Psi(x_i, y_i) - Psi(x_i, y*)),    y* = argmax_y L_i(y) + f(y)
 *
 * then w is projected onto couplings >= 0 and onto the ball. (One projection after the other is the projection onto the
 * intersection, because scaling and soft thresholding keep couplings >= 0.) In the average step t has weight t, which
 * makes the error of Pegasos's steps O(1/t), without a logarithm (Lacoste-Julien, Schmidt, Bach 2012). Start at
 * descent_train, at the end. */
#include "learn/margin/margin.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"

#define CHECK_EVERY 5 /* passes between points of the curve */

struct descent {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct examples *examples;
    struct course course;
    struct descent_rules rules;
    size_t size;
    double *w, *average, *hinge, *scratch, *change;
    double *best; /* weights of the lowest objective at the start and at points of the curve; NULL without init */
    double radius, squares, best_objective;
    int32_t *order;
};

static void project(struct descent *self)
{
    project_couplings(self->w, &self->examples->layout);
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

/* Returns the number of the current step, from 1 on; given first weights count as a pass. */
static double n_steps_of(const struct descent *self)
{
    size_t n = self->examples->n, passes = self->course.pass + (self->training->init ? 1 : 0);
    return (double)(passes * n + self->course.n_taken + 1);
}

/* Chooses the length of a step and the factor by which w shrinks before it. Adaptive steps need self->change = Psi(x,
 * y_i) - Psi(x, y*). */
static void choose_step(double *step, double *shrink, struct descent *self)
{
    const struct descent_rules *rules = &self->rules;
    double t = n_steps_of(self);
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

/* Sets change = Psi(x, y_i) - Psi(x, y), the direction of a step. */
static void subgradient_at(struct descent *self, const struct clv_problem *problem, const int32_t *y)
{
    const struct clv_weight_layout *layout = &self->examples->layout;
    memset(self->change, 0, self->size * sizeof *self->change);
    clv_joint_feature_add(self->change, problem, layout, problem->label, 1);
    clv_joint_feature_add(self->change, problem, layout, y, -1);
}

static enum clv_status take_step(struct descent *self, const struct clv_problem *problem, struct clv_error *err)
{
    const struct clv_weight_layout *layout = &self->examples->layout;
    struct decoder *decoder = &self->examples->decoders[0];
    MUST(decode_augmented(decoder, NULL, problem, layout, self->w, err));
    if (self->change)
        subgradient_at(self, problem, decoder->y);
    double step, shrink, t = n_steps_of(self);
    choose_step(&step, &shrink, self);
    for (size_t j = 0; j < self->size; j++)
        self->w[j] *= shrink;
    clv_joint_feature_add(self->w, problem, layout, problem->label, step);
    clv_joint_feature_add(self->w, problem, layout, decoder->y, -step);
    project(self);
    if (self->average)
        for (size_t j = 0; j < self->size; j++)
            self->average[j] += 2 / (t + 1) * (self->w[j] - self->average[j]);
    return CLV_OK;
}

/* Runs the rest of a pass, in a random order. */
static enum clv_status run_pass(struct descent *self, struct clv_error *err)
{
    struct examples *examples = self->examples;
    struct course *course = &self->course;
    rng_permutation(self->order, examples->n, self->training->seed, RNG_STREAM(RNG_ORDER, (uint32_t)course->pass + 1));
    while (course_pass_goes_on(course)) {
        MUST(take_step(self, &examples->problems[self->order[course->n_taken]], err));
        MUST(course_step(course, err));
    }
    return CLV_OK;
}

static enum clv_status objective_of(double *objective, struct descent *self, const double *w, struct clv_error *err)
{
    MUST(examples_hinges(self->hinge, self->examples, w, err));
    *objective = self->rules.ridge / 2 * squares_of(w, self->size) + mean_of(self->hinge, self->examples->n);
    return CLV_OK;
}

/* The weights that the training returns if it ends now. */
static const double *result_of(const struct descent *self)
{
    return self->best ? self->best : self->average ? self->average : self->w;
}

static enum clv_status add_point(struct descent *self, struct clv_error *err)
{
    const double *w = self->average ? self->average : self->w;
    double objective, unit = self->rules.unit;
    MUST(objective_of(&objective, self, w, err));
    if (self->best && objective < self->best_objective) {
        memcpy(self->best, w, self->size * sizeof *w);
        self->best_objective = objective;
    }
    self->course.result->at_zero = unit * self->examples->most_loss;
    const struct clv_curve_point point = {
        .pass = (double)self->course.pass,
        .objective = unit * (self->best ? self->best_objective : objective),
        .dual = NAN,
    };
    return course_add_point(&self->course, point, "", result_of(self), err);
}

/* Adds the squares that a pass at w would add, without taking steps. */
static enum clv_status add_squares_of_pass(struct descent *self, struct clv_error *err)
{
    for (size_t i = 0; i < self->examples->n; i++) {
        const struct clv_problem *problem = &self->examples->problems[i];
        struct decoder *decoder = &self->examples->decoders[0];
        MUST(decode_augmented(decoder, NULL, problem, &self->examples->layout, self->w, err));
        subgradient_at(self, problem, decoder->y);
        self->squares += squares_of(self->change, self->size);
    }
    return CLV_OK;
}

/* Starts at the training's init, as if a pass had led there. Otherwise Pegasos's first step would discard these
 * weights, and the first adaptive step would be too long. They are the best weights so far. */
static enum clv_status start_at_init(struct descent *self, struct clv_error *err)
{
    memcpy(self->w, self->training->init, self->size * sizeof *self->w);
    project(self);
    if (self->average)
        memcpy(self->average, self->w, self->size * sizeof *self->w);
    memcpy(self->best, self->w, self->size * sizeof *self->w);
    MUST(objective_of(&self->best_objective, self, self->w, err));
    return self->change ? add_squares_of_pass(self, err) : CLV_OK;
}

/* Prepares the first step: the radius of the L2 ball, and the weights to start from. */
static enum clv_status begin(struct descent *self, struct clv_error *err)
{
    if (self->rules.ball == DESCENT_L2) {
        double at_zero;
        MUST(objective_of(&at_zero, self, self->w, err));
        self->radius = sqrt(2 * at_zero / self->rules.ridge);
    }
    return self->training->init ? start_at_init(self, err) : CLV_OK;
}

static enum clv_status descent_open(struct descent *self, const struct clv_learner *learner,
                                    struct clv_training_result *result, struct examples *examples,
                                    const struct descent_rules *rules, struct clv_error *err)
{
    *self = (struct descent){.training = examples->training, .examples = examples, .rules = *rules};
    self->size = clv_weight_layout_size(&examples->layout);
    self->radius = rules->radius;
    self->w = arena_zalloc(&self->arena, self->size, sizeof *self->w);
    self->hinge = arena_alloc(&self->arena, examples->n, sizeof *self->hinge);
    self->order = arena_alloc(&self->arena, examples->n, sizeof *self->order);
    bool is_l1 = rules->ball == DESCENT_L1, is_adaptive = rules->step == DESCENT_ADAPTIVE;
    if (rules->averaging)
        self->average = arena_zalloc(&self->arena, self->size, sizeof *self->average);
    if (self->training->init)
        self->best = arena_zalloc(&self->arena, self->size, sizeof *self->best);
    if (is_l1)
        self->scratch = arena_alloc(&self->arena, self->size, sizeof *self->scratch);
    if (is_adaptive)
        self->change = arena_alloc(&self->arena, self->size, sizeof *self->change);
    if (self->arena.failed)
        return fail_memory(err);
    struct course *course = &self->course;
    course_open(course, learner, result, examples);
    course->n_passes = rules->passes;
    course->passes_per_point = CHECK_EVERY;
    course->order = self->order;
    course_holds(course, (struct state_field){"w", CLV_F64, self->size, self->w, STATE_FINITE});
    course_holds(course, (struct state_field){"average", CLV_F64, self->size, self->average, STATE_FINITE});
    course_holds(course, (struct state_field){"best", CLV_F64, self->size, self->best, STATE_FINITE});
    course_holds(course, (struct state_field){"radius", CLV_F64, 1, &self->radius, STATE_NOT_NEGATIVE});
    course_holds(course, (struct state_field){"squares", CLV_F64, 1, &self->squares, STATE_NOT_NEGATIVE});
    course_holds(course, (struct state_field){"best_objective", CLV_F64, 1, &self->best_objective, STATE_FINITE});
    return course_resume(course, err);
}

static void descent_release(struct descent *self)
{
    arena_release(&self->arena);
}

enum clv_status descent_train(struct clv_training_result *result, const struct clv_learner *learner,
                              struct examples *examples, const struct descent_rules *rules, struct clv_error *err)
{
    OWNED(descent_release) struct descent self = {0};
    struct course *course = &self.course;
    MUST(descent_open(&self, learner, result, examples, rules, err));
    if (!course->is_begun)
        MUST(course_take(course, begin(&self, err)));
    while (course_goes_on(course))
        MUST(course_take(course, course_needs_point(course) ? add_point(&self, err) : run_pass(&self, err)));
    MUST(course_end(course, result_of(&self), err));
    if (rules->share) {
        *rules->share = 0;
        for (size_t j = 0; j < self.size; j++)
            *rules->share += fabs(self.w[j]) / self.radius;
    }
    return CLV_OK;
}
