/* This folder reads annotations in many formats. EACH_BOXES_READER below is the table of readers; boxes_read.c finds
 * the one that fits and walks folders. A reader parses one file and hands over each annotation, as struct
 * annotation, to annotation_add (annotation.c), which has the rules that hold for all formats: what is an object,
 * what is void, what is counted. boxes_tsv.c, boxes_voc.c and boxes_cvat.c (over boxes_xml.c), boxes_coco.c,
 * boxes_labelme.c and boxes_tasks.c (JSON; brush.c has Label Studio's run lengths), boxes_geojson.c and boxes_yolo.c
 * (boxes_yaml.c) are the readers; boxes_lists.c finds names of classes, boxes_splits.c has published splits; boxes.c
 * stores; boxes_find.c finds an image's boxes and places them in its pixels. Read cleave/boxes.h first, then
 * annotation.c, then boxes_tsv.c. */
#ifndef DATA_BOXES_BOXES_H
#define DATA_BOXES_BOXES_H

#include <stdbool.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/boxes.h"
#include "cleave/status.h"

/* Boxes as they are read: images in any order, and one image perhaps several times. */
struct boxes_builder {
    struct clv_boxes boxes;
    size_t images_capacity, labels_capacity, boxes_capacity, voids_capacity; /* the last two: of the last image */
    int32_t *label_slots; /* [n_label_slots] open addressing: label + 1, 0: free */
    size_t n_label_slots; /* a power of 2 */
    size_t n_classes;     /* labels that a list of classes names; 0: there is none */
    bool has_key_points;  /* the classes' file says that lines have key points */
    int wanted;           /* the only clv_boxes_form that is read + 1; 0: any */
    bool has_form;        /* a file was read */
    bool keeps_outlines;  /* shapes stay with their boxes */
    const char *property; /* that labels GeoJSON's features; NULL: it is not read */
    struct boxes_lists {  /* published splits, as lists of images or folders */
        struct boxes_listed {
            char *path, *split;
        } * entries; /* [n] */
        size_t n, capacity;
        bool is_sorted; /* by file names without extension */
    } lists;
};
#define BOXES_ANY_FORM (-1)

/* Starts the boxes of an image; `image` and `source` are copied. */
enum clv_status boxes_add_image(struct boxes_builder *builder, const char *image, const char *source,
                                struct clv_error *err) CLV_CHECK;

/* Says that the image added last was published in a split of this name, in any of the usual spellings. */
enum clv_status boxes_split_image(struct boxes_builder *builder, const char *split, struct clv_error *err) CLV_CHECK;

/* "train", "val" or "test" for a name in use ("Validation", "valid", "dev", "train2017"); NULL: it is not a split. */
const char *boxes_split_of(const char *name, size_t length);

/* The split that the folders of a path name, the innermost one; NULL: none. */
const char *boxes_split_of_path(const char *path);

/* One annotation as a reader hands it over. */
struct annotation {
    size_t index;                /* in its file, from 1: clv_box.index */
    size_t line;                 /* of the file, for messages that say the line instead; 0: they say the index */
    const char *label;           /* its name, "" where none is needed; NULL: it has none that can be used */
    const char *mask;            /* clv_box.mask, or NULL */
    struct clv_outline *outline; /* its exact shape, which annotation_add takes; NULL: it is a box, or has a fault */
    struct clv_box box;          /* x, y, width, height, if has_box */
    bool has_box, is_crowd;
    enum clv_fault_of_annotation fault; /* CLV_ANNOTATION_GOOD, or why it cannot be used .. */
    char why[160];                      /* .. in words */
};

/* States a fault, unless there is one already; `format` says what it is: "a polygon of 2 points". */
void annotation_blame(struct annotation *annotation, enum clv_fault_of_annotation fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Its box as the file has it. */
void annotation_state_box(struct annotation *annotation, const double sides[4]);

/* Makes its box include a point. */
void annotation_extend(struct annotation *annotation, double x, double y);

/* Adds the annotation to the image added last. Takes the outline, whatever the status. CLV_ERR_DATA: a coordinate out
 * of range. */
enum clv_status annotation_add(struct boxes_builder *builder, struct annotation *annotation,
                               struct clv_error *err) CLV_CHECK;

/* Counts a fault of no image. */
enum clv_status boxes_count_stray(struct boxes_builder *builder, enum clv_fault_of_annotation fault,
                                  struct clv_error *err, const char *format, ...) CLV_CHECK
    __attribute__((format(printf, 4, 5)));

/* Counts an image that is not labelled yet: nothing is known of it. */
enum clv_status boxes_count_unlabelled(struct boxes_builder *builder, struct clv_error *err) CLV_CHECK;

/* A number of faults, in words: "1 run length of another size", "2 lines". */
struct counted annotation_faults(enum clv_fault_of_annotation fault, size_t n);

/* Stores what annotation.c has made: a box of the image added last, whose outline (or NULL) is taken and whose label
 * and mask are copied; a void, whose outline is taken; the count of a fault, with the message of the first one, or NULL
 * for none. */
enum clv_status boxes_store(struct boxes_builder *builder, const struct clv_box *box, const char *label,
                            const char *mask, struct clv_error *err) CLV_CHECK;
enum clv_status boxes_store_void(struct boxes_builder *builder, const struct clv_box *box,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_store_fault(struct boxes_builder *builder, enum clv_fault_of_annotation fault,
                                  const char *message, struct clv_error *err) CLV_CHECK;

/* How much there is, and back to it after a file that turned out to be bad. */
struct boxes_mark {
    size_t n_images, n_labels, n_skipped, n_faults[CLV_ANNOTATION_FAULTS], n_crowd_objects;
    enum clv_boxes_form form;
};
void boxes_mark_take(struct boxes_mark *mark, const struct boxes_builder *builder);
void boxes_mark_return(struct boxes_builder *builder, const struct boxes_mark *mark);

/* Remembers what is wrong with a file that is skipped; takes nothing. */
enum clv_status boxes_add_bad_file(struct boxes_builder *builder, const struct clv_error *why,
                                   struct clv_error *err) CLV_CHECK;

/* clv_boxes_read with the objects' outlines: polygons, ellipses and runs. `wanted` is the only form that is read, or
 * BOXES_ANY_FORM. With a `property`, whose value is the label, of GeoJSON alone (.geojson, in folders without any
 * .json); boxes and outlines are in its coordinates. */
enum clv_status boxes_read_outlines(struct clv_boxes *boxes, const char *path, int wanted, const char *property,
                                    struct clv_error *err) CLV_CHECK;

/* Labels of boxes in masks: values[boxes->n_labels]. "background" is 0, others, and "object" for boxes without a label,
 * count from 1 in the order met. labels->names and default colours; `path` is what was read, for messages.
 * CLV_ERR_DATA: too many labels, or a name that labels.tsv cannot hold. */
enum clv_status boxes_label_values(uint8_t *values, struct clv_labels *labels, const struct clv_boxes *boxes,
                                   const char *path, struct clv_error *err) CLV_CHECK;

/* Finds the values in a given list of labels; false: a label of the boxes is not in it. */
bool boxes_values_in(uint8_t *values, const struct clv_labels *labels, const struct clv_boxes *boxes);

/* The index of a label, which is added if it is new. O(length of the label). */
enum clv_status boxes_label(int32_t *index, struct boxes_builder *builder, const char *label,
                            struct clv_error *err) CLV_CHECK;

/* Sorts, joins what is said of one image, and hands over; the builder is empty afterwards, whatever the outcome.
 * `path` is what was read. */
enum clv_status boxes_finish(struct clv_boxes *boxes, struct boxes_builder *builder, const char *path,
                             struct clv_error *err) CLV_CHECK;

void boxes_builder_release(struct boxes_builder *builder);

/* Names the image added last as its file does, unless that says nothing: a bare file name is where the annotation
 * is, absolute paths count by their file name alone, and "../" at the beginning falls away. */
enum clv_status boxes_name_image(struct boxes_builder *builder, const char *name, struct clv_error *err) CLV_CHECK;

/* Finding an image's boxes, and saying where one stands in its file. */

/* Fills by_stem. O(n log n). */
enum clv_status boxes_index(struct clv_boxes *boxes, struct clv_error *err) CLV_CHECK;

/* "line", "object" ..: what clv_box.index counts. */
const char *boxes_index_unit(enum clv_boxes_form form);

/* Decodes "%20" and the like, in place. */
void path_decode(char *name);

/* Bytes of the "1a2b3c4d-" that Label Studio puts before the names of files; 0: there is none. */
size_t boxes_upload_prefix(const char *name);

/* Where a table of boxes has what, by the names that are in use; -1: nowhere. CLV_ERR_DATA: neither x, y, w, h nor
 * corners, or no image. */
struct tsv;
struct boxes_columns {
    int image, label, mask, sides[4]; /* the last: x, y, w, h or the corners */
    bool are_corners, are_shares;     /* of the image's sides */
};
enum clv_status boxes_find_columns(struct boxes_columns *columns, const struct tsv *table,
                                   struct clv_error *err) CLV_CHECK;

/* The readers, each in a file of its own: boxes_is_coco, which recognises a file, and boxes_parse_coco. In order: the
 * first that recognises a file parses it. Form, reader; what `cleave import' and messages call it; what clv_box.index
 * counts; how its files end in a folder; what the help of import says of it. GeoJSON is read where it is asked for, and
 * tables are not annotations of other programs. */
#define EACH_BOXES_FORMAT(ROW)                                                                                         \
    ROW(COCO, coco, "coco", "COCO", "annotation", ".json", "JSON")                                                     \
    ROW(LABELME, labelme, "labelme", "labelme", "shape", ".json", "a folder of JSON")                                  \
    ROW(CVAT, cvat, "cvat", "CVAT", "shape", ".xml", "XML")                                                            \
    ROW(VOC, voc, "voc", "Pascal VOC", "object", ".xml", "a folder that holds JPEGImages/ and SegmentationClass/")     \
    ROW(YOLO, yolo, "yolo", "YOLO", "line", ".txt", "a folder of text")                                                \
    ROW(LABEL_STUDIO, tasks, "label-studio", "Label Studio", "region", ".json", "JSON")
#define EACH_IMPORT_FORMAT(ROW)                                                                                        \
    EACH_BOXES_FORMAT(ROW)                                                                                             \
    ROW(GEOJSON, geojson, "geojson", "GeoJSON", "feature", ".geojson",                                                 \
        "polygons on GeoTIFFs: a layer, or a folder of a file an image")
#define EACH_BOXES_READER(ROW) EACH_IMPORT_FORMAT(ROW) ROW(TSV, tsv, "tsv", "tables", "line", NULL, "")

/* For help, and messages about files of another format. */
#define BOXES_TITLE(form, reader, name, title, unit, ending, help) title ", "

#define BOXES_FORMATS "boxes are read as " EACH_BOXES_FORMAT(BOXES_TITLE) "or tables separated by tabs"

/* A file that a reader parses. */
struct boxes_file {
    const char *source; /* its path, for messages */
    const char *image;  /* the path without extension of an annotation of one image, which is the image's name if the
                           file has no other */
    char *bytes;        /* [size], and a writable zero behind; a byte order mark is not part of it */
    size_t size;
    const struct json_value *root; /* of JSON; else NULL */
};
typedef enum clv_status boxes_parse_file(struct boxes_builder *builder, const struct boxes_file *file,
                                         struct clv_error *err);

#define DECLARE(form, reader, name, title, unit, ending, help)                                                         \
    bool boxes_is_##reader(const struct boxes_file *file);                                                             \
    boxes_parse_file boxes_parse_##reader;
EACH_BOXES_READER(DECLARE)
#undef DECLARE

/* Whether it looks like XML. */
bool boxes_is_xml(const struct boxes_file *file);

/* Reads a file of UTF-8 text without zero bytes: *bytes, array_free it. */
enum clv_status boxes_read_text(char **bytes, size_t *size, const char *path, struct clv_error *err) CLV_CHECK;

/* Without the byte order mark in front; *size is that of what is left. */
char *text_skip_mark(char *bytes, size_t *size);

/* Adds the names of classes, a line each (classes.txt, obj.names), as labels 0, 1 ..; the same name twice is an error.
 */
enum clv_status boxes_read_classes(struct boxes_builder *builder, const char *path, struct clv_error *err) CLV_CHECK;

/* Adds the entry `names` of a data.yaml likewise, and its entries `train`, `val` and `test` as lists of splits; without
 * any, nothing. */
enum clv_status boxes_read_yaml(struct boxes_builder *builder, const char *path, struct clv_error *err) CLV_CHECK;

/* Reads names of classes and lists of splits that stand next to YOLO's files in `folder` or above it. */
enum clv_status boxes_read_lists(struct boxes_builder *builder, const char *folder, struct clv_error *err) CLV_CHECK;

/* Adds a folder of images, or a list of them, of a split. */
enum clv_status boxes_add_listed(struct boxes_builder *builder, const char *path, const char *split,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_read_list(struct boxes_builder *builder, const char *path, const char *split,
                                struct clv_error *err) CLV_CHECK;

/* Whether a .txt file has such a list, or is a note to readers, and no annotation. */
bool boxes_is_list(const char *name);

/* The split of the image added last by the lists. */
enum clv_status boxes_split_by_lists(struct boxes_builder *builder, struct clv_error *err) CLV_CHECK;

/* The reader that fits: by content, then by the name of `source`. Sets the form; one file of another form than those
 * before, or than the wanted one, is an error, after which the builder is as it was. Takes bytes (array_alloc'd);
 * bytes[size] is a writable zero. `image`: see struct boxes_file. */
enum clv_status boxes_parse(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                            size_t size, struct clv_error *err) CLV_CHECK;

/* Label Studio's brush: what of pixels[height][width] is inside, from bytes[n]; the format is described in brush.c.
 * CLV_ERR_DATA: damaged, or of another number of pixels. */
enum clv_status brush_decode(uint8_t *inside, int32_t width, int32_t height, const uint8_t *bytes, size_t n,
                             struct clv_error *err) CLV_CHECK;

/* Members of JSON objects that the readers of annotations share. */

/* The name of an object in messages: "SOURCE: WHAT NUMBER". */
struct json_location {
    const char *source, *what;
    size_t number;
};

/* Reads a member that must be text and not empty. */
enum clv_status json_take_text(const char **text, const struct json_value *object, const char *key,
                               const struct json_location *location, struct clv_error *err) CLV_CHECK;

/* Reads the width or height of an image, 0 if the file has none. */
enum clv_status json_take_side(int32_t *side, const struct json_value *object, const char *key,
                               const struct json_location *location, struct clv_error *err) CLV_CHECK;

/* Reads an array of two numbers; false if the value is anything else. */
bool json_get_point(double point[2], const struct json_value *value);

/* Reading XML element by element, safely: a document type is refused, and with it entities: nothing of another file is
 * ever read, nothing grows; depth, names and text are bounded. */

/* Where the parser stands. */
struct xml_location {
    const char *source; /* the file, for messages */
    const char *path;   /* of the open elements: "/annotation/object/name" */
    unsigned long line;
};

/* Called where an element begins (attributes: name, value, .. NULL) and before it ends, with the text before its end
 * tag, white space around it cut off. A failure ends the parsing. */
struct xml_handler {
    enum clv_status (*begin)(void *context, const struct xml_location *location, const char *const *attributes,
                             struct clv_error *err);
    enum clv_status (*end)(void *context, const struct xml_location *location, const char *text, struct clv_error *err);
};

enum clv_status xml_parse(const struct xml_handler *handler, void *context, const char *source, const char *bytes,
                          size_t size, struct clv_error *err) CLV_CHECK;

/* The attribute's value, or NULL. */
const char *xml_attribute(const char *const *attributes, const char *name);

/* entries[n] = those of all images of a set at once: an entry whose path is one image's is not another's by its name,
 * and one whose file name is some images' is not another's by its stem. */
enum clv_status boxes_find_all(const struct clv_image_boxes **entries, const struct clv_boxes *boxes,
                               const char *const *images, size_t n, struct clv_error *err) CLV_CHECK;

/* The same, but an ambiguous image has no entry: *n_ambiguous counts them, and *first, array_free it, says which
 * entries the first one could mean. */
enum clv_status boxes_find_clear(const struct clv_image_boxes **entries, size_t *n_ambiguous, char **first,
                                 const struct clv_boxes *boxes, const char *const *images, size_t n,
                                 struct clv_error *err) CLV_CHECK;

/* Computes a void's box in pixels of its image, which has this size; false if it is outside of the image. */
bool boxes_place_void(struct clv_pixel_box *pixels, const struct clv_box *box, const struct clv_image_boxes *entry,
                      int32_t width, int32_t height);

/* The first image of a file that none of entries[n] is, and how many there are; NULL: none, or out of memory. */
const char *boxes_first_unused(size_t *n_unused, const struct clv_boxes *boxes,
                               const struct clv_image_boxes *const *entries, size_t n);

#endif
