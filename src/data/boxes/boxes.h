/* This folder reads boxes in many formats. boxes_read.c finds the format and walks folders; boxes_tsv.c,
 * boxes_voc.c and boxes_cvat.c (over boxes_xml.c), boxes_coco.c, boxes_labelme.c and boxes_tasks.c (JSON) and
 * boxes_geojson.c, and boxes_yolo.c (boxes_yaml.c) parse one file each and add to a builder, which this header
 * declares; boxes_find.c finds an image's boxes and places them in its pixels. Read cleave/boxes.h first, then
 * boxes_tsv.c. */
#ifndef DATA_BOXES_BOXES_H
#define DATA_BOXES_BOXES_H

#include <stdbool.h>

#include "base/json.h"
#include "cleave/boxes.h"
#include "cleave/status.h"

/* Boxes as they are read: images in any order, and one image perhaps several times. */
struct boxes_builder {
    struct clv_boxes boxes;
    size_t images_capacity, labels_capacity, boxes_capacity; /* the last: of the image added last */
    int32_t *label_slots;                                    /* [n_label_slots] open addressing: label + 1, 0: free */
    size_t n_label_slots;                                    /* a power of 2 */
    size_t n_classes;                                        /* labels that classes.txt names; 0: there is none */
    bool has_form;                                           /* a file was read */
    bool keeps_outlines;                                     /* shapes stay with their boxes */
    const char *property;                                    /* that labels GeoJSON's features; NULL: it is not read */
};

/* Starts the boxes of an image; `image` and `source` are copied. */
enum clv_status boxes_add_image(struct boxes_builder *builder, const char *image, const char *source,
                                struct clv_error *err) CLV_CHECK;

/* A box of the image added last, checked: `box` without label and mask. label and mask (or NULL) are copied. */
enum clv_status boxes_add(struct boxes_builder *builder, const struct clv_box *box, const char *label, const char *mask,
                          struct clv_error *err) CLV_CHECK;

/* An object by its outline, which is taken (NULL: out of memory). `box` says its place, and its bounds unless its width
 * is 0. */
enum clv_status boxes_add_outline(struct boxes_builder *builder, struct clv_outline *outline, const struct clv_box *box,
                                  const char *label, struct clv_error *err) CLV_CHECK;

/* clv_boxes_read with what the objects' outlines are: polygons and runs. With a `property`, whose value is the label,
 * of GeoJSON alone (.geojson, in folders without any .json); boxes and outlines are in its coordinates. */
enum clv_status boxes_read_outlines(struct clv_boxes *boxes, const char *path, const char *property,
                                    struct clv_error *err) CLV_CHECK;

/* Labels of boxes in masks: values[boxes->n_labels]. "background" is 0, others, and "object" for boxes without a label,
 * count from 1 in the order met. labels->names and default colours; `path` is what was read, for messages.
 * CLV_ERR_DATA: too many labels, or a name that labels.tsv cannot hold. */
enum clv_status boxes_label_values(uint8_t *values, struct clv_labels *labels, const struct clv_boxes *boxes,
                                   const char *path, struct clv_error *err) CLV_CHECK;

/* The same by labels that are there; false: one has no such name. */
bool boxes_values_in(uint8_t *values, const struct clv_labels *labels, const struct clv_boxes *boxes);

/* The index of a label, which is added if it is new. O(length of the label). */
enum clv_status boxes_label(int32_t *index, struct boxes_builder *builder, const char *label,
                            struct clv_error *err) CLV_CHECK;

/* An annotation that is no box, of the image added last or of none. `format` says which and why. */
enum clv_status boxes_skip(struct boxes_builder *builder, struct clv_error *err, const char *format, ...) CLV_CHECK
    __attribute__((format(printf, 3, 4)));
enum clv_status boxes_skip_stray(struct boxes_builder *builder, struct clv_error *err, const char *format,
                                 ...) CLV_CHECK __attribute__((format(printf, 3, 4)));

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

/* "line", "object" ..: what clv_box.place counts. */
const char *boxes_place_word(enum clv_boxes_form form);

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

/* The readers of the formats of boxes: boxes_tsv.c, boxes_voc.c, boxes_cvat.c, boxes_yolo.c, and boxes_read.c
 * to choose. */

/* For the messages about files of another format. */
#define BOXES_FORMATS                                                                                                  \
    "boxes are read as tables separated by tabs, Pascal VOC, COCO, labelme, YOLO, CVAT and Label Studio"

/* Readers: they add what `bytes` say; bytes[size] is a writable zero. `source` names the file in messages; `image`
 * is the path without extension of an annotation of one image, which is the image's name if the file has no other. */
enum clv_status boxes_parse_tsv(struct boxes_builder *builder, const char *source, char *bytes, size_t size,
                                struct clv_error *err) CLV_CHECK; /* takes bytes */
enum clv_status boxes_parse_voc(struct boxes_builder *builder, const char *source, const char *image, const char *bytes,
                                size_t size, struct clv_error *err) CLV_CHECK;
enum clv_status boxes_parse_cvat(struct boxes_builder *builder, const char *source, const char *bytes, size_t size,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_parse_yolo(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                                 size_t size, struct clv_error *err) CLV_CHECK;

/* Adds the lines of classes.txt as labels 0, 1 ..; the same name twice is an error. */
enum clv_status boxes_read_classes(struct boxes_builder *builder, const char *path, struct clv_error *err) CLV_CHECK;

/* Adds the entry `names` of a data.yaml likewise; without one, nothing. */
enum clv_status boxes_read_yaml(struct boxes_builder *builder, const char *path, struct clv_error *err) CLV_CHECK;

/* The reader that fits: by content, then by the name of `source`. Sets the form; one file of another form than those
 * before is an error. Takes bytes (array_alloc'd). */
enum clv_status boxes_parse(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                            size_t size, struct clv_error *err) CLV_CHECK;

/* The readers of JSON, boxes_coco.c, boxes_labelme.c and boxes_tasks.c, of which boxes_read.c chooses. */

enum clv_status boxes_parse_coco(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                 struct clv_error *err) CLV_CHECK;
enum clv_status boxes_parse_labelme(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                    const char *image, struct clv_error *err) CLV_CHECK;
enum clv_status boxes_parse_geojson(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                    const char *image, struct clv_error *err) CLV_CHECK;
/* Label Studio's array of tasks. Sets the form. */
enum clv_status boxes_parse_tasks(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                  struct clv_error *err) CLV_CHECK;

/* Members of JSON objects that the readers of annotations share. */

/* What messages call an object: "SOURCE: WHAT NUMBER". */
struct json_place {
    const char *source, *what;
    size_t number;
};

/* A member that has to be text that is not empty. */
enum clv_status json_take_text(const char **text, const struct json_value *object, const char *key,
                               const struct json_place *place, struct clv_error *err) CLV_CHECK;

/* An image's side, 0 where the file has none. */
enum clv_status json_take_side(int32_t *side, const struct json_value *object, const char *key,
                               const struct json_place *place, struct clv_error *err) CLV_CHECK;

/* An array of two numbers. */
bool json_get_point(double point[2], const struct json_value *value);

/* Reading XML element by element, safely: a document type is refused, and with it entities: nothing of another file is
 * ever read, nothing grows; depth, names and text are bounded. */

/* Where the parser stands. */
struct xml_place {
    const char *source; /* the file, for messages */
    const char *path;   /* of the open elements: "/annotation/object/name" */
    unsigned long line;
};

/* Called where an element begins (attributes: name, value, .. NULL) and before it ends, with the text before its end
 * tag, white space around it cut off. A failure ends the parsing. */
struct xml_handler {
    enum clv_status (*begin)(void *context, const struct xml_place *place, const char *const *attributes,
                             struct clv_error *err);
    enum clv_status (*end)(void *context, const struct xml_place *place, const char *text, struct clv_error *err);
};

enum clv_status xml_parse(const struct xml_handler *handler, void *context, const char *source, const char *bytes,
                          size_t size, struct clv_error *err) CLV_CHECK;

/* The attribute's value, or NULL. */
const char *xml_attribute(const char *const *attributes, const char *name);

/* entries[n] = those of all images of a set at once: an entry whose path is one image's is no other's by its name,
 * and one whose file name is some images' is no other's by its stem. */
enum clv_status boxes_find_all(const struct clv_image_boxes **entries, const struct clv_boxes *boxes,
                               const char *const *images, size_t n, struct clv_error *err) CLV_CHECK;

/* The first image of a file that none of entries[n] is, and how many there are; NULL: none, or out of memory. */
const char *boxes_first_unused(size_t *n_unused, const struct clv_boxes *boxes,
                               const struct clv_image_boxes *const *entries, size_t n);

#endif
