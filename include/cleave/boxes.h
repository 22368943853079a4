/* Boxes around objects, from the annotation formats in use: clv_boxes_read a file or folder of them, clv_boxes_find
 * those of an image, clv_boxes_place them in its pixels. */
#ifndef CLEAVE_BOXES_H
#define CLEAVE_BOXES_H

#include "cleave/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Covers x in [x, x + width) and y in [y, y + height); pixel (0, 0) covers [0, 1) x [0, 1). */
struct clv_box {
    double x, y, width, height;  /* pixels; sizes > 0 */
    int32_t label;               /* index into clv_boxes.labels */
    size_t place;                /* where it stands: line, object, annotation or shape, from 1 */
    char *mask;                  /* the object's mask as the file spells it, or NULL */
    struct clv_outline *outline; /* the shape that it bounds: `cleave import` asks for it; else NULL */
};

/* The boxes of one image, in the order of the file. */
struct clv_image_boxes {
    char *image;           /* as the file spells it, with slashes and without "./" */
    char *source;          /* the file that lists them, for messages */
    int32_t width, height; /* of the image according to that file; 0: it does not say */
    bool is_relative;      /* x and width are shares of the image's width, y and height of its height (YOLO) */
    struct clv_box *boxes;
    size_t n_boxes;   /* 0: the file knows the image, without an object .. */
    size_t n_skipped; /* .. if this is 0 too: objects of it that are no boxes */
};

enum clv_boxes_form {
    CLV_BOXES_TSV,     /* a table with a header, separated by tabs: image; x, y, w, h (0-based pixels) or xmin,
                          ymin, xmax, ymax; optionally label and mask */
    CLV_BOXES_VOC,     /* Pascal VOC XML, one file an image: 1-based corners, both inside the box */
    CLV_BOXES_COCO,    /* COCO JSON: images, annotations, categories; bbox is x, y, width, height, or bounds the
                          segmentation (polygons, run lengths); crowds are skipped */
    CLV_BOXES_LABELME, /* labelme JSON, one file an image: rectangles (corners in any order), circles, bounding boxes of
                          polygons; lines and points are skipped */
    CLV_BOXES_YOLO, /* YOLO txt, one file an image, of the image's stem: class, centre x, y, width, height as shares, or
                       class and three or more corners x, y */
    CLV_BOXES_CVAT, /* CVAT's own XML of images: box, and the bounds of polygon and mask */
    CLV_BOXES_LABEL_STUDIO, /* Label Studio's JSON: rectangles, and the bounds of polygons and ellipses */
    CLV_BOXES_GEOJSON       /* `cleave import' alone reads it: polygons in coordinates on Earth */
};

/* A file or folder of boxes. */
struct clv_boxes {
    enum clv_boxes_form form;
    struct clv_image_boxes *images; /* [n_images], sorted by image */
    size_t n_images;
    size_t *by_stem; /* [n_images] their indices, sorted by file name without extension */
    char **labels;   /* [n_labels], in the order met; for YOLO without classes.txt or data.yaml they are numbers */
    size_t n_labels;
    size_t n_skipped;    /* annotations that are no boxes */
    char *first_skipped; /* which one and why, or NULL */
};
CLV_API void clv_boxes_release(struct clv_boxes *boxes);

/* Reads boxes; the form is recognised by content (XML, JSON and its members, a header with "image"); other text in a
 * .txt is YOLO. A folder is read as a whole: every .xml or .json below it or, if there is none, every .txt. classes.txt
 * next to the YOLO file, in the folder or the one above, names the classes. An object without a usable box (no bndbox,
 * no size above 0, no such category or image) is skipped and counted. CLV_ERR_DATA names file, line or element, and
 * value: numbers that are NaN, infinite or beyond 1e9, members that are missing or of the wrong type, XML with a
 * document type (it could name other files), two forms in one folder, no image at all. CLV_ERR_NO_INPUT: nothing there.
 * Files of up to 1 GiB, 16 MiB for XML. O(n log n). */
CLV_API enum clv_status clv_boxes_read(struct clv_boxes *boxes, const char *path, struct clv_error *err) CLV_CHECK;

/* *entry = the boxes of an image by its name in a set, or NULL if it has none. An entry of the same path, or else of
 * the file name, or else of the stem (a/b.jpg: b.jpg, or else b), whatever the form; Label Studio's "1a2b3c4d-" before
 * a name may be missing. CLV_ERR_DATA if several images fit that way, of which none ends with the same folders. O(log n
 * + images of the same stem). */
CLV_API enum clv_status clv_boxes_find(const struct clv_image_boxes **entry, const struct clv_boxes *boxes,
                                       const char *image, struct clv_error *err) CLV_CHECK;

/* placed[entry->n_boxes] = the boxes in pixels of the image, cut at its border; their masks are borrowed from `entry`.
 * *n_cut (may be NULL) counts those that reached out of it by more than half a pixel. CLV_ERR_DATA: a box outside the
 * image, an image of another size than the file says. */
CLV_API enum clv_status clv_boxes_place(struct clv_box *placed, size_t *n_cut, const struct clv_boxes *boxes,
                                        const struct clv_image_boxes *entry, int32_t width, int32_t height,
                                        struct clv_error *err) CLV_CHECK;

/* Pixels x in [first_x, end_x), y in [first_y, end_y): those whose centres a placed box covers, at least one. */
struct clv_pixel_box {
    int32_t first_x, first_y, end_x, end_y;
};
CLV_API struct clv_pixel_box clv_box_pixels(const struct clv_box *box, int32_t width, int32_t height);

#ifdef __cplusplus
}
#endif
#endif
