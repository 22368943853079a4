/* How well weights do: mean loss over examples, and the choice of a parameter by cross-validation. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "learn/examples.h"

struct evaluation {
    const struct clv_dataset *dataset;
    const int32_t *examples;
    const struct clv_shape *shape;
    const double *w;
    const struct clv_decoding *decoding;
    struct decoder *decoders;
    double *loss; /* [n_examples] */
};

static enum clv_status evaluate_example(void *context, size_t index, int thread, struct clv_error *err)
{
    struct evaluation *self = context;
    struct decoder *decoder = &self->decoders[thread];
    struct clv_problem problem = clv_dataset_problem(self->dataset, (size_t)self->examples[index]);
    enum clv_status status = decode_by(decoder, self->decoding, &problem, self->shape, self->w, err);
    if (!status)
        self->loss[index] = clv_loss(&problem, self->shape->n_labels, decoder->y);
    return status;
}

/* losses[n_examples]. */
static enum clv_status evaluate_each(double *losses, const struct clv_dataset *dataset, const int32_t *examples,
                                     size_t n_examples, const struct clv_shape *shape, const double *w,
                                     const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                                     struct clv_error *err)
{
    n_threads = parallel_threads(n_threads);
    struct evaluation evaluation = {dataset, examples, shape, w, decoding, NULL, losses};
    enum clv_status status = decoders_new(&evaluation.decoders, n_threads, engine, err);
    if (!status)
        decoders_watch(evaluation.decoders, n_threads, dataset);
    if (!status)
        status = parallel_for(n_examples, n_threads, evaluate_example, &evaluation, err);
    decoders_free(evaluation.decoders, n_threads);
    return status;
}

enum clv_status clv_evaluate(double *mean_loss, const struct clv_dataset *dataset, const int32_t *examples,
                             size_t n_examples, const struct clv_shape *shape, const double *w,
                             const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                             struct clv_error *err)
{
    if (n_examples < 1)
        return fail(err, CLV_ERR_USAGE, "no examples to evaluate");
    double *losses = array_alloc(n_examples, sizeof *losses);
    if (!losses)
        return fail_memory(err);
    enum clv_status status =
        evaluate_each(losses, dataset, examples, n_examples, shape, w, decoding, engine, n_threads, err);
    if (!status)
        *mean_loss = mean_of(losses, n_examples);
    array_free(losses);
    return status;
}

enum clv_status clv_evaluate_all(double *mean_loss, const struct clv_dataset *dataset, const struct clv_shape *shape,
                                 const double *w, const struct clv_decoding *decoding, enum clv_engine engine,
                                 int n_threads, struct clv_error *err)
{
    size_t n = clv_dataset_size(dataset);
    int32_t *examples = array_alloc(n, sizeof *examples);
    if (!examples)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        examples[i] = (int32_t)i;
    enum clv_status status = clv_evaluate(mean_loss, dataset, examples, n, shape, w, decoding, engine, n_threads, err);
    array_free(examples);
    return status;
}

/* One training run per candidate and fold, each on one thread, so that nothing depends on their number. */
struct validation {
    const struct clv_learner *learner;
    const struct clv_training *training;
    int parameter;
    const double *candidates;
    size_t n_candidates;
    int32_t n_folds;
    const int32_t *order; /* [n_examples] shuffled examples; fold f holds places f, f + n_folds, .. */
    double *loss;         /* [n_candidates][n_examples] of each example when it was held out, by place in order */
    size_t n_done;        /* guarded by the critical section */
};

/* The candidate's value for a training on n_train of the n examples. A lambda against the mean of losses is lambda n
 * against their sum, and that is what stays the same when examples are left out: the prior does not know how many there are. */
static double value_for_fold(const struct validation *self, size_t candidate, size_t n_train)
{
    const struct clv_parameter *parameter = &self->learner->parameters[self->parameter];
    double value = self->candidates[candidate];
    double scaled = value * (double)self->training->n_examples / (double)n_train;
    bool is_scaled = self->learner->lambda_of_mean && strcmp(parameter->name, "lambda") == 0;
    return is_scaled && value >= parameter->minimum && scaled <= parameter->maximum ? scaled : value;
}

static enum clv_status validate_fold(const struct validation *self, size_t candidate, int32_t fold,
                                     struct clv_error *err)
{
    enum clv_status status;
    const struct clv_training *all = self->training;
    size_t n = all->n_examples, n_train = 0, n_held = 0, n_folds = (size_t)self->n_folds;
    struct clv_progress silent = {.stop = all->progress ? all->progress->stop : NULL};
    struct clv_training training = *all;
    struct clv_training_result result = {0};
    int32_t *train = array_alloc(n, sizeof *train), *held = array_alloc(n, sizeof *held);
    double *losses = array_alloc(n, sizeof *losses);
    if (!train || !held || !losses) {
        status = fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        if (i % n_folds == (size_t)fold)
            held[n_held++] = self->order[i];
        else
            train[n_train++] = self->order[i];
    training.examples = train;
    training.n_examples = n_train;
    training.n_threads = 1;
    training.progress = &silent;
    training.checkpoints = NULL;
    training.validation = NULL;
    training.parameters[self->parameter] = value_for_fold(self, candidate, n_train);
    status = clv_train(&result, self->learner, &training, err);
    if (!status && result.interrupted)
        status = fail(err, CLV_ERR_INTERRUPTED, "cross-validation was interrupted");
    if (!status)
        status = evaluate_each(losses, all->dataset, held, n_held, &all->shape, result.w, &result.decoding, all->engine,
                               1, err);
    for (size_t k = 0; !status && k < n_held; k++)
        self->loss[candidate * n + k * n_folds + (size_t)fold] = losses[k];
done:
    clv_training_result_release(&result);
    array_free(train);
    array_free(held);
    array_free(losses);
    return status;
}

static enum clv_status validate_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct validation *self = context;
    enum clv_status status =
        validate_fold(self, index / (size_t)self->n_folds, (int32_t)(index % (size_t)self->n_folds), err);
    if (status)
        return status;
#pragma omp critical(validation_progress)
    report_progress(self->training->progress, "cross-validating", ++self->n_done,
                    self->n_candidates * (size_t)self->n_folds, NULL);
    return CLV_OK;
}

/* Mean and standard error of each candidate's held-out losses; the first of the best candidates. */
static double choose(double *means, double *standard_errors, const struct validation *self)
{
    size_t n = self->training->n_examples, best = 0;
    double best_mean = INFINITY;
    for (size_t c = 0; c < self->n_candidates; c++) {
        const double *loss = self->loss + c * n;
        double mean = mean_of(loss, n), squares = 0;
        for (size_t i = 0; i < n; i++)
            squares += (loss[i] - mean) * (loss[i] - mean);
        if (means)
            means[c] = mean;
        if (standard_errors)
            standard_errors[c] = sqrt(squares / ((double)n * (double)(n - 1)));
        if (mean < best_mean) {
            best_mean = mean;
            best = c;
        }
    }
    return self->candidates[best];
}

static enum clv_status check_validation(const struct clv_learner *learner, const struct clv_training *training,
                                        int parameter, size_t n_candidates, int32_t n_folds, struct clv_error *err)
{
    if (parameter < 0 || parameter >= CLV_MAX_PARAMETERS)
        return fail(err, CLV_ERR_USAGE, "%s has no parameter number %d", learner->name, parameter);
    for (int i = 0; i <= parameter; i++)
        if (!learner->parameters[i].name)
            return fail(err, CLV_ERR_USAGE, "%s has no parameter number %d", learner->name, parameter);
    if (n_candidates < 1)
        return fail(err, CLV_ERR_USAGE, "cross-validation of %s has no candidates",
                    learner->parameters[parameter].name);
    if (n_folds < 2 || (size_t)n_folds > training->n_examples)
        return fail(err, CLV_ERR_USAGE,
                    "cross-validation with %d folds needs 2 folds or more and %d examples or more, has %zu", n_folds,
                    n_folds, training->n_examples);
    return CLV_OK;
}

enum clv_status clv_cross_validate(double *best, double *losses, double *standard_errors,
                                   const struct clv_learner *learner, const struct clv_training *training,
                                   int parameter, const double *candidates, size_t n_candidates, int32_t n_folds,
                                   struct clv_error *err)
{
    enum clv_status status = check_validation(learner, training, parameter, n_candidates, n_folds, err);
    if (status)
        return status;
    size_t n = training->n_examples;
    int32_t *order = array_alloc(n, sizeof *order);
    double *loss = array_alloc(n, n_candidates * sizeof *loss);
    if (!order || !loss) {
        status = fail_memory(err);
        goto done;
    }
    rng_permutation(order, n, training->seed, RNG_STREAM(RNG_FOLD, 0));
    for (size_t i = 0; i < n; i++)
        order[i] = training->examples[order[i]];
    struct validation validation = {learner, training, parameter, candidates, n_candidates, n_folds, order, loss, 0};
    status = parallel_for(n_candidates * (size_t)n_folds, training->n_threads, validate_task, &validation, err);
    if (!status)
        *best = choose(losses, standard_errors, &validation);
done:
    array_free(order);
    array_free(loss);
    return status;
}
