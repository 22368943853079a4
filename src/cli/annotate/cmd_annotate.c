/* cleave annotate: tags for examples. The subcommands are in annotate_*.c. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "cli/annotate/annotate.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/common/suggest.h"
#include "cli/common/training_set.h"

static const struct {
    const char *name;
    enum clv_status (*run)(int argc, char **argv, struct clv_error *err);
} subcommands[] = {{"train", annotate_train}, {"predict", annotate_predict}, {"score", annotate_score}};
enum { N_SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static const char help[] =
    "Usage: cleave annotate train --data FILE [OPTION...] -o MODEL\n"
    "   or: cleave annotate predict -m MODEL --data FILE [OPTION...]\n"
    "   or: cleave annotate score -m MODEL --data FILE [OPTION...]\n"
    "Learns which tags go with an example's features and with each other, and tags others.\n\n"
    "  train      learn a model from a multi-label file\n"
    "  predict    tag the examples of a file\n"
    "  score      compare a model's tags, or a prediction, with the truth\n\n"
    "Data are svmlight multi-label files: `0,4 1:0.64 3:-2.5', labels from 0, then features from 1;\n"
    "labels.txt beside them may name the tags. Or images: a folder or a manifest with a column `tags'.\n"
    " `cleave annotate train --help' and so on tell the options.\n";

enum clv_status cmd_annotate(int argc, char **argv, struct clv_error *err)
{
    char title[64];
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-?") == 0 || strcmp(name, "--usage") == 0) {
        fputs(help, stdout);
        return CLV_OK;
    }
    for (size_t i = 0; i < N_SUBCOMMANDS; i++)
        if (strcmp(name, subcommands[i].name) == 0) {
            snprintf(title, sizeof title, "cleave annotate %s", name);
            argv[1] = title;
            return subcommands[i].run(argc - 1, argv + 1, err);
        }
    const char *names[N_SUBCOMMANDS];
    for (size_t i = 0; i < N_SUBCOMMANDS; i++)
        names[i] = subcommands[i].name;
    const char *near = *name ? suggest(name, names, N_SUBCOMMANDS) : NULL;
    if (near)
        return fail(err, CLV_ERR_USAGE, "annotate: \"%s\" is none of train, predict, score; did you mean \"%s\"?", name,
                    near);
    return fail(err, CLV_ERR_USAGE, "annotate: say what to do: train, predict or score");
}

/* --- shared by the subcommands --- */

enum search_keys { KEY_S = KEYS_LEARNER, KEY_MAX_NODES };

static const struct argp_option search_options[] = {
    {NULL, 0, NULL, 0, "Branch and bound (lmsbn):", 50},
    {"cutoff", KEY_S, "S", 0, "Look only for tags of a loss below S (default: any)", 50},
    {"max-nodes", KEY_MAX_NODES, "N", 0, "Stop after N nodes an example (default 1000000; 0: never)", 50},
    {0},
};

static error_t parse_search(int key, char *arg, struct argp_state *state)
{
    struct search_options *self = state->input;
    switch (key) {
    case KEY_S: return option_number(&self->search.s, "--cutoff", arg, 1e-9, 1e12, self->common);
    case KEY_MAX_NODES: return option_uint64(&self->search.max_nodes, "--max-nodes", arg, 0, self->common);
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp search_argp = {.options = search_options, .parser = parse_search};

void annotation_release(struct annotation *annotation)
{
    array_free(annotation->scores);
    array_free(annotation->tags);
    array_free(annotation->results);
    *annotation = (struct annotation){0};
}

struct deciding {
    struct annotation *annotation;
    const struct clv_tag_model *model;
    const struct clv_belief_search *search;
};

static enum clv_status decide(void *context, size_t l, int thread, struct clv_error *err)
{
    (void)thread;
    const struct deciding *self = context;
    size_t at = l * self->annotation->n_tags;
    return clv_tag_decide(self->annotation->tags + at, &self->annotation->results[l], self->model,
                          self->annotation->scores + at, self->search, err);
}

enum clv_status annotate_set(struct annotation *annotation, const struct clv_tag_model *model,
                             const struct clv_tag_set *set, const struct clv_belief_search *search, int n_threads,
                             struct clv_error *err)
{
    size_t k = (size_t)model->n_tags;
    struct annotation made = {
        .n = set->n,
        .n_tags = k,
        .scores = array_alloc(set->n * k, sizeof *made.scores),
        .tags = array_alloc(set->n, k),
        .results = array_alloc(set->n, sizeof *made.results),
    };
    struct deciding deciding = {&made, model, search};
    enum clv_status status = made.scores && made.tags && made.results ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        status = clv_tag_scores(made.scores, model, set, n_threads, err);
    if (status == CLV_OK)
        status = parallel_for(set->n, n_threads, decide, &deciding, err);
    if (status == CLV_OK)
        *annotation = made;
    else
        annotation_release(&made);
    return status;
}

bool annotate_is_images(const char *path)
{
    return path_is_folder(path) || text_ends_with(path, ".tsv");
}

static enum clv_status read_images(struct clv_tag_set *set, struct clv_set *images, struct clv_recipe *recipe,
                                   const struct annotate_source *source, const struct clv_tag_model *model,
                                   struct clv_error *err)
{
    const struct common_options *common = source->common;
    struct clv_progress progress = console_progress();
    if (model && !model->has_recipe)
        return fail(err, CLV_ERR_USAGE, "%s: the model was learned from a multi-label file and cannot look at images",
                    source->path);
    enum clv_status status = training_set_read(images, source->path, source->split, !model, err);
    if (status == CLV_OK && !model) {
        const char **paths = training_set_images(images);
        clv_recipe_init(recipe);
        recipe->blocks = CLV_BLOCK_WORDS;
        status = paths ? clv_recipe_learn(recipe, paths, images->n_items, source->seed, common->n_threads,
                                          &common->limits, &progress, err)
                       : fail_memory(err);
        array_free(paths);
    }
    if (status == CLV_OK)
        status = clv_image_tags_extract(set, images, model ? &model->recipe : recipe,
                                        model ? (const char *const *)model->names : NULL, model ? model->n_tags : 0,
                                        common->n_threads, &common->limits, &progress, err);
    return status;
}

enum clv_status annotate_read(struct clv_tag_set *set, struct clv_set *images, struct clv_recipe *recipe,
                              const struct annotate_source *source, const struct clv_tag_model *model,
                              struct clv_error *err)
{
    const char *path = source->path;
    if (annotate_is_images(path))
        return read_images(set, images, recipe, source, model, err);
    if (source->split)
        return fail(err, CLV_ERR_USAGE, "--split: %s is a multi-label file, which has no splits", path);
    enum clv_status status = clv_tag_set_read(set, path, model ? model->n_tags : 0, err);
    if (status == CLV_OK && model && set->n_features > model->n_features)
        console_note("%s: features %d to %d are not the model's and weigh nothing of their own", path,
                     model->n_features + 1, set->n_features);
    return status;
}
