/* Parses the options of `cleave train`, checks their combinations, and claims the model and its checkpoint. Start at
 * train_options_parse. */
#include "cli/train/train_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/options.h"
#include "cleave/options.h"
#include "cleave/train.h"
#include "cli/common/common.h"
#include "cluster/comm.h"
#include "intake/intake.h"
#include "train/train.h"

/* Returns whether the output is a file, which can have a checkpoint MODEL.checkpoint beside it, and not standard output
 * or a device. */
static bool train_output_is_file(const struct train_options *options)
{
    struct stat info;
    return strcmp(options->output, "-") != 0 && (stat(options->output, &info) != 0 || S_ISREG(info.st_mode));
}

/* *path = a new path of the checkpoint (array_free), or NULL if the output is not a file. Fails for options that need a
 * checkpoint without one. */
static enum clv_status train_checkpoints_path(char **path, const struct train_options *options, struct clv_error *err)
{
    const char *option = options->requeue                                      ? "requeue"
                         : options->task.resume                                ? "resume"
                         : options_given(&options->common, "checkpoint-every") ? "checkpoint-every"
                                                                               : NULL;
    bool is_file = train_output_is_file(options);
    FAIL_IF(option && !is_file, CLV_ERR_USAGE, "--%s: %s is not a file, next to which a checkpoint could be", option,
            options->output);
    *path = NULL;
    if (!is_file)
        return CLV_OK;
    size_t size = strlen(options->output) + sizeof ".checkpoint";
    char *result = array_alloc(size, 1);
    NEED(result);
    snprintf(result, size, "%s.checkpoint", options->output);
    *path = result;
    return CLV_OK;
}

/* Returns whether --resume may replace the existing model: it has a checkpoint, or the same command wrote it.
 * *is_finished = whether that command completed it, unless it is to be overwritten. options->checkpoint must not be
 * NULL. */
static bool train_checkpoints_model_is_own(bool *is_finished, const struct train_options *options)
{
    struct clv_model model = {0};
    struct clv_error ignored;
    enum path_kind kind;
    if (path_find_kind(&kind, options->checkpoint, &ignored) != CLV_OK || kind != PATH_ABSENT)
        return true;
    bool is_read = clv_model_read(&model, options->output, &ignored) == CLV_OK;
    const char *command = is_read ? clv_record_get(&model.record, "command") : NULL;
    const char *interrupted = command ? clv_record_get(&model.record, "interrupted") : NULL;
    bool is_same_command = command && strcmp(command, options->task.command) == 0;
    *is_finished = is_same_command && !options->overwrite && !(interrupted && strcmp(interrupted, "yes") == 0);
    clv_model_release(&model);
    return is_same_command;
}

enum clv_status train_checkpoints_remove(const struct train_options *options, struct clv_error *err)
{
    if (options->task.checkpoint && unlink(options->task.checkpoint) != 0 && errno != ENOENT)
        return fail_errno(err, CLV_ERR_OS, "%s: cannot remove", options->task.checkpoint);
    return CLV_OK;
}

/* Option rows of the learners' parameters. Rows of other learners' parameters exist, too, for better error messages. */

enum { MAX_LEARNERS = 63, MAX_PARAMETERS = 127 };
static const char *learner_names[MAX_LEARNERS + 1];
static struct clv_option parameter_rows[MAX_PARAMETERS + 1];
static char parameter_help[MAX_PARAMETERS][320], parameters_title[96];

/* Writes the help of a parameter with its default and, for a number, its range. */
static void describe(char *text, size_t size, const struct clv_learner *learner, int index)
{
    const struct clv_parameter *parameter = &learner->parameters[index];
    if (parameter->choices)
        snprintf(text, size, "%s (default %s)", parameter->help, parameter->choices[(size_t)parameter->value]);
    else
        snprintf(text, size, "%s (default %g; %g..%g)", parameter->help, parameter->value, parameter->minimum,
                 parameter->maximum);
}

static enum clv_status take_parameter(void *member, const struct clv_option *option, const char *typed,
                                      struct clv_error *err)
{
    struct learner_options *self = member;
    FAIL_IF(self->n_given == MAX_GIVEN_PARAMETERS, CLV_ERR_USAGE, "--%s: too many parameters", option->name);
    self->given[self->n_given].name = option->name;
    self->given[self->n_given++].typed = typed;
    return CLV_OK;
}

static struct clv_option *find_row(const char *name)
{
    struct clv_option *row = parameter_rows;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row < parameter_rows + MAX_PARAMETERS ? row : NULL;
}

/* Shows this learner's parameters in the help and hides those of other learners. */
static void show_learner(const struct clv_learner *learner)
{
    snprintf(parameters_title, sizeof parameters_title, "Parameters of learner `%s'", learner->name);
    for (struct clv_option *row = parameter_rows; row->name; row++) {
        int index = clv_learner_parameter(learner, row->name);
        row->flags = index < 0 ? CLV_OPTION_HIDDEN : 0;
        if (index < 0)
            continue;
        row->choices = learner->parameters[index].choices;
        row->argument = row->choices ? "NAME" : "X";
        describe(parameter_help[row - parameter_rows], sizeof *parameter_help, learner, index);
    }
}

static void list_learners(void)
{
    memset(parameter_rows, 0, sizeof parameter_rows);
    for (size_t i = 0; i < MAX_LEARNERS && clv_learner_at(i); i++) {
        learner_names[i] = clv_learner_at(i)->name;
        for (const struct clv_parameter *parameter = clv_learner_at(i)->parameters; parameter->name; parameter++) {
            struct clv_option *row = find_row(parameter->name);
            if (row)
                *row = (struct clv_option){.name = parameter->name,
                                           .argument = "X",
                                           .section = parameters_title,
                                           .kind = CLV_OPTION_OTHER,
                                           .help = parameter_help[row - parameter_rows],
                                           .take = take_parameter};
        }
    }
    show_learner(clv_learner_at(0));
}

static enum clv_status take_learner(void *member, const struct clv_option *option, const char *typed,
                                    struct clv_error *err)
{
    const struct clv_learner **learner = member;
    int choice = 0;
    MUST(option_choice(&choice, option->name, typed, learner_names, option_count_names(learner_names), err));
    *learner = clv_learner_at((size_t)choice);
    show_learner(*learner);
    return CLV_OK;
}

static enum clv_status fail_parameter(const struct clv_learner *learner, const char *name, struct clv_error *err)
{
    char list[512] = "";
    for (const struct clv_parameter *parameter = learner->parameters; parameter->name; parameter++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", used ? ", " : "", parameter->name);
    }
    return fail(err, CLV_ERR_USAGE, "--%s: learner \"%s\" has no such parameter; it has %s", name, learner->name,
                *list ? list : "none");
}

/* Parses the value of a parameter: a number, or one of its names. */
static enum clv_status take_value(double *value, const struct clv_learner *learner, int index, const char *typed,
                                  struct clv_error *err)
{
    const struct clv_parameter *parameter = &learner->parameters[index];
    const char *const *names = parameter->choices;
    int choice = 0;
    if (!names)
        return option_number(value, parameter->name, typed, parameter->minimum, parameter->maximum, err);
    MUST(option_choice(&choice, parameter->name, typed, names, option_count_names(names), err));
    *value = choice;
    return CLV_OK;
}

/* Sets the learner and its parameters: defaults, replaced by the given values (task->is_given). Errors name a parameter
 * that the learner does not have, or a value out of its range. */
static enum clv_status apply_learner(const struct learner_options *self, struct clv_train_options *task,
                                     struct clv_error *err)
{
    const struct clv_learner *learner = self->learner;
    task->learner = learner;
    for (int i = 0; learner->parameters[i].name; i++)
        task->parameters[i] = learner->parameters[i].value;
    for (size_t i = 0; i < self->n_given; i++) {
        int index = clv_learner_parameter(learner, self->given[i].name);
        if (index < 0)
            return fail_parameter(learner, self->given[i].name, err);
        MUST(take_value(&task->parameters[index], learner, index, self->given[i].typed, err));
        task->is_given[index] = true;
    }
    return CLV_OK;
}

/* Parses the candidates of cross-validation: "X,.." for the regularisation, or "NAME=X,.." for another parameter. */
static enum clv_status take_grid(void *member, const struct clv_option *option, const char *typed,
                                 struct clv_error *err)
{
    struct train_options *self = member;
    const char *equals = strchr(typed, '='), *part = equals ? equals + 1 : typed;
    size_t n = self->task.n_grids;
    FAIL_IF(n == CLV_MAX_GRIDS, CLV_ERR_USAGE, "--cv-grid: more than %d of them", CLV_MAX_GRIDS);
    self->grid_names[n].name = equals ? typed : NULL;
    self->grid_names[n].length = equals ? (size_t)(equals - typed) : 0;
    struct clv_candidates *grid = &self->task.grids[self->task.n_grids++];
    return option_numbers(grid->values, &grid->n, CLV_MAX_CANDIDATES, option->name, part, 0, 1e15, err);
}

static const char *const progress_forms[] = {"bar", "json", "none", NULL}; /* enum console_progress_form */

#define AT(member) offsetof(struct train_options, member)
static const struct clv_option train_rows[] = {
    {"output", 'o', "MODEL", SECTION_LEARNED, CLV_OPTION_NEEDED | CLV_OPTION_UNRECORDED, CLV_OPTION_TEXT, AT(output),
     .help = "The model to write, all or nothing"},
    {"learner", 'l', "NAME", SECTION_LEARNED, CLV_OPTION_BASIC, CLV_OPTION_OTHER, AT(learner), .take = take_learner,
     .choices = learner_names,
     .help = "Learner: ssvm (default), wmpmap, crf ..; --help all names all\n`--learner NAME --help all' shows its "
             "parameters"},
    {"cv-grid", 0, "X,..", SECTION_CHOOSING, CLV_OPTION_AGAIN, CLV_OPTION_OTHER, 0, .take = take_grid,
     .help = "The values of lambda that --cv tries (default: 0.01, 0.1, 1, 10 and 100 times lambda)\n"
             "Again as NAME=X,.. for other parameters, all of whose combinations are tried"},
    {"overwrite", 0, NULL, SECTION_RUNNING, CLV_OPTION_BASIC | CLV_OPTION_UNRECORDED, CLV_OPTION_FLAG, AT(overwrite),
     .help = OVERWRITE_HELP},
    {"progress", 0, "FORMAT", SECTION_RUNNING, CLV_OPTION_PLAIN | CLV_OPTION_UNRECORDED, CLV_OPTION_CHOICE,
     AT(progress), .choices = progress_forms,
     .help = "bar (default): a line on a terminal; json: a line of JSON on standard error for each event; none\n"
             "Events are progress, note, warning, summary and error, for programs that follow a training"},
    {"requeue", 0, NULL, SECTION_RUNNING, CLV_OPTION_UNRECORDED, CLV_OPTION_FLAG, AT(requeue),
     .help = "For jobs of a cluster: --resume, and let SIGTERM and SIGUSR1 leave the checkpoint alone\n"
             "The status is then 75, and the same command continues"},
    {0},
};

/* Claims the model and the checkpoint. With --resume the checkpoint may be replaced (that of another training causes an
 * error when it is read), and so may the model beside it, or a model of the same command. */
static enum clv_status claim_outputs(struct train_options *self, struct clv_error *err)
{
    const struct clv_train_options *task = &self->task;
    bool may_replace = (task->resume && train_checkpoints_model_is_own(&self->is_finished, self)) || self->overwrite;
    if (comm_rank())
        return CLV_OK; /* rank 0 writes */
    const char *const files[] = {task->validate && is_tensor_file(task->validate) ? task->validate : NULL, task->only,
                                 task->boxes, task->init};
    size_t n = sizeof files / sizeof *files;
    const struct path_list *paths = &self->common.paths;
    OWNED_ARRAY const char **inputs = array_zalloc(n + paths->n, sizeof *inputs);
    NEED(inputs);
    memcpy(inputs, files, sizeof files);
    for (size_t i = 0; i < paths->n; i++)
        inputs[n++] = path_is_folder(paths->paths[i]) ? NULL : paths->paths[i];
    bool can_resume = self->checkpoint && !task->resume && path_exists(self->checkpoint);
    const char *hint = can_resume ? ", --resume goes on with a training that was stopped" : "";
    struct outputs *outputs = &self->common.outputs;
    if (self->checkpoint)
        MUST(output_locks_file(&outputs->locks, self->output, err));
    MUST(outputs_claim(outputs, self->output, may_replace, hint, inputs, n, err));
    if (self->checkpoint)
        MUST(outputs_claim(outputs, self->checkpoint, self->overwrite || task->resume, hint, inputs, n, err));
    return CLV_OK;
}

/* Fails for missing or contradictory options. */
static enum clv_status check(const struct train_options *self, struct clv_error *err)
{
    const struct clv_train_options *task = &self->task;
    FAIL_IF(!task->data, CLV_ERR_USAGE, "train: no dataset; give a folder or manifest with --data");
    FAIL_IF(!self->output, CLV_ERR_USAGE, "train: no model file; add -o FILE");
    MUST(train_rules_check(train_option_rules, task, option_in_common, &self->common, err));
    MUST(feature_paths_check(&self->common.paths, "data", err));
    bool is_file = is_tensor_file(task->data);
    return is_file ? common_options_check(&self->common, task->data, "a feature file has no images", err) : CLV_OK;
}

static enum clv_status spare_set(void *context, const struct clv_set *set, const char *path, struct clv_error *err)
{
    const struct train_options *self = context;
    MUST(outputs_spare_set(&self->common.outputs, set, path, err));
    for (size_t m = 0; m < self->task.maps.n; m++)
        MUST(outputs_spare(&self->common.outputs, self->task.maps.folders[m].folder, err));
    return CLV_OK;
}

/* Finds the parameter of each grid, after the learner is known. */
static enum clv_status find_grids(struct train_options *self, struct clv_error *err)
{
    const struct clv_learner *learner = self->learner.learner;
    for (size_t g = 0; g < self->task.n_grids; g++) {
        char name[64];
        int *parameter = &self->task.grids[g].parameter;
        *parameter = CLV_AUTO;
        if (!self->grid_names[g].name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)self->grid_names[g].length, self->grid_names[g].name);
        *parameter = clv_learner_parameter(learner, name);
        if (*parameter < 0)
            return fail(err, CLV_ERR_USAGE, "--cv-grid: learner \"%s\" has no parameter \"%s\"", learner->name, name);
    }
    return CLV_OK;
}

/* Completes the task's options from the common options, the grids and the learner. */
static enum clv_status gather(struct train_options *self, struct clv_error *err)
{
    struct clv_train_options *task = &self->task;
    const struct common_options *common = &self->common;
    task->files = (const char *const *)common->paths.paths;
    task->n_files = common->paths.n;
    task->limits = common->limits;
    task->n_threads = common->n_threads;
    task->check = spare_set;
    task->check_context = self;
    text_init(&self->command, 2 * CANONICAL_MAX);
    text_printf(&self->command, "cleave train%s", common->canonical.bytes ? common->canonical.bytes : "");
    task->command = self->command.bytes;
    NEED(!self->command.failed);
    MUST(find_grids(self, err));
    return apply_learner(&self->learner, task, err);
}

enum clv_status train_options_parse(struct train_options *self, int argc, char **argv, struct clv_error *err)
{
    *self = (struct train_options){.learner.learner = clv_learner_at(0)};
    clv_train_defaults(&self->task, clv_learner_at(0));
    list_learners();
    const struct option_table table = {
        "SET... -o MODEL [OPTION...]",
        "Learns a model from images with masks.",
        {"train photos/ -o model.cleave", "train set/manifest.tsv --cv 5 --seed 1 -o set.cleave"},
        "The summary goes to standard output. The first Ctrl-C while learning writes the model so far (and "
        "MODEL.checkpoint for --resume) and ends with status 130; the second ends at once. Other exit statuses: "
        "`cleave --help'.",
        {{train_option_rows, &self->task, true},
         {train_rows, self, true},
         {parameter_rows, &self->learner, true},
         {feature_option_rows, &self->task, true},
         {image_option_rows, &self->common, false},
         {plain_option_rows, &self->common, false}},
    };
    common_options_init(&self->common);
    const enum clv_status status = options_parse(&table, argc, argv, &self->common, err);
    console_set_progress((enum console_progress_form)self->progress); /* first, since it is the form of errors, too */
    MUST(status);
    self->task.resume |= self->requeue;
    MUST(options_take_arguments(&table, &self->common, (const char *const[]){"data"}, 1, err));
    MUST(recipe_options_finish(&self->task, &self->common, err));
    MUST(check(self, err));
    MUST(gather(self, err));
    MUST(train_checkpoints_path(&self->checkpoint, self, err));
    self->task.checkpoint = self->checkpoint;
    return claim_outputs(self, err);
}

void train_options_release(struct train_options *self)
{
    array_free(self->checkpoint);
    text_release(&self->command);
    common_options_release(&self->common);
}
