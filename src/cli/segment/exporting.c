/* Writes results in the formats of other programs: a file next to each mask (exporting_write), and COCO's and VOC's
 * file of the whole run, which is begun, added to in input order and ended. Start at exporting_begin. */
#include "cli/segment/segment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/export/export.h"
#include "image/raster/raster.h"

#define MAX_BYTES ((size_t)1 << 32)

struct exporting {
    const struct segment_run *run;
    struct file_writer coco, list; /* the run's files, list is VOC's; without a stream: not wanted */
    struct text images;            /* COCO's entries */
    size_t n_annotations;
    size_t *first;          /* [n inputs] the first input of the same image */
    bool *is_listed;        /* [n inputs] the image has its entry */
    struct path_list names; /* in these */
};

void exporting_places(struct output_place places[N_OUTPUTS], unsigned forms, bool has_objects)
{
    if (forms & EXPORT_LABELME)
        places[OUTPUT_LABELME] = (struct output_place){"labelme/", ".json"};
    if (forms & EXPORT_YOLO)
        places[OUTPUT_YOLO] = (struct output_place){"yolo/labels/", ".txt"};
    if (forms & EXPORT_GEOJSON)
        places[OUTPUT_GEOJSON] = (struct output_place){"geojson/", ".geojson"};
    if (forms & EXPORT_VOC) {
        places[OUTPUT_VOC] = (struct output_place){"voc/Annotations/", ".xml"};
        places[OUTPUT_CLASSES] = (struct output_place){"voc/SegmentationClass/", ".png"};
        if (has_objects)
            places[OUTPUT_CLASS_OBJECTS] = (struct output_place){"voc/SegmentationObject/", ".png"};
    }
}

enum clv_status exporting_path(char **path, const struct segment *options, enum export_form form, struct clv_error *err)
{
    *path = NULL;
    if (!(options->export.forms & form & (EXPORT_COCO | EXPORT_VOC)))
        return CLV_OK;
    char *whole =
        path_join(options->output, form == EXPORT_COCO ? "coco.json" : "voc/ImageSets/Segmentation/default.txt");
    *path = whole ? shard_path(whole, &options->shard, false) : NULL;
    array_free(whole);
    return *path ? CLV_OK : fail_memory(err);
}

bool exporting_is_own(const char *path, enum export_form form)
{
    char *bytes;
    size_t size;
    struct clv_error ignored;
    if (form != EXPORT_COCO)
        return true; /* a list of names looks like any other */
    if (file_read_head(&bytes, &size, path, sizeof COCO_BEGINNING - 1, &ignored) != CLV_OK)
        return false;
    bool is_own = size == sizeof COCO_BEGINNING - 1 && memcmp(bytes, COCO_BEGINNING, size) == 0;
    array_free(bytes);
    return is_own;
}

/* Names of labels. */

static enum clv_status write_all_names(struct segment *options, const struct segment_run *run, struct clv_error *err)
{
    static const struct {
        enum export_form form;
        const char *below;
        void (*put)(struct text *text, const struct clv_labels *labels);
    } files[] = {{EXPORT_VOC, "voc/labelmap.txt", voc_put_labelmap},
                 {EXPORT_YOLO, "yolo/data.yaml", yolo_put_data},
                 {EXPORT_YOLO, "yolo/classes.txt", yolo_put_classes}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct text text = {0}; /* names_file_write releases it */
        if (!(files[i].form & run->options->export.forms))
            continue;
        text_init(&text, MAX_BYTES);
        files[i].put(&text, &run->model->labels);
        MUST(names_file_write(options, files[i].below, &text, err));
    }
    return CLV_OK;
}

/* The run's file. */

static const char *image_of(const struct input *input)
{
    return input->image ? input->image : input->name;
}

static enum clv_status find_first_inputs(struct exporting *self, struct clv_error *err)
{
    const struct input_list *inputs = self->run->inputs;
    OWNED_ARRAY struct path_of *sorted = array_alloc(inputs->n, sizeof *sorted);
    self->first = array_alloc(inputs->n, sizeof *self->first);
    self->is_listed = array_zalloc(inputs->n, sizeof *self->is_listed);
    NEED(sorted && self->first && self->is_listed);
    for (size_t i = 0; i < inputs->n; i++)
        sorted[i] = (struct path_of){image_of(&inputs->items[i]), i};
    if (inputs->n)
        qsort(sorted, inputs->n, sizeof *sorted, path_of_compare);
    for (size_t i = 0; i < inputs->n; i++)
        self->first[sorted[i].input] =
            i && strcmp(sorted[i].path, sorted[i - 1].path) == 0 ? self->first[sorted[i - 1].input] : sorted[i].input;
    return CLV_OK;
}

/* Hands the text over to a file of the run, and empties it. */
static enum clv_status flush(struct file_writer *file, struct text *text, struct clv_error *err)
{
    OWNED(text_release) struct text owned = TAKE(*text);
    NEED(!owned.failed);
    if (owned.size)
        fwrite(owned.bytes, 1, owned.size, file->stream); /* errors surface in file_commit */
    return CLV_OK;
}

static enum clv_status create(struct file_writer *file, const struct segment *options, enum export_form form,
                              struct clv_error *err)
{
    OWNED_ARRAY char *path = NULL;
    MUST(exporting_path(&path, options, form, err));
    if (!path)
        return CLV_OK;
    MUST(outputs_make_folder(path, err));
    return file_create(file, path, err);
}

static void exporting_free(struct exporting *self)
{
    if (!self)
        return;
    file_abort(&self->coco);
    file_abort(&self->list);
    text_release(&self->images);
    path_list_release(&self->names);
    arrays_free(self->first, self->is_listed, self);
}

DROPS(exporting_drop, struct exporting, exporting_free)

enum clv_status exporting_begin(struct exporting **self, struct segment *options, const struct segment_run *run,
                                struct clv_error *err)
{
    OWNED(exporting_drop) struct exporting *result = array_zalloc(1, sizeof *result);
    NEED(result);
    result->run = run;
    text_init(&result->images, MAX_BYTES);
    MUST(find_first_inputs(result, err));
    MUST(write_all_names(options, run, err));
    MUST(create(&result->coco, options, EXPORT_COCO, err));
    MUST(create(&result->list, options, EXPORT_VOC, err));
    if (result->coco.stream) {
        struct text text = {0};
        text_init(&text, MAX_BYTES);
        coco_begin(&text);
        MUST(flush(&result->coco, &text, err));
    }
    *self = TAKE(result);
    return CLV_OK;
}

/* The image's file name below the folder that it was found in; NULL when out of memory. */
static char *name_below(const struct input *input)
{
    const char *name = path_name(image_of(input)), *stem = path_name(input->output);
    size_t folder = (size_t)(stem - input->output), length = strlen(stem);
    if (!folder || strncmp(name, stem, length) != 0 || !strchr(".", name[length]))
        return string_copy(name); /* outputs that go by their masks say nothing of the image's folder */
    size_t size = folder + strlen(name) + 1;
    char *below = array_alloc(size, 1);
    if (below)
        snprintf(below, size, "%.*s%s", (int)folder, input->output, name);
    return below;
}

static enum clv_status add_to_coco(struct exporting *self, size_t index, const struct contours *contours,
                                   struct clv_error *err)
{
    const struct segment_run *run = self->run;
    size_t first = self->first[index], image_id = run->first + first + 1;
    OWNED(text_release) struct text text = {0};
    OWNED_ARRAY char *name = name_below(&run->inputs->items[index]);
    NEED(name);
    text_init(&text, MAX_BYTES);
    if (!self->is_listed[first]) {
        coco_put_image(&self->images, image_id, name, contours->width, contours->height);
        MUST(path_list_add(&self->names, name, err));
    }
    self->is_listed[first] = true;
    MUST(coco_put_objects(&text, &self->n_annotations, image_id, contours, &run->model->labels,
                          run->options->export.runs, err));
    return flush(&self->coco, &text, err);
}

enum clv_status exporting_add(struct exporting *self, size_t index, const struct contours *contours,
                              struct clv_error *err)
{
    if (self->list.stream)
        fprintf(self->list.stream, "%s\n", self->run->inputs->items[index].output);
    return self->coco.stream ? add_to_coco(self, index, contours, err) : CLV_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum clv_status look(bool *stays, const void *context, const char *name, struct clv_error *err)
{
    const struct exporting *self = context;
    const struct path_list *names = &self->names;
    *stays = false;
    bool is_own = names->n && bsearch(&name, names->paths, names->n, sizeof name, compare_names);
    return is_own ? CLV_OK : earlier_stays(stays, self->run, name, err);
}

/* The file of an earlier run, *bytes NULL: there is none, or it is a shard's, which has its own images alone. */
static enum clv_status read_earlier(char **bytes, const struct exporting *self, const struct file_writer *file,
                                    struct clv_error *err)
{
    size_t size;
    *bytes = NULL;
    if (!file->stream || self->run->options->shard.count > 1 || !path_exists(file->path))
        return CLV_OK;
    return file_read(bytes, &size, file->path, MAX_BYTES, err);
}

static enum clv_status keep_earlier(struct exporting *self, struct text *text, struct clv_error *err)
{
    OWNED_ARRAY char *document = NULL, *list = NULL;
    MUST(read_earlier(&document, self, &self->coco, err));
    MUST(read_earlier(&list, self, &self->list, err));
    if (self->names.n)
        qsort(self->names.paths, self->names.n, sizeof *self->names.paths, compare_names);
    const struct coco_earlier earlier = {.path = self->coco.path, .document = document, .look = look, .context = self};
    if (document)
        MUST(coco_keep(text, &self->images, &self->n_annotations, self->run->inputs->n, &earlier,
                       &self->run->model->labels, err));
    char *line;
    for (char *cursor = list; (line = strsep(&cursor, "\n"));) {
        bool stays = false;
        if (*line)
            MUST(earlier_stays(&stays, self->run, line, err));
        if (stays)
            fprintf(self->list.stream, "%s\n", line);
    }
    return CLV_OK;
}

static enum clv_status finish(struct exporting *self, struct clv_error *err)
{
    OWNED(text_release) struct text text = {0};
    text_init(&text, MAX_BYTES);
    MUST(keep_earlier(self, &text, err));
    if (self->coco.stream) {
        coco_end(&text, &self->images, &self->run->model->labels);
        text.failed |= self->images.failed;
        MUST(flush(&self->coco, &text, err));
        MUST(file_commit(&self->coco, err));
    }
    return self->list.stream ? file_commit(&self->list, err) : CLV_OK;
}

enum clv_status exporting_end(struct exporting *self, enum clv_status status, struct clv_error *err)
{
    struct clv_error own = {0};
    if (!self)
        return status;
    bool is_good = status == CLV_OK || status == CLV_ERR_INTERRUPTED;
    enum clv_status ended = is_good ? finish(self, &own) : CLV_OK;
    exporting_free(self);
    if (status == CLV_OK && ended != CLV_OK)
        *err = own;
    return status == CLV_OK ? ended : status;
}

/* An image's files. */

enum clv_status exporting_trace(struct contours *contours, const struct segment_run *run, const uint8_t *labels,
                                int32_t width, int32_t height, bool by_sides, struct clv_error *err)
{
    bool is_traced[256];
    for (int32_t label = 0; label < 256; label++)
        is_traced[label] = export_is_object(&run->model->labels, label);
    const struct tracing how = {
        .width = width, .height = height, .is_traced = is_traced, .n_traced = 256, .by_sides = by_sides};
    MUST(contours_trace(contours, &how, labels, err));
    return contours_simplify(contours, run->options->export.tolerance, err);
}

enum clv_status exporting_trace_objects(struct contours *contours, const struct segment_run *run,
                                        const struct clv_object_map *objects, bool by_sides, struct clv_error *err)
{
    const struct tracing how = {.width = objects->width, .height = objects->height, .by_sides = by_sides};
    MUST(contours_trace_values(contours, &how, objects->objects, err));
    for (size_t k = 0; k < contours->n_objects; k++) {
        struct contour_object *piece = &contours->objects[k];
        piece->number = piece->label;
        piece->label = objects->labels[piece->number - 1];
    }
    return contours_simplify(contours, run->options->export.tolerance, err);
}

/* The path from the folder of `file` to `image`, both there, links resolved; NULL when out of memory. */
static char *path_between(const char *file, const char *image)
{
    char folder[PATH_MAX], target[PATH_MAX], *own = path_folder(file);
    bool is_known = own && realpath(own, folder) && realpath(image, target);
    array_free(own);
    if (!own)
        return NULL;
    if (!is_known)
        return string_copy(image);
    struct text path;
    size_t common = 0, n = strlen(folder);
    folder[n] = '/'; /* the zero byte is not needed below */
    for (size_t i = 0; i <= n && folder[i] == target[i]; i++)
        common = folder[i] == '/' ? i + 1 : common;
    text_init(&path, PATH_MAX * 2);
    for (size_t i = common; i <= n; i++)
        if (folder[i] == '/')
            text_put(&path, "../");
    text_put(&path, target + common);
    char *copy = path.failed ? NULL : string_copy(path.bytes);
    text_release(&path);
    return copy;
}

static enum clv_status put_labelme(struct text *text, const struct segment_run *run, const struct input *input,
                                   const char *path, const struct contours *contours, struct clv_error *err)
{
    OWNED_ARRAY char *image = path_between(path, image_of(input));
    NEED(image);
    return labelme_put(text, contours, &run->model->labels, image, err);
}

static enum clv_status put_geojson(struct text *text, const struct segment_run *run, const struct input *input,
                                   const struct contours *polygons, struct clv_error *err)
{
    OWNED(raster_place_release) struct raster_place place = {0};
    raster_find_place(&place, image_of(input));
    return geojson_put(text, polygons, &run->model->labels, &place, err);
}

/* The label image of objects, as VOC has it: their numbers in its palette, or 16 bits of grey where these are more. */
static enum clv_status write_class_objects(const char *path, const struct clv_object_map *objects,
                                           struct clv_error *err)
{
    const size_t n = (size_t)objects->width * (size_t)objects->height;
    uint8_t palette[256][3];
    MUST(outputs_make_folder(path, err));
    if (objects->n_objects >= CLV_VOID)
        return clv_object_map_write(NULL, path, objects, err);
    OWNED_ARRAY uint8_t *numbers = array_alloc(n, 1);
    NEED(numbers);
    for (size_t p = 0; p < n; p++)
        numbers[p] = (uint8_t)objects->objects[p];
    clv_default_palette(palette);
    return clv_png_write_labels(path, objects->width, objects->height, numbers, (const uint8_t(*)[3])palette, 256, err);
}

static enum clv_status write_text(const struct segment_run *run, const struct input *input, enum output_kind kind,
                                  const char *path, const struct contours *contours, const struct contours *polygons,
                                  struct clv_error *err)
{
    const struct clv_labels *labels = &run->model->labels;
    OWNED(text_release) struct text text = {0};
    text_init(&text, MAX_BYTES);
    MUST(outputs_make_folder(path, err));
    if (kind == OUTPUT_LABELME)
        MUST(put_labelme(&text, run, input, path, contours, err));
    if (kind == OUTPUT_YOLO)
        MUST(yolo_put(&text, contours, labels, err));
    if (kind == OUTPUT_GEOJSON)
        MUST(put_geojson(&text, run, input, polygons, err));
    if (kind == OUTPUT_VOC)
        MUST(voc_put(&text, contours, labels, path_name(image_of(input)), err));
    NEED(!text.failed);
    return file_write(path, text.bytes ? text.bytes : "", text.size, err);
}

enum clv_status exporting_write(const struct segment_run *run, const struct input *input, const struct output *output,
                                const struct contours *contours, const struct contours *polygons, const uint8_t *labels,
                                const struct clv_object_map *objects, struct clv_error *err)
{
    const char *classes = output->beside[OUTPUT_CLASSES], *class_objects = output->beside[OUTPUT_CLASS_OBJECTS];
    if (class_objects && objects->objects)
        MUST(write_class_objects(class_objects, objects, err));
    if (classes) {
        uint8_t palette[256][3];
        clv_default_palette(palette);
        MUST(outputs_make_folder(classes, err));
        MUST(clv_png_write_labels(classes, contours->width, contours->height, labels, (const uint8_t(*)[3])palette, 256,
                                  err));
    }
    for (enum output_kind kind = OUTPUT_LABELME; kind <= OUTPUT_VOC; kind++)
        if (output->beside[kind])
            MUST(write_text(run, input, kind, output->beside[kind], contours, polygons, err));
    return CLV_OK;
}
