/* The choice of a parameter by cross-validation. */
#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/team_for.h"
#include "learn/common/vectors.h"
#include "learn/select/folds.h"

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
    const struct folds *folds = &self->folds;
    size_t n_folds = (size_t)folds->n_folds, candidate = index / n_folds;
    MUST(fold_losses(self->loss + candidate * folds->training->n_examples, folds, index % n_folds, self->parameter,
                     self->candidates[candidate], err));
    parallel_progress(folds->training->progress, "cross-validating", &self->n_done, self->n_candidates * n_folds, NULL);
    return CLV_OK;
}

/* The losses of what the task held out. */
static bool validation_results(struct team_piece *piece, void *context, size_t index, size_t k)
{
    struct validation *self = context;
    size_t n_folds = (size_t)self->folds.n_folds, n = self->folds.training->n_examples;
    size_t place = k * n_folds + index % n_folds;
    if (place >= n)
        return false;
    *piece = (struct team_piece){&self->loss[index / n_folds * n + place], sizeof *self->loss};
    return true;
}

/* Mean and standard error of each candidate's held-out losses, NaN where a fold is missing; the first of the best
 * candidates. */
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
    MUST(check_validation(learner, parameter, n_candidates, err));
    MUST(folds_init(&validation.folds, learner, training, n_folds, err));
    validation.loss = array_alloc(n, n_candidates * sizeof *validation.loss);
    for (size_t k = 0; validation.loss && k < n * n_candidates; k++)
        validation.loss[k] = NAN;
    enum clv_status status = validation.loss ? team_queue(n_candidates * (size_t)n_folds, training->n_threads,
                                                          validate_task, validation_results, &validation, err)
                                             : fail_memory(err);
    if (!status)
        *best = choose(losses, standard_errors, &validation);
    else if (status == CLV_ERR_INTERRUPTED)
        choose(losses, standard_errors, &validation);
    folds_release(&validation.folds);
    array_free(validation.loss);
    return status;
}
