/* An image that is larger than memory may hold, from file to mask. */
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/digest.h"
#include "cli/segment/segment.h"
#include "segment/segment.h"

/* What is made of a whole image. */
static enum clv_status check_outputs(const struct segment *self, const struct work *work, struct clv_error *err)
{
    const struct {
        bool is_wanted;
        const char *option;
    } wholes[] = {{self->overlay, "--overlay"},
                  {self->cutout, "--cutout"},
                  {self->objects, "--objects"},
                  {self->export.forms, "--export"},
                  {self->report, "--report"},
                  {self->min_area, "--min-area"},
                  {self->decoding == DECODING_LEAST_LOSS, "--decode least-loss"}};
    for (size_t k = 0; k < sizeof wholes / sizeof *wholes; k++)
        if (wholes[k].is_wanted)
            return fail(err, CLV_ERR_USAGE,
                        "%s: needs all pixels in memory, and this image has more than --max-pixels: it is segmented "
                        "tile by tile",
                        wholes[k].option);
    if (!text_ends_with(work->output->mask, ".tif"))
        return fail(err, CLV_ERR_USAGE, "the mask of an image of more than --max-pixels is a GeoTIFF; name it .tif");
    return CLV_OK;
}

/* Another model, another image: another key. */
static enum clv_status find_key(uint64_t *key, const struct job *job, const char *image, struct clv_error *err)
{
    char digest[DIGEST_SIZE] = "";
    struct stat file = {0};
    MUST(digest_file(digest, job->run->options->model_path, err));
    (void)stat(image, &file);
    *key = hash_bytes(HASH_START, digest, strlen(digest));
    *key = hash_bytes(*key, clv_version(), strlen(clv_version()));
    *key = hash_number(hash_number(*key, (uint64_t)file.st_size), (uint64_t)file.st_mtim.tv_sec);
    *key = hash_number(*key, (uint64_t)file.st_mtim.tv_nsec);
    return CLV_OK;
}

/* Rows of the mask's tiles, or of squares that are refined, which are some such rows. */
static enum clv_status write_rows(struct raster_writer *writer, struct raster_cut *cut, bool is_binary,
                                  struct clv_error *err)
{
    size_t width = (size_t)cut->width;
    int32_t step = cut->refined_px ? cut->refined_px : RASTER_TILE;
    uint8_t *labels = array_alloc((size_t)step, width);
    enum clv_status status = labels ? CLV_OK : fail_memory(err);
    for (int32_t top = 0; top < cut->height && status == CLV_OK; top += step) {
        int32_t rows = cut->height - top < step ? cut->height - top : step;
        status = cut->refined_px ? raster_cut_refine(labels, cut, top, rows, err)
                                 : raster_cut_paint(labels, cut, top, rows, err);
        const struct image_part window = {.top = top, .width = cut->width, .height = rows};
        TRY(raster_void_labels(labels, &cut->rasters[0], &window, err));
        raster_forget(&cut->rasters[0]);
        if (is_binary && status == CLV_OK)
            mask_file_to_binary(labels, (size_t)rows * width);
        for (size_t tile = 0; tile < (size_t)rows && status == CLV_OK; tile += RASTER_TILE)
            for (size_t left = 0; left < width && status == CLV_OK; left += RASTER_TILE)
                status = raster_writer_put(writer, labels + tile * width + left, width, err);
    }
    array_free(labels);
    return status;
}

static enum clv_status write_mask(struct raster_cut *cut, const struct work *work, const struct job *job,
                                  struct clv_error *err)
{
    int n;
    struct raster_writer writer;
    enum mask_form form = (enum mask_form)job->run->options->mask_form;
    struct raster_place place = cut->rasters[0].place;
    const uint8_t(*palette)[3] = mask_file_palette(&n, form, &job->run->model->labels, place.may_lack_data);
    const struct label_image mask = {cut->width, cut->height, NULL, palette, n};
    place.may_lack_data &= form != MASKS_BINARY;
    MUST(raster_writer_open(&writer, work->output->mask, &mask, &place, err));
    enum clv_status status = write_rows(&writer, cut, form == MASKS_BINARY, err);
    if (status == CLV_OK)
        return raster_writer_commit(&writer, err);
    raster_writer_abort(&writer);
    return status;
}

enum clv_status raster_work(struct work *work, const struct job *job, struct clv_oracle *oracle, struct clv_error *err)
{
    const struct segment_run *run = job->run;
    struct raster_cut cut;
    struct raster_cut_options options = {.path = work->input->image,
                                         .limits = &run->options->common.limits,
                                         .model = run->model,
                                         .resumes = run->options->existing == EXISTING_RESUME,
                                         .n_threads = job->n_threads,
                                         .refine = (enum clv_refine_choice)run->options->refine,
                                         .progress = run->progress};
    size_t length = strlen(work->output->mask) + sizeof ".tiles";
    char *tiles = array_alloc(length, 1);
    enum clv_status status = tiles ? check_outputs(run->options, work, err) : fail_memory(err);
    TRY(find_key(&options.key, job, options.path, err));
    TRY(outputs_make_folder(work->output->mask, err));
    if (status == CLV_OK) {
        snprintf(tiles, length, "%s.tiles", work->output->mask);
        options.tiles = tiles;
        status = raster_cut_open(&cut, &options, err);
    }
    if (status == CLV_OK) {
        status = raster_cut_read(&cut, err);
        if (run->progress)
            clv_oracle_watch(oracle, run->progress->stop);
        TRY(raster_cut_solve(&cut, oracle, err));
        TRY(write_mask(&cut, work, job, err));
        raster_cut_close(&cut, status != CLV_OK && status != CLV_ERR_DATA && status != CLV_ERR_USAGE);
    }
    array_free(tiles);
    return status;
}
