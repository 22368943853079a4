/* Boxes around objects, from the common annotation formats: clv_boxes_read reads a file or folder, clv_boxes_find finds
 * the boxes of an image, clv_boxes_place converts them to its pixels. */
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
    size_t index;                /* number of the line, object, annotation or shape in its file, from 1 */
    char *mask;                  /* the object's mask as the file spells it, or NULL */
    struct clv_outline *outline; /* the shape that the box bounds, read for `cleave import` only; else NULL */
};

/* Why an annotation cannot be used. Its pixels become void, neither object nor background: those of its shape, or else
 * of its box, or of the whole image if no box is known. */
enum clv_fault_of_annotation {
    CLV_ANNOTATION_GOOD,
    CLV_ANNOTATION_RUNS,       /* damaged run lengths or masks */
    CLV_ANNOTATION_SIZE,       /* run lengths of another size than their image's */
    CLV_ANNOTATION_OUTLINE,    /* polygons with too few or invalid corners, or without an area */
    CLV_ANNOTATION_POINT,      /* points */
    CLV_ANNOTATION_LINE,       /* lines */
    CLV_ANNOTATION_SHAPE,      /* unsupported shapes */
    CLV_ANNOTATION_LABEL,      /* without a label, or of a category that does not exist */
    CLV_ANNOTATION_BOX,        /* without a usable box */
    CLV_ANNOTATION_CROWD,      /* several objects as one; the outline labels pixels, and is void among objects */
    CLV_ANNOTATION_NOTHING,    /* masks without a pixel, which mark nothing */
    CLV_ANNOTATION_IGNORED,    /* marked to be ignored */
    CLV_ANNOTATION_STRAY,      /* of an image that the file does not list, or in a file without permission to read */
    CLV_ANNOTATION_UNLABELLED, /* an image that has not been labelled yet */
    CLV_ANNOTATION_FAULTS
};

/* The boxes of one image, in the order of the file. */
struct clv_image_boxes {
    char *image;           /* as the file spells it, with slashes and without "./" */
    char *source;          /* the file that lists them, for messages */
    char *split;           /* its published split, "train", "val" or "test", or NULL */
    int32_t width, height; /* of the image according to that file; 0: not given */
    bool is_relative;      /* x and width are shares of the image's width, y and height of its height (YOLO) */
    struct clv_box *boxes;
    size_t n_boxes;        /* 0: if n_skipped is 0, too, the file lists the image without an object */
    size_t n_skipped;      /* annotations with faults */
    struct clv_box *voids; /* [n_voids] of annotations that cannot be used; sizes may be 0 */
    size_t n_voids;
    size_t n_marks; /* voids without an area, such as points: the extent of their objects is unknown */
    bool is_unsure; /* an annotation has no known position: no pixel is known to be background */
};

enum clv_boxes_form {
    CLV_BOXES_TSV,     /* a table with a header, separated by tabs: image; x, y, w, h (0-based pixels) or xmin,
                          ymin, xmax, ymax; optionally label and mask */
    CLV_BOXES_VOC,     /* Pascal VOC XML, one file per image: 1-based corners, both inside the box */
    CLV_BOXES_COCO,    /* COCO JSON: images, annotations, categories; bbox is x, y, width, height, or bounds the
                          segmentation (polygons, run lengths); crowds of several pieces are void */
    CLV_BOXES_LABELME, /* labelme JSON, one file per image: rectangles (corners in any order), and the bounds of circles,
                          polygons and masks */
    CLV_BOXES_YOLO, /* YOLO txt, one file per image with the image's stem: class, centre x, y, width, height as shares,
                       or class and three or more corners x, y */
    CLV_BOXES_CVAT, /* CVAT's XML of images: box, and the bounds of polygon, ellipse and mask */
    CLV_BOXES_LABEL_STUDIO, /* Label Studio's JSON: rectangles, and the bounds of polygons, ellipses and brushes */
    CLV_BOXES_GEOJSON       /* polygons in geographic coordinates; only `cleave import` reads it */
};

/* A file or folder of boxes. */
struct clv_boxes {
    enum clv_boxes_form form;
    struct clv_image_boxes *images; /* [n_images], sorted by image */
    size_t n_images;
    size_t *by_stem; /* [n_images] their indices, sorted by file name without extension */
    char **labels;   /* [n_labels], in the order of the files; for YOLO without classes.txt or data.yaml numbers */
    size_t n_labels;
    size_t n_skipped;                       /* annotations with faults, except those marked to be ignored */
    char *first_skipped;                    /* the first one and its fault, or NULL */
    size_t n_faults[CLV_ANNOTATION_FAULTS]; /* how many have each fault */
    size_t n_crowd_objects;                 /* crowds of one piece, which count as objects */
    struct clv_bad_file {
        char *message; /* this and the next members are as in struct clv_error */
        size_t path_length;
        const char *kind;
    } * bad_files; /* [n_bad_files] errors of the files that were skipped */
    size_t n_bad_files;
};
CLV_API void clv_boxes_release(struct clv_boxes *boxes);

/* Reads boxes; the form is recognised by content (XML, JSON and its members, a header with "image"); other text in a
 * .txt is YOLO. A folder is read as a whole: every .xml or .json below it or, if there is none, every .txt. classes.txt
 * next to the YOLO file, in the folder or the one above, names the classes. An annotation that cannot be used is
 * counted by its fault, and its pixels are void. CLV_ERR_DATA names file, line or element, and value: numbers that are
 * NaN, infinite or beyond 1e9, members that are missing or of the wrong type, XML with a document type (it could name
 * other files), no image at all. In a folder only such a file is skipped, and so is a file of another form than the
 * first one's: bad_files names them, and the call fails if none is left. CLV_ERR_NO_INPUT: a missing path, or a folder
 * without a file of boxes. Files of up to 1 GiB, 256 MiB for XML. O(n log n). */
CLV_API enum clv_status clv_boxes_read(struct clv_boxes *boxes, const char *path, struct clv_error *err) CLV_CHECK;

/* *entry = the boxes of an image by its name in a set, or NULL if it has none. Takes the entry with the same path, or
 * else the same file name, or else the same stem (a/b.jpg: b.jpg, or else b), in every form; Label Studio's "1a2b3c4d-"
 * before a name may be missing. CLV_ERR_DATA if several entries match and none ends with the same folders. O(log n +
 * images with the same stem). */
CLV_API enum clv_status clv_boxes_find(const struct clv_image_boxes **entry, const struct clv_boxes *boxes,
                                       const char *image, struct clv_error *err) CLV_CHECK;

/* placed[entry->n_boxes] = the boxes in pixels of the image, clipped at its border; their masks are borrowed from
 * `entry`. *n_cut (may be NULL) counts boxes that extend beyond the border by more than half a pixel. CLV_ERR_DATA: a
 * box outside the image, or an image of another size than the file gives. */
CLV_API enum clv_status clv_boxes_place(struct clv_box *placed, size_t *n_cut, const struct clv_boxes *boxes,
                                        const struct clv_image_boxes *entry, int32_t width, int32_t height,
                                        struct clv_error *err) CLV_CHECK;

/* Returns whether the entry (or NULL) gives the positions of all objects in the image, and so of the background: it has
 * objects, or voids with an area, or neither and no fault; and no annotation lacks a position. */
CLV_API bool clv_boxes_are_known(const struct clv_image_boxes *entry);

/* Pixels x in [first_x, end_x), y in [first_y, end_y): those whose centres a placed box covers, at least one. */
struct clv_pixel_box {
    int32_t first_x, first_y, end_x, end_y;
};
CLV_API struct clv_pixel_box clv_box_pixels(const struct clv_box *box, int32_t width, int32_t height);

#ifdef __cplusplus
}
#endif
#endif
