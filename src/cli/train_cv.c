#include <stdio.h>

#include "base/error.h"
#include "cli/train.h"

int train_regularisation(const struct clv_learner *learner)
{
    static const char *const names[] = {"lambda", "radius", "C"};
    int index = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names && index < 0; i++)
        index = clv_learner_parameter(learner, names[i]);
    return index;
}

enum clv_status train_cross_validate(struct train *train, struct clv_training *training, struct clv_error *err)
{
    static const double factors[] = {0.01, 0.1, 1, 10, 100};
    double losses[MAX_CANDIDATES], standard_errors[MAX_CANDIDATES], best = 0;
    const struct clv_learner *learner = train->learner.learner;
    int index = train_regularisation(learner);
    if (index < 0)
        return fail(err, CLV_ERR_USAGE, "--cv: learner \"%s\" has no regularisation to choose", learner->name);
    const struct clv_parameter *parameter = &learner->parameters[index];
    if ((size_t)train->n_folds > training->n_examples)
        return fail(err, CLV_ERR_USAGE, "--cv: %d folds of %zu images or words", train->n_folds, training->n_examples);
    bool chosen;
    enum clv_status status = train_checkpoints_lambda(&training->parameters[index], &chosen, train, err);
    if (status != CLV_OK || chosen)
        return status;
    if (!train->n_candidates)
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
            double value = training->parameters[index] * factors[i];
            if (value >= parameter->minimum && value <= parameter->maximum)
                train->candidates[train->n_candidates++] = value;
        }
    status = clv_cross_validate(&best, losses, standard_errors, learner, training, index, train->candidates,
                                train->n_candidates, train->n_folds, err);
    if (status != CLV_OK)
        return status;
    struct loss_unit unit = train_loss_unit(train, training->dataset);
    fprintf(train->summary, "%d-fold cross-validation\n%10s  %16s %%  standard error\n", train->n_folds,
            parameter->name, unit.name);
    for (size_t i = 0; i < train->n_candidates; i++)
        fprintf(train->summary, "%10.4g  %18.2f  %14.2f%s\n", train->candidates[i], 100 * unit.scale * losses[i],
                100 * unit.scale * standard_errors[i], train->candidates[i] == best ? "  chosen" : "");
    training->parameters[index] = best;
    return CLV_OK;
}
