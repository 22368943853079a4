/* Segments an image that may be larger than memory, tile by tile (src/segment), and writes its mask row by row. The
 * tiles stay on disk for --resume until the mask is complete. Start at tiles_label. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/raster_files.h"
#include "data/shapes/shapes.h"
#include "image/raster/raster.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"

#define TILE_BYTES    100e6 /* of a thread: a window of tiles and its features */
#define REGION_BYTES  250   /* of a region: field, cut and samples */
#define ROW_BYTES     16    /* per pixel of a band of rows: colours, labels and numbers, read and written */
#define BAND_ROWS     300.0 /* rows of a band with their halo, of all files */
#define STARTED_BYTES 40e6  /* of the process before the first input */

double tiles_bytes(const struct batch *run, const struct input *input)
{
    const struct clv_recipe *recipe = &run->model->recipe;
    OWNED(raster_close) struct raster raster = {0};
    struct clv_error ignored;
    if (!(recipe->scale > 0) || recipe->region_area < 1 ||
        raster_open_windows(&raster, input->image, &run->options.limits, &ignored) != CLV_OK)
        return 0;
    const double width = raster.width, n = width * raster.height;
    const double n_regions = n / ((double)recipe->scale * (double)recipe->scale * recipe->region_area);
    const double of_objects = batch_has_learned_objects(run) ? learned_threads(run) * LEARNED_WINDOW_BYTES : 0;
    const double bytes =
        fmax(run->n_threads * TILE_BYTES + REGION_BYTES * n_regions, of_objects) + BAND_ROWS * width * ROW_BYTES;
    return fmax(fmin(bytes, run->gate.limit - STARTED_BYTES), 0);
}

#define UNMERGED ".unmerged" /* extension of the file of labels before specks are merged and objects change labels */

/* Fails for an image that is too large for run lengths, which COCO has for objects with holes. */
static enum clv_status check_runs(const struct input *input, const struct clv_image_limits *limits,
                                  struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    MUST(raster_open_windows(&raster, input->image, limits, err));
    FAIL_IF((uint64_t)raster.width * (uint64_t)raster.height > RLE_MAX_PIXELS, CLV_ERR_USAGE,
            "--export coco cannot be used with %s: %dx%d pixels, and its run lengths are of %" PRIu64
            " at most; --export geojson has polygons of any size",
            input->name, raster.width, raster.height, RLE_MAX_PIXELS);
    return CLV_OK;
}

enum clv_status tiles_check(const struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    for (size_t i = 0; i < run->inputs.n; i++) {
        if (!run->inputs.items[i].is_tiled)
            continue;
        if (options->exports & CLV_EXPORT_COCO)
            MUST(check_runs(&run->inputs.items[i], &options->limits, err));
        FAIL_IF(output_is_stream(options), CLV_ERR_USAGE,
                "-o -: the mask of %s, an image of more than --max-pixels, is written as a file; -o FILE.tif takes it",
                run->inputs.items[i].name);
        FAIL_IF(run->to.file && !text_ends_with(run->to.file, ".tif"), CLV_ERR_USAGE,
                "-o %s: the mask of an image of more than --max-pixels is a GeoTIFF; name it .tif", run->to.file);
    }
    return CLV_OK;
}

/* State of writing the mask. If specks are merged, or learned objects change labels, the mask depends on the labels of
 * all rows; these are first written to the file `unmerged`. */
struct mask_rows {
    struct raster_writer *writer, *unmerged; /* unmerged may be NULL */
    struct raster_cut *cut;
    bool is_binary, is_empty, is_probable;
    struct specks *specks;          /* or NULL */
    struct object_windows *learned; /* or NULL; the members below are of learned objects */
    struct label_votes votes;
    int32_t *numbers; /* [RASTER_TILE][width] */
    bool is_object[256];
};

static void mask_rows_release(struct mask_rows *self)
{
    specks_drop(&self->specks);
    label_votes_release(&self->votes);
    array_free(self->numbers);
}

/* Writes the next rows of labels to the mask. Changes them: pixels without data become void, and labels 0 and 255 in a
 * binary mask. */
static enum clv_status put_rows(struct mask_rows *mask, uint8_t *labels, int32_t top, int32_t rows,
                                struct clv_error *err)
{
    const size_t width = (size_t)mask->cut->width;
    struct raster *raster = &mask->cut->rasters[0];
    const struct image_part window = {.top = top, .width = mask->cut->width, .height = rows};
    if (!mask->is_probable)
        MUST(raster_void_labels(labels, raster, &window, err));
    raster_forget(raster);
    mask->is_empty &= labels_are_empty(labels, (size_t)rows * width);
    if (mask->is_binary)
        mask_file_to_binary(labels, (size_t)rows * width);
    return raster_writer_rows(mask->writer, labels, rows, err);
}

/* Writes the next rows of labels to the file `unmerged`, and adds them to the votes of objects and to the specks. */
static enum clv_status keep_rows(struct mask_rows *mask, const uint8_t *labels, int32_t top, int32_t rows,
                                 struct clv_error *err)
{
    const size_t width = (size_t)mask->cut->width;
    if (mask->learned) {
        object_windows_rows(mask->numbers, mask->learned, top, rows);
        learned_objects_vote(&mask->votes, mask->numbers, labels, (size_t)rows * width, mask->is_object);
    }
    for (size_t y = 0; mask->specks && !mask->learned && y < (size_t)rows; y++)
        MUST(specks_row(mask->specks, labels + y * width, err));
    return raster_writer_rows(mask->unmerged, labels, rows, err);
}

/* Paints the labels by rows of tiles, or of refined squares. */
static enum clv_status paint_rows(struct mask_rows *mask, struct clv_error *err)
{
    struct raster_cut *cut = mask->cut;
    const size_t width = (size_t)cut->width;
    const int32_t step = cut->refined_px ? cut->refined_px : RASTER_TILE;
    OWNED_ARRAY uint8_t *labels = array_alloc((size_t)step, width);
    NEED(labels);
    for (int32_t top = 0; top < cut->height; top += step) {
        const int32_t rows = cut->height - top < step ? cut->height - top : step;
        MUST(cut->refined_px ? raster_cut_refine(labels, cut, top, rows, err)
                             : raster_cut_paint(labels, cut, top, rows, err));
        MUST(mask->unmerged ? keep_rows(mask, labels, top, rows, err) : put_rows(mask, labels, top, rows, err));
    }
    return CLV_OK;
}

/* Reads the file `unmerged` and lets objects change the labels. Then adds the rows to the specks, or, if is_last,
 * merges the specks and writes the mask. */
static enum clv_status read_kept(struct mask_rows *mask, const char *unmerged, bool is_last, const struct batch *run,
                                 struct clv_error *err)
{
    const size_t width = (size_t)mask->cut->width;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED_ARRAY uint8_t *labels = array_alloc(RASTER_TILE, width);
    NEED(labels);
    MUST(raster_rows_open(&rows, &(struct raster_rows_files){.mask = unmerged}, RASTER_TILE, 0, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        const size_t n_rows = (size_t)rows.band.n_rows;
        memcpy(labels, rows.band.labels, n_rows * width);
        if (mask->learned) {
            object_windows_rows(mask->numbers, mask->learned, rows.band.top, rows.band.n_rows);
            learned_objects_paint(labels, mask->numbers, n_rows * width, mask->learned->labels, mask->is_object);
        }
        for (size_t y = 0; mask->specks && y < n_rows; y++)
            MUST(is_last ? specks_merge_row(mask->specks, labels + y * width, err)
                         : specks_row(mask->specks, labels + y * width, err));
        if (is_last)
            MUST(put_rows(mask, labels, rows.band.top, rows.band.n_rows, err));
    }
    return CLV_OK;
}

/* Writes the mask from the file `unmerged`. */
static enum clv_status merge_rows(struct mask_rows *mask, const char *unmerged, const struct batch *run,
                                  struct clv_error *err)
{
    bool changes;
    if (mask->learned) {
        NEED(mask->learned->labels = array_alloc((size_t)mask->learned->n_objects, 1));
        learned_objects_label(mask->learned->labels, &mask->votes, mask->is_object);
        if (mask->specks)
            MUST(read_kept(mask, unmerged, false, run, err));
    }
    if (mask->specks)
        MUST(specks_settle(&changes, mask->specks, err));
    return read_kept(mask, unmerged, true, run, err);
}

/* Removes a temporary file, at the end of its scope. */
static void drop_file(char **path)
{
    if (!*path)
        return;
    unlink(*path);
    file_forget_temporary(*path);
    array_free(*path);
}

/* Removes the file `unmerged` of a run that was killed. */
static enum clv_status remove_unmerged(const char *mask, struct clv_error *err)
{
    OWNED_ARRAY char *unmerged = file_beside(mask, UNMERGED);
    NEED(unmerged);
    unlink(unmerged);
    return CLV_OK;
}

/* Writes the mask if specks or objects change its labels: by way of the file `unmerged`. */
static enum clv_status write_merged(struct mask_rows *mask, const char *path, const struct batch *run,
                                    struct clv_error *err)
{
    const struct raster_layout layout = {
        .width = mask->cut->width, .height = mask->cut->height, .n_channels = 1, .bits = 8};
    const struct specks_settings how = {
        .width = layout.width, .min_pixels = run->options.min_area, .budget = raster_budget(run)};
    OWNED(drop_file) char *unmerged = file_beside(path, UNMERGED);
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    NEED(unmerged);
    file_remember_temporary(unmerged);
    if (how.min_pixels)
        MUST(specks_begin(&mask->specks, &how, err));
    if (mask->learned) {
        batch_find_objects(mask->is_object, run);
        MUST(label_votes_init(&mask->votes, mask->learned->n_objects, run->labels.n_labels, err));
        NEED(mask->numbers = array_alloc(RASTER_TILE, (size_t)layout.width * sizeof *mask->numbers));
    }
    MUST(raster_writer_create(&writer, unmerged, &layout, NULL, err));
    mask->unmerged = &writer; /* cppcheck-suppress autoVariables; reset below */
    enum clv_status status = paint_rows(mask, err);
    mask->unmerged = NULL;
    MUST(status);
    MUST(raster_writer_commit(&writer, err));
    return merge_rows(mask, unmerged, run, err);
}

/* Removes the files beside the earlier mask. If this run ended early, --resume would take them for files of the new
 * mask. */
static enum clv_status remove_earlier(const struct target *target, struct clv_error *err)
{
    for (int k = 0; k < N_FILES; k++) {
        if (!target->files[k])
            continue;
        unlink(target->files[k]);
        if (k != FILE_CLASS_OBJECTS)
            continue;
        OWNED_ARRAY char *tiff = path_replace_extension(target->files[k], ".tif");
        NEED(tiff);
        unlink(tiff);
    }
    return CLV_OK;
}

/* Writes the mask from the values of the cut's regions, which are labels or probabilities of one label. */
static enum clv_status write_mask(struct raster_cut *cut, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    int n;
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    OWNED(mask_rows_release)
    struct mask_rows rows = {.writer = &writer,
                             .cut = cut,
                             .is_empty = true,
                             .is_probable = batch_is_probable(run),
                             .learned = item->learned};
    const enum clv_mask_format format = (enum clv_mask_format)run->options.mask_format;
    struct georeference georeference = cut->rasters[0].georeference;
    const uint8_t(*palette)[3] = mask_file_palette(&n, format, &run->labels, georeference.may_lack_data);
    const struct label_image mask = {cut->width, cut->height, NULL, palette, n};
    georeference.may_lack_data &= format != CLV_MASKS_BINARY && !rows.is_probable; /* 255 is then not void */
    MUST(raster_writer_open(&writer, item->target->mask, &mask, &georeference, err));
    rows.is_binary = format == CLV_MASKS_BINARY && !rows.is_probable;
    MUST(run->options.min_area || rows.learned ? write_merged(&rows, item->target->mask, run, err)
                                               : paint_rows(&rows, err));
    item->is_empty = rows.is_empty;
    MUST(raster_cut_check_files(cut, err));
    MUST(remove_earlier(item->target, err));
    return raster_writer_commit(&writer, err);
}

/* Measures the means of the bands, for the note on another sensor (watch_maps in deliver.c). */
static enum clv_status find_means(struct labelled *item, struct raster_cut *cut, struct clv_error *err)
{
    const struct clv_recipe *recipe = &cut->options.model->recipe;
    if (!recipe->n_maps)
        return CLV_OK;
    NEED(item->map_means = array_alloc(map_drift_size(recipe), sizeof *item->map_means));
    return raster_cut_means(item->map_means, cut, err);
}

/* Fails for probabilities that cannot be computed on graphs with loops, as those of a raster's regions, before tiles
 * are read. */
static enum clv_status check_probabilities(const struct batch *run, struct clv_error *err)
{
    const struct clv_model *model = run->model;
    const bool is_tractable = model->layout.n_labels == 2 || model->layout.pairwise == CLV_PAIRWISE_NONE;
    const bool are_margins = run->options.probabilities == CLV_PROBABILITIES_MARGINS;
    if (!batch_is_probable(run) || is_tractable || (!are_margins && model->decoding.rule != CLV_DECODE_ORACLE))
        return CLV_OK;
    return fail(err, CLV_ERR_USAGE, "more than two labels, coupled between regions that form loops, have no %s; %s",
                are_margins ? "margins" : "samples",
                are_margins ? "--all-labels --decode map has probabilities"
                            : "--decode map has them by belief propagation");
}

/* Sets the model's rule of decoding to MAP, the one that tiles support, if another rule was learned. A note reports
 * that; if --decode names the other rule, the run fails later. */
static void use_map_rule(struct clv_model *model, const struct batch *run, const char *image)
{
    if (batch_is_probable(run) || run->options.decode == CLV_DECODING_MIN_LOSS) { /* the rule has no effect */
        model->decoding.rule = CLV_DECODE_MAP;
        return;
    }
    enum clv_decoding_rule rule = model->decoding.rule;
    bool is_cut = rule == CLV_DECODE_ORACLE || rule == CLV_DECODE_MAP || model->layout.pairwise == CLV_PAIRWISE_NONE;
    if (is_cut || run->options.decode != CLV_DECODING_AUTO)
        return;
    model->decoding.rule = CLV_DECODE_MAP;
    report_message(
        &run->progress, CLV_NOTE,
        "%s: tiles are decided by the best labelling (--decode map); the model's own rule (--decode %s) needs "
        "the whole image, which --max-pixels allows",
        image, rule == CLV_DECODE_MARGINALS ? "marginals" : "marginal-map");
}

/* Computes the scores of tiles, labels all of them jointly, and writes the mask. */
static enum clv_status cut_raster(struct labelled *item, const struct batch *run, struct raster_cut *cut,
                                  struct clv_oracle *oracle, struct clv_error *err)
{
    MUST(find_means(item, cut, err));
    if (batch_has_learned_objects(run))
        MUST(raster_learned_find(item, run, err));
    MUST(raster_cut_read(cut, err));
    clv_oracle_watch(oracle, run->progress.stop);
    if (batch_is_probable(run))
        MUST(raster_probabilities_make(item, run, cut, oracle, err));
    else if (run->options.decode == CLV_DECODING_MIN_LOSS)
        MUST(raster_decide(cut, run, oracle, err));
    else
        MUST(raster_cut_solve(cut, oracle, err));
    return batch_has_maps(run) ? CLV_OK : write_mask(cut, item, run, err);
}

enum clv_status tiles_label(struct labelled *item, const struct batch *run, struct clv_oracle *oracle,
                            struct clv_error *err)
{
    const bool is_plain = !batch_is_probable(run) && run->options.decode != CLV_DECODING_MIN_LOSS;
    struct raster_cut cut;
    struct clv_model model = *run->model; /* a view */
    struct raster_cut_options options = {.path = item->input->image,
                                         .limits = &run->options.limits,
                                         .model = &model,
                                         .resumes = run->options.existing == CLV_EXISTING_RESUME,
                                         .n_threads = run->n_threads,
                                         .refine =
                                             is_plain ? (enum clv_refine_choice)run->options.refine : CLV_REFINE_NONE,
                                         .progress = &run->progress};
    OWNED_ARRAY char *tiles = tiles_path(item->target->mask);
    OWNED(output_locks_release) struct output_locks locks = {.n = 0};
    NEED(tiles);
    MUST(check_probabilities(run, err));
    use_map_rule(&model, run, item->input->image);
    options.key = tiles_key(run);
    MUST(outputs_make_folder(item->target->mask, err));
    MUST(output_locks_file(&locks, tiles, err)); /* a run into this folder and a run for this file alone may write the
                                                  * same mask */
    MUST(remove_unmerged(item->target->mask, err));
    options.tiles = tiles;
    MUST(raster_cut_open(&cut, &options, err));
    const enum clv_status status = cut_raster(item, run, &cut, oracle, err);
    /* Tiles stay after failures from which --resume can continue. */
    raster_cut_close(&cut, status != CLV_OK && status != CLV_ERR_DATA && status != CLV_ERR_USAGE);
    return status;
}
