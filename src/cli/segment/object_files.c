/* Finds and measures the objects of an image, writes their label image, and keeps the table objects.tsv, into which the
 * rows of earlier runs are taken over. Start at object_files_find. */
#include "cli/segment/segment.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "image/raster/raster.h"
#include "object/object.h"
#include "train/train.h"

static int32_t bands_of(const struct clv_model *model)
{
    return model ? model->recipe.bands.n_bands : 0;
}

static void put_head(FILE *table, int32_t n_bands)
{
    fputs("image\tobject\tlabel\tarea\tcentroid_x\tcentroid_y\tleft\ttop\tright\tbottom\tperimeter", table);
    for (int32_t b = 1; b <= n_bands; b++)
        fprintf(table, "\tmean_%d", b);
    for (int32_t b = 1; b <= n_bands; b++)
        fprintf(table, "\tdeviation_%d", b);
    if (!n_bands)
        fputs("\tmean_red\tmean_green\tmean_blue\tdeviation_red\tdeviation_green\tdeviation_blue", table);
    fputs("\teccentricity\tsolidity\tmean_probability\n", table);
}

enum clv_status object_table_path(char **path, const struct segment *options, struct clv_error *err)
{
    *path = NULL;
    if (!options->objects)
        return CLV_OK;
    OWNED_ARRAY char *whole = path_join(options->output, "objects.tsv");
    NEED(whole);
    NEED(*path = shard_path(whole, &options->shard, false));
    return CLV_OK;
}

enum clv_status object_table_begin(struct file_writer *table, const struct segment *options,
                                   const struct clv_model *model, struct clv_error *err)
{
    OWNED_ARRAY char *path = NULL;
    MUST(object_table_path(&path, options, err));
    if (path)
        MUST(file_create(table, path, err));
    if (table->stream && options->shard.number <= 1)
        put_head(table->stream, bands_of(model));
    return CLV_OK;
}

/* Copies lines that stay. */
static enum clv_status copy_others(FILE *table, char *line, const struct segment_run *run, struct clv_error *err)
{
    const char *before = "";
    bool stays = false;
    while (*line) {
        const size_t length = strcspn(line, "\n");
        char *tab = memchr(line, '\t', length);
        const char *name = line;
        if (tab)
            *tab = '\0';
        if (tab && strcmp(name, before) != 0)
            MUST(earlier_stays(&stays, run, before = name, err));
        if (tab && stays)
            fprintf(table, "%s\t%.*s\n", name, (int)(line + length - tab - 1), tab + 1);
        line += length + (line[length] == '\n');
    }
    return CLV_OK;
}

static enum clv_status keep_others(FILE *table, const char *path, struct segment_run *run, struct clv_error *err)
{
    OWNED_ARRAY char *bytes = NULL, *head = NULL;
    size_t size, head_size;
    if (!path_exists(path) || run->options->shard.count > 1)
        return CLV_OK;
    FILE *stream = open_memstream(&head, &head_size);
    NEED(stream);
    put_head(stream, bands_of(run->model));
    NEED(fclose(stream) == 0);
    MUST(file_read(&bytes, &size, path, TSV_MAX_SIZE, err));
    if (size >= head_size && memcmp(bytes, head, head_size) == 0)
        MUST(copy_others(table, bytes + head_size, run, err));
    return CLV_OK;
}

enum clv_status object_table_end(struct file_writer *table, struct segment_run *run, struct clv_error *err)
{
    OWNED(file_abort) struct file_writer owned = TAKE(*table);
    MUST(keep_others(owned.stream, owned.path, run, err));
    return file_commit(&owned, err);
}

/* An earlier run's label image, a PNG or a TIFF, must equal what this run finds: its rows are in the same table. */
static enum clv_status check_finished(const struct work *work, const struct clv_image_limits *limits,
                                      struct clv_error *err)
{
    const char *path = work->output->beside[OUTPUT_OBJECTS];
    OWNED_ARRAY char *tiff = path_replace_extension(path, ".tif");
    OWNED(clv_object_map_release) struct clv_object_map before = {0};
    size_t n = (size_t)work->width * (size_t)work->height;
    NEED(tiff);
    MUST(clv_object_map_read(&before, path_exists(path) ? path : tiff, work->width, work->height, limits, err));
    FAIL_IF(memcmp(before.objects, work->objects.objects, n * sizeof *before.objects) != 0, CLV_ERR_DATA,
            "%s: has %d objects, with these options there are %d others; --overwrite does all images again", path,
            before.n_objects, work->objects.n_objects);
    return CLV_OK;
}

/* Values as the file has them, where that has more than 8 bits: of a model of bands each band's, of others those of
 * grey in the place of red, green and blue. */
static void samples_release(struct raster_values *values)
{
    array_free(values->samples);
}

static enum clv_status measure_samples(struct work *work, const struct segment_run *run, struct clv_error *err)
{
    const size_t n = (size_t)work->objects.n_objects;
    const int32_t n_bands = bands_of(run->model);
    OWNED(samples_release) struct raster_values values = {0};
    if (work->input->image)
        MUST(raster_values_read(&values, work->input->image, &run->options->common.limits, err));
    const bool fits = values.samples && values.width == work->width && values.height == work->height;
    const size_t columns = (size_t)values.n_bands;
    if (!fits || (n_bands ? values.n_bands != n_bands : values.n_bands != 1 && values.n_bands != 3))
        return CLV_OK;
    work->band_means = array_alloc(n, columns * sizeof *work->band_means);
    work->band_deviations = array_alloc(n, columns * sizeof *work->band_deviations);
    NEED(work->band_means && work->band_deviations);
    MUST(objects_measure_samples(work->band_means, work->band_deviations, &work->objects, values.samples,
                                 values.n_bands, err));
    for (size_t k = 0; k < n && !n_bands; k++)
        for (size_t c = 0; c < 3; c++) {
            work->object_rows[k].mean[c] = work->band_means[k * columns + (columns == 3 ? c : 0)];
            work->object_rows[k].deviation[c] = work->band_deviations[k * columns + (columns == 3 ? c : 0)];
        }
    return CLV_OK;
}

static enum clv_status object_map_copy(struct clv_object_map *copy, const struct clv_object_map *map,
                                       struct clv_error *err)
{
    OWNED(clv_object_map_release)
    struct clv_object_map result = {map->width, map->height, map->n_objects, NULL, NULL, NULL};
    result.objects = array_copy(map->objects, (size_t)map->width * (size_t)map->height, sizeof *map->objects);
    result.labels = array_copy(map->labels, (size_t)map->n_objects, 1);
    NEED(result.objects && result.labels);
    *copy = TAKE(result);
    return CLV_OK;
}

enum clv_status object_files_find(struct work *work, const struct segment_run *run, struct clv_error *err)
{
    const struct segment *options = run->options;
    if (run->boxes) /* whose objects are what is in them */
        MUST(object_map_copy(&work->objects, &work->boxed, err));
    else
        MUST(clv_segment_objects(&work->objects, work->labels, run->model, &work->image, err));
    MUST(clv_object_map_filter(&work->objects, options->min_area, options->clear_border, err));
    if (work->output->finished)
        MUST(check_finished(work, &options->common.limits, err));
    MUST(clv_objects_measure(&work->object_rows, &work->objects, &work->image, NULL, err));
    return measure_samples(work, run, err);
}

enum clv_status object_files_write(const struct work *work, struct clv_error *err)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    const char *path = work->output->beside[OUTPUT_OBJECTS];
    bool is_tiff;
    MUST(outputs_make_folder(path, err));
    MUST(clv_object_map_write(&is_tiff, path, &work->objects, err));
    if (is_tiff && !atomic_flag_test_and_set(&is_said))
        console_note("%s: %d objects, more than 16 bits can number: it and others like it are TIFF of 32 bits, .tif",
                     path, work->objects.n_objects);
    return CLV_OK;
}

static void put_values(FILE *table, const double *values, int32_t n)
{
    for (int32_t c = 0; c < n; c++)
        fprintf(table, "\t%.10g", values ? values[c] : NAN);
}

void object_table_add(struct segment_run *run, const struct work *work)
{
    FILE *table = run->objects;
    const struct clv_model *model = run->model;
    const struct clv_labels *labels = &model->labels;
    const int32_t n_bands = bands_of(model);
    const double *means = work->band_means, *deviations = work->band_deviations;
    if (!table)
        return;
    for (int32_t k = 0; k < work->objects.n_objects; k++) {
        const struct clv_object *row = &work->object_rows[k];
        console_put_field(table, work->input->name);
        fprintf(table, "\t%d\t", k + 1);
        console_put_field(table, row->label >= 0 && row->label < labels->n_labels ? labels->names[row->label] : "");
        fprintf(table, "\t%lld\t%.10g\t%.10g\t%d\t%d\t%d\t%d\t%.10g", (long long)row->area, row->centroid_x,
                row->centroid_y, row->left, row->top, row->right, row->bottom, row->perimeter);
        if (n_bands) {
            put_values(table, means ? means + (size_t)k * (size_t)n_bands : NULL, n_bands);
            put_values(table, deviations ? deviations + (size_t)k * (size_t)n_bands : NULL, n_bands);
        } else {
            put_values(table, row->mean, 3);
            put_values(table, row->deviation, 3);
        }
        fprintf(table, "\t%.10g\t%.10g\t%.10g\n", row->eccentricity, row->solidity, row->mean_probability);
    }
}

enum clv_status object_files_outline(struct clv_image *image, const struct clv_object_map *map, int32_t outline_px,
                                     struct clv_error *err)
{
    static const uint8_t palette[256][3];
    OWNED_ARRAY uint8_t *colours = array_alloc((size_t)map->width, (size_t)map->height);
    NEED(colours);
    MUST(object_map_colour(colours, map, err));
    clv_overlay_draw(image, colours, palette, 0, outline_px, -1);
    return CLV_OK;
}
