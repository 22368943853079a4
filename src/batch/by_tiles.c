/* Segments an image that may be larger than memory, tile by tile (src/segment), and writes its mask row by row. The
 * tiles stay on disk for --resume until the mask is complete. Start at tiles_label. */
#include <string.h>

#include "base/base.h"
#include "base/digest.h"
#include "batch/batch.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"

enum clv_status tiles_check(const struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    const struct {
        bool is_wanted;
        const char *option;
    } wholes[] = {{options->overlay, "--overlay"},
                  {options->cutout, "--cutout"},
                  {options->objects, "--objects"},
                  {options->exports, "--export"},
                  {options->report, "--report"},
                  {options->min_area, "--min-area"},
                  {options->decode == CLV_DECODING_MIN_LOSS, "--decode min-loss"}};
    for (size_t i = 0; i < run->inputs.n; i++) {
        if (!run->inputs.items[i].is_tiled)
            continue;
        for (size_t k = 0; k < sizeof wholes / sizeof *wholes; k++)
            FAIL_IF(wholes[k].is_wanted, CLV_ERR_USAGE,
                    "%s cannot be used with %s, an image of more than --max-pixels: it needs all pixels in memory, and "
                    "such an image is segmented tile by tile",
                    wholes[k].option, run->inputs.items[i].name);
        FAIL_IF(run->to.file && !text_ends_with(run->to.file, ".tif"), CLV_ERR_USAGE,
                "-o %s: the mask of an image of more than --max-pixels is a GeoTIFF; name it .tif", run->to.file);
    }
    return CLV_OK;
}

char *tiles_path(const char *mask)
{
    size_t length = strlen(mask) + sizeof ".tiles";
    char *tiles = array_alloc(length, 1);
    if (tiles)
        snprintf(tiles, length, "%s.tiles", mask);
    return tiles;
}

/* Another model, other options that decide what is in tiles or follows from them: another key. */
static uint64_t find_key(const struct batch *run)
{
    const struct clv_files_options *options = &run->options;
    const struct clv_image_limits *limits = &options->limits;
    const char *files = limits->band_files ? limits->band_files : "";
    uint64_t key = hash_bytes(HASH_START, run->model_digest, strlen(run->model_digest));
    key = hash_bytes(key, clv_version(), strlen(clv_version()) + 1);
    key = hash_bytes(key, files, strlen(files) + 1);
    const int64_t numbers[] = {limits->grey16_low, limits->grey16_high, (int64_t)options->refine,
                               (int64_t)options->decode};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        key = hash_number(key, (uint64_t)numbers[k]);
    return key;
}

/* Rows of the mask's tiles, or of squares that are refined, which are some such rows. */
static enum clv_status write_rows(struct raster_writer *writer, bool *is_empty, struct raster_cut *cut, bool is_binary,
                                  struct clv_error *err)
{
    *is_empty = true;
    size_t width = (size_t)cut->width;
    int32_t step = cut->refined_px ? cut->refined_px : RASTER_TILE;
    OWNED_ARRAY uint8_t *labels = array_alloc((size_t)step, width);
    NEED(labels);
    for (int32_t top = 0; top < cut->height; top += step) {
        int32_t rows = cut->height - top < step ? cut->height - top : step;
        MUST(cut->refined_px ? raster_cut_refine(labels, cut, top, rows, err)
                             : raster_cut_paint(labels, cut, top, rows, err));
        const struct image_part window = {.top = top, .width = cut->width, .height = rows};
        MUST(raster_void_labels(labels, &cut->rasters[0], &window, err));
        raster_forget(&cut->rasters[0]);
        *is_empty &= labels_are_empty(labels, (size_t)rows * width);
        if (is_binary)
            mask_file_to_binary(labels, (size_t)rows * width);
        for (size_t tile = 0; tile < (size_t)rows; tile += RASTER_TILE)
            for (size_t left = 0; left < width; left += RASTER_TILE)
                MUST(raster_writer_put(writer, labels + tile * width + left, width, err));
    }
    return CLV_OK;
}

static enum clv_status write_mask(struct raster_cut *cut, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    int n;
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    const enum clv_mask_format format = (enum clv_mask_format)run->options.mask_format;
    struct raster_place place = cut->rasters[0].place;
    const uint8_t(*palette)[3] = mask_file_palette(&n, format, &run->labels, place.may_lack_data);
    const struct label_image mask = {cut->width, cut->height, NULL, palette, n};
    place.may_lack_data &= format != CLV_MASKS_BINARY;
    MUST(raster_writer_open(&writer, item->target->mask, &mask, &place, err));
    MUST(write_rows(&writer, &item->is_empty, cut, format == CLV_MASKS_BINARY, err));
    MUST(raster_cut_check_files(cut, err));
    return raster_writer_commit(&writer, err);
}

/* Measures the means of the bands, for the note on another sensor (work_report). */
static enum clv_status find_means(struct labelled *item, struct raster_cut *cut, struct clv_error *err)
{
    const struct clv_recipe *recipe = &cut->options.model->recipe;
    if (!recipe->n_maps)
        return CLV_OK;
    NEED(item->map_means = array_alloc(map_drift_size(recipe), sizeof *item->map_means));
    return raster_cut_means(item->map_means, cut, err);
}

/* Models that were learned for another rule (of more than two labels, say) decide tiles by the one that a cut follows,
 * unless --decode asks for theirs, which is refused. */
static void decide_by_map(struct clv_model *model, const struct batch *run, const char *image)
{
    enum clv_decoding_rule rule = model->decoding.rule;
    bool is_cut = rule == CLV_DECODE_ORACLE || rule == CLV_DECODE_MAP || model->shape.pairwise == CLV_PAIRWISE_NONE;
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
    MUST(raster_cut_read(cut, err));
    clv_oracle_watch(oracle, run->progress.stop);
    MUST(raster_cut_solve(cut, oracle, err));
    return write_mask(cut, item, run, err);
}

enum clv_status tiles_label(struct labelled *item, const struct batch *run, struct clv_oracle *oracle,
                            struct clv_error *err)
{
    struct raster_cut cut;
    struct clv_model model = *run->model; /* a view */
    struct raster_cut_options options = {.path = item->input->image,
                                         .limits = &run->options.limits,
                                         .model = &model,
                                         .resumes = run->options.existing == CLV_EXISTING_RESUME,
                                         .n_threads = run->n_threads,
                                         .refine = (enum clv_refine_choice)run->options.refine,
                                         .progress = &run->progress};
    OWNED_ARRAY char *tiles = tiles_path(item->target->mask);
    OWNED(output_locks_release) struct output_locks locks = {.n = 0};
    NEED(tiles);
    decide_by_map(&model, run, item->input->image);
    options.key = find_key(run);
    MUST(outputs_make_folder(item->target->mask, err));
    MUST(output_locks_file(&locks, tiles, err)); /* a run into this folder, and one of this file alone, may meet here */
    options.tiles = tiles;
    MUST(raster_cut_open(&cut, &options, err));
    const enum clv_status status = cut_raster(item, run, &cut, oracle, err);
    /* Tiles stay where a run with --resume can go on from them. */
    raster_cut_close(&cut, status != CLV_OK && status != CLV_ERR_DATA && status != CLV_ERR_USAGE);
    return status;
}
