#include "cli/train/train_options.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/team.h"
#include "cleave/segment.h"
#include "cli/common/console.h"
#include "cli/common/training_set.h"
#include "cli/train/train.h"
#include "learn/learners.h"

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
    if (self->n_grids == MAX_GRIDS)
        return option_error(&self->common, "--cv-grid: more than %d of them", MAX_GRIDS);
    struct cv_grid *grid = &self->grids[self->n_grids++];
    char *cursor = equals ? equals + 1 : arg, *part;
    grid->name = equals ? arg : NULL;
    grid->name_length = equals ? (size_t)(equals - arg) : 0;
    while ((part = strsep(&cursor, ","))) {
        if (grid->n == MAX_CANDIDATES)
            return option_error(&self->common, "--cv-grid: more than %d candidates", MAX_CANDIDATES);
        error_t failed = option_number(&grid->values[grid->n++], "--cv-grid", part, 0, 1e15, &self->common);
        if (failed)
            return failed;
        if (cursor)
            cursor[-1] = ','; /* argv stays as it was typed */
    }
    return 0;
}

static error_t parse_train(int key, char *arg, struct argp_state *state)
{
    struct train_options *self = state->input;
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
    case 'd': return option_path(&self->data, arg, &self->common);
    case 'o': self->output = arg; return 0;
    case KEY_OVERWRITE: self->overwrite = true; return 0;
    case 's': return option_uint64(&self->seed, "--seed", arg, 0, &self->common);
    case KEY_SPLIT: self->supervision.split = arg; return 0;
    case KEY_ONLY: self->supervision.only = arg; return 0;
    case KEY_DRAFTS: self->supervision.drafts = true; return 0;
    case KEY_BOXES: self->supervision.boxes = arg; return 0;
    case KEY_WEAK_SPLIT: self->supervision.weak_split = arg; return 0;
    case KEY_UNLABELLED_SPLIT: self->supervision.unlabelled_split = arg; return 0;
    case KEY_VALIDATE: self->validate = arg; return 0;
    case KEY_NO_EDGES: self->pairwise = PAIRWISE_NONE; return 0;
    case KEY_PAIRWISE: return option_pairwise(&self->pairwise, arg, &self->common);
    case KEY_SKIP_BAD: self->skip_bad = true; return 0;
    case KEY_FEATURE_MEMORY: return option_memory(&self->memory, "--feature-memory", arg, &self->common);
    case KEY_VOID: self->supervision.voids = arg; return 0;
    case KEY_LABEL_WEIGHTS:
        return option_label_weights(&self->label_weights, &self->chooses_weights, arg, &self->common);
    case KEY_LOSS: return option_loss(&self->loss, arg, &self->common);
    case KEY_STAGES: return option_int(&self->n_stages, "--stages", arg, 1, 2, &self->common);
    case KEY_MIRROR: self->mirrors = true; return 0;
    case KEY_LABEL_COSTS:
        return option_number(&self->label_costs, "--label-costs", arg, 0, CLV_MAX_LABEL_COSTS, &self->common);
    case KEY_CV: return option_int(&self->n_folds, "--cv", arg, 2, 1000, &self->common);
    case KEY_CV_GRID: return parse_grid(self, arg);
    case KEY_INIT: self->init = arg; return 0;
    case KEY_RESUME: self->resume = true; return 0;
    case KEY_REQUEUE: self->requeue = self->resume = true; return 0;
    case KEY_CHECKPOINT_EVERY:
        self->checkpoint_every_given = true;
        return option_number(&self->checkpoint_every_s, "--checkpoint-every", arg, 0, 1e9, &self->common);
    case KEY_ENGINE: return option_engine(&self->engine, arg, &self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

const char *train_needs_memory(const struct train_options *self)
{
    return self->n_stages > 1                                ? "--stages 2"
           : !learner_reads_on_demand(self->learner.learner) ? self->learner.learner->name
                                                             : NULL;
}

static enum clv_status check_memory(const struct train_options *self, struct clv_error *err)
{
    const char *what = self->memory > 0 ? train_needs_memory(self) : NULL;
    if (self->memory > 0 && self->data && !is_tensor_file(self->data))
        return fail(err, CLV_ERR_USAGE, "--feature-memory: %s is no feature file, which `cleave features' makes",
                    self->data);
    if (what)
        return fail(err, CLV_ERR_USAGE, "--feature-memory: %s needs all features in memory", what);
    return CLV_OK;
}

/* With --resume, a checkpoint may be replaced (one of another training is refused when it is read), and so may the
 * model beside it, or one of this very command. */
static enum clv_status claim_outputs(struct train_options *self, struct clv_error *err)
{
    if (team_rank())
        return CLV_OK; /* the leader writes */
    const struct supervision_options *images = &self->supervision;
    const char *const files[] = {self->validate && is_tensor_file(self->validate) ? self->validate : NULL, images->only,
                                 images->boxes, self->init};
    size_t n = sizeof files / sizeof *files;
    const struct path_list *paths = &self->common.paths;
    const char **inputs = array_zalloc(n + paths->n, sizeof *inputs);
    if (!inputs)
        return fail_memory(err);
    memcpy(inputs, files, sizeof files);
    for (size_t i = 0; i < paths->n; i++)
        inputs[n++] = path_is_folder(paths->paths[i]) ? NULL : paths->paths[i];
    const char *hint = self->checkpoint ? ", --resume goes on with a training that was stopped" : "";
    bool may_replace = self->overwrite || (self->resume && train_checkpoints_model_is_own(self));
    struct outputs *outputs = &self->common.outputs;
    enum clv_status status = self->checkpoint ? output_locks_file(&outputs->locks, self->output, err) : CLV_OK;
    if (status == CLV_OK)
        status = outputs_claim(outputs, self->output, may_replace, hint, inputs, n, err);
    if (status == CLV_OK && self->checkpoint)
        status = outputs_claim(outputs, self->checkpoint, self->overwrite || self->resume, hint, inputs, n, err);
    array_free(inputs);
    return status;
}

enum clv_status train_options_parse(struct train_options *self, int argc, char **argv, struct clv_error *err)
{
    *self = (struct train_options){.n_stages = 1, .checkpoint_every_s = 120};
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
    if (status != CLV_OK)
        return status;
    if (!self->data)
        return fail(err, CLV_ERR_USAGE, "train: --data is missing: which images?");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "train: -o is missing: where does the model go?");
    if (self->n_grids && !self->n_folds)
        return fail(err, CLV_ERR_USAGE, "--cv-grid: --cv is missing: how many folds?");
    if (self->n_stages > 1 && self->init)
        return fail(err, CLV_ERR_USAGE, "--stages 2 excludes --init: which stage would start from it?");
    if (self->chooses_weights && self->n_stages < 2)
        return fail(err, CLV_ERR_USAGE, "--label-weights auto: --stages 2 is missing: its folds choose");
    if (self->label_costs > 0 && self->n_stages < 2)
        return fail(err, CLV_ERR_USAGE,
                    "--label-costs: --stages 2 is missing: its first stage tells what an image has");
    status = feature_paths_check(&self->common.paths, "--data", err);
    if (status != CLV_OK)
        return status;
    if (self->validate && is_tensor_file(self->data) && !is_tensor_file(self->validate))
        return fail(err, CLV_ERR_USAGE, "--validate: %s is a feature file, which has no splits", self->data);
    status = check_memory(self, err);
    if (status != CLV_OK)
        return status;
    self->summary = strcmp(self->output, "-") == 0 ? stderr : stdout;
    if (console_is_quiet()) {
        FILE *nowhere = fopen("/dev/null", "we");
        if (!nowhere)
            return fail_errno(err, CLV_ERR_OS, "/dev/null: cannot open");
        self->summary = nowhere;
    }
    status = train_checkpoints_path(&self->checkpoint, self, err);
    return status == CLV_OK ? claim_outputs(self, err) : status;
}

void train_options_release(struct train_options *self)
{
    if (self->summary && self->summary != stdout && self->summary != stderr)
        fclose(self->summary);
    array_free(self->checkpoint);
    recipe_options_release(&self->recipe);
    common_options_release(&self->common);
}
