/* The averaged structured perceptron (Collins 2002): a subgradient step without the loss, with lambda = 0 and step 1,
 *
 *     w <- w + Psi(x, y) - Psi(x, argmax_y' f(y')),    couplings >= 0 by projection
 *
 * On separable data it makes at most (R / margin)^2 mistakes, where R is the largest |Psi(x, y) - Psi(x, y')|:
 * projection onto a convex cone that contains a separator never moves w away from it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { PASSES, AVERAGING };

static const struct clv_parameter parameters[] = {
    [PASSES] = {"passes", 30, 1, 1e6, "most passes over the examples", .role = CLV_ROLE_PASSES},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the mean of all iterates, until a pass makes no mistake; 0: the last one"},
    {0},
};

struct perceptron {
    struct arena arena; /* of the arrays below */
    struct examples examples;
    struct course course;
    size_t size;
    double *w, *average, *zero;
    int32_t *order;
    int64_t mistakes; /* of the pass */
};

static bool differs(const int32_t *a, const int32_t *b, int32_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) != 0;
}

static enum clv_status take_step(struct perceptron *self, size_t example, struct clv_error *err)
{
    struct examples *examples = &self->examples;
    struct decoder *decoder = &examples->decoders[0];
    const struct clv_problem *problem = &examples->problems[example];
    MUST(decode_known(decoder, NULL, problem, &examples->layout, self->w, err));
    if (differs(decoder->y, problem->label, problem->n_nodes)) {
        self->mistakes++;
        clv_joint_feature_add(self->w, problem, &examples->layout, problem->label, 1);
        clv_joint_feature_add(self->w, problem, &examples->layout, decoder->y, -1);
        project_couplings(self->w, &examples->layout);
    }
    double n_steps = (double)(self->course.pass * examples->n + self->course.n_taken + 1);
    if (self->average)
        for (size_t j = 0; j < self->size; j++)
            self->average[j] += (self->w[j] - self->average[j]) / n_steps;
    return CLV_OK;
}

/* Runs the rest of a pass, in a random order. */
static enum clv_status run_pass(struct perceptron *self, struct clv_error *err)
{
    struct course *course = &self->course;
    rng_permutation(self->order, self->examples.n, course->training->seed,
                    RNG_STREAM(RNG_ORDER, (uint32_t)course->pass));
    if (!course->n_taken)
        self->mistakes = 0;
    while (course_pass_goes_on(course)) {
        MUST(take_step(self, (size_t)self->order[course->n_taken], err));
        MUST(course_step(course, err));
    }
    return CLV_OK;
}

/* Adds a point to the curve. After a pass without mistakes w no longer changes. It is then returned instead of the
 * average, which may make mistakes. */
static enum clv_status add_point(const double **w, struct perceptron *self, struct clv_error *err)
{
    struct course *course = &self->course;
    char note[40];
    course->is_over = !self->mistakes;
    if (!self->mistakes)
        *w = self->w;
    snprintf(note, sizeof note, "%lld mistakes", (long long)self->mistakes);
    return course_add_point(
        course, (struct clv_curve_point){.pass = (double)course->pass, .objective = NAN, .dual = NAN}, note, *w, err);
}

static enum clv_status perceptron_open(struct perceptron *self, const struct clv_training *training,
                                       struct clv_training_result *result, struct clv_error *err)
{
    MUST(examples_open(&self->examples, training, true, err));
    self->size = clv_weight_layout_size(&self->examples.layout);
    self->w = arena_zalloc(&self->arena, self->size, sizeof *self->w);
    self->zero = arena_zalloc(&self->arena, self->size, sizeof *self->zero);
    self->order = arena_alloc(&self->arena, self->examples.n, sizeof *self->order);
    if (training->parameters[AVERAGING])
        self->average = arena_zalloc(&self->arena, self->size, sizeof *self->average);
    if (self->arena.failed)
        return fail_memory(err);
    if (training->init)
        memcpy(self->w, training->init, self->size * sizeof *self->w);
    course_open(&self->course, &perceptron_learner, result, &self->examples);
    self->course.order = self->order;
    self->course.n_passes = (size_t)training->parameters[PASSES];
    self->course.passes_per_point = 1;
    course_holds(&self->course, (struct state_field){"w", CLV_F64, self->size, self->w, STATE_FINITE});
    course_holds(&self->course, (struct state_field){"average", CLV_F64, self->size, self->average, STATE_FINITE});
    course_holds(&self->course, (struct state_field){"mistakes", CLV_I64, 1, &self->mistakes, STATE_NOT_NEGATIVE});
    return course_resume(&self->course, err);
}

static void perceptron_release(struct perceptron *self)
{
    examples_release(&self->examples);
    arena_release(&self->arena);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    OWNED(perceptron_release) struct perceptron self = {0};
    struct course *course = &self.course;
    MUST(perceptron_open(&self, training, result, err));
    const double *w = self.average ? self.average : self.w;
    while (course_goes_on(course))
        MUST(course_needs_point(course) ? add_point(&w, &self, err) : run_pass(&self, err));
    if (!course->stopped)
        MUST(examples_loss(&result->at_zero, &self.examples, self.zero, NULL, err));
    return course_end(course, w, err);
}

const struct clv_learner perceptron_learner = {
    .name = "perceptron",
    .summary = "averaged structured perceptron (Collins 2002)",
    .parameters = parameters,
    .takes_init = true,
    .n_vectors = 4,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
