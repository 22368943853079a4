/* Chooses parameters for a training by cross-validation over grids of candidates, and keeps the losses of all folds in
 * the checkpoint, so that an interrupted search resumes. Also trains the first of two stages, and refuses parameters
 * that cannot have an effect. Start at train_cross_validate. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "learn/common/common.h"
#include "learn/select/select.h"
#include "learn/stages/stages.h"
#include "model/model.h"
#include "train/train.h"

/* Returns the index of the parameter for which a grid has candidates. Without a grid, or if the grid names none,
 * returns that of the regularisation, or -1 if the learner has none. */
static int grid_parameter(const struct clv_candidates *grid, const struct clv_learner *learner)
{
    return grid && grid->parameter >= 0 ? grid->parameter : learner_regularisation(learner);
}

/* Returns why the parameter has no effect with any candidate of --cv-grid, each tried by itself; NULL if it has one. */
static const char *unused_in_all(char space[UNUSED_REASON_SIZE], const struct clv_train_options *options,
                                 const struct clv_training *training, int index)
{
    char ignored[UNUSED_REASON_SIZE];
    const struct clv_learner *learner = options->learner;
    const char *why = learner_unused_reason(space, learner, training, index);
    for (size_t g = 0; why && g < options->n_grids; g++) {
        const struct clv_candidates *grid = &options->grids[g];
        struct clv_training other = *training;
        int varied = grid_parameter(grid, learner);
        for (size_t i = 0; varied >= 0 && i < grid->n; i++) {
            other.parameters[varied] = grid->values[i];
            if (!learner_unused_reason(ignored, learner, &other, index))
                return NULL;
        }
    }
    return why;
}

enum clv_status train_check_effect(const struct clv_train_options *options, const struct clv_training *training,
                                   struct clv_error *err)
{
    const struct clv_learner *learner = options->learner;
    struct clv_training as_given = *training;
    const double none = 0;
    char space[UNUSED_REASON_SIZE];
    if (options->init && !training->init) /* the model is not read yet */
        as_given.init = &none;
    for (int i = 0; learner->parameters[i].name; i++) {
        const char *why = options->is_given[i] ? unused_in_all(space, options, &as_given, i) : NULL;
        FAIL_IF(why, CLV_ERR_USAGE, "--%s cannot be used with --learner %s: %s", learner->parameters[i].name,
                learner->name, why);
    }
    for (size_t g = 0; g < options->n_grids || (options->cv && g == 0); g++) {
        int index = grid_parameter(options->n_grids ? &options->grids[g] : NULL, learner);
        const char *why = index < 0 ? NULL : unused_in_all(space, options, &as_given, index); /* -1: reported later */
        FAIL_IF(why, CLV_ERR_USAGE, "--%s: --%s cannot be used with --learner %s: %s",
                options->n_grids ? "cv-grid" : "cv", learner->parameters[index].name, learner->name, why);
    }
    return CLV_OK;
}

/* State of the search over all combinations. */
struct search {
    const struct clv_train_options *options;
    struct clv_candidates grids[CLV_MAX_GRIDS]; /* the given ones, or one around the default */
    int index[CLV_MAX_GRIDS];                   /* of their parameters */
    size_t n_grids;
    struct clv_training training; /* for the folds; its parameters are the current combination */
    struct loss_unit unit;
    struct validation row; /* the candidates of the first grid */
    double *losses;        /* [n_losses] losses of all rows, one after the other */
    size_t n_losses;
    struct checkpoints checkpoints; /* without those of a training no losses are kept */
};

static void search_release(struct search *self)
{
    folds_release(&self->row.folds);
    array_free(self->losses);
}

/* Reads the losses of an earlier run, if there is a checkpoint. */
static enum clv_status read_losses(struct search *self, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *state = NULL;
    const struct clv_tensor *losses;
    MUST(checkpoint_read(&state, &self->checkpoints, err));
    if (!state)
        return CLV_OK;
    MUST(clv_tensors_require(&losses, state, "losses", CLV_F64, 1, (int64_t[]){(int64_t)self->n_losses}, err));
    memcpy(self->losses, losses->data, self->n_losses * sizeof *self->losses);
    return CLV_OK;
}

/* Counts the folds of all rows whose losses are known. */
static size_t count_folds(const struct search *self)
{
    size_t n_known = 0, n = self->training.n_examples;
    for (size_t k = 0; k < self->n_losses; k++)
        n_known += k % n < (size_t)self->options->cv && !isnan(self->losses[k]);
    return n_known;
}

static bool keeps_losses(const struct search *self)
{
    return self->checkpoints.training->checkpoints && count_folds(self);
}

static enum clv_status write_losses(struct search *self, struct clv_error *err)
{
    const struct clv_tensor losses = {.name = "losses",
                                      .dtype = CLV_F64,
                                      .n_dimensions = 1,
                                      .shape = {(int64_t)self->n_losses},
                                      .data = self->losses};
    return keeps_losses(self) ? checkpoint_write(&self->checkpoints, &losses, 1, err) : CLV_OK;
}

static enum clv_status fail_unfinished(const struct search *self, struct clv_error *err)
{
    bool is_kept = keeps_losses(self);
    report_message(self->options->progress, CLV_SUMMARY, "unfinished");
    return fail(err, CLV_ERR_INTERRUPTED,
                "interrupted in cross-validation: nothing is chosen and no model is learned; %zu of %zu folds %s%s%s",
                count_folds(self), self->n_losses / self->training.n_examples * (size_t)self->options->cv,
                is_kept ? "are in " : "were finished, none is kept", is_kept ? self->options->checkpoint : "",
                is_kept ? "; run the same command with --resume to continue" : "");
}

/* Adds a grid for the learner's regularisation, around its value. */
static void default_grid(struct search *self, int index)
{
    static const double factors[] = {0.01, 0.1, 1, 10, 100};
    const struct clv_parameter *parameter = &self->options->learner->parameters[index];
    struct clv_candidates *grid = &self->grids[self->n_grids++];
    grid->parameter = index;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double value = self->training.parameters[index] * factors[i];
        if (value >= parameter->minimum && value <= parameter->maximum)
            grid->values[grid->n++] = value;
    }
}

static enum clv_status take_grids(struct search *self, struct clv_error *err)
{
    const struct clv_learner *learner = self->options->learner;
    int regularisation = learner_regularisation(learner);
    int *index = self->index;
    memcpy(self->grids, self->options->grids, sizeof self->grids);
    self->n_grids = self->options->n_grids;
    FAIL_IF(!self->n_grids && regularisation < 0, CLV_ERR_USAGE, "--cv: learner \"%s\" has no regularisation to choose",
            learner->name);
    if (!self->n_grids)
        default_grid(self, regularisation);
    for (size_t g = 0; g < self->n_grids; g++) {
        const struct clv_candidates *grid = &self->grids[g];
        index[g] = grid_parameter(grid, learner);
        FAIL_IF(index[g] < 0, CLV_ERR_USAGE, "--cv-grid: learner \"%s\" has no regularisation", learner->name);
        for (size_t h = 0; h < g; h++)
            FAIL_IF(index[h] == index[g], CLV_ERR_USAGE, "--cv-grid: %s has two grids",
                    learner->parameters[index[g]].name);
    }
    return CLV_OK;
}

struct choice {
    double value[CLV_MAX_GRIDS], loss;
};

static void report_losses(const struct search *self, const double *losses, const double *standard_errors)
{
    double percent = 100 * self->unit.scale;
    for (size_t i = 0; i < self->grids[0].n; i++) {
        struct text line;
        if (isnan(losses[i]))
            continue; /* interrupted before all folds were finished */
        text_init(&line, 1 << 10);
        text_printf(&line, "%10.4g", self->grids[0].values[i]);
        for (size_t g = 1; g < self->n_grids; g++)
            text_printf(&line, "  %10.4g", self->training.parameters[self->index[g]]);
        text_printf(&line, "  %18.2f  %14.2f", percent * losses[i], percent * standard_errors[i]);
        report_text(self->options->progress, &line);
    }
}

/* Tries all values of the first grid with the current values of the other grids, which are in self->training. Keeps the
 * best combination so far. */
static enum clv_status try_row(struct choice *best, struct search *self, struct clv_error *err)
{
    double losses[CLV_MAX_CANDIDATES], standard_errors[CLV_MAX_CANDIDATES], chosen = 0;
    const struct clv_candidates *grid = &self->grids[0];
    enum clv_status status = cross_validate(&chosen, losses, standard_errors, &self->row, err);
    self->row.loss += grid->n * self->training.n_examples;
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED) {
        struct clv_error error;
        report_losses(self, losses, standard_errors);
        const enum clv_status written = write_losses(self, &error);
        if (written != CLV_OK)
            return fail_as(err, written, &error);
    }
    if (status != CLV_OK)
        return status;
    for (size_t i = 0; i < grid->n; i++) {
        if (!(losses[i] < best->loss))
            continue;
        best->loss = losses[i];
        best->value[0] = grid->values[i];
        for (size_t g = 1; g < self->n_grids; g++)
            best->value[g] = self->training.parameters[self->index[g]];
    }
    return CLV_OK;
}

/* Advances to the next combination of the grids from the second on. Returns false after the last one. */
static bool next_combination(size_t *chosen, const struct search *self)
{
    for (size_t g = 1; g < self->n_grids; g++) {
        if (++chosen[g] < self->grids[g].n)
            return true;
        chosen[g] = 0;
    }
    return false;
}

/* Tries every combination and reports the losses. */
static enum clv_status choose(struct choice *best, struct search *self, struct clv_error *err)
{
    const struct clv_parameter *parameters = self->options->learner->parameters;
    const struct clv_progress *progress = self->options->progress;
    size_t chosen[CLV_MAX_GRIDS] = {0};
    struct text line;
    report_message(progress, CLV_SUMMARY, "%d-fold cross-validation", self->options->cv);
    text_init(&line, 1 << 10);
    text_printf(&line, "%10s", parameters[self->index[0]].name);
    for (size_t g = 1; g < self->n_grids; g++)
        text_printf(&line, "  %10s", parameters[self->index[g]].name);
    text_printf(&line, "  %16s %%  standard error", self->unit.name);
    report_text(progress, &line);
    do {
        for (size_t g = 1; g < self->n_grids; g++)
            self->training.parameters[self->index[g]] = self->grids[g].values[chosen[g]];
        enum clv_status status = try_row(best, self, err);
        if (status)
            return status == CLV_ERR_INTERRUPTED ? fail_unfinished(self, err) : status;
    } while (next_combination(chosen, self));
    text_init(&line, 1 << 10);
    text_put(&line, "chosen    ");
    for (size_t g = 0; g < self->n_grids; g++)
        text_printf(&line, "%s%s %.4g", g ? ", " : " ", parameters[self->index[g]].name, best->value[g]);
    report_text(progress, &line);
    return CLV_OK;
}

enum clv_status train_cross_validate(struct clv_training *training, const struct clv_train_options *options,
                                     const struct train_data *data, const struct train_weak *weak, bool is_first,
                                     struct clv_error *err)
{
    struct clv_training as_kept = *training;
    OWNED(search_release)
    struct search self = {.options = options,
                          .training = train_weak_held_out(training, weak),
                          .unit = train_loss_unit(data, training->dataset)};
    struct choice best = {.loss = INFINITY};
    bool found = false;
    FAIL_IF((size_t)options->cv > training->n_examples, CLV_ERR_USAGE, "--cv: %d folds of %zu images or words",
            options->cv, training->n_examples);
    MUST(take_grids(&self, err));
    for (size_t g = 0; g < self.n_grids && !is_first; g++)
        MUST(train_checkpoints_parameter(&training->parameters[self.index[g]], &found,
                                         options->learner->parameters[self.index[g]].name, options, err));
    if (found)
        return CLV_OK;
    self.n_losses = training->n_examples;
    for (size_t g = 0; g < self.n_grids; g++)
        self.n_losses *= self.grids[g].n;
    self.losses = losses_unknown(self.n_losses);
    NEED(self.losses);
    self.row = (struct validation){.parameter = self.index[0],
                                   .candidates = self.grids[0].values,
                                   .n_candidates = self.grids[0].n,
                                   .loss = self.losses};
    MUST(folds_init(&self.row.folds, options->learner, &self.training, options->cv, err));
    as_kept.checkpoints = is_first ? NULL : training->checkpoints; /* the first of two stages is not resumed */
    if (as_kept.checkpoints)
        checkpoints_open(&self.checkpoints, options->learner, &as_kept, options->cv);
    self.checkpoints.training = &as_kept;
    self.checkpoints.format = CHECKPOINT_OF_FOLDS;
    MUST(read_losses(&self, err));
    MUST(choose(&best, &self, err));
    for (size_t g = 0; g < self.n_grids; g++)
        training->parameters[self.index[g]] = best.value[g];
    return CLV_OK;
}

/* The held-out marginals of a first stage become features of the second stage. With --label-costs they also predict
 * which labels an image has. */
enum clv_status train_stages_learn(struct stages_learned *learned, struct clv_training *training,
                                   const struct clv_train_options *options, struct train_data *data,
                                   struct clv_dataset *validation, struct clv_error *err)
{
    const struct stages_wanted wanted = {.presence = options->label_costs > 0,
                                         .label_weights = options->label_weights < 0};
    if (options->stages < 2)
        return CLV_OK;
    if (wanted.presence)
        MUST(stages_check_costs(training, "label-costs", err));
    MUST(stages_learn(learned, data->dataset, options->learner, training, &wanted, err));
    const struct clv_stage *first = learned->first;
    training->layout = stage_next_layout(&first->layout, training->layout.pairwise);
    if (options->label_weights < 0) {
        data->label_weights = learned->label_weights;
        MUST(dataset_weigh_labels(data->dataset, learned->label_weights, err));
    }
    if (validation)
        MUST(stages_extend(validation, first, &training->layout, training->n_threads, err));
    report_message(options->progress, CLV_SUMMARY,
                   "stage 1   %d folds, %d features of context, %d of edges, temperature %.3g", STAGE_FOLDS,
                   training->layout.n_features - first->layout.n_features,
                   training->layout.n_edge_features - first->layout.n_edge_features, first->temperature);
    if (options->label_weights < 0)
        report_message(options->progress, CLV_SUMMARY, "          label weights %g", learned->label_weights);
    return CLV_OK;
}
