/* This folder reads boxes in many formats. boxes_read.c finds the format and walks folders; boxes_tsv.c,
 * boxes_voc.c and boxes_cvat.c (over boxes_xml.c), boxes_json.c (boxes_coco.c, boxes_labelme.c, boxes_tasks.c) and
 * boxes_yolo.c (boxes_yaml.c) parse one file each (boxes_formats.h) and add to a builder, which this header declares;
 * boxes_find.c finds an image's boxes and places them in its pixels. Read cleave/boxes.h first, then boxes_tsv.c. */
#ifndef DATA_BOXES_H
#define DATA_BOXES_H

#include <stdbool.h>

#include "cleave/boxes.h"

/* Boxes as they are read: images in any order, and one image perhaps several times. */
struct boxes_builder {
    struct clv_boxes boxes;
    size_t images_capacity, labels_capacity, boxes_capacity; /* the last: of the image added last */
    int32_t *label_slots;                                    /* [n_label_slots] open addressing: label + 1, 0: free */
    size_t n_label_slots;                                    /* a power of 2 */
    size_t n_classes;                                        /* labels that classes.txt names; 0: there is none */
    bool has_form;                                           /* a file was read */
    bool keeps_outlines;                                     /* shapes stay with their boxes */
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

/* clv_boxes_read with what the objects' outlines are: polygons and runs. */
enum clv_status boxes_read_outlines(struct clv_boxes *boxes, const char *path, struct clv_error *err) CLV_CHECK;

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

#endif
