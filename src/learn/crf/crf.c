/* Conditional random fields by maximum likelihood (Lafferty, McCallum, Pereira 2001), the baseline of Zhu & Xing 2009
 * and Shpakova et al. 2018:
 *
 *     min_w  F(w) = NLL(w) + R(w),    R(w) = 0, lambda |w|^2 or lambda sum_k |w_k|
 *
 * with the likelihood of crf_objective.h, by L-BFGS, or OWL-QN where R has corners (Andrew & Gao 2007), of liblbfgs. F
 * is convex. With the square, F - lambda |w|^2 is convex too, so that F* >= F(w) - |dF/dw|^2 / (4 lambda): a bound from
 * below at no cost. */
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "learn/common/result.h"
#include "learn/crf/crf.h"
#include "learn/crf/crf_objective.h"

enum { PENALTY, LAMBDA, PASSES, TOLERANCE, MEMORY, EDGES };
enum { PENALTY_NONE, PENALTY_L2, PENALTY_L1 };

static const struct clv_parameter parameters[] = {
    [PENALTY] = {"penalty", PENALTY_L2, 0, 2,
                 "what is added to the negative log-likelihood: nothing, lambda |w|^2, lambda |w|_1"},
    [LAMBDA] = {"lambda", 1, 1e-12, 1e12, "weight of the penalty; the likelihood is summed over the examples"},
    [PASSES] = {"passes", 2000, 1, 1e6, "most steps, each of one pass over the examples or a few"},
    [TOLERANCE] = {"tolerance", 1e-5, 0, 1, "stop once ten steps lower the objective by less than this share"},
    [MEMORY] = {"memory", 20, 3, 100, "steps that L-BFGS remembers"},
    [EDGES] = {"edges", 1, 0, 1, "0: learn without pairwise terms: multinomial logistic regression"},
    {0},
};

static const char *const penalties[] = {"none", "l2", "l1", NULL};
static const struct clv_choice choices[] = {{PENALTY, penalties}, {0}};

#define VECTOR            8    /* liblbfgs's vector code takes variables in such numbers */
#define SMALLEST_GRADIENT 1e-7 /* beside the weights: as good as none */

struct crf {
    const struct clv_training *training;
    struct clv_training_result *result;
    struct clv_error *err;
    struct examples examples;
    struct crf_objective objective;
    int penalty;
    double lambda;
    size_t size, padded_size;
    double *x;  /* [padded_size] liblbfgs's */
    double *w;  /* [size] the last iterate */
    double nll; /* of the last evaluation */
    size_t n_evaluations, n_steps;
    enum clv_status status;
};

static bool is_finite(const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* F and its gradient, but for the absolute values, which OWL-QN looks after. A step that its projection undid leaves a
 * memory of 0 / 0 and then a direction that is no number: without a value there its search fails, and minimise() starts
 * anew. */
static double evaluate(void *instance, const double *x, double *gradient, int n, double step)
{
    (void)step;
    struct crf *self = instance;
    double squares = 0;
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    if (!is_finite(x, self->size))
        return NAN;
    if (!self->status)
        self->status = crf_objective_at(&self->nll, gradient, &self->objective, x, self->err);
    if (self->status)
        return NAN;
    self->n_evaluations++;
    for (size_t k = 0; k < self->size && self->penalty == PENALTY_L2; k++) {
        squares += x[k] * x[k];
        gradient[k] += 2 * self->lambda * x[k];
    }
    return self->nll + self->lambda * squares;
}

/* After an iteration: liblbfgs stops if this is not 0. */
static int iterated(void *instance, const double *x, const double *gradient, double objective, double norm,
                    double gradient_norm, double step, int n, int iteration, int n_tried)
{
    (void)gradient, (void)norm, (void)step, (void)n, (void)iteration, (void)n_tried;
    struct crf *self = instance;
    double dual = self->penalty == PENALTY_L2 ? objective - gradient_norm * gradient_norm / (4 * self->lambda) : NAN;
    char note[96];
    memcpy(self->w, x, self->size * sizeof *x);
    self->n_steps++;
    snprintf(note, sizeof note, "objective %.4f, gradient %.2g", objective, gradient_norm);
    report_progress(self->training->progress, "training", self->n_steps, (size_t)self->training->parameters[PASSES],
                    note);
    if (!self->status)
        self->status = curve_add(
            self->result, (struct clv_curve_point){(double)self->n_evaluations, objective, dual, NAN}, self->err);
    if (!self->status && stop_requested(self->training->progress))
        self->status = CLV_ERR_INTERRUPTED;
    return self->status;
}

static void set_options(lbfgs_parameter_t *options, const struct crf *self)
{
    const double *given = self->training->parameters;
    lbfgs_parameter_init(options);
    options->m = (int)given[MEMORY];
    options->epsilon = SMALLEST_GRADIENT;
    options->past = 10;
    options->delta = given[TOLERANCE];
    options->max_iterations = (int)given[PASSES] - (int)self->n_steps;
    if (self->penalty != PENALTY_L1)
        return;
    options->orthantwise_c = self->lambda;
    options->orthantwise_end = (int)self->size;
    options->linesearch = LBFGS_LINESEARCH_BACKTRACKING;
}

/* Whether no step along the direction did: the objective's rounding (at the optimum), or a memory that misleads. */
static bool search_failed(int outcome)
{
    return outcome >= LBFGSERR_OUTOFINTERVAL && outcome <= LBFGSERR_INCREASEGRADIENT &&
           outcome != LBFGSERR_MAXIMUMITERATION;
}

/* Starts again without memory where a search fails, until that leads nowhere, either. */
static enum clv_status minimise(struct crf *self)
{
    lbfgs_parameter_t options;
    size_t n_steps;
    int outcome;
    do {
        n_steps = self->n_steps;
        set_options(&options, self);
        outcome = lbfgs((int)self->padded_size, self->x, NULL, evaluate, iterated, self, &options);
    } while (!self->status && search_failed(outcome) && self->n_steps > n_steps &&
             (double)self->n_steps < self->training->parameters[PASSES]);
    if (self->status)
        return self->status;
    if (outcome == LBFGSERR_OUTOFMEMORY)
        return fail_memory(self->err);
    if (outcome < 0 && outcome != LBFGSERR_MAXIMUMITERATION && !search_failed(outcome))
        return fail(self->err, CLV_ERR_INTERNAL, "liblbfgs ended with code %d", outcome);
    return CLV_OK;
}

static enum clv_status crf_open(struct crf *self, const struct clv_training *training,
                                struct clv_training_result *result, struct clv_error *err)
{
    *self = (struct crf){.training = training, .result = result, .err = err};
    enum clv_status status = examples_open(&self->examples, training, training->parameters[EDGES] != 0, err);
    if (status)
        return status;
    self->penalty = (int)training->parameters[PENALTY];
    self->lambda = self->penalty == PENALTY_NONE ? 0 : training->parameters[LAMBDA];
    self->size = clv_shape_size(&self->examples.shape);
    self->padded_size = (self->size + VECTOR - 1) / VECTOR * VECTOR;
    self->x = array_zalloc_aligned(self->padded_size, sizeof *self->x);
    self->w = array_zalloc(self->size, sizeof *self->w);
    if (!self->x || !self->w)
        return fail_memory(err);
    if (training->init) {
        memcpy(self->x, training->init, self->size * sizeof *self->x);
        memcpy(self->w, training->init, self->size * sizeof *self->w);
    }
    return crf_objective_open(&self->objective, &self->examples, err);
}

/* Viterbi where the oracle knows it, otherwise the forests' own. */
static enum clv_status choose_decoding(struct clv_decoding *decoding, const struct crf *self, struct clv_error *err)
{
    bool is_chain = self->objective.k > 2 || self->objective.is_shared;
    for (size_t i = 0; i < self->examples.n && is_chain && self->objective.has_pairs; i++) {
        enum clv_graph graph;
        enum clv_status status = clv_problem_graph(&graph, &self->examples.problems[i], err);
        if (status)
            return status;
        is_chain = graph == CLV_GRAPH_CHAIN;
    }
    decoding->rule = is_chain || !self->objective.has_pairs ? CLV_DECODE_ORACLE : CLV_DECODE_MAP;
    return CLV_OK;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    struct crf self;
    enum clv_status status = crf_open(&self, training, result, err);
    if (!status)
        status = minimise(&self);
    if (status == CLV_ERR_INTERRUPTED) {
        status = CLV_OK;
        result->interrupted = true;
    }
    if (!status)
        status = choose_decoding(&result->decoding, &self, err);
    if (!status)
        status = result_set(result, &self.examples, self.w, err);
    crf_objective_release(&self.objective);
    examples_release(&self.examples);
    array_free(self.x);
    array_free(self.w);
    return status;
}

/* liblbfgs keeps two vectors a step remembered, and six more. */
static double bytes(const struct clv_training *training)
{
    double vectors = 2 * training->parameters[MEMORY] + 6 + 2;
    return crf_objective_bytes(training) + vectors * (double)sizeof(double) * (double)clv_shape_size(&training->shape);
}

const struct clv_learner crf_learner = {
    .name = "crf",
    .summary = "conditional random field, exact on chains and forests (Lafferty et al. 2001)",
    .parameters = parameters,
    .choices = choices,
    .takes_init = true,
    .trains = CLV_TRAINS_FULL_CHAINS | CLV_TRAINS_FULL_FORESTS,
    .train = train,
    .bytes = bytes,
};
