/* Contours of labelled regions: where the pixels' edges run, with holes, and simpler polygons near them. */
#ifndef DATA_SHAPES_SHAPES_H
#define DATA_SHAPES_SHAPES_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/status.h"

/* A region of one value whose pixels touch by sides or corners. Its rings end before ring `end_ring` and begin where
 * those of the object before it end: the outer one first, then its holes. */
struct contour_object {
    int32_t label; /* the value that was traced */
    size_t end_ring;
    int64_t n_pixels;
    int32_t left, top, width, height; /* of the pixels */
    int32_t first_column;             /* the first pixel is in row `top` there */
    int32_t number;                   /* from 1, its own; contours of one number are pieces of one thing */
};

/* The objects of an image, in the order of their first pixels, row after row. Points are corners of pixels, x in
 * 0..width: pixel (0, 0) is between corners (0, 0) and (1, 1). Rings have the object on their right (y points down):
 * outer ones run clockwise, holes the other way round. A ring may touch itself at corners. */
struct contours {
    int32_t width, height;
    struct contour_object *objects;
    size_t n_objects;
    int32_t (*points)[2]; /* x, y */
    bool *is_junction;    /* [n_points] more than two regions, or two crosswise, meet there, what is outside being one;
                           * NULL: contours_simplify was there */
    size_t n_points;
    size_t *ring_ends; /* ring k ends before point ring_ends[k] */
    size_t n_rings;
    int32_t (*exact)[2]; /* the points before contours_simplify, and where their rings end; NULL: they are `points` */
    size_t *exact_ends;
};
void contours_release(struct contours *self);

/* Takes a region as soon as it is whole: one->n_objects is 1. `one` may be changed, and is released afterwards. */
typedef enum clv_status take_contours(void *context, struct contours *one, struct clv_error *err);

/* How contours are traced. */
struct tracing {
    int32_t width, height;
    const bool *is_traced; /* [n_traced] whether regions of a value are objects; those outside 0..n_traced - 1 are none.
                            * NULL: values above 0 are objects */
    int32_t n_traced;
    bool by_sides; /* pixels of an object touch by sides, and its rings, none of which touches itself, meet at points at
                    * most: polygons that are valid for OGC's Simple Features */
    size_t budget; /* of bytes for points, rings and objects that are not whole or not taken; 0: without bound */
    take_contours *take; /* NULL: tracer_end has all objects */
    void *context;
};

/* Traces regions by rows, one after another from the top:
 *
 *     tracer_begin, then tracer_row or tracer_row_of_labels for each row, then tracer_end
 *
 * Between rows it has what two rows need, O(width), and the points of rings that are not closed or whose object is not
 * whole. Objects are taken in the order in which they end; each is the same as tracer_end would have it, but for its
 * number. -1 is the value of what is outside; other values below 0 are values that are not traced. Rows after a failure
 * are not to be given. CLV_ERR_MEMORY beyond the budget; the message names --min-area and --tolerance. CLV_ERR_USAGE:
 * no pixels, or another number of rows. O(pixels); 8 values at a time where they are equal. */
struct tracer;
enum clv_status tracer_begin(struct tracer **self, const struct tracing *how, struct clv_error *err) CLV_CHECK;
enum clv_status tracer_row(struct tracer *self, const int32_t *values, struct clv_error *err) CLV_CHECK;
enum clv_status tracer_row_of_labels(struct tracer *self, const uint8_t *labels, struct clv_error *err) CLV_CHECK;
enum clv_status tracer_end(struct contours *contours, struct tracer *self, struct clv_error *err) CLV_CHECK;
void tracer_free(struct tracer *self);
DROPS(tracer_drop, struct tracer, tracer_free)

/* Traces the regions of labels[height][width], or of values likewise. */
enum clv_status contours_trace(struct contours *self, const struct tracing *how, const uint8_t *labels,
                               struct clv_error *err) CLV_CHECK;
enum clv_status contours_trace_values(struct contours *self, const struct tracing *how, const int32_t *values,
                                      struct clv_error *err) CLV_CHECK;

/* The rings of object k: *first to *end. */
void contours_rings(const struct contours *self, size_t k, size_t *first, size_t *end);

/* Whether object k has holes. */
bool contours_has_holes(const struct contours *self, size_t k);

/* *points[*n], array_free them: all rings of object k as one, each hole joined to the outer ring by a line that runs
 * there and back. Filled by the even-odd rule or by the non-zero one it is the object. */
enum clv_status contours_keyhole(int32_t (**points)[2], size_t *n, const struct contours *self, size_t k,
                                 struct clv_error *err) CLV_CHECK;

/* Leaves out points (Douglas and Peucker 1973) so that no point of a ring is farther than `tolerance` pixels from the
 * ring that replaces it, and the other way round. A border that two regions share stays shared: both sides are broken
 * at junctions and simplified in the same way in between, whichever is simplified first. Two borders closer than the
 * tolerance may come to cross. A ring whose area would change by more than a tenth keeps all its points; so do all with
 * a tolerance of 0. To be called once; the exact rings are kept for rle_of_pieces. O(points log points) mostly,
 * O(points^2) at worst. */
enum clv_status contours_simplify(struct contours *contours, double tolerance, struct clv_error *err) CLV_CHECK;

/* In rounds, each region of labels[height][width] with less than min_pixels pixels takes the label of the largest
 * region that it touches (of equal ones the one with the first pixel) if that is larger than itself, until none is
 * left. The regions at least halve: O(pixels + contacts log regions). The memory grows with the regions: per pixel it is
 * at most this, where every pixel is a region that touches eight others. Measured: 43 of noise of single pixels of 99
 * labels, 4.6 of five labels in squares of 2x2, 0.4 in squares of 8x8, which are smaller than superpixels. */
#define SPECKS_BYTES 45
enum clv_status contours_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                      struct clv_error *err) CLV_CHECK;

/* These do so for an image that is read row by row, twice:
 *
 *     specks_begin, specks_row for each row from the top, specks_settle, specks_merge_row for each row once more
 *
 * The second time a row gets its new labels. Kept are 13 bytes per piece of a region that meets others further down,
 * and 8 per pair of them that touch. CLV_ERR_MEMORY, which names --min-area: they exceed `budget`, or the pieces are more
 * than max_pieces; CLV_ERR_DATA: the rows differ the second time. *changes: whether any label does. Rows after a failure are not to be given. */
struct specks_settings {
    int32_t width, min_pixels;
    size_t budget;      /* in bytes; 0: without bound */
    int32_t max_pieces; /* 0: 2^31 - 1 */
};
struct specks;
enum clv_status specks_begin(struct specks **self, const struct specks_settings *how, struct clv_error *err) CLV_CHECK;
enum clv_status specks_row(struct specks *self, const uint8_t *labels, struct clv_error *err) CLV_CHECK;
enum clv_status specks_settle(bool *changes, struct specks *self, struct clv_error *err) CLV_CHECK;
enum clv_status specks_merge_row(struct specks *self, uint8_t *labels, struct clv_error *err) CLV_CHECK;
void specks_free(struct specks *self);
DROPS(specks_drop, struct specks, specks_free)

/* Masks as run lengths: pixels outside, inside, outside .. in turn, the first run outside (and perhaps empty). */

enum rle_order { RLE_BY_COLUMNS, RLE_BY_ROWS }; /* COCO; CVAT */

/* Reads COCO's compressed counts: digits of 5 bits in the characters '0' to 'o', the lowest first, a sixth bit for
 * "more follows"; from the third count on each is the difference to the one before the last. *counts[*n], array_free
 * it. Errors: other characters, counts below 0 or beyond 2^31, an end within a count. O(length). */
enum clv_status rle_parse_compressed(uint32_t **counts, size_t *n, const char *text, struct clv_error *err) CLV_CHECK;

/* Whole numbers separated by commas and blanks, as CVAT writes them. */
enum clv_status rle_parse_numbers(uint32_t **counts, size_t *n, const char *text, struct clv_error *err) CLV_CHECK;

/* An image that shapes are drawn into: pixels inside get the value. */
struct canvas {
    uint8_t *pixels; /* [height][width] */
    int32_t width, height;
    uint8_t value;
};

#define RLE_MAX_PIXELS ((uint64_t)1 << 28) /* of a frame */

/* A rectangle of an image, in pixels. */
struct rle_frame {
    int32_t left, top, width, height;
};

/* Fills where the runs say inside, of those pixels of `frame` that are on the canvas. CLV_ERR_DATA, and nothing is
 * written, unless the counts are as many pixels as the frame has. O(n + pixels written). */
enum clv_status rle_fill(const struct canvas *canvas, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                         enum rle_order order, struct clv_error *err) CLV_CHECK;

/* The smallest frame around what is inside, relative to `frame`'s own image; width 0: nothing is. The same errors. */
enum clv_status rle_bound(struct rle_frame *bounds, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                          enum rle_order order, struct clv_error *err) CLV_CHECK;

/* *counts[*n], by columns, array_free them: of the pixels of objects pieces[n_pieces], by their exact rings, in an image
 * of at most RLE_MAX_PIXELS. O(points + columns + runs log(runs of a column)). */
enum clv_status rle_of_pieces(uint32_t **counts, size_t *n, const struct contours *contours, const size_t *pieces,
                              size_t n_pieces, struct clv_error *err) CLV_CHECK;

/* Appends run lengths as rle_parse_compressed reads them. */
void rle_put_compressed(struct text *text, const uint32_t *counts, size_t n);

/* This folder has the shapes of objects: polygons (polygon.c) and run lengths (rle.c), and either as one thing, an
 * outline. */

/* Polygons, each filled by itself (polygon.c) and joined; an ellipse; or runs. */
struct clv_outline {
    double (*points)[2]; /* x, y */
    size_t n_points, points_capacity;
    size_t *polygon_ends; /* [n_polygons] */
    size_t n_polygons, ends_capacity;
    uint32_t *counts; /* [n_counts], or NULL: polygons */
    size_t n_counts;
    struct rle_frame frame;
    enum rle_order order;
    struct clv_box stated; /* its box as the file has it, for runs that do not suit their image; width 0: none */
    bool is_whole;         /* the frame is all of the image that runs are of */
    int64_t group;         /* outlines of one label and group are one object; 0: of none */
    bool is_crowd;         /* of objects that are not told apart */
    bool is_ellipse;       /* the points are its centre and the ends of two conjugate radii */
    bool has_rings;        /* the polygons are filled as one: what is within an odd number of them */
    int32_t epsg;          /* of coordinates on Earth, EPSG's number; 0: not known */
};
void outline_free(struct clv_outline *outline);
struct clv_outline *outline_new(void); /* NULL: out of memory */
static inline void outline_drop(struct clv_outline **outline)
{
    outline_free(*outline);
}

/* No image, and no coordinate system on Earth, reaches so far. */
#define OUTLINE_FARTHEST 1e10

/* Adds a point to the polygon in work; ends that polygon. CLV_ERR_DATA: a coordinate that is not finite or farther than
 * OUTLINE_FARTHEST, or too many points or polygons. */
enum clv_status outline_add_point(struct clv_outline *outline, double x, double y, struct clv_error *err) CLV_CHECK;
enum clv_status outline_end_polygon(struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* box->x, y, width, height around all of it; sizes 0 if there is nothing. */
enum clv_status outline_bound(struct clv_box *box, const struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* Makes the outline of a rectangle, turned by `degrees` around (pivot_x, pivot_y) where y points down: clockwise as one
 * sees it. Points are divided by `scale`, {1, 1} for pixels. CLV_ERR_DATA as outline_add_point; *outline is set on
 * success alone. */
enum clv_status outline_of_rectangle(struct clv_outline **outline, const struct clv_box *box, double degrees,
                                     const double pivot[2], const double scale[2], struct clv_error *err) CLV_CHECK;

/* Makes an ellipse by its centre and radii along x and y, turned around its centre likewise. It is exact: a pixel
 * belongs to it if its centre is inside. */
enum clv_status outline_of_ellipse(struct clv_outline **outline, const double centre[2], const double radii[2],
                                   double degrees, const double scale[2], struct clv_error *err) CLV_CHECK;

/* Runs by rows of what is not 0 in inside[height][width], of which (0, 0) is pixel (left, top). NULL: out of memory. */
struct clv_outline *outline_of_mask(const uint8_t *inside, const struct rle_frame *frame);

/* *n: of how many pieces it is, 2 standing for more; pixels of a piece touch by sides or corners. A single polygon or
 * ellipse is one piece. Polygons are in pixels. CLV_ERR_DATA as outline_bound. O(runs + columns), of several polygons
 * O(pixels of their bounds). */
enum clv_status outline_count_pieces(size_t *n, const struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* Whether runs of a whole image have the image's size; width 0 or height 0: it is not known yet. */
bool outline_suits(const struct clv_outline *outline, int32_t width, int32_t height);

/* Points are shares of the canvas's sides if is_relative. */
enum clv_status outline_fill(const struct canvas *canvas, const struct clv_outline *outline, bool is_relative,
                             struct clv_error *err) CLV_CHECK;

/* Filling polygons.
 *
 * The rule: a pixel belongs to a polygon if its centre (x + 1/2, y + 1/2) is inside by the even-odd rule over all
 * rings, so that a ring inside another is a hole. A centre on a left or upper edge is inside, one on a right or lower
 * edge is not: polygons that share an edge share no pixel and leave no gap. */

#define POLYGON_MAX_CROSSINGS ((size_t)1 << 24) /* of edges and rows of pixels, for one polygon */

/* Fills inside of points[ring_ends[n_rings - 1]]; ring k ends before point ring_ends[k] and is closed of itself. Points
 * may be outside. CLV_ERR_DATA: coordinates that are not within +-1e300, or more crossings than allowed. O(crossings
 * log(crossings of a row) + pixels inside). */
enum clv_status polygon_fill(const struct canvas *canvas, const double (*points)[2], const size_t *ring_ends,
                             size_t n_rings, struct clv_error *err) CLV_CHECK;

#endif
