/* The readers of the formats of boxes: boxes_tsv.c, boxes_voc.c, boxes_cvat.c, boxes_json.c, boxes_yolo.c, and
 * boxes_read.c to choose. */
#ifndef DATA_BOXES_FORMATS_H
#define DATA_BOXES_FORMATS_H

#include "data/boxes/boxes.h"

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
enum clv_status boxes_parse_json(struct boxes_builder *builder, const char *source, const char *image,
                                 const char *bytes, size_t size, struct clv_error *err) CLV_CHECK;
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

#endif
