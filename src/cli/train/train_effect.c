/* Options that cannot have any effect are refused, before long work where the options alone tell. */
#include "base/error.h"
#include "cli/train/train.h"

/* Why the parameter is idle whatever the candidates of --cv-grid, each by itself, make of the others; NULL: it is
 * not. */
static const char *idle_in_all(const struct train_options *options, const struct clv_training *training, int index)
{
    const struct clv_learner *learner = options->learner.learner;
    const char *why = clv_learner_idle(learner, training, index);
    for (size_t g = 0; why && g < options->n_grids; g++) {
        const struct cv_grid *grid = &options->grids[g];
        struct clv_training other = *training;
        int varied = train_grid_parameter(grid, learner);
        for (size_t i = 0; varied >= 0 && i < grid->n; i++) {
            other.parameters[varied] = grid->values[i];
            if (!clv_learner_idle(learner, &other, index))
                return NULL;
        }
    }
    return why;
}

enum clv_status train_effect_check(const struct train_options *options, const struct clv_training *training,
                                   struct clv_error *err)
{
    const struct clv_learner *learner = options->learner.learner;
    struct clv_training as_told = *training;
    const double told = 0;
    if (options->init && !training->init) /* which is not read yet */
        as_told.init = &told;
    for (size_t i = 0; i < options->learner.n_given; i++) {
        const char *name = options->learner.given[i].name;
        const char *why = idle_in_all(options, &as_told, clv_learner_parameter(learner, name));
        if (why)
            return fail(err, CLV_ERR_USAGE, "--%s has no effect with --learner %s: %s", name, learner->name, why);
    }
    for (size_t g = 0; g < options->n_grids || (options->n_folds && g == 0); g++) {
        int index = train_grid_parameter(options->n_grids ? &options->grids[g] : NULL, learner);
        const char *why = index < 0 ? NULL : idle_in_all(options, &as_told, index); /* -1: told later */
        if (why)
            return fail(err, CLV_ERR_USAGE, "%s: --%s has no effect with --learner %s: %s",
                        options->n_grids ? "--cv-grid" : "--cv", learner->parameters[index].name, learner->name, why);
    }
    return CLV_OK;
}
