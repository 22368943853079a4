/* This folder reads annotations in many formats. EACH_BOXES_READER below is the table of readers; boxes_read.c chooses
 * the reader of a file and walks folders. A reader parses one file and passes each annotation to annotation_add
 * (annotation.c), which has the rules for all formats: what is an object, what is void, which faults are counted. The
 * readers are boxes_tsv.c, boxes_voc.c and boxes_cvat.c (XML by boxes_xml.c), boxes_coco.c, boxes_labelme.c,
 * boxes_tasks.c (Label Studio; brush.c has its run lengths), boxes_geojson.c and boxes_yolo.c (boxes_yaml.c).
 * boxes_lists.c finds names of classes, boxes_splits.c published splits; boxes.c stores boxes; boxes_find.c finds an
 * image's boxes and converts them to its pixels. Read cleave/boxes.h first, then annotation.c, then boxes_tsv.c. */
#ifndef DATA_BOXES_BOXES_H
#define DATA_BOXES_BOXES_H

#include <stdbool.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/boxes.h"
#include "cleave/status.h"

/* Boxes while files are read: images in any order, and an image may occur several times. */
struct boxes_builder {
    struct clv_boxes boxes;
    size_t images_capacity, labels_capacity, boxes_capacity, voids_capacity; /* the last two: of the last image */
    int32_t *label_slots; /* [n_label_slots] open addressing: label + 1, 0: free */
    size_t n_label_slots; /* a power of 2 */
    size_t n_classes;     /* classes in the list of classes; 0: no list */
    bool has_key_points;  /* data.yaml declares key points in YOLO's lines */
    int wanted;           /* the only clv_boxes_form to read, plus 1; 0: any */
    bool has_form;        /* a file was read */
    bool keeps_outlines;  /* boxes keep the exact outlines */
    const char *property; /* property with the labels of GeoJSON's features; NULL: GeoJSON is not read */
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

/* Sets the published split of the image added last, from any of the usual names. Ignores other names. */
enum clv_status boxes_split_image(struct boxes_builder *builder, const char *split, struct clv_error *err) CLV_CHECK;

/* Returns "train", "val" or "test" for the usual names of splits ("Validation", "valid", "dev", "train2017" and so on);
 * NULL: not a split. */
const char *boxes_split_of(const char *name, size_t length);

/* The split of the innermost folder in a path that is named like a split; NULL: none. */
const char *boxes_split_of_path(const char *path);

/* One annotation, which a reader fills in and passes to annotation_add. */
struct annotation {
    size_t index;                /* in its file, from 1: clv_box.index */
    size_t line;                 /* its line in the file, for messages; 0: messages give the index */
    const char *label;           /* name of its label; "": no label, which is allowed; NULL: no usable label, a fault */
    const char *mask;            /* clv_box.mask, or NULL */
    struct clv_outline *outline; /* its exact shape, owned; NULL: it is a box, or has a fault */
    struct clv_box box;          /* x, y, width, height, if has_box */
    bool has_box, is_crowd;
    enum clv_fault_of_annotation fault; /* CLV_ANNOTATION_GOOD, or the kind of its fault */
    char why[160];                      /* the fault in words */
};

/* Sets the fault, unless the annotation has one already. `format` describes it: "a polygon of 2 points". */
void annotation_blame(struct annotation *annotation, enum clv_fault_of_annotation fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the box that the file states: x, y, width, height. */
void annotation_state_box(struct annotation *annotation, const double sides[4]);

/* Extends its box to include a point. */
void annotation_extend(struct annotation *annotation, double x, double y);

/* Adds the annotation to the image added last. Takes ownership of the outline, also on failure. CLV_ERR_DATA: a
 * coordinate is out of range. */
enum clv_status annotation_add(struct boxes_builder *builder, struct annotation *annotation,
                               struct clv_error *err) CLV_CHECK;

/* Counts a fault that belongs to no image. */
enum clv_status boxes_count_stray(struct boxes_builder *builder, enum clv_fault_of_annotation fault,
                                  struct clv_error *err, const char *format, ...) CLV_CHECK
    __attribute__((format(printf, 4, 5)));

/* Counts an image that is not labelled yet. */
enum clv_status boxes_count_unlabelled(struct boxes_builder *builder, struct clv_error *err) CLV_CHECK;

/* A number of faults, in words: "1 run length of another size", "2 lines". */
struct counted annotation_faults(enum clv_fault_of_annotation fault, size_t n);

/* Store results of annotation.c: boxes_store a box of the image added last, boxes_store_void a void area. Both take
 * ownership of the outline (or NULL), also on failure; label and mask are copied. boxes_store_fault counts a fault; the
 * first message that is not NULL is kept, and each counts as a skipped annotation. */
enum clv_status boxes_store(struct boxes_builder *builder, const struct clv_box *box, const char *label,
                            const char *mask, struct clv_error *err) CLV_CHECK;
enum clv_status boxes_store_void(struct boxes_builder *builder, const struct clv_box *box,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_store_fault(struct boxes_builder *builder, enum clv_fault_of_annotation fault,
                                  const char *message, struct clv_error *err) CLV_CHECK;

/* The sizes of a builder. boxes_mark_return restores them after a file that turned out to be bad. */
struct boxes_mark {
    size_t n_images, n_labels, n_skipped, n_faults[CLV_ANNOTATION_FAULTS], n_crowd_objects;
    enum clv_boxes_form form;
};
void boxes_mark_take(struct boxes_mark *mark, const struct boxes_builder *builder);
void boxes_mark_return(struct boxes_builder *builder, const struct boxes_mark *mark);

/* Keeps a copy of the error of a file that is skipped. */
enum clv_status boxes_add_bad_file(struct boxes_builder *builder, const struct clv_error *why,
                                   struct clv_error *err) CLV_CHECK;

/* clv_boxes_read that keeps the objects' outlines: polygons, ellipses and runs. `wanted` is the only form to read, or
 * BOXES_ANY_FORM. With a `property`, whose value is the label, only GeoJSON is read (.geojson files; in folders without
 * these, .json); boxes and outlines are in the file's coordinates. */
enum clv_status boxes_read_outlines(struct clv_boxes *boxes, const char *path, int wanted, const char *property,
                                    struct clv_error *err) CLV_CHECK;

/* Assigns mask values to the labels of boxes: values[boxes->n_labels]. "background" is 0; the others, with "object" for
 * boxes without a label, are 1, 2 and so on in the order of boxes->labels. Sets labels->names and the default colours.
 * `path` names the boxes in messages. CLV_ERR_DATA: too many labels, or a name that labels.tsv cannot hold. */
enum clv_status boxes_label_values(uint8_t *values, struct clv_labels *labels, const struct clv_boxes *boxes,
                                   const char *path, struct clv_error *err) CLV_CHECK;

/* Looks up the values in existing labels. Returns false if they lack a label of the boxes. */
bool boxes_values_in(uint8_t *values, const struct clv_labels *labels, const struct clv_boxes *boxes);

/* Finds the index of a label, and adds the label if it is new. Expected O(length of the label). */
enum clv_status boxes_label(int32_t *index, struct boxes_builder *builder, const char *label,
                            struct clv_error *err) CLV_CHECK;

/* Sorts the images, joins the entries of each image, and moves all to *boxes. The builder is empty afterwards, also on
 * failure. `path` names the boxes in messages. */
enum clv_status boxes_finish(struct clv_boxes *boxes, struct boxes_builder *builder, const char *path,
                             struct clv_error *err) CLV_CHECK;

void boxes_builder_release(struct boxes_builder *builder);

/* Names the image added last by the name in its file; an empty name changes nothing. A bare file name is relative to
 * the folder of the annotation, of an absolute path only the file name is used, and leading "../" are dropped. */
enum clv_status boxes_name_image(struct boxes_builder *builder, const char *name, struct clv_error *err) CLV_CHECK;

/* Functions to find an image's boxes, and to name the position of a box in its file. */

/* Fills by_stem, the images sorted by their stems. O(n log n). */
enum clv_status boxes_index(struct clv_boxes *boxes, struct clv_error *err) CLV_CHECK;

/* Returns the unit that clv_box.index counts in this form: "line", "object" and so on. */
const char *boxes_index_unit(enum clv_boxes_form form);

/* Decodes "%20" and the like, in place. */
void path_decode(char *name);

/* Length of the prefix "1a2b3c4d-" that Label Studio adds to file names; 0: none. */
size_t boxes_upload_prefix(const char *name);

/* Orders a[m] and b[n] by bytes; a text comes before those that it begins. */
int boxes_compare(const char *a, size_t m, const char *b, size_t n);

/* Returns whether the longer of the paths a[m] and b[n] ends with the shorter one, which is not empty, whole folders
 * compared. */
bool boxes_is_tail(const char *a, size_t m, const char *b, size_t n);

/* The columns of a table of boxes, found by their usual names; -1: absent. CLV_ERR_DATA: no column of images, or
 * neither x, y, w, h nor corners. */
struct tsv;
struct boxes_columns {
    int image, label, mask, sides[4]; /* sides: x, y, w, h, or xmin, ymin, xmax, ymax */
    bool are_corners, are_shares;     /* are_shares: sides are fractions of the image's sides */
};
enum clv_status boxes_find_columns(struct boxes_columns *columns, const struct tsv *table,
                                   struct clv_error *err) CLV_CHECK;

/* The readers. Each has two functions in its own file, such as boxes_is_coco, which recognises a file, and
 * boxes_parse_coco. The first reader that recognises a file parses it. Columns: form, reader, its name in `cleave
 * import`, its name in messages, the unit of clv_box.index, the ending of its files in folders, its help text in
 * import. GeoJSON is read only on request; tables are not annotations of other programs. */
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

/* Text for help and for messages about files of other formats. */
#define BOXES_TITLE(form, reader, name, title, unit, ending, help) title ", "

#define BOXES_FORMATS "boxes are read as " EACH_BOXES_FORMAT(BOXES_TITLE) "or tables separated by tabs"

/* A file that a reader parses. */
struct boxes_file {
    const char *source; /* its path, for messages */
    const char *image;  /* the file's path without extension: name of the image if the file states none */
    char *bytes;        /* [size] and a writable zero, without the byte order mark */
    size_t size;
    const struct json_value *root; /* the parsed JSON, or NULL */
};
typedef enum clv_status boxes_parse_file(struct boxes_builder *builder, const struct boxes_file *file,
                                         struct clv_error *err);

#define DECLARE(form, reader, name, title, unit, ending, help)                                                         \
    bool boxes_is_##reader(const struct boxes_file *file);                                                             \
    boxes_parse_file boxes_parse_##reader;
EACH_BOXES_READER(DECLARE)
#undef DECLARE

/* Whether the file looks like XML. */
bool boxes_is_xml(const struct boxes_file *file);

/* Reads a file of UTF-8 text without zero bytes. Free *bytes with array_free. */
enum clv_status boxes_read_text(char **bytes, size_t *size, const char *path, struct clv_error *err) CLV_CHECK;

/* Adds the names of classes, one per line (classes.txt, obj.names), as labels 0, 1 and so on. CLV_ERR_DATA: a name
 * occurs twice, or too many. */
enum clv_status boxes_read_classes(struct boxes_builder *builder, const char *path, struct clv_error *err) CLV_CHECK;

/* Adds the classes in the entry `names` of a data.yaml, unless a list of classes was read before, and its entries
 * `train`, `val` and `test` as lists of splits. */
enum clv_status boxes_read_yaml(struct boxes_builder *builder, const char *path, struct clv_error *err) CLV_CHECK;

/* Reads names of classes and lists of splits of YOLO's files, in `folder` or up to two folders above it. */
enum clv_status boxes_read_lists(struct boxes_builder *builder, const char *folder, struct clv_error *err) CLV_CHECK;

/* boxes_add_listed adds an image or a folder of images to a split, boxes_read_list adds every line of a file. */
enum clv_status boxes_add_listed(struct boxes_builder *builder, const char *path, const char *split,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_read_list(struct boxes_builder *builder, const char *path, const char *split,
                                struct clv_error *err) CLV_CHECK;

/* Whether a .txt file is a list of classes or images, or a readme, and not an annotation. */
bool boxes_is_list(const char *name);

/* Sets the split of the image added last by the lists. */
enum clv_status boxes_split_by_lists(struct boxes_builder *builder, struct clv_error *err) CLV_CHECK;

/* Parses a file by the first reader that recognises it, and sets the form. CLV_ERR_DATA: the file has another form than
 * the files before or than `wanted`. On failure the builder is unchanged. Takes ownership of bytes, from array_alloc;
 * bytes[size] is a writable zero. `image`: see struct boxes_file. */
enum clv_status boxes_parse(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                            size_t size, struct clv_error *err) CLV_CHECK;

/* Decodes Label Studio's brush, bytes[n], to inside[height][width]. brush.c describes the format. CLV_ERR_DATA:
 * damaged, or a wrong number of pixels. */
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

/* Reads the width or height of an image, 0 if the file has none or null. */
enum clv_status json_take_side(int32_t *side, const struct json_value *object, const char *key,
                               const struct json_location *location, struct clv_error *err) CLV_CHECK;

/* Reads an array of two numbers; false if the value is anything else. */
bool json_get_point(double point[2], const struct json_value *value);

/* Reads XML element by element. Document types are refused, and so are entities: no other file is read, and no text
 * expands. Depth, names and text have limits. */

/* The parser's position. */
struct xml_location {
    const char *source; /* the file, for messages */
    const char *path;   /* of the open elements: "/annotation/object/name" */
    unsigned long line;
};

/* Callbacks: `begin` at the start of an element, with attributes {name, value, name, value, .., NULL}; `end` at its
 * end, with the text before its end tag, without surrounding white space; "", however long it is, if the handler takes
 * attributes alone. A failure ends the parsing. */
struct xml_handler {
    enum clv_status (*begin)(void *context, const struct xml_location *location, const char *const *attributes,
                             struct clv_error *err);
    enum clv_status (*end)(void *context, const struct xml_location *location, const char *text, struct clv_error *err);
    bool takes_attributes_alone;
};

enum clv_status xml_parse(const struct xml_handler *handler, void *context, const char *source, const char *bytes,
                          size_t size, struct clv_error *err) CLV_CHECK;

/* The attribute's value, or NULL. */
const char *xml_attribute(const char *const *attributes, const char *name);

/* Finds entries[n] for all images of a dataset together; NULL: none. Exact matches come first: an entry that matches
 * one image by its path is not given to another by its file name, and one that matches by file name is not given to
 * another by its stem. CLV_ERR_DATA: two entries match an image equally. */
enum clv_status boxes_find_all(const struct clv_image_boxes **entries, const struct clv_boxes *boxes,
                               const char *const *images, size_t n, struct clv_error *err) CLV_CHECK;

/* The same, but an ambiguous image gets no entry and is counted in *n_ambiguous. *first is the message about the first
 * one, or NULL; free it with array_free. */
enum clv_status boxes_find_clear(const struct clv_image_boxes **entries, size_t *n_ambiguous, char **first,
                                 const struct clv_boxes *boxes, const char *const *images, size_t n,
                                 struct clv_error *err) CLV_CHECK;

/* Converts the box of a void area to pixels of its image, which has this size; false: it is outside the image. */
bool boxes_place_void(struct clv_pixel_box *pixels, const struct clv_box *box, const struct clv_image_boxes *entry,
                      int32_t width, int32_t height);

/* Returns the first image of the boxes that is not in entries[n], and counts such images; NULL: none, or out of
 * memory. */
const char *boxes_first_unused(size_t *n_unused, const struct clv_boxes *boxes,
                               const struct clv_image_boxes *const *entries, size_t n);

#endif
