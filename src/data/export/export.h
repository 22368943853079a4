/* This folder writes objects as other programs read them: COCO (coco.c), labelme (labelme.c), Pascal VOC (voc.c),
 * YOLO (yolo.c) and GeoJSON (geojson.c). Each adds to a text; who calls it makes the file. Objects are contours
 * (data/shapes/contour.c), and so are polygons and their tolerance.
 *
 * `cleave import` reads all of it again (data/boxes). The folder that has coco.json, labelme/, voc/ and yolo/ has a
 * hidden note, too, whose first line is the folder of the images; empty: they have none in common. */
#ifndef DATA_EXPORT_H
#define DATA_EXPORT_H

#include "base/base.h"
#include "cleave/data.h"
#include "data/shapes/shapes.h"
#include "image/raster/raster.h"

/* Whether pixels of a label are objects: a label with a name, but for a label 0 called "background". */
bool export_is_object(const struct clv_labels *labels, int32_t label);

/* The label's number among those that are objects, from 1. */
int32_t export_category(const struct clv_labels *labels, int32_t label);

/* The frame around both. */
void export_join(struct rle_frame *frame, const struct contour_object *piece);

/* *order[contours->n_objects], array_free it: the contours by their numbers, so that those of one object are side by
 * side. */
enum clv_status export_order(size_t **order, const struct contours *contours, struct clv_error *err) CLV_CHECK;

/* COCO is one document of all images, which is made of their parts (batch/join.c): coco_begin, each image's annotations,
 * coco_begin_images, each image's entry, coco_put_categories. coco_put_lines has an image's annotations from
 * "category_id" on, a line each; coco_put_numbered adds `size` bytes of such lines with their numbers; *n_annotations
 * counts on. Objects come by their numbers; those in pieces are several polygons. With holes, and all with `runs`, they
 * are compressed run lengths. Coordinates are pixels, (0, 0) the image's upper left corner. */
#define COCO_BEGINNING "{\"info\":{\"description\":\"cleave segment\"},\"licenses\":[],\"annotations\":["
void coco_begin(struct text *text);
enum clv_status coco_put_lines(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                               bool runs, struct clv_error *err) CLV_CHECK;
void coco_put_numbered(struct text *text, size_t *n_annotations, size_t image_id, const char *lines, size_t size);
void coco_begin_images(struct text *text);
void coco_put_entry(struct text *images, bool is_first, size_t image_id, const char *json_name, int32_t width,
                    int32_t height);
void coco_put_categories(struct text *text, const struct clv_labels *labels);

/* One image's JSON of labelme; `image` is the path to it from the JSON's folder. Holes are joined to the outer ring;
 * pieces of one object are a group. */
enum clv_status labelme_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const char *image, struct clv_error *err) CLV_CHECK;

/* labelme_put in pieces, as those of GeoJSON and VOC below: the document's beginning, the objects of some contours, and its end.
 * Between objects of different contours is the text that is called SEPARATOR here. */
#define LABELME_BEGINNING "{\"version\":\"5.4.1\",\"flags\":{},\"shapes\":["
#define LABELME_SEPARATOR ","
enum clv_status labelme_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                    struct clv_error *err) CLV_CHECK;
void labelme_end(struct text *text, const char *image, int32_t width, int32_t height);

/* One image's XML of VOC: a box around each object with all its pieces, both corners counted from 1 and inside. */
enum clv_status voc_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                        const char *image, struct clv_error *err) CLV_CHECK;
void voc_begin(struct text *text, const char *image, int32_t width, int32_t height);
enum clv_status voc_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                struct clv_error *err) CLV_CHECK;
#define VOC_END "</annotation>\n"

/* labelmap.txt: names and colours of the values in SegmentationClass/, as CVAT writes and reads it. */
void voc_put_labelmap(struct text *text, const struct clv_labels *labels);

/* One image's GeoJSON: polygons with their holes, of an object in pieces a MultiPolygon, in the coordinates of its
 * georeference, in pixels where it has none. Those of other coordinate systems than WGS 84 name theirs. Exact contours that
 * were traced by sides become polygons that are valid for OGC's Simple Features. */
enum clv_status geojson_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const struct georeference *georeference, struct clv_error *err) CLV_CHECK;
void geojson_begin(struct text *text, const struct georeference *georeference);
enum clv_status geojson_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                    const struct georeference *georeference, struct clv_error *err) CLV_CHECK;
#define GEOJSON_SEPARATOR ","
#define GEOJSON_END       "\n]}\n"

/* One image's text of YOLO: class and corners as shares of the sides, holes joined to the outer ring, and pieces of an
 * object to the first one, by lines that run there and back. */
enum clv_status yolo_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                         struct clv_error *err) CLV_CHECK;
/* data.yaml, and classes.txt. */
void yolo_put_data(struct text *text, const struct clv_labels *labels);
void yolo_put_classes(struct text *text, const struct clv_labels *labels);

#endif
