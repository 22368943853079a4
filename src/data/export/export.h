/* This folder writes objects in formats of other programs: COCO (coco.c), labelme (labelme.c), Pascal VOC (voc.c), YOLO
 * (yolo.c) and GeoJSON (geojson.c). Each function appends to a text; the caller writes the file. Objects are given as
 * contours (data/shapes/contour.c), exact or simplified.
 *
 * `cleave import` reads all these formats (data/boxes). The folder with coco.json, labelme/, voc/ and yolo/ also has a
 * hidden note; its first line is the common folder of the images, or empty. */
#ifndef DATA_EXPORT_H
#define DATA_EXPORT_H

#include "base/base.h"
#include "cleave/data.h"
#include "data/shapes/shapes.h"
#include "image/raster/raster.h"

/* Whether a label is numbered as a class: it has a name, is not a label 0 called "background", and is not a value that
 * labels.tsv names "void". Labels that only a training counts as void (--void) are, so that all models of a dataset give
 * a class the same number. */
bool export_is_category(const struct clv_labels *labels, int32_t label);

/* Whether pixels of a label are objects: the label is numbered as a class and is not void. */
bool export_is_object(const struct clv_labels *labels, int32_t label);

/* The label's index among the labels that are numbered as classes, from 1. */
int32_t export_category(const struct clv_labels *labels, int32_t label);

/* Extends the frame to include the piece. */
void export_join(struct rle_frame *frame, const struct contour_object *piece);

/* Sorts the contours by their numbers, so that those of one object are adjacent: *order[contours->n_objects]. Free it
 * with array_free. */
enum clv_status export_order(size_t **order, const struct contours *contours, struct clv_error *err) CLV_CHECK;

/* COCO has one document for all images, joined from their parts (batch/join.c): coco_begin, each image's annotations,
 * coco_begin_images, each image's entry, coco_put_categories. coco_put_lines writes one line per annotation of an
 * image, from "category_id" on. coco_put_numbered appends `size` bytes of such lines with their ids, which
 * *n_annotations continues. Objects are in the order of their numbers; an object in pieces is several polygons. Objects
 * with holes, and all objects if `runs`, are compressed run lengths. Coordinates are in pixels from the image's upper
 * left corner. */
#define COCO_BEGINNING "{\"info\":{\"description\":\"cleave segment\"},\"licenses\":[],\"annotations\":["
void coco_begin(struct text *text);
enum clv_status coco_put_lines(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                               bool runs, struct clv_error *err) CLV_CHECK;
void coco_put_numbered(struct text *text, size_t *n_annotations, size_t image_id, const char *lines, size_t size);
void coco_begin_images(struct text *text);
void coco_put_entry(struct text *images, bool is_first, size_t image_id, const char *json_name, int32_t width,
                    int32_t height);
void coco_put_categories(struct text *text, const struct clv_labels *labels);

/* Appends labelme's JSON of one image; `image` is its path from the folder of the JSON file. Holes are joined to the
 * outer ring; pieces of one object form a group. */
enum clv_status labelme_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const char *image, struct clv_error *err) CLV_CHECK;

/* labelme_put in parts, as for GeoJSON and VOC below: the beginning of the document, the objects of some contours, and
 * the end. Write SEPARATOR between the objects of different contours. */
#define LABELME_BEGINNING "{\"version\":\"5.4.1\",\"flags\":{},\"shapes\":["
#define LABELME_SEPARATOR ","
enum clv_status labelme_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                    struct clv_error *err) CLV_CHECK;
void labelme_end(struct text *text, const char *image, int32_t width, int32_t height);

/* Appends VOC's XML of one image: the bounding box of each object with all its pieces. Corners count from 1, and both
 * belong to the box. */
enum clv_status voc_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                        const char *image, struct clv_error *err) CLV_CHECK;
void voc_begin(struct text *text, const char *image, int32_t width, int32_t height);
enum clv_status voc_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                struct clv_error *err) CLV_CHECK;
#define VOC_END "</annotation>\n"

/* Appends labelmap.txt: names and colours of the values in SegmentationClass/, in CVAT's form. */
void voc_put_labelmap(struct text *text, const struct clv_labels *labels);

/* Appends the GeoJSON of one image: each object is a polygon with holes, or a MultiPolygon if it is in pieces.
 * Coordinates are those of the georeference, or pixels without one; "crs" names a coordinate system other than WGS 84.
 * Exact contours that were traced by sides give polygons that are valid by OGC's Simple Features. */
enum clv_status geojson_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const struct georeference *georeference, struct clv_error *err) CLV_CHECK;
void geojson_begin(struct text *text, const struct georeference *georeference);
enum clv_status geojson_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                    const struct georeference *georeference, struct clv_error *err) CLV_CHECK;
#define GEOJSON_SEPARATOR ","
#define GEOJSON_END       "\n]}\n"

/* Appends YOLO's text of one image: class and corners in fractions of the sides. Lines there and back join holes to the
 * outer ring, and pieces of an object to its first piece. */
enum clv_status yolo_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                         struct clv_error *err) CLV_CHECK;
/* Append data.yaml and classes.txt. Classes count by their lines there, so labels that a training counts as void have
 * one, too. */
void yolo_put_data(struct text *text, const struct clv_labels *labels);
void yolo_put_classes(struct text *text, const struct clv_labels *labels);

#endif
