/* cleave annotate train */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "annotate/annotate.h"
#include "annotate/tag_model.h"
#include "annotate/tags.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/annotate/annotate.h"
#include "cli/annotate/annotate_inputs.h"
#include "cli/annotate/annotate_record.h"
#include "cli/common/console.h"
#include "cli/common/outputs.h"
#include "cli/common/signals.h"

enum { KEY_FIRST_PARAMETER = KEYS_LEARNER };
enum train_keys {
    KEY_KERNEL = KEYS_COMMAND,
    KEY_CV,
    KEY_REPEATS,
    KEY_LAMBDAS,
    KEY_GAMMAS,
    KEY_ORDER_BY,
    KEY_GOAL,
    KEY_SCALE,
    KEY_SPLIT,
};

static const char *const goals[] = {"exact", "hamming", "f-sample", "f-macro", "f-micro"};

static const struct argp_option train_options[] = {
    {"data", 'd', "FILE", 0,
     "The examples: an svmlight multi-label file; or images: a manifest with a column tags (.tsv)", 0},
    {"split", KEY_SPLIT, "NAME,..", 0,
     "Splits of the manifest to learn from (default: train if there is one, else all)", 0},
    {"output", 'o', "FILE", 0, "The model to write, all or nothing", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"seed", 's', "N", 0, "Seed of everything random (default 0); the same seed makes the same bytes", 0},
    {"learner", 'l', "NAME", 0, "One of lmsbn, lmbm, bc, tsbc, ssvm-chain, ssvm-full (default lmsbn)", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "linear (default) or rbf", 0},
    {"order-by", KEY_ORDER_BY, "NAME", 0,
     "lmsbn decides tags by index (default) or by f, their classifiers' F, best first", 0},
    {"scale", KEY_SCALE, NULL, 0,
     "Divide each feature by its largest magnitude in the training data (always for images)", 0},
    {"cv", KEY_CV, "K", 0,
     "Choose lambda and gamma by K-fold cross-validation (default 10, unless --lambda is given; 0: do not)", 0},
    {"cv-repeats", KEY_REPEATS, "N", 0, "Average cross-validation over N divisions into folds (default 3)", 0},
    {"cv-lambda", KEY_LAMBDAS, "X,..", 0, "The candidates for lambda", 0},
    {"cv-gamma", KEY_GAMMAS, "X,..", 0, "The candidates for gamma, in units of 1 / mean squared distance", 0},
    {"goal", KEY_GOAL, "NAME", 0,
     "Measure to choose by, and to tune tsbc's thresholds for: exact (default), hamming, f-sample, f-macro, f-micro",
     0},
    {0},
};

static struct argp_option parameter_options[CLV_TAG_PARAMETERS + 2];
static char parameter_help[CLV_TAG_PARAMETERS][192];

static error_t parse_parameter(int key, char *arg, struct argp_state *state)
{
    struct annotate_training *self = state->input;
    options_note(&self->common, parameter_options, "", key, arg);
    int index = key - KEY_FIRST_PARAMETER;
    char name[64];
    if (index < 0 || index >= CLV_TAG_PARAMETERS)
        return ARGP_ERR_UNKNOWN;
    const struct clv_parameter *parameter = &clv_tag_parameters[index];
    snprintf(name, sizeof name, "--%s", parameter->name);
    self->is_given[index] = 1;
    return option_number(&self->training.parameters[index], name, arg, parameter->minimum, parameter->maximum,
                         &self->common);
}

static const struct argp *parameter_argp(void)
{
    static const struct argp argp = {.options = parameter_options, .parser = parse_parameter};
    parameter_options[0] = (struct argp_option){NULL, 0, NULL, 0, "Parameters of the learners:", 40};
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++) {
        const struct clv_parameter *p = &clv_tag_parameters[i];
        snprintf(parameter_help[i], sizeof parameter_help[i], "%s (default %g; %g..%g)", p->help, p->value, p->minimum,
                 p->maximum);
        parameter_options[i + 1] =
            (struct argp_option){p->name, KEY_FIRST_PARAMETER + i, "X", 0, parameter_help[i], 40};
    }
    return &argp;
}

static error_t parse_grid(double *candidates, size_t *n, const char *name, char *arg, struct common_options *common)
{
    char *cursor = arg, *part;
    while ((part = strsep(&cursor, ","))) {
        if (*n == MAX_CANDIDATES)
            return option_error(common, "%s: more than %d candidates", name, MAX_CANDIDATES);
        error_t failed = option_number(&candidates[(*n)++], name, part, 1e-9, 1e9, common);
        if (cursor)
            cursor[-1] = ','; /* argv stays as it was typed */
        if (failed)
            return failed;
    }
    return 0;
}

static error_t choose_learner(struct annotate_training *self, const char *arg)
{
    const char *names[16];
    int index = 0;
    size_t n = 0;
    for (; n < 16 && clv_tag_learner_at(n); n++)
        names[n] = clv_tag_learner_at(n)->name;
    error_t failed = option_choice(&index, "--learner", arg, names, n, &self->common);
    if (!failed)
        self->training.learner = clv_tag_learner_at((size_t)index);
    return failed;
}

static error_t parse_train(int key, char *arg, struct argp_state *state)
{
    static const char *const kernels[] = {"linear", "rbf"}, *const orders[] = {"index", "f"};
    struct annotate_training *self = state->input;
    struct common_options *common = &self->common;
    int goal = 0;
    error_t failed = 0;
    if (key != KEY_OVERWRITE)
        options_note(common, train_options, "o", key, arg);
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = common;
        state->child_inputs[1] = self;
        return 0;
    case ARGP_KEY_ARG: return option_error(common, "%s: annotate train takes no arguments; --data names the data", arg);
    case 'd': self->data = arg; return 0;
    case 'o': self->output = arg; return 0;
    case KEY_OVERWRITE: self->overwrite = true; return 0;
    case 's': return option_uint64(&self->training.seed, "--seed", arg, 0, common);
    case 'l': return choose_learner(self, arg);
    case KEY_KERNEL: return option_either(&self->training.is_rbf, "--kernel", arg, kernels, common);
    case KEY_ORDER_BY: return option_either(&self->training.is_in_f_order, "--order-by", arg, orders, common);
    case KEY_SCALE: self->training.is_scaled = true; return 0;
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_CV: return option_int(&self->n_folds, "--cv", arg, 0, 1000, common);
    case KEY_REPEATS: return option_int(&self->n_repeats, "--cv-repeats", arg, 1, 1000, common);
    case KEY_LAMBDAS: return parse_grid(self->lambda, &self->n_lambda, "--cv-lambda", arg, common);
    case KEY_GAMMAS: return parse_grid(self->gamma, &self->n_gamma, "--cv-gamma", arg, common);
    case KEY_GOAL:
        failed = option_choice(&goal, "--goal", arg, goals, sizeof goals / sizeof *goals, common);
        self->training.goal = (enum clv_tag_goal)goal;
        self->is_goal_given = true;
        return failed;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Refuses what was given and cannot have any effect. */
static enum clv_status check_effect(const struct annotate_training *self, struct clv_error *err)
{
    const struct clv_tag_training *training = &self->training;
    const char *learner = training->learner->name;
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++) {
        const char *why = self->is_given[i] ? clv_tag_idle(training, (enum clv_tag_parameter)i) : NULL;
        if (why)
            return fail(err, CLV_ERR_USAGE, "--%s has no effect with --learner %s: %s", clv_tag_parameters[i].name,
                        learner, why);
    }
    if (self->n_gamma && !training->is_rbf)
        return fail(err, CLV_ERR_USAGE, "--cv-gamma has no effect: --kernel is linear");
    if (training->is_in_f_order && training->learner->form != CLV_TAGS_LMSBN)
        return fail(err, CLV_ERR_USAGE, "--order-by f has no effect with --learner %s: it decides all tags at once",
                    learner);
    if (self->is_goal_given && !self->n_folds && !training->learner->is_tuned)
        return fail(err, CLV_ERR_USAGE, "--goal has no effect with --learner %s: there is no cross-validation",
                    learner);
    if (training->is_scaled && annotate_is_images(self->data))
        return fail(err, CLV_ERR_USAGE, "--scale has no effect: features of images are always divided so");
    if (self->n_repeats && !self->n_folds && !training->learner->is_tuned && !training->is_in_f_order)
        return fail(err, CLV_ERR_USAGE, "--cv-repeats has no effect with --learner %s: there is no cross-validation",
                    learner);
    return CLV_OK;
}

static enum clv_status parse(struct annotate_training *self, int argc, char **argv, struct clv_error *err)
{
    struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {parameter_argp(), 0, NULL, 0}, {0}};
    const struct argp argp = {
        train_options,
        parse_train,
        NULL,
        "Learns which tags go with an example's features and with each other.\v"
        "The summary goes to standard output. Without --lambda the regularisation (and with --kernel rbf the kernel's "
        "width) is chosen by cross-validation among the training examples.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    clv_tag_training_defaults(&self->training, clv_tag_learner_at(0));
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status != CLV_OK)
        return status;
    if (!self->data)
        return fail(err, CLV_ERR_USAGE, "annotate train: --data is missing: which examples?");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "annotate train: -o is missing: where does the model go?");
    if (self->training.learner->form == CLV_TAGS_LMBM && !self->is_given[CLV_TAG_ETA0])
        self->training.parameters[CLV_TAG_ETA0] = CLV_TAG_LMBM_ETA0;
    if (self->n_folds == 1)
        return fail(err, CLV_ERR_USAGE, "--cv: one fold leaves nothing to learn from; 2 or more, or 0");
    if (self->n_folds < 0)
        self->n_folds = self->is_given[CLV_TAG_LAMBDA] ? 0 : 10;
    if (!self->n_folds && (self->n_lambda || self->n_gamma))
        return fail(err, CLV_ERR_USAGE, "--cv-%s: there is no cross-validation; --cv K asks for it",
                    self->n_lambda ? "lambda" : "gamma");
    status = check_effect(self, err);
    if (status != CLV_OK)
        return status;
    if (!self->n_repeats)
        self->n_repeats = 3;
    self->summary = strcmp(self->output, "-") == 0 ? stderr : stdout;
    return annotate_claim(&self->common, self->output, self->overwrite, self->data, NULL, err);
}

static void print_grid(const struct annotate_training *self, const struct clv_tag_grid *grid,
                       const struct clv_tag_score *scores, const double *chosen) /* NULL: unfinished */
{
    size_t n_gamma = self->training.is_rbf ? grid->n_gamma : 1;
    console_clear();
    fprintf(self->summary, "%d-fold cross-validation, %d times, by %s; %%\n%10s %10s  %6s %8s %9s %8s %8s\n",
            self->n_folds, self->n_repeats, goals[self->training.goal], "lambda", "gamma", "exact", "Hamming",
            "F-sample", "F-macro", "F-micro");
    for (size_t i = 0; i < grid->n_lambda * n_gamma; i++) {
        if (isnan(scores[i].exact_match))
            continue; /* interrupted before it had all folds */
        double lambda = grid->lambda[i / n_gamma], gamma = self->training.is_rbf ? grid->gamma[i % n_gamma] : 0;
        bool is_chosen =
            chosen && lambda == chosen[CLV_TAG_LAMBDA] && (!self->training.is_rbf || gamma == chosen[CLV_TAG_GAMMA]);
        fprintf(self->summary, "%10.4g %10.4g  %6.2f %8.2f %9.2f %8.2f %8.2f%s\n", lambda, gamma,
                100 * scores[i].exact_match, 100 * scores[i].hamming, 100 * scores[i].f_sample, 100 * scores[i].f_macro,
                100 * scores[i].f_micro, is_chosen ? "  chosen" : "");
    }
    if (!chosen)
        fprintf(self->summary, "unfinished\n");
    fflush(self->summary);
}

/* Chooses among the candidates; training->parameters receives the choice. */
static enum clv_status cross_validate(struct annotate_training *self, struct clv_error *err)
{
    static const double lambdas[] = {1e-4, 2e-4, 4e-4, 8e-4, 16e-4}, gammas[] = {0.4, 0.63, 1, 1.6, 2.5};
    struct clv_tag_training *training = &self->training;
    double mean = 1;
    enum clv_status status = CLV_OK;
    if (!self->n_lambda) {
        self->n_lambda = sizeof lambdas / sizeof *lambdas;
        memcpy(self->lambda, lambdas, sizeof lambdas);
    }
    if (training->is_rbf)
        status = clv_tag_mean_distance(&mean, training, err);
    if (status != CLV_OK)
        return status;
    if (training->parameters[CLV_TAG_GAMMA] > 0 && !self->n_gamma) {
        self->gamma[self->n_gamma++] = training->parameters[CLV_TAG_GAMMA];
    } else {
        if (!self->n_gamma) {
            self->n_gamma = sizeof gammas / sizeof *gammas;
            memcpy(self->gamma, gammas, sizeof gammas);
        }
        for (size_t i = 0; i < self->n_gamma; i++)
            self->gamma[i] /= mean > 0 ? mean : 1;
    }
    const struct clv_tag_grid grid = {self->lambda, self->gamma, self->n_lambda, self->n_gamma};
    struct clv_tag_score *scores = array_alloc(grid.n_lambda * grid.n_gamma, sizeof *scores);
    if (!scores)
        return fail_memory(err);
    double tolerance = training->parameters[CLV_TAG_TOLERANCE];
    if (!self->is_given[CLV_TAG_TOLERANCE])
        training->parameters[CLV_TAG_TOLERANCE] = 1e-4; /* what is thrown away need not be exact */
    status = clv_tag_cross_validate(training->parameters, scores, training, &grid, err);
    training->parameters[CLV_TAG_TOLERANCE] = tolerance;
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED)
        print_grid(self, &grid, scores, status == CLV_OK ? training->parameters : NULL);
    if (status == CLV_ERR_INTERRUPTED)
        status = fail(err, status,
                      "interrupted in cross-validation: nothing is chosen and no model is learned; the "
                      "measures above are of what was tried to the end");
    array_free(scores);
    return status;
}

static enum clv_status run(struct annotate_training *self, struct clv_error *err)
{
    struct clv_progress progress = console_progress(NULL);
    struct clv_tag_set set = {0};
    struct clv_tag_model model = {0};
    struct clv_tag_training_result result = {0};
    struct clv_set images = {0};
    struct clv_recipe recipe = {0};
    struct clv_tag_training *training = &self->training;
    const struct annotate_source source = {self->data, self->split, &self->common, training->seed};
    enum clv_status status = annotate_read(&set, &images, &recipe, &source, NULL, err);
    if (status != CLV_OK)
        goto done;
    training->is_scaled |= annotate_is_images(self->data);
    training->set = &set;
    training->n_threads = self->common.n_threads;
    training->progress = &progress;
    training->n_folds = self->n_folds;
    training->n_repeats = self->n_repeats;
    fprintf(self->summary, "examples  %zu of %d features, %d tags\n", set.n, set.n_features, set.n_tags);
    if (self->n_folds)
        status = cross_validate(self, err);
    if (status == CLV_OK)
        status = clv_tag_train(&model, &result, training, err);
    if (status == CLV_OK && annotate_is_images(self->data)) {
        model.recipe = recipe;
        model.has_recipe = true;
        recipe = (struct clv_recipe){0};
    }
    if (status == CLV_OK)
        status = annotate_record(&model, self, &images, &result, err);
    if (status == CLV_OK) {
        annotate_print_learning(self, &model, &result);
        status = clv_tag_model_write(self->output, &model, err);
    }
    if (status == CLV_OK && result.interrupted)
        annotate_note_interruption(self, &model);
done:
    training->set = NULL;
    training->progress = NULL;
    clv_tag_model_release(&model);
    clv_tag_set_release(&set);
    clv_set_release(&images);
    clv_recipe_release(&recipe);
    return status;
}

enum clv_status annotate_train(int argc, char **argv, struct clv_error *err)
{
    struct annotate_training self = {.n_folds = -1};
    enum clv_status status = parse(&self, argc, argv, err);
    if (status == CLV_OK)
        status = run(&self, err);
    common_options_release(&self.common);
    return status;
}
