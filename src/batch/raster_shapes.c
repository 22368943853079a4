/* Writes the objects of a raster that is larger than memory in the formats of other programs. The rows of its mask are
 * traced from top to bottom; when the outer ring of an object closes, the object is simplified and converted to text.
 * The texts are spooled to an unnamed file, and are written in the order of the objects' first pixels at the end. Start
 * at write_document. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/join.h"
#include "batch/parts.h"
#include "batch/raster_files.h"
#include "data/export/export.h"

#define MAX_BYTES ((size_t)1 << 32)

/* The text of an object in the spool. */
struct shape_text {
    int32_t top, first_column; /* the object's first pixel */
    size_t size;
    uint64_t offset;
};

/* Puts the text of one object in a format. */
typedef enum clv_status put_shape(struct text *text, const struct contours *one, const struct labelled *item,
                                  const struct batch *run, struct clv_error *err);

struct shapes {
    const struct labelled *item;
    const struct batch *run;
    const char *path; /* path of the output */
    put_shape *put;
    FILE *spool;
    uint64_t end; /* bytes in the spool */
    struct shape_text *texts;
    size_t n, capacity;
    struct text text; /* text of one object */
};

static void shapes_release(struct shapes *self)
{
    if (self->spool)
        fclose(self->spool);
    array_free(self->texts);
    text_release(&self->text);
}

/* Opens the spool in the folder of the output. */
static enum clv_status open_spool(struct shapes *self, struct clv_error *err)
{
    OWNED_ARRAY char *folder = path_folder(self->path);
    NEED(folder);
    if (!path_is_folder(folder))
        MUST(folder_create(folder, err));
    return file_open_unnamed(&self->spool, folder, err);
}

/* Writes the text of a complete object to the spool. */
static enum clv_status take_shape(void *context, struct contours *one, struct clv_error *err)
{
    struct shapes *self = context;
    struct contour_object *object = &one->objects[0];
    if (self->item->objects.n_objects) {
        object->number = object->label;
        object->label = self->item->raster->labels[object->number - 1];
    }
    MUST(contours_simplify(one, self->run->options.tolerance, err));
    self->text.size = 0;
    MUST(self->put(&self->text, one, self->item, self->run, err));
    NEED(!self->text.failed);
    NEED(array_reserve((void **)&self->texts, &self->capacity, self->n + 1, sizeof *self->texts) == 0);
    self->texts[self->n++] = (struct shape_text){object->top, object->first_column, self->text.size, self->end};
    self->end += self->text.size;
    if (fwrite(self->text.bytes, 1, self->text.size, self->spool) != self->text.size)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write", self->path);
    return CLV_OK;
}

static int compare_texts(const void *a, const void *b)
{
    const struct shape_text *first = a, *second = b;
    if (first->top != second->top)
        return (first->top > second->top) - (first->top < second->top);
    return (first->first_column > second->first_column) - (first->first_column < second->first_column);
}

/* Makes the texts of all objects, or of the connected pieces of labels that mean objects, sorted by their first
 * pixels. */
static enum clv_status trace_shapes(struct shapes *self, bool by_sides, struct clv_error *err)
{
    const struct labelled *item = self->item;
    const bool has_objects = self->run->options.objects;
    bool is_traced[256];
    struct tracing how = {.width = item->width,
                          .height = item->height,
                          .by_sides = by_sides,
                          .budget = item->raster->budget,
                          .take = take_shape,
                          .context = self};
    OWNED(raster_rows_close) struct raster_rows rows = {0};
    OWNED(tracer_drop) struct tracer *tracer = NULL;
    OWNED(contours_release) struct contours rest = {0};
    for (int32_t label = 0; label < 256; label++)
        is_traced[label] = export_is_object(&self->run->labels, label);
    if (!has_objects) {
        how.is_traced = is_traced;
        how.n_traced = 256;
    }
    text_init(&self->text, MAX_BYTES);
    MUST(open_spool(self, err));
    MUST(raster_item_rows(&rows, item, has_objects ? ROWS_OBJECTS : ROWS_LABELS, RASTER_BAND_ROWS, 0, err));
    MUST(tracer_begin(&tracer, &how, err));
    for (bool more = true; more;) {
        MUST(raster_item_next(&more, &rows, self->run, err));
        for (int32_t y = 0; more && y < rows.band.n_rows; y++) {
            const size_t at = (size_t)y * (size_t)item->width;
            MUST(has_objects ? tracer_row(tracer, rows.band.objects + at, err)
                             : tracer_row_of_labels(tracer, rows.band.labels + at, err));
        }
    }
    MUST(tracer_end(&rest, tracer, err));
    if (self->n)
        qsort(self->texts, self->n, sizeof *self->texts, compare_texts);
    if (fflush(self->spool))
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write", self->path);
    return CLV_OK;
}

/* Reads the text of an object from the spool. */
static enum clv_status read_text(struct shapes *self, const struct shape_text *from, struct clv_error *err)
{
    self->text.size = 0;
    for (size_t n = 0; n < from->size;) {
        char bytes[1 << 14];
        const size_t wanted = from->size - n < sizeof bytes ? from->size - n : sizeof bytes;
        const ssize_t got = pread(fileno(self->spool), bytes, wanted, (off_t)(from->offset + n));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return fail_errno(err, CLV_ERR_IO, "%s: cannot read back", self->path);
        n += got > 0 ? (size_t)got : 0;
        text_append(&self->text, bytes, got > 0 ? (size_t)got : 0);
    }
    NEED(!self->text.failed);
    return CLV_OK;
}

/* How the objects of a document are written. */
struct document {
    put_shape *put;
    const char *separator;
    bool by_sides;
};

static enum clv_status write_document(const char *path, const struct document *document, const struct text *beginning,
                                      const struct text *end, const struct labelled *item, const struct batch *run,
                                      struct clv_error *err)
{
    OWNED(shapes_release) struct shapes shapes = {.item = item, .run = run, .path = path, .put = document->put};
    OWNED(file_abort) struct file_writer writer = {0};
    NEED(!beginning->failed && !end->failed);
    MUST(trace_shapes(&shapes, document->by_sides, err));
    MUST(file_create(&writer, path, err));
    fwrite(beginning->bytes, 1, beginning->size, writer.stream);
    for (size_t k = 0; k < shapes.n; k++) {
        MUST(read_text(&shapes, &shapes.texts[k], err));
        fputs(k ? document->separator : "", writer.stream);
        fwrite(shapes.text.bytes, 1, shapes.text.size, writer.stream);
    }
    fwrite(end->bytes, 1, end->size, writer.stream);
    return file_commit(&writer, err);
}

static enum clv_status put_labelme(struct text *text, const struct contours *one, const struct labelled *item,
                                   const struct batch *run, struct clv_error *err)
{
    (void)item;
    return labelme_put_objects(text, one, &run->labels, err);
}

enum clv_status raster_labelme_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err)
{
    static const struct document document = {put_labelme, LABELME_SEPARATOR, false};
    OWNED(text_release) struct text beginning = {0}, end = {0};
    OWNED_ARRAY char *image = export_path_between(path, item->input->image);
    NEED(image);
    text_init(&beginning, MAX_BYTES);
    text_init(&end, MAX_BYTES);
    text_put(&beginning, LABELME_BEGINNING);
    labelme_end(&end, image, item->width, item->height);
    return write_document(path, &document, &beginning, &end, item, run, err);
}

static enum clv_status put_yolo(struct text *text, const struct contours *one, const struct labelled *item,
                                const struct batch *run, struct clv_error *err)
{
    (void)item;
    return yolo_put(text, one, &run->labels, err);
}

enum clv_status raster_yolo_write(const char *path, struct labelled *item, const struct batch *run,
                                  struct clv_error *err)
{
    static const struct document document = {put_yolo, "", false};
    const struct text none = {.bytes = (char[]){""}};
    return write_document(path, &document, &none, &none, item, run, err);
}

static enum clv_status put_geojson(struct text *text, const struct contours *one, const struct labelled *item,
                                   const struct batch *run, struct clv_error *err)
{
    return geojson_put_objects(text, one, &run->labels, &item->raster->georeference, err);
}

enum clv_status raster_geojson_write(const char *path, struct labelled *item, const struct batch *run,
                                     struct clv_error *err)
{
    static const struct document document = {put_geojson, GEOJSON_SEPARATOR, true};
    OWNED(text_release) struct text beginning = {0}, end = {0};
    text_init(&beginning, MAX_BYTES);
    text_init(&end, MAX_BYTES);
    geojson_begin(&beginning, &item->raster->georeference);
    text_put(&end, GEOJSON_END);
    return write_document(path, &document, &beginning, &end, item, run, err);
}

static enum clv_status put_voc(struct text *text, const struct contours *one, const struct labelled *item,
                               const struct batch *run, struct clv_error *err)
{
    (void)item;
    return voc_put_objects(text, one, &run->labels, err);
}

enum clv_status raster_voc_write(const char *path, struct labelled *item, const struct batch *run,
                                 struct clv_error *err)
{
    static const struct document document = {put_voc, "", false};
    OWNED(text_release) struct text beginning = {0}, end = {0};
    text_init(&beginning, MAX_BYTES);
    text_init(&end, MAX_BYTES);
    voc_begin(&beginning, path_name(item->input->image), item->width, item->height);
    text_put(&end, VOC_END);
    return write_document(path, &document, &beginning, &end, item, run, err);
}

static enum clv_status put_coco(struct text *text, const struct contours *one, const struct labelled *item,
                                const struct batch *run, struct clv_error *err)
{
    (void)item;
    return coco_put_lines(text, one, &run->labels, run->options.rle, err);
}

enum clv_status raster_annotations_write(const char *path, struct labelled *item, const struct batch *run,
                                         struct clv_error *err)
{
    OWNED(shapes_release) struct shapes shapes = {.item = item, .run = run, .path = path, .put = put_coco};
    OWNED(text_release) struct text lines = {0};
    OWNED_ARRAY char *name = join_file_name(item->input->image, item->input->output);
    struct part_key key;
    NEED(name);
    MUST(trace_shapes(&shapes, false, err));
    text_init(&lines, MAX_BYTES);
    part_key_make(&key, PART_COCO, &run->parts);
    part_put_image(&lines, PART_COCO, name, item->width, item->height);
    for (size_t k = 0; k < shapes.n; k++) {
        MUST(read_text(&shapes, &shapes.texts[k], err));
        text_append(&lines, shapes.text.bytes, shapes.text.size);
    }
    return part_write(path, &item->part_mask, &key, &lines, err);
}
