/* Shapes of objects: contours of labelled regions with holes, along the edges of pixels; simplified polygons; run
 * lengths; outlines, which are polygons, ellipses or run lengths; and filling of shapes. */
#ifndef DATA_SHAPES_SHAPES_H
#define DATA_SHAPES_SHAPES_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/status.h"

/* A region of pixels of one value that touch by sides or corners. Its rings are those from the previous object's
 * `end_ring` to its own: the outer ring first, then the holes. */
struct contour_object {
    int32_t label; /* the value of its pixels */
    size_t end_ring;
    int64_t n_pixels;
    int32_t left, top, width, height; /* of the pixels */
    int32_t first_column;             /* column of the leftmost pixel of row `top` */
    int32_t number;                   /* of the object, from 1; contours with equal numbers are pieces of one object */
};

/* The objects of an image, in the order of their first pixels, row after row. Points are corners of pixels, x in
 * 0..width: pixel (0, 0) is between corners (0, 0) and (1, 1). Rings have the object on their right (y points down):
 * outer ones run clockwise, holes the other way round. A ring may touch itself at corners. */
struct contours {
    int32_t width, height;
    struct contour_object *objects;
    size_t n_objects;
    int32_t (*points)[2]; /* x, y */
    bool *is_junction;    /* [n_points] 3 regions (or outside) meet, or 2 crosswise; NULL when simplified */
    size_t n_points;
    size_t *ring_ends; /* ring k ends before point ring_ends[k] */
    size_t n_rings;
    int32_t (*exact)[2]; /* points and ring ends before contours_simplify; NULL: equal to `points`, `ring_ends` */
    size_t *exact_ends;
};
void contours_release(struct contours *self);

/* Callback that receives each object when it is complete; one->n_objects is 1. It may change `one`, which is released
 * after the call. */
typedef enum clv_status take_contours(void *context, struct contours *one, struct clv_error *err);

/* How contours are traced. */
struct tracing {
    int32_t width, height;
    const bool *is_traced; /* [n_traced] values whose regions are objects. NULL: all values above 0 */
    int32_t n_traced;
    bool by_sides;       /* pixels touch by sides only; polygons are valid by OGC's Simple Features */
    size_t budget;       /* bytes for points, rings and objects that are incomplete or kept; 0: no limit */
    take_contours *take; /* NULL: tracer_end returns all objects */
    void *context;
};

/* Traces regions by rows, one after another from the top:
 *
 *     tracer_begin, then tracer_row or tracer_row_of_labels for each row, then tracer_end
 *
 * Memory between rows: O(width), and the points of open rings and of rings of incomplete objects. `take` receives
 * objects in the order in which they end; each equals the one from tracer_end, except for its number. The value -1
 * means outside the image; other negative values are not traced. Pass no rows after a failure. CLV_ERR_MEMORY: the
 * budget is exceeded; the message names --min-area and --tolerance. CLV_ERR_USAGE: no pixels, or a wrong number of
 * rows. O(pixels), with 8 values per comparison where they are equal. */
struct tracer;
enum clv_status tracer_begin(struct tracer **self, const struct tracing *how, struct clv_error *err) CLV_CHECK;
enum clv_status tracer_row(struct tracer *self, const int32_t *values, struct clv_error *err) CLV_CHECK;
enum clv_status tracer_row_of_labels(struct tracer *self, const uint8_t *labels, struct clv_error *err) CLV_CHECK;
enum clv_status tracer_end(struct contours *contours, struct tracer *self, struct clv_error *err) CLV_CHECK;
void tracer_free(struct tracer *self);
DROPS(tracer_drop, struct tracer, tracer_free)

/* Traces the regions of labels[height][width] or values[height][width]. Without how->take, *self receives all
 * objects. */
enum clv_status contours_trace(struct contours *self, const struct tracing *how, const uint8_t *labels,
                               struct clv_error *err) CLV_CHECK;
enum clv_status contours_trace_values(struct contours *self, const struct tracing *how, const int32_t *values,
                                      struct clv_error *err) CLV_CHECK;

/* The rings of object k are *first..*end - 1. */
void contours_rings(const struct contours *self, size_t k, size_t *first, size_t *end);

/* Whether object k has holes. */
bool contours_has_holes(const struct contours *self, size_t k);

/* Joins all rings of object k to one ring, *points[*n]; free it with array_free. A line there and back connects each
 * hole to the outer ring. Filling the ring by the even-odd or the non-zero rule gives the object. */
enum clv_status contours_keyhole(int32_t (**points)[2], size_t *n, const struct contours *self, size_t k,
                                 struct clv_error *err) CLV_CHECK;

/* Removes points (Douglas and Peucker 1973) such that each ring and its simplified ring are within `tolerance` pixels
 * of each other. Two regions still share their border: both sides are split at junctions and simplified equally in
 * between, in whichever order. Borders closer to each other than the tolerance may cross afterwards. A ring whose area
 * would change by more than a tenth keeps all its points, and so do all rings if the tolerance is 0. CLV_ERR_USAGE on a
 * second call; the exact rings are kept for rle_of_pieces. Usually O(points log points), O(points^2) in the worst
 * case. */
enum clv_status contours_simplify(struct contours *contours, double tolerance, struct clv_error *err) CLV_CHECK;

/* Merges small regions of labels[height][width] in rounds: each region with fewer than min_pixels pixels takes the
 * label of the largest region that it touches, if that is larger; among equal ones the one whose first pixel comes
 * first is the larger. Ends when no region changes. O(pixels + contacts log regions). SPECKS_BYTES is the maximum of
 * memory in bytes per pixel, if every pixel is a region that touches eight others. Measured: 43 for noise of 99 labels,
 * 4.6 for five labels in squares of 2x2, 0.4 in squares of 8x8, which are smaller than superpixels. */
#define SPECKS_BYTES 45
enum clv_status contours_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                      struct clv_error *err) CLV_CHECK;

/* contours_merge_specks for an image that is read row by row, twice:
 *
 *     specks_begin, specks_row for each row from the top, specks_settle, specks_merge_row for each row once more
 *
 * specks_merge_row writes a row's new labels. *changes: whether any label changes. Memory: 13 bytes per piece of a
 * region (pieces that begin in different rows may meet further down) and 8 per pair of pieces that touch.
 * CLV_ERR_MEMORY, naming --min-area: more memory than `budget`, or more pieces than max_pieces. CLV_ERR_DATA: the rows
 * differ the second time. Pass no rows after a failure. */
struct specks_settings {
    int32_t width, min_pixels;
    size_t budget;      /* in bytes; 0: no limit */
    int32_t max_pieces; /* 0: 2^31 - 1 */
};
struct specks;
enum clv_status specks_begin(struct specks **self, const struct specks_settings *how, struct clv_error *err) CLV_CHECK;
enum clv_status specks_row(struct specks *self, const uint8_t *labels, struct clv_error *err) CLV_CHECK;
enum clv_status specks_settle(bool *changes, struct specks *self, struct clv_error *err) CLV_CHECK;
enum clv_status specks_merge_row(struct specks *self, uint8_t *labels, struct clv_error *err) CLV_CHECK;
void specks_free(struct specks *self);
DROPS(specks_drop, struct specks, specks_free)

/* Masks as run lengths: numbers of pixels alternately outside and inside. The first run is outside and may be empty. */

enum rle_order { RLE_BY_COLUMNS, RLE_BY_ROWS }; /* COCO; CVAT */

/* Reads COCO's compressed counts: digits of 5 bits in the characters '0' to 'o', the lowest first, with a sixth bit for
 * "more digits follow". From the fourth count on, each is stored as the difference to the count two places before. Free
 * *counts[*n] with array_free. CLV_ERR_DATA: other characters, counts that are negative or 2^31 and more, an unfinished
 * count. O(length). */
enum clv_status rle_parse_compressed(uint32_t **counts, size_t *n, const char *text, struct clv_error *err) CLV_CHECK;

/* Reads CVAT's counts: whole numbers separated by commas and blanks. Result and errors as in rle_parse_compressed. */
enum clv_status rle_parse_numbers(uint32_t **counts, size_t *n, const char *text, struct clv_error *err) CLV_CHECK;

/* An image into which shapes are filled: pixels inside get `value`. */
struct canvas {
    uint8_t *pixels; /* [height][width] */
    int32_t width, height;
    uint8_t value;
};

#define RLE_MAX_PIXELS ((uint64_t)1 << 28) /* pixels per frame */

/* A rectangle of an image, in pixels. */
struct rle_frame {
    int32_t left, top, width, height;
};

/* Fills the pixels of the inside runs of `frame` that are on the canvas. CLV_ERR_DATA, without writing, if the counts
 * do not sum to the frame's pixels or the frame exceeds RLE_MAX_PIXELS. O(n + pixels written). */
enum clv_status rle_fill(const struct canvas *canvas, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                         enum rle_order order, struct clv_error *err) CLV_CHECK;

/* Finds the smallest frame around the inside runs, in coordinates of the image; width 0: no pixel is inside. Errors as
 * in rle_fill. O(n). */
enum clv_status rle_bound(struct rle_frame *bounds, const struct rle_frame *frame, const uint32_t *counts, size_t n,
                          enum rle_order order, struct clv_error *err) CLV_CHECK;

/* Run lengths, by columns, of the pixels of objects pieces[n_pieces], from their exact rings. The image must have at
 * most RLE_MAX_PIXELS. Free *counts[*n] with array_free. O(points + columns + runs log(runs per column)). */
enum clv_status rle_of_pieces(uint32_t **counts, size_t *n, const struct contours *contours, const size_t *pieces,
                              size_t n_pieces, struct clv_error *err) CLV_CHECK;

/* Appends run lengths in COCO's compressed form, which rle_parse_compressed reads. */
void rle_put_compressed(struct text *text, const uint32_t *counts, size_t n);

/* Outlines of objects: polygons (polygon.c), an ellipse, or run lengths (rle.c). */

/* An outline is the union of its polygons, or one polygon with rings (has_rings), an ellipse, or runs. */
struct clv_outline {
    double (*points)[2]; /* x, y */
    size_t n_points, points_capacity;
    size_t *polygon_ends; /* [n_polygons] */
    size_t n_polygons, ends_capacity;
    uint32_t *counts; /* [n_counts], or NULL: polygons */
    size_t n_counts;
    struct rle_frame frame;
    enum rle_order order;
    struct clv_box stated; /* its box in the file, used if runs do not suit the image; width 0: none */
    bool is_whole;         /* the frame is the whole image of the runs */
    int64_t group;         /* outlines of equal label and group are one object; 0: no group */
    bool is_crowd;         /* it covers several objects that are not separated (COCO's iscrowd) */
    bool is_ellipse;       /* its points are the centre and the ends of two conjugate radii */
    bool has_rings;        /* its polygons are the rings of one polygon, filled by the even-odd rule */
    int32_t epsg;          /* EPSG code of its coordinates; 0: unknown */
};
void outline_free(struct clv_outline *outline);
struct clv_outline *outline_new(void); /* NULL: out of memory */
static inline void outline_drop(struct clv_outline **outline)
{
    outline_free(*outline);
}

/* Largest coordinate: larger than in any image or coordinate system on Earth. */
#define OUTLINE_FARTHEST 1e10

/* outline_add_point adds a point to the current polygon, outline_end_polygon ends that polygon. CLV_ERR_DATA: a
 * coordinate that is not finite or beyond +-OUTLINE_FARTHEST, or too many points or polygons. */
enum clv_status outline_add_point(struct clv_outline *outline, double x, double y, struct clv_error *err) CLV_CHECK;
enum clv_status outline_end_polygon(struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* Sets box->x, y, width and height to the bounding box; sizes are 0 for an empty outline. */
enum clv_status outline_bound(struct clv_box *box, const struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* Makes the outline of a rectangle, turned by `degrees` around `pivot`: clockwise on screen, since y points down.
 * Points are divided by `scale`, which is {1, 1} for pixels. Errors as in outline_add_point, and *outline stays
 * unchanged then. */
enum clv_status outline_of_rectangle(struct clv_outline **outline, const struct clv_box *box, double degrees,
                                     const double pivot[2], const double scale[2], struct clv_error *err) CLV_CHECK;

/* Makes an ellipse from its centre and its radii along x and y, turned around its centre by `degrees`. It is exact: a
 * pixel belongs to it if the pixel's centre is inside. */
enum clv_status outline_of_ellipse(struct clv_outline **outline, const double centre[2], const double radii[2],
                                   double degrees, const double scale[2], struct clv_error *err) CLV_CHECK;

/* Makes runs by rows of the pixels that are not 0 in inside[height][width]; inside[0][0] is pixel (left, top). NULL:
 * out of memory. */
struct clv_outline *outline_of_mask(const uint8_t *inside, const struct rle_frame *frame);

/* Counts the connected pieces of an outline: *n is 0, 1, or 2 for two or more, also if several polygons exceed
 * RLE_MAX_PIXELS. Pixels of a piece touch by sides or corners; a single polygon or ellipse counts as one piece. Points
 * must be in pixels. Errors as in outline_bound. O(runs + columns); for several polygons O(pixels of their bounding
 * box). */
enum clv_status outline_count_pieces(size_t *n, const struct clv_outline *outline, struct clv_error *err) CLV_CHECK;

/* Whether runs of a whole image have the size of the image; true for other outlines, and if width or height is 0
 * (unknown). */
bool outline_suits(const struct clv_outline *outline, int32_t width, int32_t height);

/* Fills an outline into the canvas. is_relative: coordinates are fractions of the canvas's width and height. Errors as
 * in rle_fill and polygon_fill. */
enum clv_status outline_fill(const struct canvas *canvas, const struct clv_outline *outline, bool is_relative,
                             struct clv_error *err) CLV_CHECK;

/* Filling polygons.
 *
 * The rule: a pixel belongs to a polygon if its centre (x + 1/2, y + 1/2) is inside by the even-odd rule over all
 * rings, so that a ring inside another is a hole. A centre on a left or upper edge is inside, one on a right or lower
 * edge is not: polygons that share an edge share no pixel and leave no gap. */

#define POLYGON_MAX_CROSSINGS ((size_t)1 << 24) /* of edges and rows of pixels, for one polygon */

/* Fills the polygon points[ring_ends[n_rings - 1]]. Ring k ends before point ring_ends[k]; its last point is joined to
 * its first. Points may lie outside the canvas. CLV_ERR_DATA: coordinates beyond +-1e300, or more than
 * POLYGON_MAX_CROSSINGS. O(crossings log(crossings per row) + pixels inside). */
enum clv_status polygon_fill(const struct canvas *canvas, const double (*points)[2], const size_t *ring_ends,
                             size_t n_rings, struct clv_error *err) CLV_CHECK;

#endif
