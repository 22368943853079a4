/* The structured hinge by projected stochastic subgradient descent.
 *
 * The objective is that of ssvm.c. One step on example i (the chapter's section "Learning algorithms", with the loss-augmented
 * labelling and Pegasos's step 1 / (lambda t), Shalev-Shwartz et al. 2007):
 *
 *     w <- (1 - 1/t) w + 1/(lambda t) (Psi(x_i, y_i) - Psi(x_i, y*)),    y* = argmax_y L_i(y) + f(y)
 *
 * then w is projected onto couplings >= 0 and onto the ball that holds the optimum: lambda/2 |w*|^2 <= objective at 0. (One
 * after the other is the projection onto both: scaling keeps a cone.) The average weighs step t by t, which makes the error
 * O(1/t) without a logarithm (Lacoste-Julien, Schmidt, Bach 2012). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "learn/examples.h"
#include "learn/learners.h"

enum { LAMBDA, PASSES, AVERAGING, EDGES };

static const struct clv_parameter parameters[] = {
    [LAMBDA] = {"lambda", 1e-5, 1e-12, 1e12, "regularisation, relative to the size of the features"},
    [PASSES] = {"passes", 100, 1, 1e6, "passes over the examples"},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one"},
    [EDGES] = {"edges", 1, 0, 1, "0: learn without couplings"},
    {0},
};

#define CHECK_EVERY 5 /* passes between points of the curve */

struct subgradient {
    const struct clv_training *training;
    struct examples examples;
    size_t size;
    double lambda, radius, n_steps;
    double *w, *average, *hinge;
    int32_t *order;
};

static double norm_of(const double *w, size_t n)
{
    double squares = 0;
    for (size_t k = 0; k < n; k++)
        squares += w[k] * w[k];
    return sqrt(squares);
}

static enum clv_status run_pass(struct subgradient *self, uint32_t pass, bool *stopped, struct clv_error *err)
{
    struct examples *examples = &self->examples;
    const struct clv_shape *shape = &examples->shape;
    struct decoder *decoder = &examples->decoders[0];
    rng_permutation(self->order, examples->n, self->training->seed, RNG_STREAM(RNG_ORDER, pass));
    for (size_t k = 0; k < examples->n; k++) {
        const struct clv_problem *problem = &examples->problems[self->order[k]];
        *stopped = stop_requested(self->training->progress);
        if (*stopped)
            return CLV_OK;
        enum clv_status status = decode_augmented(decoder, NULL, problem, shape, self->w, err);
        if (status)
            return status;
        double t = ++self->n_steps, step = 1 / (self->lambda * t);
        for (size_t j = 0; j < self->size; j++)
            self->w[j] *= 1 - 1 / t;
        clv_joint_feature_add(self->w, problem, shape, problem->label, step);
        clv_joint_feature_add(self->w, problem, shape, decoder->y, -step);
        project_couplings(self->w, shape);
        double norm = norm_of(self->w, self->size), shrink = norm > self->radius ? self->radius / norm : 1;
        for (size_t j = 0; j < self->size; j++)
            self->w[j] *= shrink;
        if (self->average)
            for (size_t j = 0; j < self->size; j++)
                self->average[j] += 2 / (t + 1) * (self->w[j] - self->average[j]);
    }
    return CLV_OK;
}

static enum clv_status objective_of(double *objective, struct subgradient *self, const double *w, struct clv_error *err)
{
    enum clv_status status = examples_hinges(self->hinge, &self->examples, w, err);
    double norm = norm_of(w, self->size);
    if (!status)
        *objective = self->lambda / 2 * norm * norm + mean_of(self->hinge, self->examples.n);
    return status;
}

static enum clv_status check(struct subgradient *self, struct clv_training_result *result, const double *w, size_t pass,
                             struct clv_error *err)
{
    double objective, train_loss;
    enum clv_status status = objective_of(&objective, self, w, err);
    if (!status)
        status = examples_loss(&train_loss, &self->examples, w, err);
    if (status)
        return status;
    char note[96];
    snprintf(note, sizeof note, "objective %.4f, training loss %.4f", objective, train_loss);
    report_progress(self->training->progress, "training", pass, (size_t)self->training->parameters[PASSES], note);
    return curve_add(result, (struct clv_curve_point){(double)pass, objective, NAN, train_loss}, err);
}

static enum clv_status subgradient_open(struct subgradient *self, const struct clv_training *training,
                                        struct clv_error *err)
{
    *self = (struct subgradient){.training = training};
    enum clv_status status = examples_open(&self->examples, training, training->parameters[EDGES] != 0, err);
    if (status)
        return status;
    self->size = clv_shape_size(&self->examples.shape);
    self->lambda = training->parameters[LAMBDA] * self->examples.scale;
    self->w = array_zalloc(self->size, sizeof *self->w);
    self->hinge = array_alloc(self->examples.n, sizeof *self->hinge);
    self->order = array_alloc(self->examples.n, sizeof *self->order);
    if (training->parameters[AVERAGING])
        self->average = array_zalloc(self->size, sizeof *self->average);
    if (!self->w || !self->order || !self->hinge || (training->parameters[AVERAGING] && !self->average))
        return fail_memory(err);
    double at_zero;
    status = objective_of(&at_zero, self, self->w, err);
    if (!status)
        self->radius = sqrt(2 * at_zero / self->lambda);
    return status;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    struct subgradient self;
    enum clv_status status = subgradient_open(&self, training, err);
    size_t n_passes = (size_t)training->parameters[PASSES];
    const double *w = self.average ? self.average : self.w;
    bool stopped = false;
    for (size_t pass = 1; !status && !stopped && pass <= n_passes; pass++) {
        status = run_pass(&self, (uint32_t)pass, &stopped, err);
        if (!status && !stopped && (pass % CHECK_EVERY == 0 || pass == n_passes))
            status = check(&self, result, w, pass, err);
    }
    if (status == CLV_ERR_INTERRUPTED && self.w) {
        status = CLV_OK;
        stopped = true;
    }
    result->interrupted = stopped;
    if (!status)
        status = result_set(result, &self.examples, w, err);
    examples_release(&self.examples);
    array_free(self.w);
    array_free(self.average);
    array_free(self.hinge);
    array_free(self.order);
    return status;
}

const struct clv_learner subgradient_learner = {
    .name = "subgradient",
    .summary = "structured hinge by projected stochastic subgradient (Ratliff et al. 2007; Shalev-Shwartz et al. 2007)",
    .parameters = parameters,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
