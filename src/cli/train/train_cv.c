#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/train/train.h"

/* Index of the learner's regularisation parameter, or -1. */
static int regularisation_of(const struct clv_learner *learner)
{
    static const char *const names[] = {"lambda", "radius", "C"};
    int index = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names && index < 0; i++)
        index = clv_learner_parameter(learner, names[i]);
    return index;
}

int train_grid_parameter(const struct cv_grid *grid, const struct clv_learner *learner)
{
    char name[64];
    if (!grid || !grid->name)
        return regularisation_of(learner);
    snprintf(name, sizeof name, "%.*s", (int)grid->name_length, grid->name);
    return clv_learner_parameter(learner, name);
}

/* All that the folds are tried with. */
struct search {
    const struct train_options *options;
    struct cv_grid grids[MAX_GRIDS]; /* those asked for, or one around the default */
    int index[MAX_GRIDS];            /* of their parameters */
    size_t n_grids;
    struct clv_training training; /* of a fold; its parameters are the combination in work */
    struct loss_unit unit;
};

/* The learner's own regularisation, around its value. */
static void default_grid(struct search *self, int index)
{
    static const double factors[] = {0.01, 0.1, 1, 10, 100};
    const struct clv_parameter *parameter = &self->options->learner.learner->parameters[index];
    struct cv_grid *grid = &self->grids[self->n_grids++];
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double value = self->training.parameters[index] * factors[i];
        if (value >= parameter->minimum && value <= parameter->maximum)
            grid->values[grid->n++] = value;
    }
}

static enum clv_status take_grids(struct search *self, struct clv_error *err)
{
    const struct clv_learner *learner = self->options->learner.learner;
    int regularisation = regularisation_of(learner);
    int *index = self->index;
    memcpy(self->grids, self->options->grids, sizeof self->grids);
    self->n_grids = self->options->n_grids;
    if (!self->n_grids && regularisation < 0)
        return fail(err, CLV_ERR_USAGE, "--cv: learner \"%s\" has no regularisation to choose", learner->name);
    if (!self->n_grids)
        default_grid(self, regularisation);
    for (size_t g = 0; g < self->n_grids; g++) {
        const struct cv_grid *grid = &self->grids[g];
        index[g] = train_grid_parameter(grid, learner);
        if (index[g] < 0)
            return fail(err, CLV_ERR_USAGE, "--cv-grid: learner \"%s\" has no parameter \"%.*s\"", learner->name,
                        (int)grid->name_length, grid->name ? grid->name : "");
        for (size_t h = 0; h < g; h++)
            if (index[h] == index[g])
                return fail(err, CLV_ERR_USAGE, "--cv-grid: %s has two grids", learner->parameters[index[g]].name);
    }
    return CLV_OK;
}

struct choice {
    double value[MAX_GRIDS], loss;
};

static void print_losses(const struct search *self, const double *losses, const double *standard_errors)
{
    FILE *summary = self->options->summary;
    double percent = 100 * self->unit.scale;
    for (size_t i = 0; i < self->grids[0].n; i++) {
        if (isnan(losses[i]))
            continue; /* interrupted before it had all folds */
        fprintf(summary, "%10.4g", self->grids[0].values[i]);
        for (size_t g = 1; g < self->n_grids; g++)
            fprintf(summary, "  %10.4g", self->training.parameters[self->index[g]]);
        fprintf(summary, "  %18.2f  %14.2f\n", percent * losses[i], percent * standard_errors[i]);
    }
    fflush(summary);
}

/* All values of the first grid, for the others' as they are in training; keeps the best combination so far. */
static enum clv_status try_row(struct choice *best, struct search *self, struct clv_error *err)
{
    double losses[MAX_CANDIDATES], standard_errors[MAX_CANDIDATES], chosen = 0;
    const struct cv_grid *grid = &self->grids[0];
    enum clv_status status =
        clv_cross_validate(&chosen, losses, standard_errors, self->options->learner.learner, &self->training,
                           self->index[0], grid->values, grid->n, self->options->n_folds, err);
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED)
        print_losses(self, losses, standard_errors);
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

/* Goes through the combinations of the grids from the second on. */
static bool next_combination(size_t *place, const struct search *self)
{
    for (size_t g = 1; g < self->n_grids; g++) {
        if (++place[g] < self->grids[g].n)
            return true;
        place[g] = 0;
    }
    return false;
}

/* Tries every combination and tells the losses. */
static enum clv_status choose(struct choice *best, struct search *self, struct clv_error *err)
{
    const struct clv_parameter *parameters = self->options->learner.learner->parameters;
    FILE *summary = self->options->summary;
    size_t place[MAX_GRIDS] = {0};
    enum clv_status status = CLV_OK;
    fprintf(summary, "%d-fold cross-validation\n%10s", self->options->n_folds, parameters[self->index[0]].name);
    for (size_t g = 1; g < self->n_grids; g++)
        fprintf(summary, "  %10s", parameters[self->index[g]].name);
    fprintf(summary, "  %16s %%  standard error\n", self->unit.name);
    do {
        for (size_t g = 1; g < self->n_grids; g++)
            self->training.parameters[self->index[g]] = self->grids[g].values[place[g]];
        status = try_row(best, self, err);
    } while (status == CLV_OK && next_combination(place, self));
    if (status == CLV_ERR_INTERRUPTED) {
        fprintf(summary, "unfinished\n");
        fflush(summary);
        return fail(err, status,
                    "interrupted in cross-validation: nothing is chosen and no model is learned; the "
                    "losses above are of what was tried to the end");
    }
    if (status != CLV_OK)
        return status;
    fprintf(summary, "chosen    ");
    for (size_t g = 0; g < self->n_grids; g++)
        fprintf(summary, "%s%s %.4g", g ? ", " : " ", parameters[self->index[g]].name, best->value[g]);
    fprintf(summary, "\n");
    return CLV_OK;
}

enum clv_status train_cross_validate(struct clv_training *training, const struct train_options *options,
                                     const struct train_data *data, const struct train_weak *weak, bool is_first,
                                     struct clv_error *err)
{
    struct search self = {.options = options,
                          .training = train_weak_held_out(training, weak),
                          .unit = train_loss_unit(data, training->dataset)};
    struct choice best = {.loss = INFINITY};
    bool found = false;
    if ((size_t)options->n_folds > training->n_examples)
        return fail(err, CLV_ERR_USAGE, "--cv: %d folds of %zu images or words", options->n_folds,
                    training->n_examples);
    enum clv_status status = take_grids(&self, err);
    for (size_t g = 0; g < self.n_grids && status == CLV_OK && !is_first; g++)
        status = train_checkpoints_parameter(&training->parameters[self.index[g]], &found,
                                             options->learner.learner->parameters[self.index[g]].name, options, err);
    if (status != CLV_OK || found)
        return status;
    status = choose(&best, &self, err);
    for (size_t g = 0; g < self.n_grids && status == CLV_OK; g++)
        training->parameters[self.index[g]] = best.value[g];
    return status;
}
