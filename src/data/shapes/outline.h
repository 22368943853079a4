/* This folder has the shapes of objects: polygons (polygon.c) and run lengths (rle.c), and either as one thing, an
 * outline. */
#ifndef DATA_OUTLINE_H
#define DATA_OUTLINE_H

#include <stdbool.h>

#include "cleave/boxes.h"
#include "data/shapes/rle.h"

/* Polygons, each filled by itself (polygon.h) and joined; or runs. */
struct clv_outline {
    double (*points)[2]; /* x, y */
    size_t n_points, points_capacity;
    size_t *polygon_ends; /* [n_polygons] */
    size_t n_polygons, ends_capacity;
    uint32_t *counts; /* [n_counts], or NULL: polygons */
    size_t n_counts;
    struct rle_frame frame;
    enum rle_order order;
};
void outline_free(struct clv_outline *outline);
struct clv_outline *outline_new(void); /* NULL: out of memory */

/* A point of the polygon in work, and the polygon's end. */
enum clv_status outline_add_point(struct clv_outline *outline, double x, double y, struct clv_error *err) CLV_CHECK;
enum clv_status outline_end_polygon(struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* box->x, y, width, height around all of it; sizes 0 if there is nothing. */
enum clv_status outline_bound(struct clv_box *box, const struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* Whether runs by columns, COCO's, have the image's size; width 0 or height 0: it is not known yet. */
bool outline_suits(const struct clv_outline *outline, int32_t width, int32_t height);

/* Writes `value` to mask[height][width] inside of it; points are shares of the sides if is_relative. */
enum clv_status outline_fill(uint8_t *mask, int32_t width, int32_t height, const struct clv_outline *outline,
                             bool is_relative, uint8_t value, struct clv_error *err) CLV_CHECK;

#endif
