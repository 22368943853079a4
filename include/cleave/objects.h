/* Objects: maps of the object at each pixel of an image, and measurements of objects.
 *
 *     struct clv_object_map map = {0};   // from labels[height][width]; from a model: clv_segment_objects
 *     struct clv_object *rows = NULL;
 *     if (clv_object_map_from_labels(&map, labels, image.width, image.height, NULL, &error) ||
 *         clv_objects_measure(&rows, &map, &image, NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     for (int32_t k = 0; k < map.n_objects; k++)
 *         printf("object %d: %lld pixels\n", k + 1, (long long)rows[k].area);
 *     clv_free(rows);
 *     clv_object_map_release(&map);
 *
 * To read the source: src/object/object_map.c, then object_table.c. */
#ifndef CLEAVE_OBJECTS_H
#define CLEAVE_OBJECTS_H

#include "cleave/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_MAX_OBJECT_NUMBER 16777215 /* the largest number that a file may give an object */

struct clv_object_map {
    int32_t width, height;
    int32_t n_objects;
    int32_t *objects;    /* [height][width]: 1..n_objects, 0 for none */
    uint8_t *labels;     /* [n_objects] the label of object k + 1, or NULL: not known */
    double *probability; /* [n_objects] mean probability of its pixels to belong to an object, or NULL: not known */
};
CLV_API void clv_object_map_release(struct clv_object_map *map);

/* Makes an object of each 4-connected component of each label in labels[height][width], numbered by the first pixel in
 * row order. is_object[256] selects the labels; NULL: all except 0 and CLV_VOID. O(pixels). */
CLV_API enum clv_status clv_object_map_from_labels(struct clv_object_map *map, const uint8_t *labels, int32_t width,
                                                   int32_t height, const bool is_object[256],
                                                   struct clv_error *err) CLV_CHECK;

/* Reads a label image of objects: PNG of 8 or 16 bits (grey or palette), TIFF of 8, 16 or 32. 0 is not an object; all
 * pixels with one number are one object, even if not connected; numbers become 1..n_objects in their order.
 * expected_width 0: any size. CLV_ERR_DATA: another size, a number above CLV_MAX_OBJECT_NUMBER, another format.
 * O(pixels + largest number). */
CLV_API enum clv_status clv_object_map_read(struct clv_object_map *map, const char *path, int32_t expected_width,
                                            int32_t expected_height, const struct clv_image_limits *limits,
                                            struct clv_error *err) CLV_CHECK;

/* Writes the map, all or nothing: a 16-bit grey PNG or, with more than 65,535 objects, a 32-bit TIFF, whose name has
 * .tif instead of path's extension. *is_tiff (may be NULL) = whether it is a TIFF. */
CLV_API enum clv_status clv_object_map_write(bool *is_tiff, const char *path, const struct clv_object_map *map,
                                             struct clv_error *err) CLV_CHECK;

/* Removes objects of less than min_area pixels and, with clears_border, those with a pixel in the image's first or last
 * row or column. The others keep their order and are renumbered 1..n_objects. O(pixels). */
CLV_API enum clv_status clv_object_map_filter(struct clv_object_map *map, int64_t min_area, bool clears_border,
                                              struct clv_error *err) CLV_CHECK;

/* One object. Pixel (x, y) has its centre at (x, y); definitions are those of scikit-image's regionprops. */
struct clv_object {
    int32_t label; /* or -1: not known */
    int64_t area;  /* pixels */
    double centroid_x, centroid_y;
    int32_t left, top, right, bottom; /* x in left..right - 1, y in top..bottom - 1 */
    double perimeter; /* Benkrid and Crookes 2000: the length of the line through the centres of border pixels */
    double mean[3], deviation[3]; /* of red, green and blue, 0..255; NAN without an image */
    double eccentricity;          /* 0..1: of the ellipse with the same second moments; 0 for a disk */
    double solidity;              /* 0..1: its area divided by the number of pixels in its convex hull */
    double mean_probability;      /* 0..1, NAN: not known */
};

/* Allocates (*rows)[map->n_objects]; the caller frees it with clv_free. image (3 channels, of the map's size) and
 * probability[height][width] may be NULL; without the latter map->probability is used. O(pixels log pixels of a row).
 * CLV_ERR_USAGE: sizes that differ, an object without a pixel. */
CLV_API enum clv_status clv_objects_measure(struct clv_object **rows, const struct clv_object_map *map,
                                            const struct clv_image *image, const float *probability,
                                            struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
