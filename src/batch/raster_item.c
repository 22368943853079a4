/* Functions that all files of a raster by tiles use (raster_files.h): bands of rows, the memory for specks and
 * outlines, and the paths of unfinished work. Start at raster_item_rows. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/digest.h"
#include "batch/batch.h"
#include "batch/raster_files.h"

void raster_item_free(struct raster_item *self)
{
    if (!self)
        return;
    georeference_release(&self->georeference);
    object_rows_release(&self->objects);
    arrays_free(self->labels, self);
}

char *file_beside(const char *path, const char *ending)
{
    const size_t length = strlen(path) + strlen(ending) + 1;
    char *beside = array_alloc(length, 1);
    if (beside)
        snprintf(beside, length, "%s%s", path, ending);
    return beside;
}

char *tiles_path(const char *mask)
{
    return file_beside(mask, ".tiles");
}

char *windows_path(const char *mask)
{
    return file_beside(mask, ".windows");
}

/* Returns a hash of the model, the version, and the options on which the content of tiles and windows depends. */
uint64_t tiles_key(const struct batch *run)
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

size_t raster_budget(const struct batch *run)
{
    return run->gate.limit >= 2 ? (size_t)(run->gate.limit / 2) : 1;
}

enum clv_status raster_item_rows(struct raster_rows *rows, const struct labelled *item, unsigned wanted, int32_t n_rows,
                                 int32_t halo, struct clv_error *err)
{
    struct raster_rows_files files = item->raster->files;
    files.image = wanted & (ROWS_PIXELS | ROWS_SAMPLES) ? files.image : NULL;
    files.bands = wanted & ROWS_PIXELS ? &item->raster->bands : NULL;
    files.has_samples = wanted & ROWS_SAMPLES;
    files.mask = wanted & ROWS_LABELS ? files.mask : NULL;
    files.objects = wanted & ROWS_OBJECTS ? item->target->files[FILE_OBJECTS] : NULL;
    return raster_rows_open(rows, &files, n_rows, halo, err);
}

enum clv_status raster_item_next(bool *more, struct raster_rows *rows, const struct batch *run, struct clv_error *err)
{
    FAIL_IF(stop_requested(&run->progress), CLV_ERR_INTERRUPTED, "interrupted");
    return raster_rows_next(more, rows, err);
}
