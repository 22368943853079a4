/* Writes an image's objects in the formats of other programs, by a function for each row of file_kinds.c, and the files
 * of label names that these formats have once for all images. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/join.h"
#include "batch/parts.h"
#include "data/export/export.h"
#include "image/raster/raster.h"

#define MAX_BYTES ((size_t)1 << 32)

bool annotations_are_of_cleave(const char *path)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    if (file_read_head(&bytes, &size, path, sizeof COCO_BEGINNING - 1, &ignored) != CLV_OK)
        return false;
    bool is_of_cleave = size == sizeof COCO_BEGINNING - 1 && memcmp(bytes, COCO_BEGINNING, size) == 0;
    array_free(bytes);
    return is_of_cleave;
}

enum clv_status export_names_write(struct batch *run, struct clv_error *err)
{
    static const struct {
        enum clv_export_format format;
        const char *below;
        void (*put)(struct text *text, const struct clv_labels *labels);
    } files[] = {{CLV_EXPORT_VOC, "voc/labelmap.txt", voc_put_labelmap},
                 {CLV_EXPORT_YOLO, "yolo/data.yaml", yolo_put_data},
                 {CLV_EXPORT_YOLO, "yolo/classes.txt", yolo_put_classes}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct text text = {0}; /* names_write releases it */
        if (!(files[i].format & run->options.exports))
            continue;
        text_init(&text, MAX_BYTES);
        files[i].put(&text, &run->labels);
        MUST(names_write(run, files[i].below, &text, err));
    }
    return CLV_OK;
}

const char *export_image_of(const struct input *input)
{
    return input->image ? input->image : input->name;
}

char *export_path_between(const char *file, const char *image)
{
    char folder[PATH_MAX], target[PATH_MAX];
    OWNED_ARRAY char *parent = path_folder(file);
    OWNED_ARRAY char *whole = path_file(image); /* the file of a page */
    if (!parent || !whole)
        return NULL;
    bool is_known = realpath(parent, folder) && realpath(whole, target);
    if (!is_known)
        return string_copy(image);
    struct text path;
    size_t common = 0, n = strlen(folder);
    folder[n] = '/'; /* below, n bounds the folder instead of the zero byte */
    for (size_t i = 0; i <= n && folder[i] == target[i]; i++)
        common = folder[i] == '/' ? i + 1 : common;
    text_init(&path, PATH_MAX * 2);
    for (size_t i = common; i <= n; i++)
        if (folder[i] == '/')
            text_put(&path, "../");
    text_put(&path, target + common);
    text_put(&path, image + strlen(whole));
    char *copy = path.failed ? NULL : string_copy(path.bytes);
    text_release(&path);
    return copy;
}

static enum clv_status write_text(const char *path, const struct text *text, struct clv_error *err)
{
    NEED(!text->failed);
    return file_write(path, text->bytes ? text->bytes : "", text->size, err);
}

enum clv_status labelme_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    OWNED_ARRAY char *image = export_path_between(path, export_image_of(item->input));
    NEED(image);
    text_init(&text, MAX_BYTES);
    MUST(labelled_trace(item, run, err));
    MUST(labelme_put(&text, &item->contours, &run->labels, image, err));
    return write_text(path, &text, err);
}

enum clv_status yolo_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, MAX_BYTES);
    MUST(labelled_trace(item, run, err));
    MUST(yolo_put(&text, &item->contours, &run->labels, err));
    return write_text(path, &text, err);
}

enum clv_status geojson_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    OWNED(georeference_release) struct georeference georeference = {0};
    text_init(&text, MAX_BYTES);
    OWNED(contours_release) struct contours polygons = {0};
    georeference_find(&georeference, export_image_of(item->input));
    MUST(labelled_trace_polygons(&polygons, item, run, err));
    MUST(geojson_put(&text, &polygons, &run->labels, &georeference, err));
    return write_text(path, &text, err);
}

enum clv_status voc_write(const char *path, struct labelled *item, const struct batch *run, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, MAX_BYTES);
    MUST(labelled_trace(item, run, err));
    MUST(voc_put(&text, &item->contours, &run->labels, path_name(export_image_of(item->input)), err));
    return write_text(path, &text, err);
}

enum clv_status voc_classes_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    uint8_t palette[256][3];
    (void)run;
    clv_default_palette(palette);
    return clv_png_write_labels(path, item->width, item->height, item->labels, (const uint8_t(*)[3])palette, 256, err);
}

/* Writes the numbers of objects as VOC does, in its palette; as 16-bit grey if there are too many. */
enum clv_status voc_objects_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    const struct clv_object_map *objects = item->objects.objects ? &item->objects : &item->boxed;
    const size_t n = (size_t)objects->width * (size_t)objects->height;
    uint8_t palette[256][3];
    (void)run;
    if (objects->n_objects >= CLV_VOID)
        return clv_object_map_write(NULL, path, objects, err);
    OWNED_ARRAY uint8_t *numbers = array_alloc(n, 1);
    NEED(numbers);
    for (size_t p = 0; p < n; p++)
        numbers[p] = (uint8_t)objects->objects[p];
    clv_default_palette(palette);
    return clv_png_write_labels(path, objects->width, objects->height, numbers, (const uint8_t(*)[3])palette, 256, err);
}

enum clv_status annotations_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    OWNED(text_release) struct text lines = {0};
    OWNED_ARRAY char *name = join_file_name(export_image_of(item->input), item->input->output);
    struct part_key key;
    NEED(name);
    text_init(&lines, MAX_BYTES);
    part_key_make(&key, PART_COCO, &run->parts);
    part_put_image(&lines, PART_COCO, name, item->width, item->height);
    MUST(labelled_trace(item, run, err));
    MUST(coco_put_lines(&lines, &item->contours, &run->labels, run->options.rle, err));
    return part_write(path, &item->part_mask, &key, &lines, err);
}
