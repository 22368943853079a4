#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/train/train.h"

int train_regularisation(const struct clv_learner *learner)
{
    static const char *const names[] = {"lambda", "radius", "C"};
    int index = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names && index < 0; i++)
        index = clv_learner_parameter(learner, names[i]);
    return index;
}

/* The parameter that the grid is of, or -1. */
static int grid_parameter(const struct cv_grid *grid, const struct clv_learner *learner)
{
    char name[64];
    if (!grid->name)
        return train_regularisation(learner);
    snprintf(name, sizeof name, "%.*s", (int)grid->name_length, grid->name);
    return clv_learner_parameter(learner, name);
}

/* The learner's own regularisation, around its value. */
static void default_grid(struct train *train, const struct clv_training *training, int index)
{
    static const double factors[] = {0.01, 0.1, 1, 10, 100};
    const struct clv_parameter *parameter = &train->learner.learner->parameters[index];
    struct cv_grid *grid = &train->grids[train->n_grids++];
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double value = training->parameters[index] * factors[i];
        if (value >= parameter->minimum && value <= parameter->maximum)
            grid->values[grid->n++] = value;
    }
}

static enum clv_status check_grids(int *index, struct train *train, const struct clv_training *training,
                                   struct clv_error *err)
{
    const struct clv_learner *learner = train->learner.learner;
    int regularisation = train_regularisation(learner);
    if (!train->n_grids && regularisation < 0)
        return fail(err, CLV_ERR_USAGE, "--cv: learner \"%s\" has no regularisation to choose", learner->name);
    if (!train->n_grids)
        default_grid(train, training, regularisation);
    for (size_t g = 0; g < train->n_grids; g++) {
        const struct cv_grid *grid = &train->grids[g];
        index[g] = grid_parameter(grid, learner);
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

static void print_losses(const struct train *train, const struct clv_training *training, const int *index,
                         const double *losses, const double *standard_errors)
{
    struct loss_unit unit = train_loss_unit(train, training->dataset);
    for (size_t i = 0; i < train->grids[0].n; i++) {
        fprintf(train->summary, "%10.4g", train->grids[0].values[i]);
        for (size_t g = 1; g < train->n_grids; g++)
            fprintf(train->summary, "  %10.4g", training->parameters[index[g]]);
        fprintf(train->summary, "  %18.2f  %14.2f\n", 100 * unit.scale * losses[i],
                100 * unit.scale * standard_errors[i]);
    }
}

/* All values of the first grid, for the others' as they are in training; keeps the best combination so far. */
static enum clv_status try_row(struct choice *best, struct train *train, struct clv_training *training,
                               const int *index, struct clv_error *err)
{
    double losses[MAX_CANDIDATES], standard_errors[MAX_CANDIDATES], chosen = 0;
    const struct cv_grid *grid = &train->grids[0];
    enum clv_status status = clv_cross_validate(&chosen, losses, standard_errors, train->learner.learner, training,
                                                index[0], grid->values, grid->n, train->n_folds, err);
    if (status != CLV_OK)
        return status;
    print_losses(train, training, index, losses, standard_errors);
    for (size_t i = 0; i < grid->n; i++) {
        if (!(losses[i] < best->loss))
            continue;
        best->loss = losses[i];
        best->value[0] = grid->values[i];
        for (size_t g = 1; g < train->n_grids; g++)
            best->value[g] = training->parameters[index[g]];
    }
    return CLV_OK;
}

/* Goes through the combinations of the grids from the second on. */
static bool next_combination(size_t *place, const struct train *train)
{
    for (size_t g = 1; g < train->n_grids; g++) {
        if (++place[g] < train->grids[g].n)
            return true;
        place[g] = 0;
    }
    return false;
}

enum clv_status train_cross_validate(struct train *train, struct clv_training *training, struct clv_error *err)
{
    const struct clv_learner *learner = train->learner.learner;
    int index[MAX_GRIDS] = {0};
    size_t place[MAX_GRIDS] = {0};
    struct choice best = {.loss = INFINITY};
    bool chosen = false;
    if ((size_t)train->n_folds > training->n_examples)
        return fail(err, CLV_ERR_USAGE, "--cv: %d folds of %zu images or words", train->n_folds, training->n_examples);
    enum clv_status status = check_grids(index, train, training, err);
    if (status == CLV_OK)
        status = train_checkpoints_lambda(&training->parameters[index[0]], &chosen, train, err);
    if (status != CLV_OK || chosen)
        return status;
    fprintf(train->summary, "%d-fold cross-validation\n%10s", train->n_folds, learner->parameters[index[0]].name);
    for (size_t g = 1; g < train->n_grids; g++)
        fprintf(train->summary, "  %10s", learner->parameters[index[g]].name);
    fprintf(train->summary, "  %16s %%  standard error\n", train_loss_unit(train, training->dataset).name);
    do {
        for (size_t g = 1; g < train->n_grids; g++)
            training->parameters[index[g]] = train->grids[g].values[place[g]];
        status = try_row(&best, train, training, index, err);
    } while (status == CLV_OK && next_combination(place, train));
    if (status != CLV_OK)
        return status;
    fprintf(train->summary, "chosen    ");
    for (size_t g = 0; g < train->n_grids; g++) {
        training->parameters[index[g]] = best.value[g];
        fprintf(train->summary, "%s%s %.4g", g ? ", " : " ", learner->parameters[index[g]].name, best.value[g]);
    }
    fprintf(train->summary, "\n");
    return CLV_OK;
}
