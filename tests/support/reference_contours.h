/* Contours and merged specks by other methods than those of data/shapes, to compare with. */
#ifndef TESTS_REFERENCE_CONTOURS_H
#define TESTS_REFERENCE_CONTOURS_H

#include "data/shapes/shapes.h"

/* The members are those of struct contours, and the number of each pixel's object. */
struct reference_contours {
    int32_t width, height;
    struct contour_object *objects;
    size_t n_objects, objects_capacity;
    int32_t (*points)[2];
    size_t n_points, points_capacity;
    size_t *ring_ends;
    size_t n_rings, rings_capacity;
    int32_t *object_of; /* [height][width], or 0 */
};
void reference_release(struct reference_contours *self);

/* The same as contours_trace, by corners. */
enum clv_status reference_trace(struct reference_contours *self, const uint8_t *labels, int32_t width, int32_t height,
                                const bool is_traced[256], struct clv_error *err) CLV_CHECK;

/* Whether more than two regions of labels[height][width], or two crosswise, meet at corner (x, y) of pixels; what is
 * outside counts as one. */
bool reference_is_junction(const uint8_t *labels, int32_t width, int32_t height, int32_t x, int32_t y);

/* The same as contours_merge_specks. */
enum clv_status reference_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                       struct clv_error *err) CLV_CHECK;

#endif
