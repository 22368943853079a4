/* Reads the examples of `cleave tag`, from images with tags or from a multi-label file, and tags them by a model. Start
 * at tagging_read and tagging_set. */
#include "cli/tag/tag.h"

#include <stddef.h>

#include "base/base.h"
#include "cleave/options.h"
#include "cli/common/common.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"
#include "tags/tags.h"

const struct clv_option search_option_rows[] = {
    {"cutoff", 0, "S", SECTION_SEARCH, 0, CLV_OPTION_NUMBER, offsetof(struct clv_belief_search, s), .minimum = 1e-9,
     .maximum = 1e12, .help = "Look only for tags of a loss below S (default: any)"},
    {"max-nodes", 0, "N", SECTION_SEARCH, 0, CLV_OPTION_UINT64, offsetof(struct clv_belief_search, max_nodes),
     .help = "Stop after N nodes an example; 0: never"},
    {0},
};

void tag_outputs_release(struct tag_outputs *outputs)
{
    arrays_free(outputs->scores, outputs->tags, outputs->results);
    *outputs = (struct tag_outputs){0};
}

struct decide_state {
    struct tag_outputs *outputs;
    const struct clv_tag_model *model;
    const struct clv_belief_search *search;
};

static enum clv_status decide(void *context, size_t l, int thread, struct clv_error *err)
{
    (void)thread;
    const struct decide_state *self = context;
    size_t at = l * self->outputs->n_tags;
    return clv_tag_decide(self->outputs->tags + at, &self->outputs->results[l], self->model, self->outputs->scores + at,
                          self->search, err);
}

enum clv_status tagging_set(struct tag_outputs *outputs, const struct clv_tag_model *model,
                            const struct clv_tag_set *set, const struct clv_belief_search *search, int n_threads,
                            struct clv_error *err)
{
    size_t k = (size_t)model->n_tags;
    OWNED(tag_outputs_release) struct tag_outputs result = {
        .n = set->n,
        .n_tags = k,
        .scores = array_alloc(set->n * k, sizeof *result.scores),
        .tags = array_alloc(set->n, k),
        .results = array_alloc(set->n, sizeof *result.results),
    };
    struct decide_state state = {&result, model, search};
    NEED(result.scores && result.tags && result.results);
    MUST(clv_tag_scores(result.scores, model, set, n_threads, err));
    MUST(parallel_for(set->n, n_threads, decide, &state, err));
    *outputs = TAKE(result);
    return CLV_OK;
}

bool tagging_is_images(const char *path)
{
    return path_is_folder(path) || text_ends_with(path, ".tsv");
}

enum clv_status tagging_claim(struct common_options *common, const char *output, bool overwrite, const char *data,
                              const char *model, struct clv_error *err)
{
    bool is_file = !path_is_folder(data);
    char *folder = path_folder(data), *names = folder ? path_join(folder, "labels.txt") : NULL;
    const char *const inputs[] = {is_file ? data : NULL, is_file ? names : NULL, model};
    enum clv_status status =
        names ? outputs_claim(&common->outputs, output, overwrite, "", inputs, 3, err) : fail_memory(err);
    arrays_free(folder, names);
    return status;
}

static enum clv_status read_images(struct clv_tag_set *set, struct clv_set *images, struct clv_recipe *recipe,
                                   const struct tagging_source *source, const struct clv_tag_model *model,
                                   struct clv_error *err)
{
    const struct common_options *common = source->common;
    const struct set_check check = {outputs_check_set, (void *)(uintptr_t)&common->outputs};
    struct clv_progress progress = console_progress(NULL);
    FAIL_IF(model && !model->has_recipe, CLV_ERR_USAGE,
            "%s: the model was learned from a multi-label file and cannot look at images", source->path);
    MUST(training_set_read(images, source->path, source->split, !model, &check, &progress, err));
    if (!model) {
        clv_recipe_init(recipe);
        recipe->blocks = CLV_BLOCK_WORDS;
        MUST(recipe_learn_set(recipe, images, source->seed, common->n_threads, &common->limits, &progress, err));
    }
    const struct clv_image_tag_options options = {.names = model ? (const char *const *)model->names : NULL,
                                                  .n_names = model ? model->n_tags : 0,
                                                  .n_threads = common->n_threads,
                                                  .limits = &common->limits,
                                                  .progress = &progress};
    return clv_image_tags_extract(set, images, model ? &model->recipe : recipe, &options, err);
}

enum clv_status tagging_read(struct clv_tag_set *set, struct clv_set *images, struct clv_recipe *recipe,
                             const struct tagging_source *source, const struct clv_tag_model *model,
                             struct clv_error *err)
{
    const char *path = source->path;
    if (tagging_is_images(path))
        return read_images(set, images, recipe, source, model, err);
    FAIL_IF(source->split, CLV_ERR_USAGE, "--split: %s is a multi-label file, which has no splits", path);
    MUST(common_options_check(source->common, path, "a multi-label file has no images", err));
    MUST(clv_tag_set_read(set, path, model ? model->n_tags : 0, err));
    if (model && set->n_features > model->n_features)
        console_note("%s: features %d to %d are not the model's and weigh nothing of their own", path,
                     model->n_features + 1, set->n_features);
    return CLV_OK;
}
