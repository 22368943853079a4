/* Finds the objects of a raster that is larger than memory. A first pass over the rows of its mask, or of learned
 * objects (raster_learned.c), finds them; a second pass writes their numbers to an image of 32 bits; two passes over
 * that image measure them (object/object.h). Start at raster_objects_find. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/raster_files.h"
#include "image/image.h"

enum { MEASURED_ROWS = 64 }; /* rows of a band while objects are measured */

/* Computes the numbers of the objects in a band. Must be called for all bands in order. */
static void number_band(int32_t *numbers, struct labelled *item, const struct image_band *band)
{
    struct object_rows *objects = &item->raster->objects;
    if (!item->learned) {
        objects_number_rows(numbers, objects, band->labels, band->n_rows);
        return;
    }
    object_windows_rows(numbers, item->learned, band->top, band->n_rows);
    objects_renumber_rows(numbers, objects, band->n_rows);
}

/* Checks that an image of objects from an earlier run has the same objects, since their rows are in the same table. */
static enum clv_status check_finished(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const char *path = item->target->files[FILE_OBJECTS];
    struct object_rows *objects = &item->raster->objects;
    bool is_other = false;
    int32_t highest = 0;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED_ARRAY int32_t *numbers = array_alloc(RASTER_BAND_ROWS, (size_t)item->width * sizeof *numbers);
    NEED(numbers);
    MUST(raster_item_rows(&rows, item, ROWS_LABELS | ROWS_OBJECTS, RASTER_BAND_ROWS, 0, err));
    object_rows_rewind(objects);
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        const size_t n = (size_t)rows.band.n_rows * (size_t)item->width;
        number_band(numbers, item, &rows.band);
        is_other |= memcmp(numbers, rows.band.objects, n * sizeof *numbers) != 0;
        for (size_t p = 0; p < n; p++)
            highest = rows.band.objects[p] > highest ? rows.band.objects[p] : highest;
    }
    FAIL_IF(is_other, CLV_ERR_DATA,
            "%s: has %d objects, with these options there are %d others; --overwrite does all images again", path,
            highest, objects->n_objects);
    return CLV_OK;
}

/* Finds the connected pieces of every label that means objects. */
static enum clv_status find_pieces(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    struct object_rows *objects = &item->raster->objects;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    MUST(raster_item_rows(&rows, item, ROWS_LABELS, RASTER_BAND_ROWS, 0, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (more)
            MUST(objects_find_rows(objects, rows.band.labels, rows.band.n_rows, err));
    }
    return CLV_OK;
}

enum clv_status raster_objects_find(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    bool is_object[256];
    struct object_rows *objects = &item->raster->objects;
    batch_find_objects(is_object, run);
    MUST(object_rows_init(objects, item->width, item->height, is_object, err));
    MUST(batch_has_learned_objects(run) ? raster_learned_pieces(item, run, err) : find_pieces(item, run, err));
    MUST(objects_filter_rows(objects, run->options.min_area, run->options.clear_border, err));
    item->objects.n_objects = objects->n_objects;
    NEED(item->raster->labels = array_alloc((size_t)objects->n_objects, 1));
    for (int32_t k = 0; k < objects->n_objects; k++)
        item->raster->labels[k] =
            item->learned ? item->learned->labels[objects->values[k] - 1] : (uint8_t)objects->values[k];
    const bool stays =
        item->is_read_back && item->target->existing & 1U << FILE_OBJECTS && !(item->todo & 1U << FILE_OBJECTS);
    return stays ? check_finished(item, run, err) : CLV_OK;
}

/* Writes the numbers of objects as a TIFF of 32 bits. */
static enum clv_status write_numbers(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err)
{
    const struct raster_layout layout = {.width = item->width, .height = item->height, .n_channels = 1, .bits = 32};
    struct object_rows *objects = &item->raster->objects;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    OWNED_ARRAY int32_t *numbers = array_alloc(RASTER_BAND_ROWS, (size_t)item->width * sizeof *numbers);
    NEED(numbers);
    MUST(raster_item_rows(&rows, item, ROWS_LABELS, RASTER_BAND_ROWS, 0, err));
    MUST(raster_writer_create(&writer, path, &layout, &item->raster->georeference, err));
    object_rows_rewind(objects);
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        number_band(numbers, item, &rows.band);
        MUST(raster_writer_rows(&writer, numbers, rows.band.n_rows, err));
    }
    return raster_writer_commit(&writer, err);
}

enum clv_status raster_objects_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err)
{
    return write_numbers(path, item, run, err);
}

/* Writes the numbers of objects as VOC does, in its palette; a TIFF of 32 bits if there are too many. */
enum clv_status raster_class_objects_write(const char *path, struct labelled *item, const struct batch *run,
                                           struct clv_error *err)
{
    uint8_t palette[256][3];
    const struct label_image image = {item->width, item->height, NULL, (const uint8_t(*)[3])palette, 256};
    OWNED_ARRAY char *tiff = path_replace_extension(path, ".tif");
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(png_rows_drop) struct png_rows *png = NULL;
    OWNED_ARRAY uint8_t *numbers = array_alloc(RASTER_BAND_ROWS, (size_t)item->width);
    NEED(tiff && numbers);
    if (item->objects.n_objects >= CLV_VOID)
        return write_numbers(tiff, item, run, err);
    clv_default_palette(palette);
    MUST(raster_item_rows(&rows, item, ROWS_OBJECTS, RASTER_BAND_ROWS, 0, err));
    MUST(png_rows_open(&png, path, &image, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, run, err));
        if (!more)
            break;
        const size_t n = (size_t)rows.band.n_rows * (size_t)item->width;
        for (size_t p = 0; p < n; p++)
            numbers[p] = (uint8_t)rows.band.objects[p];
        MUST(png_rows_put(png, numbers, rows.band.n_rows, err));
    }
    return png_rows_commit(TAKE(png), err);
}

static enum clv_status measure(struct object_measures *measures, struct raster_rows *rows, const struct batch *run,
                               struct clv_error *err)
{
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, rows, run, err));
        if (more)
            object_measures_sum(measures, &rows->band, NULL);
    }
    MUST(object_measures_centre(measures, err));
    raster_rows_rewind(rows);
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, rows, run, err));
        if (more)
            MUST(object_measures_shape(measures, &rows->band, err));
    }
    object_measures_finish(measures);
    return CLV_OK;
}

enum clv_status raster_objects_measure(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const struct raster_item *raster = item->raster;
    const int32_t n_samples = raster->has_samples ? raster->n_bands : 0;
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(object_measures_release) struct object_measures measures = {0};
    if (raster->is_measured)
        return CLV_OK;
    MUST(object_measures_init(&measures, item->objects.n_objects, raster->labels, n_samples, err));
    MUST(raster_item_rows(&rows, item, ROWS_OBJECTS | ROWS_PIXELS | (n_samples ? ROWS_SAMPLES : 0), MEASURED_ROWS,
                          OBJECT_HALO, err));
    MUST(measure(&measures, &rows, run, err));
    item->rows = TAKE(measures.rows);
    for (int32_t k = 0; k < item->objects.n_objects && item->learned; k++)
        item->rows[k].mean_probability = item->learned->probability[raster->objects.values[k] - 1];
    item->band_means = TAKE(measures.mean);
    item->band_deviations = TAKE(measures.deviation);
    objects_take_samples(item, run, n_samples);
    item->raster->is_measured = true;
    return CLV_OK;
}

enum clv_status raster_object_rows_write(const char *path, struct labelled *item, const struct batch *run,
                                         struct clv_error *err)
{
    MUST(raster_objects_measure(item, run, err));
    return object_rows_write(path, item, run, err);
}
