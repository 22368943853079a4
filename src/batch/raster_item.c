/* Gives all files of a raster by tiles what they are made with (raster_files.h): its bands of rows, and how much memory may be taken
 * for what cannot be foretold. Start at raster_item_rows. */
#include "base/base.h"
#include "batch/batch.h"
#include "batch/raster_files.h"

void raster_item_free(struct raster_item *self)
{
    if (!self)
        return;
    raster_place_release(&self->place);
    object_rows_release(&self->objects);
    arrays_free(self->labels, self);
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
