/* `cleave features`: extracts the features of a set, or of one shard of it, into a file, so that later trainings skip
 * the extraction. Start at cmd_features, at the end; write_features is the work. */
#include "base/base.h"
#include "cleave/model.h"
#include "cleave/options.h"
#include "cleave/train.h"
#include "cli/common/common.h"
#include "cluster/comm.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"
#include "masks/masks.h"
#include "train/train.h"

struct features {
    struct common_options common;
    struct clv_train_options task; /* data, split, drafts, voids, skip_bad, seed, and options of features */
    const char *model_path, *recipe_path, *output;
    bool overwrite;
    struct clv_shard shard;
    char *shard_output;
};

#define SECTION_RECIPE "The recipe of features"
#define SECTION_OUTPUT "Output"
#define AT(member)     offsetof(struct features, member)
#define BASIC          CLV_OPTION_BASIC
static const struct clv_option features_rows[] = {
    {"data", 'd', "PATH", SECTION_LEARN_FROM, CLV_OPTION_NEEDED, CLV_OPTION_TEXT, AT(task.data),
     .help = "Images, with masks to learn from: a folder or a manifest"},
    {"output", 'o', "FILE", SECTION_OUTPUT, CLV_OPTION_NEEDED, CLV_OPTION_TEXT, AT(output),
     .help = "The feature file to write (safetensors), all or nothing"},
    {"split", 0, "NAME,..", SECTION_LEARN_FROM, BASIC, CLV_OPTION_TEXT, AT(task.split),
     .help = "Take only these splits of the manifest (default: all)"},
    {"include-drafts", 0, NULL, SECTION_LEARN_FROM, 0, CLV_OPTION_FLAG, AT(task.drafts), .help = DRAFTS_HELP},
    {"void", 0, "NAME,..", SECTION_LEARN_FROM, 0, CLV_OPTION_TEXT, AT(task.voids), .help = VOID_HELP},
    {"skip-bad", 0, NULL, SECTION_LEARN_FROM, BASIC, CLV_OPTION_FLAG, AT(task.skip_bad),
     .help = "Skip images and masks that cannot be read or do not fit\n"
             "All are checked first, and the skipped ones are named"},
    {"model", 'm', "MODEL", SECTION_RECIPE, BASIC, CLV_OPTION_TEXT, AT(model_path),
     .help = "Use this model's recipe, to segment with it later\n(default: learn a recipe from the images)"},
    {"recipe", 0, "FILE", SECTION_RECIPE, BASIC, CLV_OPTION_TEXT, AT(recipe_path),
     .help = "Use the recipe of this feature file, such as the first part's"},
    {"seed", 's', "N", SECTION_RECIPE, BASIC, CLV_OPTION_UINT64, AT(task.seed), .help = "Seed for learning the recipe"},
    {"overwrite", 0, NULL, SECTION_OUTPUT, BASIC, CLV_OPTION_FLAG, AT(overwrite), .help = OVERWRITE_HELP},
    {"shard", 0, "I/N", SECTION_OUTPUT, BASIC, CLV_OPTION_OTHER, AT(shard), .take = option_take_shard,
     .help = SHARD_HELP ". -o x.safetensors becomes x-0000I-of-0000N.safetensors"},
    {0},
};

static const struct option_rule rules[] = {
    {"recipe", RULE_EXCLUDES, "model", "each gives a recipe; leave out one of them"},
    {"seed", RULE_UNUSED, "model recipe", "it gives the recipe"},
    {0},
};

static enum clv_status parse(struct features *self, int argc, char **argv, struct clv_error *err)
{
    const struct option_table table = {
        "SET -o FILE [OPTION...]",
        "Extracts the features of images into a file that several trainings can reuse.",
        {"features set/ -o set.safetensors", "features set/ -m model.cleave -o set.safetensors"},
        "`cleave train --data' and `cleave segment --features' take the file, or a folder of all parts that --shard "
        "made.",
        {{features_rows, self, false},
         {feature_option_rows, &self->task, true},
         {image_option_rows, &self->common, false},
         {plain_option_rows, &self->common, false}},
    };
    struct common_options *common = &self->common;
    struct clv_train_options *task = &self->task;
    common_options_init(common);
    clv_train_defaults(task, clv_learner_at(0));
    MUST(options_parse(&table, argc, argv, common, err));
    MUST(recipe_options_finish(task, common, err));
    MUST(options_take_arguments(&table, common, (const char *const[]){"data"}, 1, err));
    const char *feature_option = options_first_given(common, SECTION_FEATURES);
    FAIL_IF(!self->task.data, CLV_ERR_USAGE, "features: no dataset; give a folder or manifest with --data");
    FAIL_IF(!self->output, CLV_ERR_USAGE, "features: no output file; add -o FILE");
    bool is_given = self->model_path || self->recipe_path;
    FAIL_IF(is_given && feature_option, CLV_ERR_USAGE, "--%s: the recipe is the %s", feature_option,
            self->model_path ? "model's, given by -m" : "other file's, given by --recipe");
    MUST(options_check(common, rules, err));
    FAIL_IF(self->shard.count && path_is_folder(self->output), CLV_ERR_CREATE, "%s: is a folder", self->output);
    self->shard_output = shard_path(self->output, &self->shard, false);
    NEED(self->shard_output);
    self->output = self->shard_output;
    const char *const inputs[] = {path_is_folder(self->task.data) ? NULL : self->task.data, self->model_path,
                                  self->recipe_path};
    if (comm_rank())
        return CLV_OK;
    return outputs_claim(&self->common.outputs, self->output, self->overwrite, "", inputs, 3, err);
}

/* Reads the recipe of the model (-m) or feature file (--recipe). */
static enum clv_status read_recipe(struct clv_recipe *recipe, const struct features *self, const struct clv_set *set,
                                   struct clv_error *err)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    const char *path = self->model_path ? self->model_path : self->recipe_path;
    struct clv_recipe *found = &model.recipe;
    MUST(self->model_path ? clv_model_read(&model, path, err) : clv_features_open(&dataset, found, path, err));
    FAIL_IF(!clv_recipe_n_features(found), CLV_ERR_USAGE, "%s: %s; it has no recipe", path,
            self->model_path ? "learned from features made elsewhere" : "its features were made elsewhere");
    MUST(map_options_check(&self->task.maps, found, set->map_names, set->n_maps, path, err));
    *recipe = TAKE(*found);
    return CLV_OK;
}

/* Reads *recipe from another file, or learns it from the images. */
static enum clv_status make_recipe(struct clv_recipe *recipe, struct features *self, struct clv_set *set,
                                   const struct clv_progress *progress, struct clv_error *err)
{
    if (self->model_path || self->recipe_path) {
        MUST(read_recipe(recipe, self, set, err));
        recipe_take_range(recipe, &self->common.limits);
        recipe_limits(&self->common.limits, recipe);
        return band_images_give(set, recipe, err);
    }
    *recipe = TAKE(self->task.recipe);
    if (training_set_is_deep(set, &self->common.limits))
        MUST(band_images_learn(recipe, set, true, &self->common.limits, progress, err));
    recipe_take_range(recipe, &self->common.limits);
    recipe_limits(&self->common.limits, recipe);
    MUST(map_options_learn(recipe, &self->task.maps, !self->task.no_maps, set, self->common.n_threads,
                           &self->common.limits, progress, err));
    return recipe_learn_set(recipe, set, self->task.seed, self->common.n_threads, &self->common.limits, progress, err);
}

/* Keeps the usable images, and chooses as many threads as fit into memory. */
static enum clv_status prepare_images(struct features *self, struct clv_set *set, const struct clv_recipe *recipe,
                                      const struct clv_progress *progress, struct clv_error *err)
{
    int n_threads = 1;
    if (self->task.skip_bad)
        MUST(usable_images_keep(set, self->task.data, recipe, self->common.n_threads, &self->common.limits, progress,
                                err));
    MUST(memory_choose_threads(&n_threads, set, recipe, &self->common.limits, self->common.n_threads, err));
    self->common.n_threads = n_threads;
    return CLV_OK;
}

/* Reads the set, reads or learns the recipe, and writes the features. */
static enum clv_status write_features(struct features *self, struct clv_set *set, struct clv_recipe *recipe,
                                      struct clv_error *err)
{
    struct common_options *common = &self->common;
    const struct clv_progress progress = console_progress(NULL);
    const struct set_check check = {outputs_check_set, &common->outputs};
    MUST(training_set_read(set, self->task.data, self->task.split, false, &check, &progress, err));
    MUST(band_images_join(set, &common->limits, err));
    if (!self->task.drafts)
        training_set_drop_drafts(set, self->task.data, DRAFTS_HINT, &progress);
    MUST(training_set_hide(set, self->task.voids, err));
    for (size_t m = 0; m < self->task.maps.n; m++)
        MUST(outputs_spare(&common->outputs, self->task.maps.folders[m].folder, err));
    MUST(map_options_add(set, &self->task.maps, err));
    bool has_recipe = self->model_path || self->recipe_path;
    if (!has_recipe)
        MUST(prepare_images(self, set, &self->task.recipe, &progress, err));
    MUST(make_recipe(recipe, self, set, &progress, err));
    if (has_recipe)
        MUST(prepare_images(self, set, recipe, &progress, err));
    const struct extract_options options = {
        .recipe = recipe, .n_threads = common->n_threads, .limits = &common->limits, .progress = &progress};
    return self->shard.count
               ? features_write_shard(self->output, set, &self->shard, &options, err)
               : clv_features_write(self->output, set, recipe, common->n_threads, &common->limits, &progress, err);
}

static enum clv_status run(struct features *self, struct clv_error *err)
{
    struct common_options *common = &self->common;
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    enum clv_status status = write_features(self, &set, &recipe, err);
    if (status == CLV_ERR_DATA)
        status = fail_mask(&set, self->task.data, NULL, &common->limits, err);
    common->limits.bands = NULL; /* they belong to the recipe, which ends here */
    MUST(status);
    size_t first, n;
    shard_block(&first, &n, &self->shard, set.n_items);
    console_note("features of %s in %s", n_of(n, "image", "images").text, self->output);
    return CLV_OK;
}

static void features_release(struct features *self)
{
    array_free(self->shard_output);
    common_options_release(&self->common);
}

enum clv_status cmd_features(int argc, char **argv, struct clv_error *err)
{
    OWNED(features_release) struct features self = {0};
    const enum clv_status status = parse(&self, argc, argv, err);
    signals_share(); /* on failure, too, since it synchronises all processes and only rank 0 may have failed */
    MUST(status);
    return run(&self, err);
}
