/* --prune: features and weights that cross-validation shows to be dispensable. */
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/common/console.h"
#include "cli/common/pruning.h"
#include "cli/common/record.h"
#include "cli/train/train.h"

/* Shares of the largest weight. */
static const double thresholds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2};
enum { N_THRESHOLDS = sizeof thresholds / sizeof *thresholds, NAME_SIZE = 32 };

/* The recipe's groups; features from elsewhere have none. */
struct groups {
    size_t n;
    uint8_t *memory;
    const uint8_t **members; /* [n] */
    char (*names)[NAME_SIZE];
};

static void groups_release(struct groups *groups)
{
    array_free(groups->memory);
    array_free(groups->members);
    array_free(groups->names);
}

static enum clv_status groups_init(struct groups *groups, const struct train_data *data, size_t n_all,
                                   struct clv_error *err)
{
    size_t n = data->has_recipe ? clv_recipe_n_groups(&data->recipe) : 0;
    *groups = (struct groups){.n = n,
                              .memory = array_alloc(n, n_all),
                              .members = array_alloc(n, sizeof *groups->members),
                              .names = array_alloc(n, sizeof *groups->names)};
    if (!groups->memory || !groups->members || !groups->names)
        return fail_memory(err);
    for (size_t g = 0; g < n; g++) {
        uint8_t *members = groups->memory + g * n_all;
        clv_recipe_group(groups->names[g], NAME_SIZE, members, &data->recipe, g);
        groups->members[g] = members;
    }
    return CLV_OK;
}

static void print_steps(FILE *stream, const struct groups *groups, const struct clv_elimination_step *steps,
                        size_t n_steps, double loss, struct loss_unit unit)
{
    double percent = 100 * unit.scale;
    fprintf(stream, "without                 %s %%      rise  standard error\n", unit.name);
    fprintf(stream, "%-16s %15.2f\n", "nothing", percent * loss);
    for (size_t i = 0; i < n_steps; i++) {
        const struct clv_elimination_step *step = &steps[i];
        char what[NAME_SIZE];
        if (step->group < groups->n)
            snprintf(what, sizeof what, "%s", groups->names[step->group]);
        else
            snprintf(what, sizeof what, "weights to %g", step->threshold);
        fprintf(stream, "%-16s %15.2f %15.2f %15.2f%s\n", what, percent * step->loss, percent * step->rise,
                percent * step->standard_error, step->accepted ? "  left out" : "");
    }
}

void train_pruning_release(struct train_pruning *pruning)
{
    clv_training_result_release(&pruning->so_far);
    clv_dataset_free(pruning->dataset);
    array_free(pruning->kept);
    *pruning = (struct train_pruning){0};
}

enum clv_status train_prune_choose(struct train_pruning *pruning, struct clv_training *training,
                                   const struct train_options *options, const struct train_data *data,
                                   const struct train_weak *weak, struct clv_error *err)
{
    const struct clv_training folds = train_weak_held_out(training, weak);
    size_t n_all = (size_t)training->shape.n_features + (size_t)training->shape.n_edge_features;
    struct groups groups;
    double loss = NAN;
    uint8_t *kept = pruning->kept = array_alloc(n_all, sizeof *kept);
    enum clv_status status = groups_init(&groups, data, n_all, err);
    size_t n_steps = 0;
    struct clv_elimination_step *steps = array_alloc(groups.n + N_THRESHOLDS + 2, sizeof *steps);
    struct clv_elimination trials = {.groups = groups.members,
                                     .n_groups = groups.n,
                                     .n_dear = data->has_recipe ? clv_recipe_n_dear_groups(&data->recipe) : 0,
                                     .thresholds = thresholds,
                                     .n_thresholds = N_THRESHOLDS,
                                     .n_folds = options->n_prune_folds,
                                     .tolerance = options->prune_tolerance,
                                     .so_far = &pruning->so_far};
    if (status == CLV_OK && (!kept || !steps))
        status = fail_memory(err);
    if (status == CLV_OK)
        status = clv_eliminate(kept, &pruning->threshold, &loss, steps, &n_steps, options->learner.learner, &folds,
                               &trials, err);
    if (status == CLV_ERR_INTERRUPTED)
        status = pruning->so_far.w ? CLV_OK
                                   : fail(err, status,
                                          "interrupted before pruning had tried all features in all "
                                          "folds: no model is learned");
    if (status == CLV_OK)
        status = clv_dataset_keep(&pruning->dataset, training->dataset, kept, err);
    if (status == CLV_OK) {
        console_clear();
        fprintf(options->summary, "pruning by %d-fold cross-validation\n", options->n_prune_folds);
        print_steps(options->summary, &groups, steps, n_steps, loss, train_loss_unit(data, training->dataset));
        if (pruning->so_far.w) {
            fprintf(options->summary, "unfinished\n");
            console_note("interrupted while pruning: what was learned outside the first fold, %zu of %zu images or "
                         "words, is kept, without what is left out so far",
                         training->n_examples - (training->n_examples - 1) / (size_t)options->n_prune_folds - 1,
                         training->n_examples);
        }
        fflush(options->summary);
        training->dataset = pruning->dataset;
    }
    groups_release(&groups);
    array_free(steps);
    return status;
}

void train_prune_weights(double *w, const struct train_pruning *pruning, const struct clv_shape *shape)
{
    const uint8_t *kept = pruning->kept;
    size_t d = (size_t)shape->n_features, p = (size_t)shape->n_edge_features;
    size_t n_unary = clv_shape_unary_size(shape), n = clv_shape_size(shape);
    for (size_t k = 0; k < n; k++)
        if (!kept[k < n_unary ? k % d : d + (k - n_unary) % p])
            w[k] = 0;
    clv_weights_prune(w, shape, pruning->threshold);
}

enum clv_status train_prune_finish(struct clv_model *model, const struct train_pruning *pruning, FILE *summary,
                                   struct clv_error *err)
{
    enum clv_status status = model->has_recipe ? clv_model_leave_out(model, err) : CLV_OK;
    if (status == CLV_OK)
        status = record_number(model, "pruned_threshold", pruning->threshold, err);
    return status == CLV_OK ? pruning_print(summary, model, pruning->threshold, err) : status;
}
