/* Finds the objects of a raster window by window, by a model that was trained to find objects
 * (segment/learned_objects.c). Finished windows stay in a file beside the mask for --resume, until all files of the
 * raster are written. Start at raster_learned_find. */
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/digest.h"
#include "batch/batch.h"
#include "batch/raster_files.h"
#include "image/raster/raster.h"
#include "segment/segment.h"

int learned_threads(const struct batch *run)
{
    return int32_within(run->gate.limit / LEARNED_WINDOW_BYTES, 1, parallel_threads(run->n_threads));
}

/* A raster with a reader for each thread. */
struct readers {
    const struct batch *run;
    const char *path;
    struct clv_bands bands;
    struct raster *rasters; /* [n] */
    int n;
};

static void readers_release(struct readers *self)
{
    for (int k = 0; self->rasters && k < self->n; k++)
        raster_close(&self->rasters[k]);
    array_free(self->rasters);
}

static enum clv_status show(struct clv_image *part, void *context, const struct image_part *wanted, int thread,
                            struct clv_error *err)
{
    const struct readers *self = context;
    struct raster *raster = &self->rasters[thread];
    if (!raster->n_parts)
        MUST(raster_open_windows(raster, self->path, &self->run->options.limits, err));
    return bands_show_part(part, raster, &self->bands, wanted, err);
}

static enum clv_status open_readers(struct readers *self, const struct labelled *item, const struct batch *run,
                                    struct clv_error *err)
{
    *self = (struct readers){
        .run = run, .path = item->input->image, .bands = run->model->recipe.bands, .n = learned_threads(run)};
    NEED(self->rasters = array_zalloc((size_t)self->n, sizeof *self->rasters));
    MUST(raster_open_windows(&self->rasters[0], self->path, &run->options.limits, err));
    FAIL_IF(!self->bands.n_bands && !bands_are_plain(&self->bands, &self->rasters[0]), CLV_ERR_DATA,
            "%s: its bands are not those of the model's training images", self->path);
    return CLV_OK;
}

void learned_release(struct object_windows *learned)
{
    if (learned)
        object_windows_release(learned);
    array_free(learned);
}

enum clv_status raster_learned_find(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(readers_release) struct readers readers = {0};
    OWNED_ARRAY char *journal = windows_path(item->target->mask);
    OWNED(output_locks_release) struct output_locks locks = {.n = 0};
    struct object_windows_options options = {.n_threads = learned_threads(run),
                                             .journal = journal,
                                             .key = tiles_key(run),
                                             .resumes = run->options.existing == CLV_EXISTING_RESUME,
                                             .progress = &run->progress};
    NEED(journal);
    if (item->learned)
        return CLV_OK;
    MUST(open_readers(&readers, item, run, err));
    MUST(raster_stamp(&options.key, &readers.rasters[0], true, err));
    MUST(outputs_make_folder(item->target->mask, err));
    MUST(output_locks_file(&locks, journal, err));
    NEED(item->learned = array_zalloc(1, sizeof *item->learned));
    const struct raster *raster = &readers.rasters[0];
    return learned_objects_windows(item->learned, run->model,
                                   &(struct shown_image){raster->width, raster->height, show, &readers}, &options, err);
}

void raster_learned_forget(const struct labelled *item)
{
    OWNED_ARRAY char *journal = windows_path(item->target->mask);
    if (item->learned && journal)
        unlink(journal);
}

/* Labels the learned objects by the existing mask. */
static enum clv_status label_by_mask(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    bool is_object[256];
    OWNED(label_votes_release) struct label_votes votes = {0};
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED_ARRAY int32_t *numbers = array_alloc(RASTER_BAND_ROWS, (size_t)item->width * sizeof *numbers);
    NEED(numbers);
    batch_find_objects(is_object, run);
    MUST(label_votes_init(&votes, item->learned->n_objects, run->labels.n_labels, err));
    MUST(raster_item_rows(&rows, item, ROWS_LABELS, RASTER_BAND_ROWS, 0, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        object_windows_rows(numbers, item->learned, rows.band.top, rows.band.n_rows);
        learned_objects_vote(&votes, numbers, rows.band.labels, (size_t)rows.band.n_rows * (size_t)item->width,
                             is_object);
    }
    NEED(item->learned->labels = array_alloc((size_t)item->learned->n_objects, 1));
    learned_objects_label(item->learned->labels, &votes, is_object);
    return CLV_OK;
}

enum clv_status raster_learned_pieces(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    struct object_rows *objects = &item->raster->objects;
    OWNED_ARRAY int32_t *numbers = array_alloc((size_t)item->width, sizeof *numbers);
    NEED(numbers);
    MUST(raster_learned_find(item, run, err));
    if (!item->learned->labels)
        MUST(label_by_mask(item, run, err));
    for (int32_t y = 0; y < item->height; y++) {
        FAIL_IF(stop_requested(&run->progress), CLV_ERR_INTERRUPTED, "interrupted");
        object_windows_rows(numbers, item->learned, y, 1);
        MUST(objects_find_rows_of_numbers(objects, numbers, 1, err));
    }
    return CLV_OK;
}
