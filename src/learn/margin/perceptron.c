/* The averaged structured perceptron (Collins 2002): a subgradient step without the loss, with lambda = 0 and step 1,
 *
 *     w <- w + Psi(x, y) - Psi(x, argmax_y' f(y')),    couplings >= 0 by projection
 *
 * On separable data it makes at most (R / margin)^2 mistakes, R the longest Psi(x, y) - Psi(x, y'): projecting onto a
 * convex cone that holds a separator never takes w away from it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { PASSES, AVERAGING };

static const struct clv_parameter parameters[] = {
    [PASSES] = {"passes", 30, 1, 1e6, "most passes over the examples"},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the mean of all iterates, until a pass makes no mistake; 0: the last one"},
    {0},
};

struct perceptron {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct examples examples;
    size_t size;
    double *w, *average, *zero;
    double n_steps;
    int32_t *order;
};

static bool differs(const int32_t *a, const int32_t *b, int32_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) != 0;
}

/* One pass in a random order; counts mistakes. */
static enum clv_status run_pass(struct perceptron *self, uint32_t pass, size_t *mistakes, bool *stopped,
                                struct clv_error *err)
{
    struct examples *examples = &self->examples;
    struct decoder *decoder = &examples->decoders[0];
    rng_permutation(self->order, examples->n, self->training->seed, RNG_STREAM(RNG_ORDER, pass));
    for (size_t k = 0; k < examples->n; k++) {
        const struct clv_problem *problem = &examples->problems[self->order[k]];
        *stopped = stop_requested(self->training->progress);
        if (*stopped)
            return CLV_OK;
        MUST(decode_known(decoder, NULL, problem, &examples->shape, self->w, err));
        if (differs(decoder->y, problem->label, problem->n_nodes)) {
            ++*mistakes;
            clv_joint_feature_add(self->w, problem, &examples->shape, problem->label, 1);
            clv_joint_feature_add(self->w, problem, &examples->shape, decoder->y, -1);
            project_couplings(self->w, &examples->shape);
        }
        self->n_steps++;
        if (self->average)
            for (size_t j = 0; j < self->size; j++)
                self->average[j] += (self->w[j] - self->average[j]) / self->n_steps;
    }
    return CLV_OK;
}

static enum clv_status perceptron_open(struct perceptron *self, const struct clv_training *training,
                                       struct clv_error *err)
{
    *self = (struct perceptron){.training = training};
    MUST(examples_open(&self->examples, training, true, err));
    self->size = clv_shape_size(&self->examples.shape);
    self->w = arena_zalloc(&self->arena, self->size, sizeof *self->w);
    self->zero = arena_zalloc(&self->arena, self->size, sizeof *self->zero);
    self->order = arena_alloc(&self->arena, self->examples.n, sizeof *self->order);
    if (training->parameters[AVERAGING])
        self->average = arena_zalloc(&self->arena, self->size, sizeof *self->average);
    if (self->arena.failed)
        return fail_memory(err);
    if (training->init)
        memcpy(self->w, training->init, self->size * sizeof *self->w);
    return CLV_OK;
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
    MUST(perceptron_open(&self, training, err));
    size_t n_passes = (size_t)training->parameters[PASSES];
    const double *w = self.average ? self.average : self.w;
    bool stopped = false;
    for (size_t pass = 0; pass < n_passes; pass++) {
        size_t mistakes = 0;
        MUST(run_pass(&self, (uint32_t)pass, &mistakes, &stopped, err));
        if (stopped)
            break;
        if (!mistakes) /* nothing will ever change; the iterate that made none beats a mean that may */
            w = self.w;
        double train_loss;
        MUST(examples_loss(&train_loss, &self.examples, w, NULL, err));
        MUST(curve_add(result, (struct clv_curve_point){(double)(pass + 1), NAN, NAN, train_loss}, err));
        char note[96];
        snprintf(note, sizeof note, "%zu mistakes, training loss %.4f", mistakes, train_loss);
        report_progress(training->progress, "training", pass + 1, n_passes, note);
        if (!mistakes)
            break;
    }
    result->interrupted = stopped;
    if (!stopped)
        MUST(examples_loss(&result->at_zero, &self.examples, self.zero, NULL, err));
    return result_set(result, &self.examples, w, err);
}

const struct clv_learner perceptron_learner = {
    .name = "perceptron",
    .summary = "averaged structured perceptron (Collins 2002)",
    .parameters = parameters,
    .takes_init = true,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
