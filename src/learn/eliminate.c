/* Backward elimination of groups of features, then of small weights, by cross-validation: what can go without the held-out loss
 * rising by more than a few standard errors of its rise, both over the same images. Groups are tried in the order of what the loss
 * of all features but them is, the most dispensable first; each is trained without all that went before. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "learn/examples.h"
#include "learn/folds.h"

static const double as_they_are = 0;

struct elimination {
    struct folds folds;
    const struct clv_elimination *options;
    size_t n, n_all; /* examples; node and edge features */
    double *whole;   /* [n] held-out losses of all features */
    double *losses;  /* [most thresholds, at least 1][n] of the latest trial */
    uint8_t *trial;  /* [n_all] */
    size_t n_done, n_trials;
};

struct fold_task {
    struct elimination *self;
    struct fold_choice choice;
    double *losses;
    const double *thresholds;
    size_t n_thresholds;
};

static enum clv_status run_fold(void *context, size_t fold, int thread, struct clv_error *err)
{
    (void)thread;
    const struct fold_task *task = context;
    return fold_losses(task->losses, &task->self->folds, &task->choice, fold, task->thresholds, task->n_thresholds,
                       err);
}

/* losses[n_thresholds][n] of trainings on the kept features alone; kept NULL: on all. */
static enum clv_status run_trial(double *losses, struct elimination *self, const uint8_t *kept,
                                 const double *thresholds, size_t n_thresholds, struct clv_error *err)
{
    const struct clv_training *training = self->folds.training;
    struct clv_dataset *sieved = NULL;
    int lambda = clv_learner_parameter(self->folds.learner, "lambda");
    report_progress(training->progress, "pruning", self->n_done++, self->n_trials, NULL);
    enum clv_status status = kept ? clv_dataset_keep(&sieved, training->dataset, kept, err) : CLV_OK;
    struct fold_task task = {
        .self = self,
        .choice = {kept ? sieved : training->dataset, lambda, lambda >= 0 ? training->parameters[lambda] : 0},
        .losses = losses,
        .thresholds = thresholds,
        .n_thresholds = n_thresholds};
    if (!status)
        status = parallel_for((size_t)self->folds.n_folds, training->n_threads, run_fold, &task, err);
    clv_dataset_free(sieved);
    return status;
}

/* The loss and its rise over that of all features, paired by example. */
static struct clv_elimination_step compare(const struct elimination *self, const double *losses)
{
    double n = (double)self->n, mean = mean_of(losses, self->n), rise = mean - mean_of(self->whole, self->n),
           squares = 0;
    for (size_t i = 0; i < self->n; i++) {
        double d = losses[i] - self->whole[i] - rise;
        squares += d * d;
    }
    double error = sqrt(squares / (n * (n - 1)));
    return (struct clv_elimination_step){
        .loss = mean, .rise = rise, .standard_error = error, .accepted = rise <= self->options->tolerance * error};
}

/* trial = kept without a group. Returns whether anything is left of nodes' features. */
static bool without(struct elimination *self, const uint8_t *kept, size_t group)
{
    size_t n_left = 0, d = (size_t)self->folds.training->shape.n_features;
    for (size_t k = 0; k < self->n_all; k++) {
        self->trial[k] = kept[k] && !self->options->groups[group][k];
        n_left += k < d && self->trial[k];
    }
    return n_left > 0;
}

struct ranked {
    double loss;
    size_t group;
};

static int by_loss(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->loss != y->loss)
        return x->loss < y->loss ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Every group by the loss without it alone. */
static enum clv_status rank(struct ranked *ranked, struct elimination *self, const uint8_t *kept, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t g = 0; g < self->options->n_groups && !status; g++) {
        ranked[g] = (struct ranked){INFINITY, g};
        if (!without(self, kept, g))
            continue;
        status = run_trial(self->losses, self, self->trial, &as_they_are, 1, err);
        ranked[g].loss = mean_of(self->losses, self->n);
    }
    qsort(ranked, self->options->n_groups, sizeof *ranked, by_loss);
    return status;
}

static enum clv_status drop_groups(uint8_t *kept, struct clv_elimination_step *steps, struct elimination *self,
                                   const struct ranked *ranked, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < self->options->n_groups && !status; i++) {
        steps[i] = (struct clv_elimination_step){.loss = INFINITY, .rise = INFINITY};
        if (without(self, kept, ranked[i].group)) {
            status = run_trial(self->losses, self, self->trial, &as_they_are, 1, err);
            steps[i] = compare(self, self->losses);
        }
        steps[i].group = ranked[i].group;
        if (!status && steps[i].accepted)
            memcpy(kept, self->trial, self->n_all);
    }
    return status;
}

/* The largest of the thresholds, all of whose smaller ones will do, too. */
static enum clv_status drop_weights(double *threshold, struct clv_elimination_step *steps, struct elimination *self,
                                    const uint8_t *kept, struct clv_error *err)
{
    const struct clv_elimination *options = self->options;
    enum clv_status status = CLV_OK;
    if (options->n_thresholds)
        status = run_trial(self->losses, self, kept, options->thresholds, options->n_thresholds, err);
    int accepted = 1;
    *threshold = 0;
    for (size_t t = 0; t < options->n_thresholds && !status; t++) {
        steps[t] = compare(self, self->losses + t * self->n);
        steps[t].group = options->n_groups;
        steps[t].threshold = options->thresholds[t];
        accepted &= steps[t].accepted;
        steps[t].accepted = accepted;
        if (accepted)
            *threshold = options->thresholds[t];
    }
    return status;
}

static enum clv_status check_options(const struct clv_elimination *options, struct clv_error *err)
{
    if (!(options->tolerance >= 0))
        return fail(err, CLV_ERR_USAGE, "elimination: tolerance is %g, must not be negative", options->tolerance);
    for (size_t t = 0; t < options->n_thresholds; t++)
        if (!(options->thresholds[t] >= (t ? options->thresholds[t - 1] : 0) && options->thresholds[t] < 1))
            return fail(err, CLV_ERR_USAGE, "elimination: threshold %zu is %g, must ascend from 0 to below 1", t,
                        options->thresholds[t]);
    return CLV_OK;
}

enum clv_status clv_eliminate(uint8_t *kept, double *threshold, double *loss, struct clv_elimination_step *steps,
                              const struct clv_learner *learner, const struct clv_training *training,
                              const struct clv_elimination *options, struct clv_error *err)
{
    struct elimination self = {
        .options = options,
        .n = training->n_examples,
        .n_all = (size_t)training->shape.n_features + (size_t)training->shape.n_edge_features,
        .n_trials = 2 * options->n_groups + 2,
    };
    struct ranked *ranked = NULL;
    size_t most = options->n_thresholds > 1 ? options->n_thresholds : 1;
    enum clv_status status = check_options(options, err);
    if (!status)
        status = folds_init(&self.folds, learner, training, options->n_folds, err);
    if (status)
        return status;
    self.whole = array_alloc(self.n, sizeof *self.whole);
    self.losses = array_alloc(self.n, most * sizeof *self.losses);
    self.trial = array_alloc(self.n_all, sizeof *self.trial);
    ranked = array_alloc(options->n_groups, sizeof *ranked);
    memset(kept, 1, self.n_all);
    status = self.whole && self.losses && self.trial && ranked
                 ? run_trial(self.whole, &self, NULL, &as_they_are, 1, err)
                 : fail_memory(err);
    if (!status)
        status = rank(ranked, &self, kept, err);
    if (!status)
        status = drop_groups(kept, steps, &self, ranked, err);
    if (!status)
        status = drop_weights(threshold, steps + options->n_groups, &self, kept, err);
    if (!status)
        *loss = mean_of(self.whole, self.n);
    folds_release(&self.folds);
    array_free(self.whole);
    array_free(self.losses);
    array_free(self.trial);
    array_free(ranked);
    return status;
}
