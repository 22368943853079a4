/* Finds and measures the objects of an image, writes the image of their numbers, and writes their rows as a part of
 * objects.tsv. Start at objects_find. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/parts.h"
#include "data/export/export.h"
#include "image/raster/raster.h"
#include "model/object_tensors.h"
#include "object/object.h"

bool batch_has_learned_objects(const struct batch *run)
{
    return run->options.objects && run->model && learned_objects_are_there(run->model);
}

void batch_find_objects(bool is_object[256], const struct batch *run)
{
    for (int32_t label = 0; label < 256; label++)
        is_object[label] = export_is_object(&run->labels, label);
}

static int32_t bands_of(const struct clv_model *model)
{
    return model ? model->recipe.bands.n_bands : 0;
}

void object_rows_head(struct text *text, const struct batch *run)
{
    const int32_t n_bands = bands_of(run->model);
    text_put(text, "image\tobject\tlabel\tarea\tcentroid_x\tcentroid_y\tleft\ttop\tright\tbottom\tperimeter");
    for (int32_t b = 1; b <= n_bands; b++)
        text_printf(text, "\tmean_%d", b);
    for (int32_t b = 1; b <= n_bands; b++)
        text_printf(text, "\tdeviation_%d", b);
    if (!n_bands)
        text_put(text, "\tmean_red\tmean_green\tmean_blue\tdeviation_red\tdeviation_green\tdeviation_blue");
    text_put(text, "\teccentricity\tsolidity\tmean_probability\n");
}

/* Fails if the image of numbers of an earlier run, a PNG or a TIFF, has other objects: their rows are in the same
 * table. */
static enum clv_status check_finished(const struct labelled *item, const struct clv_image_limits *limits,
                                      struct clv_error *err)
{
    const char *path = item->target->files[FILE_OBJECTS];
    OWNED_ARRAY char *tiff = path_replace_extension(path, ".tif");
    OWNED(clv_object_map_release) struct clv_object_map before = {0};
    size_t n = (size_t)item->width * (size_t)item->height;
    NEED(tiff);
    MUST(clv_object_map_read(&before, path_exists(path) ? path : tiff, item->width, item->height, limits, err));
    FAIL_IF(memcmp(before.objects, item->objects.objects, n * sizeof *before.objects) != 0, CLV_ERR_DATA,
            "%s: has %d objects, of this mask and with these options there are %d others; remove it and it is made of "
            "the mask, or --overwrite does all images again",
            path, before.n_objects, item->objects.n_objects);
    return CLV_OK;
}

void objects_take_samples(struct labelled *item, const struct batch *run, int32_t n_samples)
{
    const size_t n = (size_t)item->objects.n_objects, columns = (size_t)n_samples;
    for (size_t k = 0; k < n && columns && !bands_of(run->model); k++)
        for (size_t c = 0; c < 3; c++) {
            item->rows[k].mean[c] = item->band_means[k * columns + (columns == 3 ? c : 0)];
            item->rows[k].deviation[c] = item->band_deviations[k * columns + (columns == 3 ? c : 0)];
        }
}

static void samples_release(struct raster_values *values)
{
    array_free(values->samples);
}

/* Measures samples with all bits of the file, if it has more than 8: with a model of bands those of each band, else
 * those of one or three bands in place of red, green and blue. */
static enum clv_status measure_samples(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const size_t n = (size_t)item->objects.n_objects;
    const int32_t n_bands = bands_of(run->model);
    OWNED(samples_release) struct raster_values values = {0};
    if (item->input->image)
        MUST(raster_values_read(&values, item->input->image, &run->options.limits, err));
    const bool fits = values.samples && values.width == item->width && values.height == item->height;
    const size_t columns = (size_t)values.n_bands;
    if (!fits || (n_bands ? values.n_bands != n_bands : values.n_bands != 1 && values.n_bands != 3))
        return CLV_OK;
    item->band_means = array_alloc(n, columns * sizeof *item->band_means);
    item->band_deviations = array_alloc(n, columns * sizeof *item->band_deviations);
    NEED(item->band_means && item->band_deviations);
    MUST(objects_measure_samples(item->band_means, item->band_deviations, &item->objects, values.samples,
                                 values.n_bands, err));
    objects_take_samples(item, run, values.n_bands);
    return CLV_OK;
}

static enum clv_status object_map_copy(struct clv_object_map *copy, const struct clv_object_map *map,
                                       struct clv_error *err)
{
    OWNED(clv_object_map_release) struct clv_object_map result = {map->width, map->height, map->n_objects,
                                                                  NULL,       NULL,        NULL};
    result.objects = array_copy(map->objects, (size_t)map->width * (size_t)map->height, sizeof *map->objects);
    result.labels = array_copy(map->labels, (size_t)map->n_objects, 1);
    NEED(result.objects && result.labels);
    *copy = TAKE(result);
    return CLV_OK;
}

/* Finds the connected pieces of every label that means objects, as clv_segment_objects does without a model. */
static enum clv_status find_pieces(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    bool is_object[256];
    batch_find_objects(is_object, run);
    return clv_object_map_from_labels(&item->objects, item->labels, item->width, item->height, is_object, err);
}

/* Finds objects by the model. Learned objects change item->labels, unless these were read back. */
static enum clv_status find_by_model(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    if (!item->is_read_back)
        return clv_segment_objects(&item->objects, item->labels, run->model, &item->image, err);
    OWNED_ARRAY uint8_t *labels = array_copy(item->labels, (size_t)item->width, (size_t)item->height);
    NEED(labels);
    return clv_segment_objects(&item->objects, labels, run->model, &item->image, err);
}

enum clv_status objects_find(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    if (run->boxes) /* the objects are those in boxes */
        MUST(object_map_copy(&item->objects, &item->boxed, err));
    else if (run->model)
        MUST(find_by_model(item, run, err));
    else
        MUST(find_pieces(item, run, err));
    MUST(clv_object_map_filter(&item->objects, options->min_area, options->clear_border, err));
    if (item->is_read_back && item->target->existing & 1U << FILE_OBJECTS && !(item->todo & 1U << FILE_OBJECTS))
        MUST(check_finished(item, &options->limits, err));
    MUST(clv_objects_measure(&item->rows, &item->objects, &item->image, NULL, err));
    return measure_samples(item, run, err);
}

enum clv_status objects_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    static atomic_flag is_reported = ATOMIC_FLAG_INIT;
    bool is_tiff;
    MUST(clv_object_map_write(&is_tiff, path, &item->objects, err));
    if (is_tiff && !atomic_flag_test_and_set(&is_reported))
        report_message(&run->progress, CLV_NOTE,
                       "%s: %d objects, more than 16 bits can number: it and others like it are TIFF of 32 bits, .tif",
                       path, item->objects.n_objects);
    return CLV_OK;
}

static void put_values(struct text *text, const double *values, int32_t n)
{
    for (int32_t c = 0; c < n; c++)
        text_printf(text, "\t%.10g", values ? values[c] : NAN);
}

static void put_row(struct text *text, const struct labelled *item, const struct batch *run, int32_t k)
{
    const int32_t n_bands = bands_of(run->model);
    const double *means = item->band_means, *deviations = item->band_deviations;
    const struct clv_object *row = &item->rows[k];
    text_printf(text, "%d\t", k + 1);
    text_put_field(text, row->label >= 0 && row->label < run->labels.n_labels ? run->labels.names[row->label] : "");
    text_printf(text, "\t%lld\t%.10g\t%.10g\t%d\t%d\t%d\t%d\t%.10g", (long long)row->area, row->centroid_x,
                row->centroid_y, row->left, row->top, row->right, row->bottom, row->perimeter);
    if (n_bands) {
        put_values(text, means ? means + (size_t)k * (size_t)n_bands : NULL, n_bands);
        put_values(text, deviations ? deviations + (size_t)k * (size_t)n_bands : NULL, n_bands);
    } else {
        put_values(text, row->mean, 3);
        put_values(text, row->deviation, 3);
    }
    text_printf(text, "\t%.10g\t%.10g\t%.10g\n", row->eccentricity, row->solidity, row->mean_probability);
}

enum clv_status object_rows_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    OWNED(text_release) struct text lines = {0};
    struct part_key key;
    text_init(&lines, TSV_MAX_SIZE);
    part_key_make(&key, PART_OBJECTS, &run->parts);
    part_put_image(&lines, PART_OBJECTS, item->input->name, item->width, item->height);
    for (int32_t k = 0; k < item->objects.n_objects; k++)
        put_row(&lines, item, run, k);
    return part_write(path, &item->part_mask, &key, &lines, err);
}

enum clv_status objects_outline(struct clv_image *image, const struct clv_object_map *map, int32_t outline_px,
                                struct clv_error *err)
{
    static const uint8_t palette[256][3];
    OWNED_ARRAY uint8_t *colours = array_alloc((size_t)map->width, (size_t)map->height);
    NEED(colours);
    MUST(object_map_colour(colours, map, err));
    clv_overlay_draw(image, colours, palette, 0, outline_px, -1);
    return CLV_OK;
}
