/* How well weights do: mean loss over examples, and the choice of a parameter by cross-validation. */
#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "learn/common/examples.h"
#include "learn/select/folds.h"

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

enum clv_status evaluate_each(double *losses, const struct clv_dataset *dataset, const int32_t *examples,
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
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (clv_dataset_problem(dataset, i).theta)
            examples[n_known++] = (int32_t)i;
    enum clv_status status =
        clv_evaluate(mean_loss, dataset, examples, n_known, shape, w, decoding, engine, n_threads, err);
    array_free(examples);
    return status;
}

/* One training run per candidate and fold, each on one thread, so that nothing depends on their number. */
struct validation {
    struct folds folds;
    int parameter;
    const double *candidates;
    size_t n_candidates;
    double *loss;  /* [n_candidates][n_examples] of each example when it was held out, by place in order */
    size_t n_done; /* counted by parallel_progress */
};

static enum clv_status validate_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct validation *self = context;
    static const double as_they_are = 0;
    const struct folds *folds = &self->folds;
    size_t n_folds = (size_t)folds->n_folds, candidate = index / n_folds;
    struct fold_choice choice = {folds->training->dataset, self->parameter, self->candidates[candidate]};
    enum clv_status status = fold_losses(self->loss + candidate * folds->training->n_examples, folds, &choice,
                                         index % n_folds, &as_they_are, 1, err);
    if (status)
        return status;
    parallel_progress(folds->training->progress, "cross-validating", &self->n_done, self->n_candidates * n_folds, NULL);
    return CLV_OK;
}

/* Mean and standard error of each candidate's held-out losses; the first of the best candidates. */
static double choose(double *means, double *standard_errors, const struct validation *self)
{
    size_t n = self->folds.training->n_examples, best = 0;
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

static enum clv_status check_validation(const struct clv_learner *learner, int parameter, size_t n_candidates,
                                        struct clv_error *err)
{
    if (parameter < 0 || parameter >= CLV_MAX_PARAMETERS)
        return fail(err, CLV_ERR_USAGE, "%s has no parameter number %d", learner->name, parameter);
    for (int i = 0; i <= parameter; i++)
        if (!learner->parameters[i].name)
            return fail(err, CLV_ERR_USAGE, "%s has no parameter number %d", learner->name, parameter);
    if (n_candidates < 1)
        return fail(err, CLV_ERR_USAGE, "cross-validation of %s has no candidates",
                    learner->parameters[parameter].name);
    return CLV_OK;
}

enum clv_status clv_cross_validate(double *best, double *losses, double *standard_errors,
                                   const struct clv_learner *learner, const struct clv_training *training,
                                   int parameter, const double *candidates, size_t n_candidates, int32_t n_folds,
                                   struct clv_error *err)
{
    struct validation validation = {.parameter = parameter, .candidates = candidates, .n_candidates = n_candidates};
    size_t n = training->n_examples;
    enum clv_status status = check_validation(learner, parameter, n_candidates, err);
    if (!status)
        status = folds_init(&validation.folds, learner, training, n_folds, err);
    if (status)
        return status;
    validation.loss = array_alloc(n, n_candidates * sizeof *validation.loss);
    status = validation.loss
                 ? parallel_for(n_candidates * (size_t)n_folds, training->n_threads, validate_task, &validation, err)
                 : fail_memory(err);
    if (!status)
        *best = choose(losses, standard_errors, &validation);
    folds_release(&validation.folds);
    array_free(validation.loss);
    return status;
}
