/* Loads the data of a training: opens a feature file, or reads images and masks, completes the recipe by settings that
 * depend on the whole set (bands, maps, number of superpixels), learns the codebooks and extracts features. The number
 * of superpixels is raised if superpixels cannot follow the masks (train_scale_choose). Start at train_data_load. */
#include "train/train.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/memory.h"
#include "box_cut/box_cut.h"
#include "cleave/box_cut.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "intake/intake.h"
#include "learn/learners.h"
#include "sequence/sequence.h"

#define MAX_SCALE_IMAGES 12
#define MAX_LOST         .1
#define FINE_PIXELS      1048576
#define FINE_COUNT       8000

void train_data_release(struct train_data *data)
{
    clv_dataset_free(data->dataset);
    clv_dataset_free(data->privileged);
    clv_recipe_release(&data->recipe);
    clv_labels_release(&data->labels);
    clv_set_release(&data->set);
    *data = (struct train_data){0};
}

/* Returns the paths of the feature files. */
static struct path_list train_files(const struct clv_train_options *options)
{
    return (struct path_list){.paths = (char **)(uintptr_t)options->files, .n = options->n_files};
}

static enum clv_status open_features(struct train_data *data, const struct clv_train_options *options,
                                     struct clv_error *err)
{
    const struct path_list files = train_files(options);
    MUST(digest_features(data->digest, &files, err));
    MUST(features_open_list(&data->dataset, &data->recipe, &files, err));
    data->n_masks = clv_dataset_size(data->dataset);
    data->has_recipe = clv_recipe_n_features(&data->recipe) > 0 && data->recipe.n_scales > 0;
    const struct clv_labels *labels = dataset_labels(data->dataset);
    return labels ? clv_labels_copy(&data->labels, labels, err)
                  : labels_by_number(&data->labels, clv_dataset_n_labels(data->dataset), err);
}

/* Measures, over some images, how well superpixels follow the masks. */
struct measure_state {
    const struct clv_recipe *recipe;
    const struct clv_set *set;
    const struct clv_image_limits *limits;
    const struct clv_item *items[MAX_SCALE_IMAGES];
    double error[MAX_SCALE_IMAGES];
};

static enum clv_status measure_regions(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct measure_state *self = context;
    const struct clv_item *item = self->items[index];
    const struct clv_labels *labels = &self->set->labels;
    int32_t n_labels = labels->n_labels;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    MUST(item_image_read(&image, item, self->limits, err));
    MUST(item_mask_read(&mask, item, labels, &(struct mask_wanted){image.width, image.height, self->limits}, err));
    MUST(clv_example_extract(&example, &image, self->recipe, err));
    MUST(clv_example_set_truth(&example, &mask, n_labels, err));
    double all = 0, right = 0;
    for (int32_t i = 0; i < example.problem.n_nodes; i++) {
        double most = 0;
        for (int32_t b = 0; b < n_labels; b++) {
            double theta = (double)example.theta[(size_t)i * (size_t)n_labels + (size_t)b];
            all += theta;
            most = theta > most ? theta : most;
        }
        right += most;
    }
    self->error[index] = all - right; /* all is 1, or 0 for an image that is entirely void */
    return CLV_OK;
}

/* Computes, over up to 12 evenly spread images with masks, the mean balanced error that would remain if each superpixel
 * had the label of most of its pixels. No weights can make it smaller. */
static enum clv_status regions_error(double *error, const struct clv_recipe *recipe, const struct clv_set *set,
                                     const struct clv_image_limits *limits, int n_threads, struct clv_error *err)
{
    const struct clv_recipe nodes = recipe_of_nodes(recipe);
    struct measure_state self = {.recipe = &nodes, .set = set, .limits = limits};
    size_t n_masks = 0, n = 0, at = 0;
    for (size_t i = 0; i < set->n_items; i++)
        n_masks += set->items[i].mask != NULL;
    for (size_t i = 0; i < set->n_items; i++)
        if (set->items[i].mask && (n_masks <= MAX_SCALE_IMAGES || at++ * MAX_SCALE_IMAGES / n_masks == n) &&
            n < MAX_SCALE_IMAGES)
            self.items[n++] = &set->items[i];
    MUST(parallel_for(n, n_threads, measure_regions, &self, err));
    *error = 0;
    for (size_t k = 0; k < n; k++)
        *error += self.error[k] / (double)n;
    return CLV_OK;
}

enum clv_status train_scale_choose(struct clv_recipe *recipe, const struct clv_set *set,
                                   const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_recipe usual;
    double error = 0;
    clv_recipe_init(&usual);
    if (options->recipe_given || recipe->nodes != usual.nodes || recipe->working_pixels != usual.working_pixels ||
        recipe->slic.n_superpixels != usual.slic.n_superpixels)
        return CLV_OK;
    MUST(regions_error(&error, recipe, set, &options->limits, options->n_threads, err));
    if (error <= MAX_LOST)
        return CLV_OK;
    report_message(options->progress, CLV_NOTE,
                   "%d regions cannot follow the masks (%.1f %% lost whatever is learned): %d regions and %d working "
                   "pixels are taken; --superpixels and --working-pixels choose others",
                   recipe->slic.n_superpixels, 100 * error, FINE_COUNT, FINE_PIXELS);
    recipe->slic.n_superpixels = FINE_COUNT;
    recipe->working_pixels = FINE_PIXELS;
    return CLV_OK;
}

/* Sorts the slices of --sequence, some of which may have no mask. */
static enum clv_status order_slices(struct clv_set *set, const struct clv_train_options *options, struct clv_error *err)
{
    struct sequence_gaps gaps;
    MUST(sequences_sort(&gaps, set, err));
    if (gaps.n)
        report_message(options->progress, CLV_NOTE,
                       "%s: numbers of slices are missing in %s, first between %s and %s: windows end there",
                       options->data, n_of(gaps.n, "place", "places").text, gaps.before[0], gaps.before[1]);
    return CLV_OK;
}

/* Sets the recipe before learning: it is moved from the start model, or has the settings of the options. Sets the
 * limits that follow from it. */
static void begin_recipe(struct clv_recipe *recipe, struct clv_train_options *options, struct clv_model *start)
{
    *recipe = options->init ? TAKE(start->recipe) : options->recipe; /* a recipe without codebooks owns no memory */
    recipe_take_range(recipe, &options->limits);
    recipe_limits(&options->limits, recipe);
}

/* Adds settings to the recipe that depend on the whole set, before features are extracted: bands, network maps, and the
 * number of superpixels. */
static enum clv_status complete_recipe(struct train_data *data, struct supervision *supervision,
                                       struct clv_train_options *options, struct clv_error *err)
{
    struct clv_set *set = &supervision->set;
    struct clv_recipe *recipe = &data->recipe;
    bool has_windows = options->recipe.window;
    if (options->maps.n)
        MUST(map_options_add(set, &options->maps, err));
    if (!options->init && training_set_is_deep(set, &options->limits))
        MUST(band_images_learn(recipe, set, !has_windows, &options->limits, options->progress, err));
    if (options->init && recipe->bands.n_bands && !has_windows)
        MUST(band_images_give(set, recipe, err));
    recipe_limits(&options->limits, recipe);
    if (options->init)
        MUST(map_options_check(&options->maps, recipe, set->map_names, set->n_maps, options->init, err));
    FAIL_IF(options->mirror && (set->n_maps || supervision->n_boxed + supervision->n_unlabelled), CLV_ERR_USAGE,
            "--mirror: goes with images that all have masks, and without maps");
    if (options->init)
        return CLV_OK;
    if (map_options_matter(&options->maps, recipe, set))
        MUST(map_options_learn(recipe, &options->maps, !options->no_maps, set, options->n_threads, &options->limits,
                               options->progress, err));
    MUST(train_scale_choose(recipe, set, options, err));
    data->is_fine = recipe->slic.n_superpixels != options->recipe.slic.n_superpixels;
    return CLV_OK;
}

/* Learns codebooks, unless the start model has them, and extracts the features of all images. Codebooks come from all
 * images, because words need no labels. */
static enum clv_status extract_features(struct train_data *data, const struct supervision *supervision,
                                        const struct clv_train_options *options, struct clv_error *err)
{
    const struct clv_set *set = &supervision->set;
    struct extract_options how = {.recipe = &data->recipe,
                                  .n_threads = 1,
                                  .limits = &options->limits,
                                  .progress = options->progress,
                                  .boxes = supervision->n_boxed ? supervision->boxes : NULL,
                                  .estimate = box_foreground};
    MUST(dataset_check_memory(set, &data->recipe, &options->limits, err));
    MUST(memory_choose_threads(&how.n_threads, set, &data->recipe, &options->limits, options->n_threads, err));
    MUST(digest_set(data->digest, set, supervision->boxes, err));
    if (!options->init)
        MUST(recipe_learn_set(&data->recipe, set, options->seed, how.n_threads, &options->limits, options->progress,
                              err));
    MUST(dataset_extract_boxed(&data->dataset, &data->privileged, set, &how, err));
    return options->mirror ? train_mirror_extract(data, set, options, how.n_threads, err) : CLV_OK;
}

/* Loads data from images and masks, all of which are checked before long work starts. */
static enum clv_status extract_images(struct train_data *data, const struct clv_train_options *options,
                                      struct clv_model *start, struct clv_error *err)
{
    OWNED(supervision_release) struct supervision supervision = {0};
    struct clv_set *set = &supervision.set;
    struct clv_train_options changed = *options;
    if (options->init)
        changed.recipe.window = start->recipe.window;
    FAIL_IF(options->init && options->recipe.window && !changed.recipe.window, CLV_ERR_USAGE,
            "--sequence: %s was not learned of sequences", options->init);
    bool has_windows = changed.recipe.window;
    changed.sequence = has_windows;
    if (options->init) /* the window of the start model excludes more options */
        MUST(train_rules_check(train_option_rules, &changed, NULL, NULL, err));
    FAIL_IF(has_windows && (options->image_boxes || options->n_image_maps), CLV_ERR_USAGE,
            "--sequence excludes the images' own boxes and maps: slices are learned from by their masks alone");
    MUST(changed.n_images ? train_memory_read(&supervision, &changed, err)
                          : supervision_read(&supervision, &changed, err));
    begin_recipe(&data->recipe, &changed, start);
    MUST(check_set(&supervision, &data->recipe, &changed, err));
    if (has_windows)
        MUST(order_slices(set, &changed, err));
    FAIL_IF(changed.cv && (size_t)changed.cv > supervision.n_masks, CLV_ERR_USAGE,
            "--cv: %d folds need as many images with masks, there are %zu", changed.cv, supervision.n_masks);
    MUST(complete_recipe(data, &supervision, &changed, err));
    MUST(extract_features(data, &supervision, &changed, err));
    bool has_objects = false;
    for (size_t i = 0; i < set->n_items && !has_windows; i++)
        has_objects |= set->items[i].instances != NULL;
    data->has_recipe = true;
    data->n_masks = has_windows ? clv_dataset_size(data->dataset) : supervision.n_masks;
    data->n_boxed = supervision.n_boxed;
    data->n_unlabelled = supervision.n_unlabelled;
    data->labels = TAKE(set->labels);
    box_hints_free(TAKE(supervision.boxes), set->n_items);
    if (data->recipe.n_maps || changed.stages > 1 || changed.pixel_net || has_objects)
        data->set = TAKE(*set);
    return CLV_OK;
}

enum clv_status train_data_load(struct train_data *data, const struct clv_train_options *options,
                                struct clv_model *start, struct clv_error *err)
{
    OWNED(train_data_release) struct train_data loaded = {0};
    MUST(!options->n_images && is_tensor_file(options->data) ? open_features(&loaded, options, err)
                                                             : extract_images(&loaded, options, start, err));
    FAIL_IF(!clv_dataset_size(loaded.dataset), CLV_ERR_DATA, "%s: no images in it", options->data);
    MUST(train_loss_weigh(&loaded, options, err));
    *data = TAKE(loaded);
    return CLV_OK;
}

enum clv_status train_data_examples(int32_t **examples, size_t *n, const struct train_data *data,
                                    const struct clv_progress *progress, struct clv_error *err)
{
    *n = 0;
    *examples = array_alloc(data->n_masks, sizeof **examples);
    NEED(*examples);
    for (size_t i = 0; i < data->n_masks; i++)
        if (clv_dataset_problem(data->dataset, i).theta)
            (*examples)[(*n)++] = (int32_t)i;
    FAIL_IF(data->n_masks && !*n, CLV_ERR_DATA, "%s: has no true labels to learn from, nor has any other of %zu",
            clv_dataset_name(data->dataset, 0), data->n_masks);
    if (*n < data->n_masks)
        report_message(progress, CLV_NOTE, "%zu of %zu masks are void throughout; their images teach nothing",
                       data->n_masks - *n, data->n_masks);
    return CLV_OK;
}
