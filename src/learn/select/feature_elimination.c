/* Backward elimination of groups of features, then of small weights, by cross-validation: what can go without the
 * held-out loss rising above that of all features, or by no more than a few standard errors of its rise over the same
 * images. Rounds train without each group that is left, and drop the one whose absence costs least, as long as one may
 * go; dear groups first, so that cheap ones are there to make up for them. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/team.h"
#include "base/team_for.h"
#include "learn/common/examples.h"
#include "learn/common/vectors.h"
#include "learn/select/folds.h"

static const double as_they_are = 0;

struct elimination {
    struct folds folds;
    const struct clv_elimination *options;
    size_t n, n_all;                                /* examples; node and edge features */
    double *whole;                                  /* [n] held-out losses of all features */
    double *losses;                                 /* [most thresholds, at least 1][n] of the latest trial */
    uint8_t *trial;                                 /* [n_all] */
    size_t n_done;                                  /* trials */
    struct clv_training_result latest, round, best; /* outside the first fold: the latest trial's, that of the round's
                                                     * best one, and of what is kept */
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
    struct elimination *self = task->self;
    bool is_kept = self->options->so_far && fold == 0; /* by a team's leader (team_queue) */
    return fold_losses(task->losses, is_kept ? &self->latest : NULL, &self->folds, &task->choice, fold,
                       task->thresholds, task->n_thresholds, err);
}

/* What the members of a team share in the end: whether the leader has weights, then these. */
struct best_weights {
    struct clv_training_result *best;
    size_t n_weights; /* 0: none */
};

static bool count_slot(struct team_piece *piece, void *context, size_t index, size_t k)
{
    (void)index;
    struct best_weights *self = context;
    *piece = (struct team_piece){&self->n_weights, sizeof self->n_weights};
    return k == 0;
}

static bool weights_slot(struct team_piece *piece, void *context, size_t index, size_t k)
{
    (void)index;
    struct best_weights *self = context;
    *piece = k ? (struct team_piece){&self->best->decoding, sizeof self->best->decoding}
               : (struct team_piece){self->best->w, self->n_weights * sizeof *self->best->w};
    return k < 2;
}

/* The leader's best weights for all: what it noted about them stays with it, who alone writes. */
static enum clv_status share_best(struct clv_training_result *best, const struct clv_shape *shape,
                                  struct clv_error *err)
{
    struct best_weights self = {best, best->w ? clv_shape_size(shape) : 0};
    enum clv_status status = team_share(1, count_slot, &self, err);
    if (!status && self.n_weights && !best->w) {
        best->w = array_alloc(self.n_weights, sizeof *best->w);
        status = best->w ? CLV_OK : fail_memory(err);
    }
    status = team_agree(status, err);
    return !status && self.n_weights ? team_share(1, weights_slot, &self, err) : status;
}

/* The losses of what the fold held out. */
static bool fold_results(struct team_piece *piece, void *context, size_t fold, size_t k)
{
    const struct fold_task *task = context;
    const struct folds *folds = &task->self->folds;
    size_t n = task->self->n, n_folds = (size_t)folds->n_folds, n_held = (n - fold + n_folds - 1) / n_folds;
    if (k >= n_held * task->n_thresholds)
        return false;
    *piece = (struct team_piece){&task->losses[k / n_held * n + k % n_held * n_folds + fold], sizeof *task->losses};
    return true;
}

static void move_result(struct clv_training_result *to, struct clv_training_result *from)
{
    clv_training_result_release(to);
    *to = *from;
    *from = (struct clv_training_result){0};
}

/* If all goes but one group of each tier. */
static size_t most_trials(const struct clv_elimination *options)
{
    size_t dear = options->n_dear, other = options->n_groups - dear;
    return 2 + dear * (dear + 1) / 2 + other * (other + 1) / 2;
}

/* losses[n_thresholds][n] of trainings on the kept features alone; kept NULL: on all. */
static enum clv_status run_trial(double *losses, struct elimination *self, const uint8_t *kept,
                                 const double *thresholds, size_t n_thresholds, struct clv_error *err)
{
    const struct clv_training *training = self->folds.training;
    struct clv_dataset *sieved = NULL;
    int lambda = clv_learner_parameter(self->folds.learner, "lambda");
    clv_training_result_release(&self->latest);
    report_progress(training->progress, "pruning", self->n_done++, most_trials(self->options), NULL);
    enum clv_status status = kept ? clv_dataset_keep(&sieved, training->dataset, kept, err) : CLV_OK;
    struct fold_task task = {
        .self = self,
        .choice = {kept ? sieved : training->dataset, lambda, lambda >= 0 ? training->parameters[lambda] : 0},
        .losses = losses,
        .thresholds = thresholds,
        .n_thresholds = n_thresholds};
    if (!status)
        status = team_queue((size_t)self->folds.n_folds, training->n_threads, run_fold, fold_results, &task, err);
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

/* One round over groups [begin, end): the best trial's step; its kept features go to `best`. step->group is n_groups if
 * nothing could be left out. */
static enum clv_status run_round(struct clv_elimination_step *step, uint8_t *best, struct elimination *self,
                                 const uint8_t *kept, const uint8_t *dropped, size_t begin, size_t end,
                                 struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    *step = (struct clv_elimination_step){.group = self->options->n_groups, .loss = INFINITY, .rise = INFINITY};
    for (size_t g = begin; g < end && !status; g++) {
        if (dropped[g] || !without(self, kept, g))
            continue;
        status = run_trial(self->losses, self, self->trial, &as_they_are, 1, err);
        struct clv_elimination_step trial = compare(self, self->losses);
        trial.group = g;
        if (status || trial.loss >= step->loss)
            continue;
        *step = trial;
        memcpy(best, self->trial, self->n_all);
        move_result(&self->round, &self->latest);
    }
    return status;
}

/* Rounds over the dear groups, then over the others. Of a round that is interrupted, what was tried counts. */
static enum clv_status drop_groups(uint8_t *kept, struct clv_elimination_step *steps, size_t *n_steps,
                                   struct elimination *self, struct clv_error *err)
{
    const struct clv_elimination *options = self->options;
    const size_t ends[] = {options->n_dear, options->n_groups};
    enum clv_status status = CLV_OK;
    uint8_t *best = array_alloc(self->n_all, sizeof *best), *dropped = array_zalloc(options->n_groups, sizeof *dropped);
    if (!best || !dropped)
        status = fail_memory(err);
    for (size_t tier = 0, begin = 0; tier < 2 && !status; begin = ends[tier++])
        for (bool goes_on = begin < ends[tier]; goes_on && !status;) {
            struct clv_elimination_step step;
            status = run_round(&step, best, self, kept, dropped, begin, ends[tier], err);
            goes_on = step.accepted;
            if (step.group < options->n_groups)
                steps[(*n_steps)++] = step;
            if (goes_on) {
                memcpy(kept, best, self->n_all);
                move_result(&self->best, &self->round);
                dropped[step.group] = 1;
            }
        }
    array_free(best);
    array_free(dropped);
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
    if (options->n_dear > options->n_groups)
        return fail(err, CLV_ERR_USAGE, "elimination: %zu of %zu groups are dear", options->n_dear, options->n_groups);
    if (!(options->tolerance >= 0))
        return fail(err, CLV_ERR_USAGE, "elimination: tolerance is %g, must not be negative", options->tolerance);
    for (size_t t = 0; t < options->n_thresholds; t++)
        if (!(options->thresholds[t] >= (t ? options->thresholds[t - 1] : 0) && options->thresholds[t] < 1))
            return fail(err, CLV_ERR_USAGE, "elimination: threshold %zu is %g, must ascend from 0 to below 1", t,
                        options->thresholds[t]);
    return CLV_OK;
}

enum clv_status clv_eliminate(uint8_t *kept, double *threshold, double *loss, struct clv_elimination_step *steps,
                              size_t *n_steps, const struct clv_learner *learner, const struct clv_training *training,
                              const struct clv_elimination *options, struct clv_error *err)
{
    struct elimination self = {
        .options = options,
        .n = training->n_examples,
        .n_all = (size_t)training->shape.n_features + (size_t)training->shape.n_edge_features,
    };
    size_t most = options->n_thresholds > 1 ? options->n_thresholds : 1;
    enum clv_status status = check_options(options, err);
    if (!status)
        status = folds_init(&self.folds, learner, training, options->n_folds, err);
    if (status)
        return status;
    *n_steps = 0;
    self.whole = array_alloc(self.n, sizeof *self.whole);
    self.losses = array_alloc(self.n, most * sizeof *self.losses);
    self.trial = array_alloc(self.n_all, sizeof *self.trial);
    memset(kept, 1, self.n_all);
    status = self.whole && self.losses && self.trial ? run_trial(self.whole, &self, NULL, &as_they_are, 1, err)
                                                     : fail_memory(err);
    if (!status) {
        *loss = mean_of(self.whole, self.n);
        move_result(&self.best, &self.latest);
        status = drop_groups(kept, steps, n_steps, &self, err);
    }
    if (!status)
        status = drop_weights(threshold, steps + *n_steps, &self, kept, err);
    if (!status)
        *n_steps += options->n_thresholds;
    if (status == CLV_ERR_INTERRUPTED && options->so_far) {
        enum clv_status shared = share_best(&self.best, &training->shape, err);
        status = shared ? shared : status;
        *threshold = 0;
        move_result(options->so_far, &self.best);
        options->so_far->interrupted = true;
    }
    folds_release(&self.folds);
    clv_training_result_release(&self.latest);
    clv_training_result_release(&self.round);
    clv_training_result_release(&self.best);
    array_free(self.whole);
    array_free(self.losses);
    array_free(self.trial);
    return status;
}
