/* Contours of labelled regions: where the pixels' edges run, with holes, and simpler polygons near them. */
#ifndef DATA_CONTOUR_H
#define DATA_CONTOUR_H

#include <stdbool.h>

#include "cleave/status.h"

/* A region of one label whose pixels touch by sides or corners. Its rings end before ring `end_ring` and begin where
 * those of the object before it end: the outer one first, then its holes. */
struct contour_object {
    uint8_t label;
    size_t end_ring;
    int64_t n_pixels;
    int32_t left, top, width, height; /* of the pixels */
};

/* The objects of an image, in the order of their first pixels, row after row. Points are corners of pixels, x in
 * 0..width: pixel (0, 0) is between corners (0, 0) and (1, 1). Rings have the object on their right (y points down):
 * outer ones run clockwise, holes the other way round. A ring may touch itself at corners. */
struct contours {
    int32_t width, height;
    struct contour_object *objects;
    size_t n_objects, objects_capacity;
    int32_t (*points)[2]; /* x, y */
    size_t n_points, points_capacity;
    size_t *ring_ends; /* ring k ends before point ring_ends[k] */
    size_t n_rings, rings_capacity;
    int32_t *object_of; /* [height][width] the object's index + 1, or 0 */
};
void contours_release(struct contours *self);

/* Of labels[height][width] with is_traced[label]. O(pixels); 4 bytes a pixel, and the points. */
enum clv_status contours_trace(struct contours *self, const uint8_t *labels, int32_t width, int32_t height,
                               const bool is_traced[256], struct clv_error *err) CLV_CHECK;

/* The rings of object k: *first to *end. */
void contours_rings(const struct contours *self, size_t k, size_t *first, size_t *end);

/* Whether object k has holes. */
bool contours_has_holes(const struct contours *self, size_t k);

/* *points[*n], array_free them: all rings of object k as one, each hole joined to the outer ring by a line that runs
 * there and back. Filled by the even-odd rule or by the non-zero one it is the object. */
enum clv_status contours_keyhole(int32_t (**points)[2], size_t *n, const struct contours *self, size_t k,
                                 struct clv_error *err) CLV_CHECK;

/* Whether more than two regions of labels[height][width], or two crosswise, meet at corner (x, y) of pixels; what is
 * outside counts as one. */
bool contour_is_junction(const uint8_t *labels, int32_t width, int32_t height, int32_t x, int32_t y);

/* Leaves out points (Douglas and Peucker 1973) so that no point of a ring is farther than `tolerance` pixels from the
 * ring that replaces it, and the other way round. `labels` are those that were traced. What two regions share stays
 * shared: both sides are broken where three or more regions meet and simplified alike in between. Two borders closer
 * than the tolerance may come to cross. A ring whose area would change by more than a tenth keeps all its points; so do
 * all with a tolerance of 0. O(points log points) mostly, O(points^2) at worst. */
enum clv_status contours_simplify(struct contours *contours, const uint8_t *labels, double tolerance,
                                  struct clv_error *err) CLV_CHECK;

/* In rounds, each region of labels[height][width] with less than min_pixels pixels takes the label of the largest region
 * that it touches (of equal ones the one with the first pixel) if that is larger than itself, until none is left. The
 * regions at least halve: O(pixels log pixels). Bytes a pixel where they are not all single pixels: */
#define SPECKS_BYTES 24
enum clv_status contours_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                      struct clv_error *err) CLV_CHECK;

#endif
