/* Reading boxes whatever their form: a file, or a folder of files. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/data.h"

static enum clv_status boxes_parse_json(struct boxes_builder *builder, const char *source, const char *image,
                                        const char *bytes, size_t size, struct clv_error *err)
{
    static const char bom[3] = "\xef\xbb\xbf";
    struct json_value *root;
    size_t skipped = size >= sizeof bom && memcmp(bytes, bom, sizeof bom) == 0 ? sizeof bom : 0, n = 0;
    MUST(json_parse(&root, bytes + skipped, size - skipped, source, err));
    enum clv_status status = CLV_OK;
    if (builder->property) {
        builder->boxes.form = CLV_BOXES_GEOJSON;
        status = boxes_parse_geojson(builder, root, source, image, err);
    } else if (json_get_array(root, &n) && n) {
        status = boxes_parse_tasks(builder, root, source, err);
    } else if (json_member(root, "annotations")) {
        builder->boxes.form = CLV_BOXES_COCO;
        status = boxes_parse_coco(builder, root, source, err);
    } else if (json_member(root, "shapes")) {
        builder->boxes.form = CLV_BOXES_LABELME;
        status = boxes_parse_labelme(builder, root, source, image, err);
    } else {
        status = fail(
            err, CLV_ERR_DATA,
            "%s: neither COCO (\"annotations\") nor labelme (\"shapes\"), nor Label Studio's array; " BOXES_FORMATS,
            source);
    }
    json_root_free(root);
    return status;
}

#define CLASSES_NAME  "classes.txt"
#define CLASSES_ABOVE "../classes.txt"

/* A table's header: the column "image" between tabs in the first line. */
static bool has_header(const char *bytes, size_t size)
{
    const char *newline = memchr(bytes, '\n', size);
    size_t length = newline ? (size_t)(newline - bytes) : size;
    return memchr(bytes, '\t', length) && memmem(bytes, length, "image", 5);
}

/* CVAT's document is <annotations>, VOC's <annotation>. */
static bool is_cvat(const char *bytes, size_t size)
{
    static const char name[] = "<annotation";
    const char *found = memmem(bytes, size, name, sizeof name - 1);
    return found && found[sizeof name - 1] == 's';
}

static enum clv_boxes_form guess_form(const char *source, const char *bytes, size_t size)
{
    static const char bom[3] = "\xef\xbb\xbf";
    const char *begin = bytes + (size >= sizeof bom && memcmp(bytes, bom, sizeof bom) == 0 ? sizeof bom : 0);
    const char *first = begin + strspn(begin, " \t\r\n");
    if (*first == '{' || *first == '[')
        return CLV_BOXES_LABELME; /* or another one in JSON: its members decide */
    if (*first == '<' || text_ends_with(source, ".xml"))
        return is_cvat(bytes, size) ? CLV_BOXES_CVAT : CLV_BOXES_VOC;
    return text_ends_with(source, ".txt") && !has_header(bytes, size) ? CLV_BOXES_YOLO : CLV_BOXES_TSV;
}

enum clv_status boxes_parse(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                            size_t size, struct clv_error *err)
{
    enum clv_boxes_form before = builder->boxes.form;
    enum clv_status status;
    builder->boxes.form = guess_form(source, bytes, size);
    switch (builder->boxes.form) {
    case CLV_BOXES_TSV: status = boxes_parse_tsv(builder, source, bytes, size, err); break; /* frees the bytes */
    case CLV_BOXES_VOC: status = boxes_parse_voc(builder, source, image, bytes, size, err); break;
    case CLV_BOXES_CVAT: status = boxes_parse_cvat(builder, source, bytes, size, err); break;
    case CLV_BOXES_YOLO: status = boxes_parse_yolo(builder, source, image, bytes, size, err); break;
    default: status = boxes_parse_json(builder, source, image, bytes, size, err); break;
    }
    if (builder->boxes.form != CLV_BOXES_TSV)
        array_free(bytes);
    if (status == CLV_ERR_DATA && err && strncmp(err->message, source, strlen(source)) != 0)
        fail_within(err, status, source); /* what shapes.h refuses knows no file */
    TRY_IF(builder->has_form && builder->boxes.form != before,
           fail(err, CLV_ERR_DATA, "%s: of another form than the files before it", source));
    builder->has_form = true;
    return status;
}

/* What names the classes: classes.txt in the folder or the one above it, or else data.yaml or dataset.yaml there or
 * one further up, if it is there. */
static enum clv_status read_classes(struct boxes_builder *builder, const char *folder, struct clv_error *err)
{
    static const char *const names[] = {CLASSES_NAME,   CLASSES_ABOVE,     "data.yaml",       "dataset.yaml",
                                        "../data.yaml", "../dataset.yaml", "../../data.yaml", "../../dataset.yaml"};
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && status == CLV_OK && !builder->n_classes; i++) {
        char *path = path_join(folder, names[i]);
        MUST_IF(!path, fail_memory(err));
        enum path_kind kind;
        status = path_look(&kind, path, err);
        TRY_IF(kind == PATH_FILE, text_ends_with(path, ".yaml") ? boxes_read_yaml(builder, path, err)
                                                                : boxes_read_classes(builder, path, err));
        array_free(path);
    }
    return status;
}

/* One file; `relative` is its path below what the user named. */
static enum clv_status add_file(struct boxes_builder *builder, const char *path, const char *relative,
                                struct clv_error *err)
{
    char *bytes, *image = path_replace_extension(relative, "");
    size_t size;
    enum clv_status status = image ? file_read(&bytes, &size, path, TSV_MAX_SIZE, err) : fail_memory(err);
    TRY(boxes_parse(builder, path, image, bytes, size, err));
    array_free(image);
    return status;
}

static size_t count_ending(const struct path_list *files, const char *ending)
{
    size_t n = 0;
    for (size_t i = 0; i < files->n; i++)
        n += text_ends_with(files->paths[i], ending) && strcmp(path_name(files->paths[i]), CLASSES_NAME) != 0;
    return n;
}

static enum clv_status add_folder(struct boxes_builder *builder, const char *folder, struct clv_error *err)
{
    struct path_list files = {0};
    enum clv_status status = folder_walk(&files, folder, err);
    size_t n_xml = count_ending(&files, ".xml"), n_json = count_ending(&files, ".json");
    const char *ending = builder->property && count_ending(&files, ".geojson") ? ".geojson"
                         : n_xml                                               ? ".xml"
                         : n_json                                              ? ".json"
                                                                               : ".txt";
    TRY_IF(n_xml && n_json,
           fail(err, CLV_ERR_DATA, "%s: holds .xml files and .json files: which are the boxes?", folder));
    TRY_IF(!count_ending(&files, ending), fail(err, CLV_ERR_NO_INPUT, "%s: holds no .xml, .json or .txt file", folder));
    TRY_IF(!n_xml && !n_json, read_classes(builder, folder, err));
    TRY_IF(files.n_unreadable, boxes_skip_stray(builder, err, "%s may not be read", files.first_unreadable));
    for (size_t i = 0; i < files.n && status == CLV_OK; i++) {
        if (!text_ends_with(files.paths[i], ending) || strcmp(path_name(files.paths[i]), CLASSES_NAME) == 0)
            continue;
        char *path = path_join(folder, files.paths[i]);
        status = path ? add_file(builder, path, files.paths[i], err) : fail_memory(err);
        array_free(path);
    }
    path_list_release(&files);
    return status;
}

/* A YOLO file's classes are next to it or above it; other .txt files do not mind. */
static enum clv_status add_single(struct boxes_builder *builder, const char *path, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    if (text_ends_with(path, ".txt")) {
        char *folder = path_folder(path);
        status = folder ? read_classes(builder, folder, err) : fail_memory(err);
        array_free(folder);
    }
    return status == CLV_OK ? add_file(builder, path, path_name(path), err) : status;
}

static enum clv_status read_all(struct clv_boxes *boxes, const char *path, bool keeps_outlines, const char *property,
                                struct clv_error *err)
{
    struct boxes_builder builder = {.keeps_outlines = keeps_outlines, .property = property};
    enum clv_status status = path_is_folder(path) ? add_folder(&builder, path, err) : add_single(&builder, path, err);
    if (status == CLV_OK)
        return boxes_finish(boxes, &builder, path, err);
    boxes_builder_release(&builder);
    return status;
}

enum clv_status clv_boxes_read(struct clv_boxes *boxes, const char *path, struct clv_error *err)
{
    return read_all(boxes, path, false, NULL, err);
}

enum clv_status boxes_read_outlines(struct clv_boxes *boxes, const char *path, const char *property,
                                    struct clv_error *err)
{
    return read_all(boxes, path, true, property, err);
}
