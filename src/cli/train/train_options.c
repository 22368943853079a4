#include "cli/train/train_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/team.h"
#include "cleave/segment.h"
#include "cli/common/console.h"
#include "task/train.h"
#include "task/training_set.h"

enum train_keys {
    KEY_SPLIT = KEYS_COMMAND,
    KEY_ONLY,
    KEY_DRAFTS,
    KEY_BOXES,
    KEY_WEAK_SPLIT,
    KEY_UNLABELLED_SPLIT,
    KEY_VALIDATE,
    KEY_NO_EDGES,
    KEY_PAIRWISE,
    KEY_LOSS,
    KEY_LABEL_WEIGHTS,
    KEY_VOID,
    KEY_STAGES,
    KEY_LABEL_COSTS,
    KEY_MIRROR,
    KEY_CV,
    KEY_CV_GRID,
    KEY_ENGINE,
    KEY_RESUME,
    KEY_CHECKPOINT_EVERY,
    KEY_REQUEUE,
    KEY_INIT,
    KEY_SKIP_BAD,
    KEY_FEATURE_MEMORY
};

static const struct argp_option train_options[] = {
    {"data", 'd', "PATH", 0,
     "Images with masks: a manifest, a folder with images/ and masks/, or a feature file, of which there may be "
     "several: --data again",
     0},
    {"split", KEY_SPLIT, "NAME,..", 0,
     "Splits of the manifest to learn from (default: train if there is one, else all)", 0},
    {"only", KEY_ONLY, "FILE", 0, "Read the masks of the images that this file names, one a line, and no others", 0},
    {"drafts", KEY_DRAFTS, NULL, 0, DRAFTS_HELP, 0},
    {"weak-split", KEY_WEAK_SPLIT, "NAME,..", 0,
     "Learn from the boxes of all other images of these splits, too, without reading their masks (default with "
     "--boxes: the splits learned from; without it the manifest names the files of boxes)",
     0},
    {"boxes", KEY_BOXES, "PATH", 0,
     "Learn from the boxes of the images without masks, too: a file or folder of them (TSV, VOC, COCO, labelme, YOLO, "
     "CVAT, Label Studio)",
     0},
    {"unlabelled-split", KEY_UNLABELLED_SPLIT, "NAME,..", 0,
     "Learn from all other images of these splits, too, without reading their masks", 0},
    {"skip-bad", KEY_SKIP_BAD, NULL, 0,
     "Go on without images and masks that cannot be read or do not fit (default: name all of them and stop)", 0},
    {"void", KEY_VOID, "NAME,..", 0, VOID_HELP, 0},
    {"feature-memory", KEY_FEATURE_MEMORY, "SIZE", 0,
     "Keep at most so much of a feature file, as 800M or 2G, in memory, and read the rest whenever it is wanted "
     "(default: it is mapped)",
     0},
    {"output", 'o', "FILE", 0, "The model to write, all or nothing", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"seed", 's', "N", 0, "Seed of everything random (default 0); the same seed makes the same bytes", 0},
    {"pairwise", KEY_PAIRWISE, "FORM", 0, PAIRWISE_HELP, 0},
    {"loss", KEY_LOSS, "NAME", 0, LOSS_HELP, 0},
    {"label-weights", KEY_LABEL_WEIGHTS, "X", 0,
     "Errors in rare labels cost more: each label's count as its share of the loss to the power of -X; 1: all labels "
     "weigh the same (default 0; 0..1; refused where they do so without it, as two labels of all images by the "
     "balanced loss); auto, with --stages 2: X for the second stage, such that labels by the first "
     "one's marginals of held-out images, so weighed, have the highest sum of the pixels' and the mean of the labels' "
     "accuracy",
     0},
    {"no-edges", KEY_NO_EDGES, NULL, 0, "The same as --pairwise none: an unstructured model, for comparison", 0},
    {"validate", KEY_VALIDATE, "NAME,..", 0, "Report the loss on these splits (or on a feature file), too", 0},
    {"stages", KEY_STAGES, "N", 0,
     "1, or 2: what a first model says of each node's surroundings becomes features of a second one, as said of images "
     "that it was not learned from (default 1; takes 6 trainings more)",
     0},
    {"mirror", KEY_MIRROR, NULL, 0,
     "Mirror images of all images teach, too (the first of two stages learns without them): features cost twice as "
     "much, and so does a pass",
     0},
    {"label-costs", KEY_LABEL_COSTS, "X", 0,
     "With --stages 2, of three labels or more: a label costs by being in an image at all, by how unlikely the first "
     "stage makes it; log-odds of 1 cost as much as the mean scores of X nodes (default 0; 0..10000)",
     0},
    {"cv", KEY_CV, "K", 0, "Choose lambda by K-fold cross-validation among the images trained on", 0},
    {"cv-grid", KEY_CV_GRID, "X,..", 0,
     "The candidates of --cv (default: 0.01, 0.1, 1, 10, 100 times lambda); again as NAME=X,.. for other parameters, "
     "all of whose combinations are tried",
     0},
    {"engine", KEY_ENGINE, "NAME", 0, ENGINE_HELP, 0},
    {"init", KEY_INIT, "MODEL", 0, "Start from the weights of this model of the same labels and features", 0},
    {"resume", KEY_RESUME, NULL, 0,
     "Go on from FILE.checkpoint, which a training that was stopped left, to the model it would have made", 0},
    {"requeue", KEY_REQUEUE, NULL, 0,
     "For jobs of a cluster: means --resume, and SIGTERM and SIGUSR1 leave the checkpoint alone and end with status "
     "75; the same line goes on",
     0},
    {"checkpoint-every", KEY_CHECKPOINT_EVERY, "X", 0,
     "Seconds between checkpoints of a learner that keeps them (default 120; 0: after every step)", 0},
    {0},
};

/* "X,.." of the regularisation, or "NAME=X,.." of another parameter, once for each. */
static error_t parse_grid(struct train_options *self, char *arg)
{
    char *equals = strchr(arg, '=');
    size_t n = self->task.n_grids;
    if (n == CLV_MAX_GRIDS)
        return option_error(&self->common, "--cv-grid: more than %d of them", CLV_MAX_GRIDS);
    struct clv_candidates *grid = &self->task.grids[self->task.n_grids++];
    char *cursor = equals ? equals + 1 : arg, *part;
    self->grid_names[n].name = equals ? arg : NULL;
    self->grid_names[n].length = equals ? (size_t)(equals - arg) : 0;
    while ((part = strsep(&cursor, ","))) {
        if (grid->n == CLV_MAX_CANDIDATES)
            return option_error(&self->common, "--cv-grid: more than %d candidates", CLV_MAX_CANDIDATES);
        error_t failed = option_number(&grid->values[grid->n++], "--cv-grid", part, 0, 1e15, &self->common);
        if (failed)
            return failed;
        if (cursor)
            cursor[-1] = ','; /* argv stays as it was typed */
    }
    return 0;
}

/* One of "auto" and names[n - 1]; *value is CLV_AUTO or the name's place. */
static error_t option_auto(int *value, const char *name, const char *arg, const char *const *names, size_t n,
                           struct common_options *common)
{
    error_t failed = option_choice(value, name, arg, names, n, common);
    *value -= 1; /* "auto" comes first, and is CLV_AUTO */
    return failed;
}

static error_t parse_train(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = {"auto", "none", "potts", "full"}, *const losses[] = {"auto", "balanced",
                                                                                             "counts"};
    struct train_options *self = state->input;
    struct clv_train_options *task = &self->task;
    if (key != KEY_OVERWRITE && key != KEY_RESUME && key != KEY_REQUEUE && key != KEY_CHECKPOINT_EVERY &&
        key != KEY_FEATURE_MEMORY) /* with and without, the model is the same */
        options_note(&self->common, train_options, "o", key, arg);
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->common;
        state->child_inputs[1] = &self->recipe;
        state->child_inputs[2] = &self->learner;
        return 0;
    case ARGP_KEY_ARG: return option_error(&self->common, "%s: train takes no arguments; --data names the images", arg);
    case 'd': return option_path(&task->data, arg, &self->common);
    case 'o': self->output = arg; return 0;
    case KEY_OVERWRITE: self->overwrite = true; return 0;
    case 's': return option_uint64(&task->seed, "--seed", arg, 0, &self->common);
    case KEY_SPLIT: task->split = arg; return 0;
    case KEY_ONLY: task->only = arg; return 0;
    case KEY_DRAFTS: task->drafts = true; return 0;
    case KEY_BOXES: task->boxes = arg; return 0;
    case KEY_WEAK_SPLIT: task->weak_split = arg; return 0;
    case KEY_UNLABELLED_SPLIT: task->unlabelled_split = arg; return 0;
    case KEY_VALIDATE: task->validate = arg; return 0;
    case KEY_NO_EDGES: task->pairwise = CLV_PAIRWISE_NONE; return 0;
    case KEY_PAIRWISE: return option_auto(&task->pairwise, "--pairwise", arg, forms, 4, &self->common);
    case KEY_SKIP_BAD: task->skip_bad = true; return 0;
    case KEY_FEATURE_MEMORY: return option_memory(&task->feature_memory, "--feature-memory", arg, &self->common);
    case KEY_VOID: task->voids = arg; return 0;
    case KEY_LABEL_WEIGHTS:
        task->label_weights = CLV_AUTO;
        return strcmp(arg, "auto") == 0
                   ? 0
                   : option_number(&task->label_weights, "--label-weights", arg, 0, 1, &self->common);
    case KEY_LOSS: return option_auto(&task->loss, "--loss", arg, losses, 3, &self->common);
    case KEY_STAGES: return option_int(&task->stages, "--stages", arg, 1, 2, &self->common);
    case KEY_MIRROR: task->mirror = true; return 0;
    case KEY_LABEL_COSTS:
        return option_number(&task->label_costs, "--label-costs", arg, 0, CLV_MAX_LABEL_COSTS, &self->common);
    case KEY_CV: return option_int(&task->cv, "--cv", arg, 2, 1000, &self->common);
    case KEY_CV_GRID: return parse_grid(self, arg);
    case KEY_INIT: task->init = arg; return 0;
    case KEY_RESUME: task->resume = true; return 0;
    case KEY_REQUEUE: self->requeue = task->resume = true; return 0;
    case KEY_CHECKPOINT_EVERY:
        self->checkpoint_every_given = true;
        return option_number(&task->checkpoint_every_s, "--checkpoint-every", arg, 0, 1e9, &self->common);
    case KEY_ENGINE: return option_engine(&task->engine, arg, &self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* With --resume, a checkpoint may be replaced (one of another training is refused when it is read), and so may the
 * model beside it, or one of this very command. */
static enum clv_status claim_outputs(struct train_options *self, struct clv_error *err)
{
    if (team_rank())
        return CLV_OK; /* the leader writes */
    const struct clv_train_options *task = &self->task;
    const char *const files[] = {task->validate && is_tensor_file(task->validate) ? task->validate : NULL, task->only,
                                 task->boxes, task->init};
    size_t n = sizeof files / sizeof *files;
    const struct path_list *paths = &self->common.paths;
    const char **inputs = array_zalloc(n + paths->n, sizeof *inputs);
    if (!inputs)
        return fail_memory(err);
    memcpy(inputs, files, sizeof files);
    for (size_t i = 0; i < paths->n; i++)
        inputs[n++] = path_is_folder(paths->paths[i]) ? NULL : paths->paths[i];
    const char *hint = self->checkpoint ? ", --resume goes on with a training that was stopped" : "";
    bool may_replace = self->overwrite || (task->resume && train_checkpoints_model_is_own(self));
    struct outputs *outputs = &self->common.outputs;
    enum clv_status status = self->checkpoint ? output_locks_file(&outputs->locks, self->output, err) : CLV_OK;
    if (status == CLV_OK)
        status = outputs_claim(outputs, self->output, may_replace, hint, inputs, n, err);
    if (status == CLV_OK && self->checkpoint)
        status = outputs_claim(outputs, self->checkpoint, self->overwrite || task->resume, hint, inputs, n, err);
    array_free(inputs);
    return status;
}

/* Refuses what is missing, or contradicts itself. */
static enum clv_status check(const struct train_options *self, struct clv_error *err)
{
    const struct clv_train_options *task = &self->task;
    if (!task->data)
        return fail(err, CLV_ERR_USAGE, "train: --data is missing: which images?");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "train: -o is missing: where does the model go?");
    if (task->n_grids && !task->cv)
        return fail(err, CLV_ERR_USAGE, "--cv-grid: --cv is missing: how many folds?");
    if (task->stages > 1 && task->init)
        return fail(err, CLV_ERR_USAGE, "--stages 2 excludes --init: which stage would start from it?");
    if (task->label_weights < 0 && task->stages < 2)
        return fail(err, CLV_ERR_USAGE, "--label-weights auto: --stages 2 is missing: its folds choose");
    if (task->label_costs > 0 && task->stages < 2)
        return fail(err, CLV_ERR_USAGE,
                    "--label-costs: --stages 2 is missing: its first stage tells what an image has");
    enum clv_status status = feature_paths_check(&self->common.paths, "--data", err);
    bool is_file = is_tensor_file(task->data);
    if (status == CLV_OK && task->validate && is_file && !is_tensor_file(task->validate))
        return fail(err, CLV_ERR_USAGE, "--validate: %s is a feature file, which has no splits", task->data);
    if (status == CLV_OK && task->feature_memory > 0 && !is_file)
        return fail(err, CLV_ERR_USAGE, "--feature-memory: %s is no feature file, which `cleave features' makes",
                    task->data);
    return status == CLV_OK && is_file ? common_options_check(&self->common, "a feature file holds no images", err)
                                       : status;
}

static enum clv_status spare_set(void *context, const struct clv_set *set, const char *path, struct clv_error *err)
{
    const struct train_options *self = context;
    enum clv_status status = outputs_spare_set(&self->common.outputs, set, path, err);
    for (size_t m = 0; m < self->task.maps.n && status == CLV_OK; m++)
        status = outputs_spare(&self->common.outputs, self->task.maps.folders[m].folder, err);
    return status;
}

/* The parameter that each grid is of, now that the learner is known. */
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

/* Puts what other parsers took in into the task's options. */
static enum clv_status gather(struct train_options *self, struct clv_error *err)
{
    struct clv_train_options *task = &self->task;
    const struct common_options *common = &self->common;
    task->files = (const char *const *)common->paths.paths;
    task->n_files = common->paths.n;
    task->limits = common->limits;
    task->n_threads = common->n_threads;
    task->recipe = self->recipe.recipe;
    task->recipe_given = self->recipe.first_given;
    task->maps = self->recipe.maps;
    task->no_maps = self->recipe.blocks_given && !(self->recipe.recipe.blocks & CLV_BLOCK_MAPS);
    task->check = spare_set;
    task->check_context = self;
    text_init(&self->command, 1 << 17);
    text_printf(&self->command, "cleave train%s", common->canonical.bytes ? common->canonical.bytes : "");
    task->command = self->command.bytes;
    enum clv_status status = self->command.failed ? fail_memory(err) : find_grids(self, err);
    return status == CLV_OK ? learner_options_apply(&self->learner, task) : status;
}

enum clv_status train_options_parse(struct train_options *self, int argc, char **argv, struct clv_error *err)
{
    *self = (struct train_options){0};
    clv_train_defaults(&self->task, clv_learner_at(0));
    struct argp_child children[] = {
        {&common_argp, 0, NULL, 0}, {recipe_argp(), 0, NULL, 0}, {learner_argp(argc, argv), 0, NULL, 0}, {0}};
    const struct argp argp = {
        train_options,
        parse_train,
        NULL,
        "Learns a model from images with masks.\v"
        "The summary goes to standard output. The first Ctrl-C while learning writes the model so far (and "
        "FILE.checkpoint for --resume) and ends with status 130; the second ends at once. Other exit statuses: "
        "`cleave --help'.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    recipe_options_init(&self->recipe, &self->common);
    learner_options_init(&self->learner, &self->common);
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status == CLV_OK)
        status = check(self, err);
    if (status == CLV_OK)
        status = gather(self, err);
    if (status == CLV_OK)
        status = train_check_memory(&self->task, err);
    if (status == CLV_OK)
        status = train_checkpoints_path(&self->checkpoint, self, err);
    self->task.checkpoint = self->checkpoint;
    return status == CLV_OK ? claim_outputs(self, err) : status;
}

void train_options_release(struct train_options *self)
{
    array_free(self->checkpoint);
    text_release(&self->command);
    recipe_options_release(&self->recipe);
    common_options_release(&self->common);
}

#define MAX_OPTIONS 128

static char help[MAX_OPTIONS][320];
static char header[96], learner_help[256];
static struct argp_option options[MAX_OPTIONS];
static size_t n_parameters; /* options[2 .. 2 + n_parameters) are parameters */

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < n_parameters; i++)
        if (strcmp(options[2 + i].name, name) == 0)
            return true;
    return false;
}

static size_t count_names(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

/* "what it does (default a; one of a, b)", or the range of a number. */
static void describe(char *text, size_t size, const struct clv_learner *learner, int index)
{
    const struct clv_parameter *parameter = &learner->parameters[index];
    const char *const *names = clv_learner_choices(learner, index);
    if (!names) {
        snprintf(text, size, "%s (default %g; %g..%g)", parameter->help, parameter->value, parameter->minimum,
                 parameter->maximum);
        return;
    }
    size_t used =
        (size_t)snprintf(text, size, "%s (default %s; one of", parameter->help, names[(size_t)parameter->value]);
    for (size_t i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %s%s", i ? "," : "", names[i], names[i + 1] ? "" : ")");
}

static void list_parameters(const struct clv_learner *learner, int flags)
{
    for (const struct clv_parameter *parameter = learner->parameters; parameter->name; parameter++) {
        if (is_listed(parameter->name) || n_parameters + 3 >= MAX_OPTIONS)
            continue;
        char *text = help[n_parameters];
        int index = (int)(parameter - learner->parameters);
        describe(text, sizeof help[0], learner, index);
        options[2 + n_parameters] = (struct argp_option){parameter->name,
                                                         KEYS_LEARNER + (int)n_parameters,
                                                         clv_learner_choices(learner, index) ? "NAME" : "X",
                                                         flags,
                                                         text,
                                                         40};
        n_parameters++;
    }
}

/* The learner that the command line names, for the help text only: argp itself decides what counts. */
static const struct clv_learner *named_learner(int argc, char **argv)
{
    const struct clv_learner *found = NULL;
    for (int i = 1; i < argc; i++) {
        const char *name = NULL;
        if (strncmp(argv[i], "--learner=", 10) == 0)
            name = argv[i] + 10;
        else if ((strcmp(argv[i], "--learner") == 0 || strcmp(argv[i], "-l") == 0) && i + 1 < argc)
            name = argv[i + 1];
        if (name && clv_learner_find(name))
            found = clv_learner_find(name);
    }
    return found ? found : clv_learner_at(0);
}

static error_t choose_learner(struct learner_options *self, const char *arg)
{
    const char *names[MAX_OPTIONS];
    size_t n = 0;
    for (; n < MAX_OPTIONS && clv_learner_at(n); n++)
        names[n] = clv_learner_at(n)->name;
    int index = 0;
    error_t failed = option_choice(&index, "--learner", arg, names, n, self->common);
    if (!failed)
        self->learner = clv_learner_at((size_t)index);
    return failed;
}

static error_t parse_learner(int key, char *arg, struct argp_state *state)
{
    struct learner_options *self = state->input;
    options_note(self->common, options, "", key, arg);
    if (key == 'l')
        return choose_learner(self, arg);
    if (key < KEYS_LEARNER || key >= KEYS_LEARNER + (int)n_parameters)
        return ARGP_ERR_UNKNOWN;
    if (self->n_given == MAX_GIVEN_PARAMETERS)
        return option_error(self->common, "--%s: too many parameters", options[2 + key - KEYS_LEARNER].name);
    self->given[self->n_given].name = options[2 + key - KEYS_LEARNER].name;
    self->given[self->n_given++].typed = arg;
    return 0;
}

void learner_options_init(struct learner_options *self, struct common_options *common)
{
    *self = (struct learner_options){.common = common, .learner = clv_learner_at(0)};
}

const struct argp *learner_argp(int argc, char **argv)
{
    static struct argp argp = {.options = options, .parser = parse_learner};
    const struct clv_learner *shown = named_learner(argc, argv);
    n_parameters = 0;
    snprintf(header, sizeof header, "Learner, and the parameters of `%s':", shown->name);
    size_t used = (size_t)snprintf(learner_help, sizeof learner_help, "One of");
    for (size_t i = 0; clv_learner_at(i) && used < sizeof learner_help; i++)
        used += (size_t)snprintf(learner_help + used, sizeof learner_help - used, "%s %s", i ? "," : "",
                                 clv_learner_at(i)->name);
    if (used < sizeof learner_help)
        snprintf(learner_help + used, sizeof learner_help - used, " (default %s). %s", clv_learner_at(0)->name,
                 "`--learner NAME --help' shows its parameters");
    options[0] = (struct argp_option){NULL, 0, NULL, 0, header, 40};
    options[1] = (struct argp_option){"learner", 'l', "NAME", 0, learner_help, 40};
    list_parameters(shown, 0);
    for (size_t i = 0; clv_learner_at(i); i++)
        list_parameters(clv_learner_at(i), OPTION_HIDDEN);
    options[2 + n_parameters] = (struct argp_option){0};
    return &argp;
}

static enum clv_status refuse_parameter(const struct learner_options *self, const char *name)
{
    char list[512] = "";
    for (const struct clv_parameter *parameter = self->learner->parameters; parameter->name; parameter++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", used ? ", " : "", parameter->name);
    }
    option_error(self->common, "--%s: learner \"%s\" has no such parameter; it has %s", name, self->learner->name,
                 *list ? list : "none");
    return self->common->status;
}

/* The value typed for a parameter: a number, or one of its names. */
static error_t take_value(double *value, const struct learner_options *self, int index, const char *typed)
{
    const struct clv_parameter *parameter = &self->learner->parameters[index];
    const char *const *names = clv_learner_choices(self->learner, index);
    char option[64];
    int place = 0;
    snprintf(option, sizeof option, "--%s", parameter->name);
    if (!names)
        return option_number(value, option, typed, parameter->minimum, parameter->maximum, self->common);
    error_t failed = option_choice(&place, option, typed, names, count_names(names), self->common);
    if (!failed)
        *value = place;
    return failed;
}

enum clv_status learner_options_apply(const struct learner_options *self, struct clv_train_options *task)
{
    const struct clv_learner *learner = self->learner;
    task->learner = learner;
    for (int i = 0; learner->parameters[i].name; i++)
        task->parameters[i] = learner->parameters[i].value;
    for (size_t i = 0; i < self->n_given; i++) {
        int index = clv_learner_parameter(learner, self->given[i].name);
        if (index < 0)
            return refuse_parameter(self, self->given[i].name);
        if (take_value(&task->parameters[index], self, index, self->given[i].typed))
            return self->common->status;
        task->is_given[index] = true;
    }
    return CLV_OK;
}
