/* cleave features: extracts a set's features into a file, so that later trainings start at once. */
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/team.h"
#include "cleave/model.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/common/outputs.h"
#include "cli/common/recipe_options.h"
#include "cli/common/shard_option.h"
#include "cli/common/signals.h"
#include "feature/dataset/feature_shards.h"
#include "feature/recipe/memory_estimate.h"
#include "task/check_set.h"
#include "task/map_options.h"
#include "task/training_set.h"

struct features {
    struct common_options common;
    struct recipe_options recipe;
    const char *data, *split, *voids, *model_path, *recipe_path, *output;
    uint64_t seed;
    bool overwrite, index, skip_bad, seed_given, drafts;
    struct shard shard;
    char **paths; /* [n_paths] of shards, for --index */
    size_t n_paths;
    char *own_output; /* of the shard */
};

enum features_keys { KEY_SPLIT = KEYS_COMMAND, KEY_DRAFTS, KEY_VOID, KEY_SHARD, KEY_INDEX, KEY_SKIP_BAD, KEY_RECIPE };

static const struct argp_option features_options[] = {
    {"data", 'd', "PATH", 0, "The images: a manifest or a folder", 0},
    {"split", KEY_SPLIT, "NAME,..", 0, "Splits of the manifest (default: all)", 0},
    {"drafts", KEY_DRAFTS, NULL, 0, DRAFTS_HELP, 0},
    {"void", KEY_VOID, "NAME,..", 0, VOID_HELP, 0},
    {"output", 'o', "FILE", 0, "The feature file to write (safetensors), all or nothing", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, OVERWRITE_HELP, 0},
    {"skip-bad", KEY_SKIP_BAD, NULL, 0,
     "Look at all images and masks first, and go on without those that cannot be read, or do not fit each other; they "
     "are named",
     0},
    {"shard", KEY_SHARD, "I/N", 0, SHARD_HELP ". -o x.safetensors becomes x-0000I-of-0000N.safetensors", 0},
    {"index", KEY_INDEX, NULL, 0,
     "The arguments are all shards, in order: write to -o (x.safetensors.index.json, beside them) what stands for all "
     "of them",
     0},
    {"model", 'm', "FILE", 0, "Use this model's recipe (to segment with it later); default: learn one from the images",
     0},
    {"recipe", KEY_RECIPE, "FILE", 0,
     "Use the recipe of this feature file, such as the first shard's, so that the others need not learn it again", 0},
    {"seed", 's', "N", 0, "Seed for learning the recipe (default 0)", 0},
    {0},
};

static error_t parse_features(int key, char *arg, struct argp_state *state)
{
    struct features *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->common;
        state->child_inputs[1] = &self->recipe;
        return 0;
    case ARGP_KEY_ARGS:
        self->paths = state->argv + state->next;
        self->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case KEY_SHARD: return option_shard(&self->shard, arg, &self->common);
    case KEY_INDEX: self->index = true; return 0;
    case KEY_SKIP_BAD: self->skip_bad = true; return 0;
    case 'd': self->data = arg; return 0;
    case 'o': self->output = arg; return 0;
    case 'm': self->model_path = arg; return 0;
    case KEY_RECIPE: self->recipe_path = arg; return 0;
    case 's': self->seed_given = true; return option_uint64(&self->seed, "--seed", arg, 0, &self->common);
    case KEY_SPLIT: self->split = arg; return 0;
    case KEY_DRAFTS: self->drafts = true; return 0;
    case KEY_OVERWRITE: self->overwrite = true; return 0;
    case KEY_VOID: self->voids = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum clv_status parse(struct features *self, int argc, char **argv, struct clv_error *err)
{
    const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {recipe_argp(), 0, NULL, 0}, {0}};
    const struct argp argp = {
        features_options,
        parse_features,
        "[--index SHARD...]",
        "Extracts the features of images into a safetensors file, which `cleave train --data' and `cleave segment "
        "--features' take.",
        children,
        NULL,
        NULL,
    };
    common_options_init(&self->common, err);
    recipe_options_init(&self->recipe, &self->common);
    enum clv_status status = options_parse(&argp, argc, argv, self, &self->common);
    if (status != CLV_OK)
        return status;
    if (self->n_paths && !self->index)
        return fail(err, CLV_ERR_USAGE, "%s: features takes no arguments; --data names the images", self->paths[0]);
    bool is_chosen = self->split || self->drafts || self->voids || self->seed_given || self->model_path ||
                     self->recipe_path || self->recipe.first_given || self->recipe.maps.n || self->common.image_option;
    if (self->index &&
        (self->data || self->shard.count || self->skip_bad || is_chosen || !self->n_paths || !self->output))
        return fail(err, CLV_ERR_USAGE, "--index: goes with -o and the shards alone");
    if (self->index && team_rank())
        return CLV_OK; /* the leader writes */
    if (self->index)
        return outputs_claim(&self->common.outputs, self->output, self->overwrite, "", (const char *const *)self->paths,
                             self->n_paths, err);
    if (!self->data)
        return fail(err, CLV_ERR_USAGE, "features: --data is missing: which images?");
    if (!self->output)
        return fail(err, CLV_ERR_USAGE, "features: -o is missing: where do the features go?");
    if (self->model_path && self->recipe_path)
        return fail(err, CLV_ERR_USAGE, "--recipe: the recipe is the model's, given by -m");
    if ((self->model_path || self->recipe_path) && self->recipe.first_given)
        return fail(err, CLV_ERR_USAGE, "--%s: the recipe is the %s", self->recipe.first_given,
                    self->model_path ? "model's, given by -m" : "other file's, given by --recipe");
    if ((self->model_path || self->recipe_path) && self->seed_given)
        return fail(err, CLV_ERR_USAGE, "--seed has no effect: %s gives the recipe",
                    self->model_path ? "-m" : "--recipe");
    self->own_output = shard_path(self->output, &self->shard, false);
    if (!self->own_output)
        return fail_memory(err);
    self->output = self->own_output;
    const char *const inputs[] = {path_is_folder(self->data) ? NULL : self->data, self->model_path, self->recipe_path};
    if (team_rank())
        return CLV_OK;
    return outputs_claim(&self->common.outputs, self->output, self->overwrite, "", inputs, 3, err);
}

/* That of -m or --recipe. */
static enum clv_status read_recipe(struct clv_recipe *recipe, const struct features *self, const struct clv_set *set,
                                   struct clv_error *err)
{
    struct clv_model model = {0};
    struct clv_dataset *dataset = NULL;
    const char *path = self->model_path ? self->model_path : self->recipe_path;
    struct clv_recipe *found = &model.recipe;
    enum clv_status status =
        self->model_path ? clv_model_read(&model, path, err) : clv_features_open(&dataset, found, path, err);
    if (status == CLV_OK && !clv_recipe_n_features(found))
        status = fail(err, CLV_ERR_USAGE, "%s: %s; it has no recipe", path,
                      self->model_path ? "learned from features made elsewhere" : "its features were made elsewhere");
    if (status == CLV_OK)
        status = map_options_check(&self->recipe.maps, found, set->map_names, set->n_maps, path, err);
    if (status == CLV_OK) {
        *recipe = *found;
        *found = (struct clv_recipe){0};
    }
    clv_dataset_free(dataset);
    clv_model_release(&model);
    return status;
}

/* *recipe is another file's or learned from the images. */
static enum clv_status make_recipe(struct clv_recipe *recipe, struct features *self, const struct clv_set *set,
                                   const struct clv_progress *progress, struct clv_error *err)
{
    if (self->model_path || self->recipe_path)
        return read_recipe(recipe, self, set, err);
    const char **images = training_set_images(set);
    if (!images)
        return fail_memory(err);
    *recipe = self->recipe.recipe;
    self->recipe.recipe = (struct clv_recipe){0};
    enum clv_status status =
        map_options_learn(recipe, &self->recipe.maps, !self->recipe.blocks_given || recipe->blocks & CLV_BLOCK_MAPS,
                          set, self->common.n_threads, &self->common.limits, progress, err);
    if (status == CLV_OK)
        status = clv_recipe_learn(recipe, images, set->n_items, self->seed, self->common.n_threads,
                                  &self->common.limits, progress, err);
    array_free(images);
    return status;
}

/* The images that are usable, and as many threads as there is memory for. */
static enum clv_status look_ahead(struct features *self, struct clv_set *set, const struct clv_recipe *recipe,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    int n_threads = 1;
    enum clv_status status = CLV_OK;
    if (self->skip_bad)
        status =
            usable_images_keep(set, self->data, recipe, self->common.n_threads, &self->common.limits, progress, err);
    if (status == CLV_OK)
        status = memory_choose_threads(&n_threads, set, recipe, &self->common.limits, self->common.n_threads, err);
    self->common.n_threads = n_threads;
    return status;
}

static enum clv_status run(struct features *self, struct clv_error *err)
{
    struct common_options *common = &self->common;
    struct clv_progress progress = console_progress(NULL);
    const struct set_check check = {outputs_look_at_set, &common->outputs};
    struct clv_set set = {0};
    struct clv_recipe recipe = {0};
    enum clv_status status = training_set_read(&set, self->data, self->split, false, &check, &progress, err);
    if (status == CLV_OK && !self->drafts)
        training_set_drop_drafts(&set, self->data, DRAFTS_HINT, &progress);
    if (status == CLV_OK)
        status = training_set_hide(&set, self->voids, err);
    for (size_t m = 0; m < self->recipe.maps.n && status == CLV_OK; m++)
        status = outputs_spare(&common->outputs, self->recipe.maps.folders[m].folder, err);
    if (status == CLV_OK)
        status = map_options_add(&set, &self->recipe.maps, err);
    bool has_recipe = self->model_path || self->recipe_path;
    if (status == CLV_OK && !has_recipe)
        status = look_ahead(self, &set, &self->recipe.recipe, &progress, err);
    if (status == CLV_OK)
        status = make_recipe(&recipe, self, &set, &progress, err);
    if (status == CLV_OK && has_recipe)
        status = look_ahead(self, &set, &recipe, &progress, err);
    if (status == CLV_OK)
        status =
            self->shard.count
                ? clv_features_write_shard(self->output, &set, &recipe, self->shard.number, self->shard.count,
                                           common->n_threads, &common->limits, &progress, err)
                : clv_features_write(self->output, &set, &recipe, common->n_threads, &common->limits, &progress, err);
    size_t first, n;
    shard_block(&first, &n, &self->shard, set.n_items);
    if (status == CLV_OK)
        console_note("features of %zu images in %s", n, self->output);
    clv_recipe_release(&recipe);
    clv_set_release(&set);
    return status;
}

/* Shards are opened beside the index, where whoever reads it looks for them. */
static enum clv_status write_index(const struct features *self, struct clv_error *err)
{
    if (team_rank())
        return CLV_OK;
    struct path_list shards = {0};
    char *folder = path_folder(self->output);
    enum clv_status status = folder ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < self->n_paths && status == CLV_OK; i++) {
        char *beside = path_join(folder, path_name(self->paths[i]));
        status = beside ? path_list_add(&shards, beside, err) : fail_memory(err);
        array_free(beside);
    }
    if (status == CLV_OK)
        status = features_index_write(self->output, &shards, err);
    path_list_release(&shards);
    array_free(folder);
    return status;
}

enum clv_status cmd_features(int argc, char **argv, struct clv_error *err)
{
    struct features self = {0};
    enum clv_status status = parse(&self, argc, argv, err);
    signals_share();
    if (status == CLV_OK)
        status = self.index ? write_index(&self, err) : run(&self, err);
    array_free(self.own_output);
    recipe_options_release(&self.recipe);
    common_options_release(&self.common);
    return status;
}
