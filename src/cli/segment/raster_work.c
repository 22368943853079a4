/* Segments an image that may be larger than memory, tile by tile (src/segment), and writes its mask row by row. The
 * tiles stay on disk for --resume until the mask is complete. Start at raster_work. */
#include <string.h>

#include "base/base.h"
#include "base/digest.h"
#include "cli/segment/segment.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"

/* Refuses outputs that need a whole image in memory. */
static enum clv_status check_outputs(const struct segment *self, const struct work *work, struct clv_error *err)
{
    const struct {
        bool is_wanted;
        const char *option;
    } wholes[] = {{self->overlay, "overlay"},
                  {self->cutout, "cutout"},
                  {self->objects, "objects"},
                  {self->export.forms, "export"},
                  {self->report, "report"},
                  {self->min_area, "min-area"},
                  {self->decoding == DECODING_MIN_LOSS, "decode min-loss"}};
    for (size_t k = 0; k < sizeof wholes / sizeof *wholes; k++)
        if (wholes[k].is_wanted)
            return fail(err, CLV_ERR_USAGE,
                        "--%s: needs all pixels in memory, and this image has more than --max-pixels: it is segmented "
                        "tile by tile",
                        wholes[k].option);
    if (!text_ends_with(work->output->mask, ".tif"))
        return fail(err, CLV_ERR_USAGE, "the mask of an image of more than --max-pixels is a GeoTIFF; name it .tif");
    return CLV_OK;
}

char *raster_work_tiles(const char *mask)
{
    size_t length = strlen(mask) + sizeof ".tiles";
    char *tiles = array_alloc(length, 1);
    if (tiles)
        snprintf(tiles, length, "%s.tiles", mask);
    return tiles;
}

/* Another model, other options that decide what is in tiles or follows from them: another key. */
static enum clv_status find_key(uint64_t *key, const struct job *job, struct clv_error *err)
{
    const struct segment *options = job->run->options;
    const struct clv_image_limits *limits = &options->common.limits;
    const char *files = limits->band_files ? limits->band_files : "";
    char digest[DIGEST_SIZE] = "";
    MUST(digest_file(digest, options->model_path, err));
    *key = hash_bytes(HASH_START, digest, strlen(digest));
    *key = hash_bytes(*key, clv_version(), strlen(clv_version()) + 1);
    *key = hash_bytes(*key, files, strlen(files) + 1);
    const int64_t numbers[] = {limits->grey16_low, limits->grey16_high, (int64_t)options->refine,
                               (int64_t)options->decoding};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        *key = hash_number(*key, (uint64_t)numbers[k]);
    return CLV_OK;
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

static enum clv_status write_mask(struct raster_cut *cut, struct work *work, const struct job *job,
                                  struct clv_error *err)
{
    int n;
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    enum mask_form form = (enum mask_form)job->run->options->mask_form;
    struct raster_place place = cut->rasters[0].place;
    const uint8_t(*palette)[3] = mask_file_palette(&n, form, &job->run->model->labels, place.may_lack_data);
    const struct label_image mask = {cut->width, cut->height, NULL, palette, n};
    place.may_lack_data &= form != MASKS_BINARY;
    MUST(raster_writer_open(&writer, work->output->mask, &mask, &place, err));
    MUST(write_rows(&writer, &work->is_empty, cut, form == MASKS_BINARY, err));
    MUST(raster_cut_check_files(cut, err));
    return raster_writer_commit(&writer, err);
}

/* Measures the means of the bands, for the note on another sensor (work_report). */
static enum clv_status find_means(struct work *work, struct raster_cut *cut, struct clv_error *err)
{
    const struct clv_recipe *recipe = &cut->options.model->recipe;
    if (!recipe->n_maps)
        return CLV_OK;
    NEED(work->map_means = array_alloc(map_drift_size(recipe), sizeof *work->map_means));
    return raster_cut_means(work->map_means, cut, err);
}

/* Models that were learned for another rule (of more than two labels, say) decide tiles by the one that a cut follows,
 * unless --decode asks for theirs, which is refused. */
static void decide_by_map(struct clv_model *model, const struct segment *options, const char *image)
{
    enum clv_decoding_rule rule = model->decoding.rule;
    bool is_cut = rule == CLV_DECODE_ORACLE || rule == CLV_DECODE_MAP || model->shape.pairwise == CLV_PAIRWISE_NONE;
    if (is_cut || options->decoding != DECODING_AUTO)
        return;
    model->decoding.rule = CLV_DECODE_MAP;
    console_note("%s: tiles are decided by the best labelling (--decode map); the model's own rule (--decode %s) needs "
                 "the whole image, which --max-pixels allows",
                 image, rule == CLV_DECODE_MARGINALS ? "marginals" : "marginal-map");
}

/* Computes the scores of tiles, labels all of them jointly, and writes the mask. */
static enum clv_status cut_raster(struct work *work, const struct job *job, struct raster_cut *cut,
                                  struct clv_oracle *oracle, struct clv_error *err)
{
    MUST(find_means(work, cut, err));
    MUST(raster_cut_read(cut, err));
    if (job->run->progress)
        clv_oracle_watch(oracle, job->run->progress->stop);
    MUST(raster_cut_solve(cut, oracle, err));
    return write_mask(cut, work, job, err);
}

enum clv_status raster_work(struct work *work, const struct job *job, struct clv_oracle *oracle, struct clv_error *err)
{
    const struct segment_run *run = job->run;
    struct raster_cut cut;
    struct clv_model model = *run->model; /* a view */
    struct raster_cut_options options = {.path = work->input->image,
                                         .limits = &run->options->common.limits,
                                         .model = &model,
                                         .resumes = run->options->existing == EXISTING_RESUME,
                                         .n_threads = job->n_threads,
                                         .refine = (enum clv_refine_choice)run->options->refine,
                                         .progress = run->progress};
    OWNED_ARRAY char *tiles = raster_work_tiles(work->output->mask);
    OWNED(output_locks_release) struct output_locks locks = {.n = 0};
    NEED(tiles);
    MUST(check_outputs(run->options, work, err));
    decide_by_map(&model, run->options, work->input->image);
    MUST(find_key(&options.key, job, err));
    MUST(outputs_make_folder(work->output->mask, err));
    MUST(output_locks_file(&locks, tiles, err)); /* a run into this folder, and one of this file alone, may meet here */
    options.tiles = tiles;
    MUST(raster_cut_open(&cut, &options, err));
    const enum clv_status status = cut_raster(work, job, &cut, oracle, err);
    /* Tiles stay where a run with --resume can go on from them. */
    raster_cut_close(&cut, status != CLV_OK && status != CLV_ERR_DATA && status != CLV_ERR_USAGE);
    return status;
}
