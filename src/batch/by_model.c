/* Labels photographs, and rasters by tiles, by a model: computes features of superpixels, labels the superpixels by the
 * model, paints the labels and refines them at the pixels; or computes probabilities instead of labels. Items of
 * feature files are labelled in the same way, without an image. Start at label_image. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "feature/dataset/dataset.h"
#include "feature/example/example.h"
#include "image/raster/raster.h"
#include "intake/intake.h"
#include "model/model.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"

#define SMALL_PIXELS 1000000

struct by_model {
    struct clv_model model; /* owned, or a view of the caller's */
    bool is_view;
    struct clv_dataset *dataset; /* the feature files; NULL: inputs are images */
    struct clv_oracle **oracles; /* [n_threads], each made on first use */
    int n_threads;
};

bool batch_refines(const struct batch *run, int32_t width_px, int32_t height_px)
{
    const struct clv_files_options *options = &run->options;
    if (!run->model || batch_is_probable(run) || options->decode == CLV_DECODING_MIN_LOSS || options->features)
        return false;
    return label_refines((enum clv_refine_choice)options->refine, run->model, width_px, height_px);
}

static void note_range(const struct batch *run)
{
    const struct clv_recipe *recipe = &run->model->recipe;
    const struct clv_image_limits *limits = &run->options.limits;
    if (recipe->grey16_high && limits->grey16_high > 0 &&
        (recipe->grey16_low != limits->grey16_low || recipe->grey16_high != limits->grey16_high))
        report_message(&run->progress, CLV_WARNING,
                       "--range %d,%d: the model was trained with %d,%d, and sees other images than it knows",
                       limits->grey16_low, limits->grey16_high, recipe->grey16_low, recipe->grey16_high);
}

enum clv_status model_open(struct clv_model *model, bool *is_view, struct batch *run, struct clv_error *err)
{
    struct clv_files_options *options = &run->options;
    *is_view = options->model != NULL;
    if (options->model)
        *model = *options->model;
    else
        MUST(clv_model_read(model, options->model_path, err));
    FAIL_IF(!model->has_recipe && !options->features, CLV_ERR_USAGE,
            "%s: learned from features made elsewhere; --features is needed", batch_model_name(run));
    decoding_choose(&model->decoding, (enum clv_decoding_choice)options->decode);
    run->model = model;
    MUST(clv_labels_copy(&run->labels, &model->labels, err));
    if (batch_is_probable(run))
        MUST(probabilities_find_label(run, err));
    note_range(run);
    recipe_limits(&options->limits, &model->recipe);
    if (model->recipe.bands.files[0] && !options->limits.band_files)
        options->limits.band_files = model->recipe.bands.files;
    return CLV_OK;
}

/* Returns the number of bands of an image whose bands would be scaled to colours by its own values; 0 of other
 * images. */
static int32_t count_bands(const char *path, const struct clv_image_limits *limits)
{
    struct raster raster;
    struct clv_error ignored;
    if (!raster_is_deep(path, limits) || raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return 0;
    int32_t n = raster.is_plain ? 0 : raster.n_bands;
    raster_close(&raster);
    return n;
}

/* Checks images of bands for a model of photographs. One or three bands may be those of a photograph: their values are
 * scaled to colours, which a warning reports. Other numbers of bands are an error, unless --range is given. */
static enum clv_status check_bands(const struct batch *run, struct clv_error *err)
{
    const struct clv_image_limits *limits = &run->options.limits;
    bool is_reported = false;
    for (size_t i = 0; i < run->inputs.n && limits->grey16_high <= 0; i++) {
        const char *image = run->inputs.items[i].image;
        int32_t n = image ? count_bands(image, limits) : 0;
        FAIL_IF(n == 2 || n > 3, CLV_ERR_DATA,
                "%s: an image of %d bands, but the model is of photographs; train a model on images of these bands, or "
                "add --range 0,65535 to have colours made of them by each image's own values",
                image, n);
        if (n && !is_reported)
            report_message(&run->progress, CLV_WARNING,
                           "%s: an image of bands, but the model is of photographs: colours are made of the bands by "
                           "this image's own values",
                           image);
        is_reported |= n > 0;
    }
    return CLV_OK;
}

/* Marks the inputs that are segmented by tiles. Checks names first, so that photographs are not opened. */
static void find_tiled(struct batch *run)
{
    const struct clv_image_limits *limits = &run->options.limits;
    for (size_t i = 0; i < run->inputs.n; i++) {
        const char *image = run->inputs.items[i].image;
        run->inputs.items[i].is_tiled =
            image &&
            (strstr(image, ".tif") || strstr(image, ".npy") || limits->band_files || raster_gdal_knows(image)) &&
            raster_cut_is_needed(image, limits);
    }
}

static enum clv_status open_model(struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    struct by_model *self = array_zalloc(1, sizeof *self);
    NEED(run->state = self);
    NEED(self->oracles = array_zalloc((size_t)run->n_threads, sizeof *self->oracles));
    self->n_threads = run->n_threads;
    MUST(model_open(&self->model, &self->is_view, run, err));
    if (options->features) {
        const struct path_list files = {.paths = (char **)options->feature_files, .n = options->n_feature_files};
        MUST(features_open_list(&self->dataset, NULL, &files, err));
        return gather_inputs(run, self->dataset, err);
    }
    MUST(gather_inputs(run, NULL, err));
    if (!self->model.recipe.bands.n_bands)
        MUST(check_bands(run, err));
    find_tiled(run);
    if (options->maps.n || self->model.recipe.n_maps)
        MUST(map_options_check(&options->maps, &self->model.recipe, run->inputs.map_names, run->inputs.n_maps,
                               batch_model_name(run), err));
    return CLV_OK;
}

static void close_model(struct batch *run)
{
    struct by_model *self = run->state;
    if (!self)
        return;
    for (int thread = 0; self->oracles && thread < self->n_threads; thread++)
        clv_oracle_free(self->oracles[thread]);
    clv_dataset_free(self->dataset);
    if (!self->is_view)
        clv_model_release(&self->model);
    arrays_free(self->oracles, self);
    run->model = NULL;
}

/* Labels the example's nodes and paints them at the original size. */
static enum clv_status label_pixels(struct labelled *item, const struct batch *run, const struct clv_example *example,
                                    struct clv_oracle *oracle, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    item->width = example->width;
    item->height = example->height;
    NEED(item->labels = array_alloc((size_t)item->width, (size_t)item->height));
    item->unmet = options->features ? 0 : label_unmet_share(run->model, &example->problem);
    const struct clv_segment_options how = {
        .refine = batch_refines(run, item->width, item->height) ? CLV_REFINE_ALL : CLV_REFINE_NONE,
        .n_samples = options->decode == CLV_DECODING_MIN_LOSS ? options->n_samples : 0,
        .seed = options->seed,
        .oracle = oracle};
    return label_example(item->labels, run->model, &item->image, example, item->maps, &how, err);
}

static enum clv_status find_probabilities(struct labelled *item, const struct batch *run,
                                          const struct clv_example *example, struct clv_oracle *oracle,
                                          struct clv_error *err)
{
    const struct clv_problem *problem = &example->problem;
    OWNED_ARRAY double *values =
        array_alloc((size_t)problem->n_nodes, (size_t)run->model->layout.n_labels * sizeof *values);
    NEED(values);
    if (!batch_has_maps(run))
        item->unmet = run->options.features ? 0 : label_unmet_share(run->model, problem);
    MUST(probabilities_find(values, &item->summary, run, problem, oracle, err));
    return probabilities_show(item, run, example, values, err);
}

static enum clv_status label_example_of(struct labelled *item, struct batch *run, size_t index,
                                        struct clv_oracle *oracle, struct clv_error *err)
{
    const struct by_model *self = run->state;
    OWNED(clv_example_release) struct clv_example example = {0};
    if (self->dataset) {
        MUST(dataset_example(&example, self->dataset, run->first + index, err));
    } else {
        MUST(input_read_image(&item->image, item->input, &run->options.limits, &run->progress, err));
        if (run->model->recipe.n_maps)
            MUST(input_maps_read(item, run, err));
        MUST(example_extract(&example, &item->image, item->maps, &run->model->recipe, err));
    }
    return batch_is_probable(run) ? find_probabilities(item, run, &example, oracle, err)
                                  : label_pixels(item, run, &example, oracle, err);
}

static enum clv_status label_image(struct labelled *item, struct batch *run, size_t index, int thread,
                                   struct clv_error *err)
{
    struct by_model *self = run->state;
    struct clv_oracle **oracle = &self->oracles[thread];
    if (!*oracle)
        MUST(clv_oracle_new(oracle, run->options.engine, err));
    if (item->input->is_tiled)
        return tiles_label(item, run, *oracle, err);
    const enum clv_status status = label_example_of(item, run, index, *oracle, err);
    item_maps_close(item->maps, &run->model->recipe); /* also after a failure */
    item->maps = NULL;
    return status;
}

double model_bytes(const struct batch *run, const struct input *input, int32_t width, int32_t height, double file_size)
{
    struct memory_work work = {.model = run->model,
                               .has_net = refining_has_net(run->model),
                               .is_refined = batch_refines(run, width, height),
                               .map_bytes = run->model->recipe.n_maps ? input_maps_memory(input, run) : 0};
    memory_take_files(&work, run);
    return memory_of_work(&work, width, height, file_size);
}

static enum clv_status advise_tiles(const struct batch *run, const struct input *input, struct clv_error *err)
{
    struct clv_image_limits limits = run->options.limits;
    const struct clv_recipe *recipe = &run->model->recipe;
    limits.max_pixels = SMALL_PIXELS;
    if (!(recipe->scale > 0) || !(recipe->bands.n_bands || !raster_is_deep(input->image, &limits)) ||
        !raster_cut_is_needed(input->image, &limits))
        return CLV_ERR_MEMORY;
    return fail_adding(err, CLV_ERR_MEMORY, err, "; --max-pixels %d segments it tile by tile, in less", SMALL_PIXELS);
}

const struct labeller by_model = {.name = "a model",
                                  .has_truth = true,
                                  .open = open_model,
                                  .each = run_all,
                                  .label = label_image,
                                  .bytes = model_bytes,
                                  .advise_memory = advise_tiles,
                                  .close = close_model};

static double bytes_of_item(const struct batch *run, const struct input *input, int32_t width, int32_t height,
                            double file_size)
{
    (void)run, (void)input, (void)width, (void)height, (void)file_size;
    return 0;
}

const struct labeller by_features = {.name = "--features",
                                     .lacks = NEEDS_PIXELS,
                                     .why = {"a feature file has no images"},
                                     .open = open_model,
                                     .each = run_all,
                                     .label = label_image,
                                     .bytes = bytes_of_item,
                                     .close = close_model};
