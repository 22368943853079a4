/* `cleave tag train`: learns a model of tags, with cross-validation of lambda and gamma, and prints a summary. Start at
 * run, near the end. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/options.h"
#include "cli/common/common.h"
#include "cli/tag/tag.h"
#include "model/model.h"
#include "tags/tags.h"
#include "train/train.h"

enum { MAX_CANDIDATES = 64 };

/* The command's options. */
struct tag_train_state {
    struct common_options *common;
    struct clv_tag_training training;
    const char *data, *split, *output;
    double lambda[MAX_CANDIDATES], gamma[MAX_CANDIDATES];
    size_t n_lambda, n_gamma;
    int is_given[CLV_TAG_PARAMETERS];
    bool is_goal_given;
    int32_t n_folds, n_repeats; /* of cross-validation; 0 folds: none; -1: not given */
    bool overwrite;
    FILE *summary;
};

/* Fills the training record, with nothing that may differ between two runs of the same training. images: the set, if
 * the examples are images. */
static enum clv_status tagging_record(struct clv_tag_model *model, const struct tag_train_state *self,
                                      const struct clv_set *images, const struct clv_tag_training_result *result,
                                      struct clv_error *err)
{
    char digest[DIGEST_SIZE], seed[32], key[80], command[256 + CLV_ERROR_MESSAGE_MAX];
    const struct clv_tag_training *training = &self->training;
    if (tagging_is_images(self->data))
        MUST(digest_set(digest, images, NULL, err));
    else
        MUST(digest_file(digest, self->data, err));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)training->seed);
    snprintf(command, sizeof command, "cleave tag train%s",
             self->common->canonical.bytes ? self->common->canonical.bytes : "");
    const char *const entries[][2] = {
        {"version", clv_version()},
        {"command", command},
        {"data", self->data},
        {"data_digest", digest},
        {"seed", seed},
        {"learner", training->learner->name},
        {"kernel", training->is_rbf ? "rbf" : "linear"},
        {"interrupted", result->interrupted ? "yes" : "no"},
        {"converged", result->is_converged ? "yes" : "no"},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        MUST(clv_record_set(&model->record, entries[i][0], entries[i][1], err));
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++) {
        snprintf(key, sizeof key, "parameter.%s", clv_tag_parameters[i].name);
        MUST(record_number(&model->record, key, i == CLV_TAG_GAMMA ? model->gamma : training->parameters[i], err));
    }
    MUST(record_number(&model->record, "examples", (double)training->set->n, err));
    MUST(record_number(&model->record, "objective", result->primal, err));
    return record_number(&model->record, "duality_gap", result->primal - result->dual, err);
}

static void tagging_print_learning(const struct tag_train_state *self, const struct clv_tag_model *model,
                                   const struct clv_tag_training_result *result)
{
    char name[16];
    console_clear();
    fprintf(self->summary, "learning  %s, %s kernel, lambda %g", self->training.learner->name,
            self->training.is_rbf ? "rbf" : "linear", self->training.parameters[CLV_TAG_LAMBDA]);
    if (model->gamma > 0)
        fprintf(self->summary, ", gamma %g, %zu support vectors", model->gamma, model->n_vectors);
    fprintf(self->summary, "\nobjective %.6g, duality gap %.2g after %d passes%s%s\n", result->primal,
            result->primal - result->dual, result->n_passes, result->is_converged ? "" : " (not converged)",
            result->interrupted ? " (interrupted)" : "");
    if (model->form != CLV_TAGS_LMSBN)
        return;
    fprintf(self->summary, "sequence ");
    for (int32_t p = 0; p < model->n_tags; p++)
        fprintf(self->summary, " %s", clv_tag_name(model, model->tag_of[p], name));
    fprintf(self->summary, "\n");
}

/* Returns whether a tag has any non-zero weight. */
static bool is_learned(const struct clv_tag_model *model, size_t tag)
{
    size_t n = model->weight ? (size_t)model->n_features : model->n_vectors;
    const double *weights = (model->weight ? model->weight : model->coefficient) + tag * n;
    for (size_t k = 0; k < n; k++)
        if (weights[k] != 0)
            return true;
    return false;
}

/* Prints how many tags an interrupted training has learned. */
static void tagging_note_interruption(const struct tag_train_state *self, const struct clv_tag_model *model)
{
    int n_learned = 0;
    for (int32_t i = 0; i < model->n_tags; i++)
        n_learned += is_learned(model, (size_t)i);
    console_note("interrupted; the model so far is in %s: %d of %d tags have weights%s", self->output, n_learned,
                 model->n_tags, self->training.learner->is_tuned ? ", thresholds may not be tuned" : "");
}

static const char *const goals[] = {"exact", "hamming", "f-sample", "f-macro", "f-micro", NULL};
static const char *const kernels[] = {"linear", "rbf", NULL}, *const orders[] = {"index", "f", NULL};
static const char *learner_names[17];

static enum clv_status take_lambdas(void *member, const struct clv_option *option, const char *typed,
                                    struct clv_error *err)
{
    struct tag_train_state *self = member;
    return option_numbers(self->lambda, &self->n_lambda, MAX_CANDIDATES, option->name, typed, 1e-9, 1e9, err);
}

static enum clv_status take_gammas(void *member, const struct clv_option *option, const char *typed,
                                   struct clv_error *err)
{
    struct tag_train_state *self = member;
    return option_numbers(self->gamma, &self->n_gamma, MAX_CANDIDATES, option->name, typed, 1e-9, 1e9, err);
}

static enum clv_status take_learner(void *member, const struct clv_option *option, const char *typed,
                                    struct clv_error *err)
{
    int choice = 0;
    enum clv_status status =
        option_choice(&choice, option->name, typed, learner_names, option_count_names(learner_names), err);
    if (status == CLV_OK)
        *(const struct clv_tag_learner **)member = clv_tag_learner_at((size_t)choice);
    return status;
}

#define SECTION_EXAMPLES   "What to learn from"
#define SECTION_LEARNING   "What is learned"
#define SECTION_CV         "Choosing by cross-validation"
#define SECTION_PARAMETERS "Parameters of the learners"
#define AT(member)         offsetof(struct tag_train_state, member)
#define BASIC              CLV_OPTION_BASIC
#define NEEDED             CLV_OPTION_NEEDED
#define UNRECORDED         CLV_OPTION_UNRECORDED

static const struct clv_option train_rows[] = {
    {"data", 'd', "FILE", SECTION_EXAMPLES, NEEDED, CLV_OPTION_TEXT, AT(data),
     .help = "A multi-label file (svmlight), or a manifest (.tsv) with a column tags"},
    {"output", 'o', "MODEL", SECTION_LEARNING, NEEDED | UNRECORDED, CLV_OPTION_TEXT, AT(output),
     .help = "The model to write, all or nothing"},
    {"split", 0, "NAME,..", SECTION_EXAMPLES, BASIC, CLV_OPTION_TEXT, AT(split),
     .help = "Learn from these splits of the manifest\n(default: train if there is one, else all)"},
    {"normalise", 0, NULL, SECTION_EXAMPLES, 0, CLV_OPTION_FLAG, AT(training.is_scaled),
     .help = "Divide each feature by its largest magnitude in the examples (always for images)"},
    {"learner", 'l', "NAME", SECTION_LEARNING, BASIC, CLV_OPTION_OTHER, AT(training.learner), .take = take_learner,
     .choices = learner_names, .help = "How to learn (default lmsbn)"},
    {"kernel", 0, "NAME", SECTION_LEARNING, BASIC, CLV_OPTION_EITHER, AT(training.is_rbf), .choices = kernels,
     .help = "Kernel of the features: linear or rbf"},
    {"order-by", 0, "NAME", SECTION_LEARNING, 0, CLV_OPTION_EITHER, AT(training.is_in_f_order), .choices = orders,
     .help = "The order in which lmsbn decides tags\nindex: theirs. f: by their classifiers' F, best first"},
    {"overwrite", 0, NULL, SECTION_LEARNING, BASIC | UNRECORDED, CLV_OPTION_FLAG, AT(overwrite),
     .help = OVERWRITE_HELP},
    {"seed", 's', "N", SECTION_LEARNING, BASIC, CLV_OPTION_UINT64, AT(training.seed),
     .help = "Seed of everything random; the same seed, the same model"},
    {"cv", 0, "K", SECTION_CV, BASIC, CLV_OPTION_INT, AT(n_folds), .minimum = 0, .maximum = 1000,
     .help = "Choose lambda and gamma by K-fold cross-validation; 0: do not\n"
             "(default 10, unless --lambda is given)"},
    {"cv-repeats", 0, "N", SECTION_CV, CLV_OPTION_PLAIN, CLV_OPTION_INT, AT(n_repeats), .minimum = 1, .maximum = 1000,
     .help = "Average cross-validation over N divisions into folds (default 3)"},
    {"cv-lambda", 0, "X,..", SECTION_CV, CLV_OPTION_AGAIN, CLV_OPTION_OTHER, 0, .take = take_lambdas,
     .help = "The values of lambda to try"},
    {"cv-gamma", 0, "X,..", SECTION_CV, CLV_OPTION_AGAIN, CLV_OPTION_OTHER, 0, .take = take_gammas,
     .help = "The values of gamma to try, in units of 1 / mean squared distance"},
    {"goal", 0, "NAME", SECTION_CV, BASIC, CLV_OPTION_CHOICE, AT(training.goal), .choices = goals,
     .help = "Measure to choose by, and to tune tsbc's thresholds for"},
    {0},
};

static struct clv_option parameter_rows[CLV_TAG_PARAMETERS + 1];

static void list_rows(void)
{
    for (size_t i = 0; i < 16 && clv_tag_learner_at(i); i++)
        learner_names[i] = clv_tag_learner_at(i)->name;
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++) {
        const struct clv_parameter *parameter = &clv_tag_parameters[i];
        parameter_rows[i] = (struct clv_option){parameter->name,
                                                0,
                                                "X",
                                                SECTION_PARAMETERS,
                                                0,
                                                CLV_OPTION_NUMBER,
                                                AT(training.parameters) + (size_t)i * sizeof(double),
                                                .help = parameter->help,
                                                .minimum = parameter->minimum,
                                                .maximum = parameter->maximum};
    }
}

/* Fails for given options that have no effect. */
static enum clv_status check_effect(const struct tag_train_state *self, struct clv_error *err)
{
    const struct clv_tag_training *training = &self->training;
    const char *learner = training->learner->name;
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++) {
        const char *why = self->is_given[i] ? clv_tag_unused_reason(training, (enum clv_tag_parameter)i) : NULL;
        FAIL_IF(why, CLV_ERR_USAGE, "--%s cannot be used with --learner %s: %s", clv_tag_parameters[i].name, learner,
                why);
    }
    FAIL_IF(self->n_gamma && !training->is_rbf, CLV_ERR_USAGE,
            "--cv-gamma cannot be used with --kernel linear; add --kernel rbf, or leave it out");
    FAIL_IF(training->is_in_f_order && training->learner->form != CLV_TAGS_LMSBN, CLV_ERR_USAGE,
            "--order-by f cannot be used with --learner %s: it decides all tags at once", learner);
    FAIL_IF(self->is_goal_given && !self->n_folds && !training->learner->is_tuned, CLV_ERR_USAGE,
            "--goal cannot be used with --learner %s: there is no cross-validation", learner);
    if (training->is_scaled && tagging_is_images(self->data))
        return fail(err, CLV_ERR_USAGE,
                    "--normalise cannot be used with %s: features of images are always normalised; leave it out",
                    self->data);
    if (self->n_repeats && !self->n_folds && !training->learner->is_tuned && !training->is_in_f_order)
        return fail(err, CLV_ERR_USAGE, "--cv-repeats cannot be used with --learner %s: there is no cross-validation",
                    learner);
    return CLV_OK;
}

static enum clv_status parse(struct tag_train_state *self, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "FILE -o MODEL [OPTION...]",
        "Learns which tags go with an example's features and with each other.",
        {"tag train set/manifest.tsv -o tags.cleave",
         "tag train train.svm --learner ssvm-full --lambda 0.001 -o tags.cleave"},
        "The summary goes to standard output. Without --lambda the regularisation (and with --kernel rbf the kernel's "
        "width) is chosen by cross-validation among the training examples.",
        {{train_rows, self, true},
         {parameter_rows, self, true},
         {image_option_rows, self->common, false},
         {plain_option_rows, self->common, false}},
    };
    list_rows();
    common_options_init(self->common);
    clv_tag_training_defaults(&self->training, clv_tag_learner_at(0));
    MUST(options_parse(&table, argc, argv, self->common, err));
    MUST(options_take_arguments(&table, self->common, (const char *const[]){"data"}, 1, err));
    self->is_goal_given = options_given(self->common, "goal");
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++)
        self->is_given[i] = options_given(self->common, clv_tag_parameters[i].name);
    FAIL_IF(!self->data, CLV_ERR_USAGE, "tag train: no examples; add --data FILE");
    FAIL_IF(!self->output, CLV_ERR_USAGE, "tag train: no model file; add -o FILE");
    if (self->training.learner->form == CLV_TAGS_LMBM && !self->is_given[CLV_TAG_ETA0])
        self->training.parameters[CLV_TAG_ETA0] = CLV_TAG_LMBM_ETA0;
    FAIL_IF(self->n_folds == 1, CLV_ERR_USAGE, "--cv: one fold leaves nothing to learn from; 2 or more, or 0");
    if (self->n_folds < 0)
        self->n_folds = self->is_given[CLV_TAG_LAMBDA] ? 0 : 10;
    FAIL_IF(!self->n_folds && (self->n_lambda || self->n_gamma), CLV_ERR_USAGE,
            "--cv-%s: there is no cross-validation; --cv K asks for it", self->n_lambda ? "lambda" : "gamma");
    MUST(check_effect(self, err));
    if (!self->n_repeats)
        self->n_repeats = 3;
    self->summary = strcmp(self->output, "-") == 0 ? stderr : stdout;
    return tagging_claim(self->common, self->output, self->overwrite, self->data, NULL, err);
}

/* Prints the measures of all candidates; chosen: the parameters, or NULL if cross-validation was interrupted. */
static void print_grid(const struct tag_train_state *self, const struct clv_tag_grid *grid,
                       const struct clv_tag_score *scores, const double *chosen)
{
    size_t n_gamma = self->training.is_rbf ? grid->n_gamma : 1;
    console_clear();
    fprintf(self->summary, "%d-fold cross-validation, %d times, by %s; %%\n%10s %10s  %6s %8s %9s %8s %8s\n",
            self->n_folds, self->n_repeats, goals[self->training.goal], "lambda", "gamma", "exact", "Hamming",
            "F-sample", "F-macro", "F-micro");
    for (size_t i = 0; i < grid->n_lambda * n_gamma; i++) {
        if (isnan(scores[i].exact_match))
            continue; /* interrupted before all folds were done */
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

/* Chooses lambda and gamma by cross-validation; training->parameters receives the choice. */
static enum clv_status choose_by_folds(struct tag_train_state *self, struct clv_error *err)
{
    static const double lambdas[] = {1e-4, 2e-4, 4e-4, 8e-4, 16e-4}, gammas[] = {0.4, 0.63, 1, 1.6, 2.5};
    struct clv_tag_training *training = &self->training;
    double mean = 1;
    if (!self->n_lambda) {
        self->n_lambda = sizeof lambdas / sizeof *lambdas;
        memcpy(self->lambda, lambdas, sizeof lambdas);
    }
    if (training->is_rbf)
        MUST(clv_tag_mean_distance(&mean, training, err));
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
    OWNED_ARRAY struct clv_tag_score *scores = array_alloc(grid.n_lambda * grid.n_gamma, sizeof *scores);
    NEED(scores);
    double tolerance = training->parameters[CLV_TAG_TOLERANCE];
    if (!self->is_given[CLV_TAG_TOLERANCE])
        training->parameters[CLV_TAG_TOLERANCE] = 1e-4; /* models of folds need less precision */
    enum clv_status status = clv_tag_cross_validate(training->parameters, scores, training, &grid, err);
    training->parameters[CLV_TAG_TOLERANCE] = tolerance;
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED)
        print_grid(self, &grid, scores, status == CLV_OK ? training->parameters : NULL);
    if (status == CLV_ERR_INTERRUPTED)
        status = fail(err, status,
                      "interrupted in cross-validation: nothing is chosen and no model is learned; the "
                      "measures above are of what was tried to the end");
    return status;
}

static enum clv_status run(struct tag_train_state *self, struct clv_error *err)
{
    const struct clv_progress progress = console_progress(NULL);
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    OWNED(clv_set_release) struct clv_set images = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set set = {0};
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    struct clv_tag_training_result result = {0};
    struct clv_tag_training *training = &self->training;
    const struct tagging_source source = {self->data, self->split, self->common, training->seed};
    MUST(tagging_read(&set, &images, &recipe, &source, NULL, err));
    training->is_scaled |= tagging_is_images(self->data);
    training->set = &set; /* like `progress` valid only in this function; `training` is not used afterwards */
    training->n_threads = self->common->n_threads;
    training->progress = &progress;
    training->n_folds = self->n_folds;
    training->n_repeats = self->n_repeats;
    fprintf(self->summary, "examples  %zu of %d features, %d tags\n", set.n, set.n_features, set.n_tags);
    if (self->n_folds)
        MUST(choose_by_folds(self, err));
    MUST(clv_tag_train(&model, &result, training, err));
    if (tagging_is_images(self->data)) {
        model.recipe = TAKE(recipe);
        model.has_recipe = true;
    }
    MUST(tagging_record(&model, self, &images, &result, err));
    tagging_print_learning(self, &model, &result);
    MUST(clv_tag_model_write(self->output, &model, err));
    if (result.interrupted)
        tagging_note_interruption(self, &model);
    return CLV_OK;
}

enum clv_status tagging_train(int argc, char **argv, struct clv_error *err)
{
    OWNED(common_options_release) struct common_options common = {0};
    struct tag_train_state self = {.common = &common, .n_folds = -1};
    MUST(parse(&self, argc, argv, err));
    return run(&self, err);
}
