/* Reads annotations of any form, from a file or a folder of files. The first row of EACH_BOXES_READER (boxes.h) that
 * recognises a file parses it. Bad files in a folder are skipped and reported. Start at read_all. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/data.h"

#define ROW(form, reader, name, title, unit, ending, help)                                                             \
    {name, CLV_BOXES_##form, boxes_is_##reader, boxes_parse_##reader, ending},
static const struct boxes_reader {
    const char *name; /* its name in `cleave import` */
    enum clv_boxes_form form;
    bool (*recognises)(const struct boxes_file *file);
    boxes_parse_file *parse;
    const char *ending; /* ending of its files in a folder; NULL: none */
} readers[] = {EACH_BOXES_READER(ROW)};
#define N_READERS (sizeof readers / sizeof *readers)

static const struct boxes_reader *find_reader(int form)
{
    for (size_t i = 0; i < N_READERS; i++)
        if ((int)readers[i].form == form)
            return &readers[i];
    return NULL;
}

/* Recognises JSON of other programs by typical members. Returns its name for an error message, or NULL. */
static const char *name_foreign(const struct json_value *root)
{
    const struct json_value *first = json_element(root, 0);
    const struct json_value *annotation = json_element(json_member(root, "annotations"), 0);
    if (json_member(first, "image_id") && (json_member(first, "score") || json_member(first, "category_id")))
        return "results of a detector in COCO's form, which lack images and categories; put them as \"annotations\" "
               "into the file of the images that they are of";
    if (json_member(annotation, "segments_info"))
        return "COCO's panoptic annotations, whose masks are PNGs; convert them to instances, as panopticapi's "
               "panoptic2detection does";
    if (json_member(root, "image") && json_member(root, "annotations"))
        return "masks of Segment Anything (SA-1B), which have no categories; add \"images\" and \"categories\" as "
               "COCO has them";
    if (json_member(json_element(json_member(first, "annotations"), 0), "coordinates"))
        return "boxes of Create ML; convert them to COCO";
    if (json_member(first, "predicted_iou") || json_member(first, "stability_score"))
        return "masks of Segment Anything, which name no image and no category";
    if (json_member(root, "_via_img_metadata") || json_member(root, "_via_settings"))
        return "a project of VGG Image Annotator; export it as COCO";
    if (json_member(root, "items") && json_member(root, "categories"))
        return "Datumaro's own JSON; convert it to COCO";
    if (json_member(root, "objects") && json_member(root, "size"))
        return "Supervisely's JSON; convert it to COCO";
    return NULL;
}

/* Chooses the reader of a file. The error message says what else the file is. */
static enum clv_status choose_reader(const struct boxes_reader **reader, const struct boxes_builder *builder,
                                     const struct boxes_file *file, struct clv_error *err)
{
    const char *foreign = file->root ? name_foreign(file->root) : NULL;
    const struct boxes_reader *asked = builder->property ? find_reader(CLV_BOXES_GEOJSON) : NULL;
    if (asked && file->root) {
        *reader = asked;
        return CLV_OK;
    }
    FAIL_IF(foreign, CLV_ERR_DATA, "%s: %s", file->source, foreign);
    const struct boxes_reader *wanted = find_reader(builder->wanted - 1);
    for (size_t i = 0; i < N_READERS; i++)
        if (readers[i].recognises(file)) {
            *reader = &readers[i];
            FAIL_IF(asked || (wanted && *reader != wanted), CLV_ERR_DATA, "%s: is not what %s writes", file->source,
                    wanted ? wanted->name : "geojson");
            return CLV_OK;
        }
    size_t n;
    if (json_get_array(file->root, &n) && n)
        return fail(err, CLV_ERR_DATA, "%s: an array, but not Label Studio's (\"data\"); " BOXES_FORMATS, file->source);
    return fail(err, CLV_ERR_DATA,
                "%s: neither COCO (\"annotations\") nor labelme (\"shapes\"), nor Label Studio's array; " BOXES_FORMATS,
                file->source);
}

static enum clv_status parse_file(struct boxes_builder *builder, struct boxes_file *file, struct clv_error *err)
{
    const enum clv_boxes_form before = builder->boxes.form;
    const struct boxes_reader *reader = NULL;
    MUST(choose_reader(&reader, builder, file, err));
    FAIL_IF(builder->has_form && reader->form != before, CLV_ERR_DATA, "%s: of another form than the files before it",
            file->source);
    builder->boxes.form = reader->form;
    return reader->parse(builder, file, err);
}

enum clv_status boxes_parse(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                            size_t size, struct clv_error *err)
{
    OWNED_ARRAY char *held = bytes;
    struct json_value *root = NULL;
    struct boxes_mark mark;
    struct boxes_file file = {.source = source, .image = image, .size = size};
    file.bytes = text_skip_mark(held, &file.size);
    boxes_mark_take(&mark, builder);
    char first = file.bytes[strspn(file.bytes, " \t\r\n")];
    if (first == '{' || first == '[')
        MUST(json_parse(&root, file.bytes, file.size, source, err));
    file.root = root;
    enum clv_status status = parse_file(builder, &file, err);
    json_root_free(root);
    if (status)
        boxes_mark_return(builder, &mark);
    if (status == CLV_ERR_DATA && err && !err->path_length)
        fail_within(err, status, source); /* errors from shapes.h do not name the file */
    builder->has_form |= status == CLV_OK;
    return status;
}

/* Adds one file; `relative` is its path below the folder that the user named. */
static enum clv_status add_file(struct boxes_builder *builder, const char *path, const char *relative,
                                struct clv_error *err)
{
    OWNED_ARRAY char *image = path_replace_extension(relative, "");
    OWNED_ARRAY char *bytes = NULL;
    size_t size;
    NEED(image);
    MUST(file_read(&bytes, &size, path, TSV_MAX_SIZE, err));
    return boxes_parse(builder, path, image, TAKE(bytes), size, err);
}

static bool has_ending(const char *path, const char *ending)
{
    return text_ends_with(path, ending) && !boxes_is_list(path_name(path));
}

static size_t count_ending(const struct path_list *files, const char *ending)
{
    size_t n = 0;
    for (size_t i = 0; i < files->n; i++)
        n += has_ending(files->paths[i], ending);
    return n;
}

/* Finds the ending of a folder's annotations: by the form to read, or else by the files in the folder. */
static enum clv_status find_ending(const char **ending, const struct boxes_builder *builder,
                                   const struct path_list *files, const char *folder, struct clv_error *err)
{
    const struct boxes_reader *wanted = find_reader(builder->property ? CLV_BOXES_GEOJSON : builder->wanted - 1);
    size_t n_xml = count_ending(files, ".xml"), n_json = count_ending(files, ".json");
    *ending = n_xml ? ".xml" : n_json ? ".json" : ".txt";
    for (size_t i = 0; i < N_READERS && !count_ending(files, *ending); i++)
        if (readers[i].ending && readers[i].form != CLV_BOXES_GEOJSON && count_ending(files, readers[i].ending))
            *ending = readers[i].ending;
    if (wanted)
        *ending = builder->property && !count_ending(files, wanted->ending) ? ".json" : wanted->ending;
    FAIL_IF(!wanted && n_xml && n_json, CLV_ERR_DATA, "%s: holds .xml files and .json files: which are the boxes?",
            folder);
    FAIL_IF(!count_ending(files, *ending), CLV_ERR_NO_INPUT, "%s: holds no %s file", folder,
            wanted ? *ending : ".xml, .json or .txt");
    return CLV_OK;
}

/* Keeps the error of a file that is malformed or cannot be read; other errors are returned. */
static enum clv_status settle_file(struct boxes_builder *builder, enum clv_status status, struct clv_error *err)
{
    if (status != CLV_ERR_DATA && status != CLV_ERR_NO_INPUT)
        return status;
    const struct clv_error why = *err;
    return boxes_add_bad_file(builder, &why, err);
}

static enum clv_status add_folder(struct boxes_builder *builder, const char *folder, struct clv_error *err)
{
    OWNED(path_list_release) struct path_list files = {0};
    const char *ending;
    MUST(folder_walk(&files, folder, err));
    MUST(find_ending(&ending, builder, &files, folder, err));
    if (strcmp(ending, ".txt") == 0)
        MUST(boxes_read_lists(builder, folder, err));
    if (files.n_unreadable)
        MUST(boxes_count_stray(builder, CLV_ANNOTATION_STRAY, err, "%s may not be read", files.first_unreadable));
    for (size_t i = 0; i < files.n; i++) {
        if (!has_ending(files.paths[i], ending))
            continue;
        OWNED_ARRAY char *path = path_join(folder, files.paths[i]);
        NEED(path);
        MUST(settle_file(builder, add_file(builder, path, files.paths[i], err), err));
    }
    return CLV_OK;
}

/* Adds one file. The classes of a YOLO file are beside or above it; for other .txt files the lists have no effect. */
static enum clv_status add_single(struct boxes_builder *builder, const char *path, struct clv_error *err)
{
    if (text_ends_with(path, ".txt")) {
        OWNED_ARRAY char *folder = path_folder(path);
        NEED(folder);
        MUST(boxes_read_lists(builder, folder, err));
    }
    return add_file(builder, path, path_name(path), err);
}

static enum clv_status read_all(struct clv_boxes *boxes, const char *path, bool keeps_outlines, int wanted,
                                const char *property, struct clv_error *err)
{
    OWNED(boxes_builder_release) struct boxes_builder builder = {
        .keeps_outlines = keeps_outlines, .wanted = wanted + 1, .property = property};
    struct clv_error why = {0}; /* messages of bad files are kept even if the caller passes no err */
    MUST(path_is_folder(path) ? add_folder(&builder, path, err ? err : &why) : add_single(&builder, path, err));
    return boxes_finish(boxes, &builder, path, err);
}

enum clv_status clv_boxes_read(struct clv_boxes *boxes, const char *path, struct clv_error *err)
{
    return read_all(boxes, path, false, BOXES_ANY_FORM, NULL, err);
}

enum clv_status boxes_read_outlines(struct clv_boxes *boxes, const char *path, int wanted, const char *property,
                                    struct clv_error *err)
{
    return read_all(boxes, path, true, wanted, property, err);
}
