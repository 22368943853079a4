/* Chooses a parameter by K-fold cross-validation: all candidates and folds are tasks for threads and processes, and the
 * candidate of the least mean held-out loss is the best. Start at clv_cross_validate, at the end. */
#include <math.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "learn/common/common.h"
#include "learn/select/select.h"

static enum clv_status validate_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct validation *self = context;
    const struct folds *folds = &self->folds;
    size_t n_folds = (size_t)folds->n_folds, candidate = index / n_folds;
    double *losses = self->loss + candidate * folds->training->n_examples;
    if (isnan(losses[index % n_folds]))
        MUST(fold_losses(losses, folds, index % n_folds, self->parameter, self->candidates[candidate], err));
    parallel_progress(folds->training->progress, "cross-validating", &self->n_done, self->n_candidates * n_folds, NULL);
    return CLV_OK;
}

/* Lists the losses of the examples that the task held out. */
static bool validation_results(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct validation *self = context;
    size_t n_folds = (size_t)self->folds.n_folds, n = self->folds.training->n_examples;
    size_t at = k * n_folds + index % n_folds;
    if (at >= n)
        return false;
    *piece = (struct comm_piece){&self->loss[index / n_folds * n + at], sizeof *self->loss};
    return true;
}

/* Computes mean and standard error of each candidate's held-out losses, NaN if a fold is missing. Returns the first of
 * the best candidates. */
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
    FAIL_IF(n_candidates < 1, CLV_ERR_USAGE, "cross-validation of %s has no candidates",
            learner->parameters[parameter].name);
    return CLV_OK;
}

enum clv_status cross_validate(double *best, double *means, double *standard_errors, struct validation *self,
                               struct clv_error *err)
{
    self->n_done = 0;
    enum clv_status status = comm_queue(self->n_candidates * (size_t)self->folds.n_folds,
                                        self->folds.training->n_threads, validate_task, validation_results, self, err);
    if (status && status != CLV_ERR_INTERRUPTED)
        return status;
    double chosen = choose(means, standard_errors, self); /* after an interruption, sets means and errors */
    if (!status)
        *best = chosen;
    return status;
}

double *losses_unknown(size_t n)
{
    double *losses = array_alloc(n, sizeof *losses);
    for (size_t k = 0; losses && k < n; k++)
        losses[k] = NAN;
    return losses;
}

static void validation_release(struct validation *self)
{
    folds_release(&self->folds);
    array_free(self->loss);
}

enum clv_status clv_cross_validate(double *best, double *losses, double *standard_errors,
                                   const struct clv_learner *learner, const struct clv_training *training,
                                   int parameter, const double *candidates, size_t n_candidates, int32_t n_folds,
                                   struct clv_error *err)
{
    OWNED(validation_release)
    struct validation validation = {.parameter = parameter, .candidates = candidates, .n_candidates = n_candidates};
    MUST(check_validation(learner, parameter, n_candidates, err));
    MUST(folds_init(&validation.folds, learner, training, n_folds, err));
    validation.loss = losses_unknown(n_candidates * training->n_examples);
    NEED(validation.loss);
    return cross_validate(best, losses, standard_errors, &validation, err);
}
