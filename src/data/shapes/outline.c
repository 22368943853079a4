/* Outlines of objects: polygons, ellipses and run lengths behind one set of functions. First come constructors from
 * turned rectangles, ellipses and masks, then bounding boxes, filling, and the number of pieces. An ellipse is stored
 * as its centre c and the ends of two conjugate radii, c + u and c + v: it is {c + a u + b v : a^2 + b^2 <= 1}, also
 * after its points are scaled. */
#include "data/shapes/shapes.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define MAX_POINTS   ((size_t)1 << 22)
#define MAX_POLYGONS ((size_t)1 << 16)

struct clv_outline *outline_new(void)
{
    return array_zalloc(1, sizeof(struct clv_outline));
}

void outline_free(struct clv_outline *outline)
{
    if (!outline)
        return;
    arrays_free(outline->points, outline->polygon_ends, outline->counts, outline);
}

enum clv_status outline_add_point(struct clv_outline *outline, double x, double y, struct clv_error *err)
{
    FAIL_IF(outline->n_points >= MAX_POINTS, CLV_ERR_DATA, "an outline of more than %zu points", MAX_POINTS);
    FAIL_IF(!(fabs(x) <= OUTLINE_FARTHEST && fabs(y) <= OUTLINE_FARTHEST), CLV_ERR_DATA,
            "an outline has a point at %g, %g; coordinates are from -%g to %g", x, y, OUTLINE_FARTHEST,
            OUTLINE_FARTHEST);
    NEED(!array_reserve((void **)&outline->points, &outline->points_capacity, outline->n_points + 1,
                        sizeof *outline->points));
    outline->points[outline->n_points][0] = x;
    outline->points[outline->n_points++][1] = y;
    return CLV_OK;
}

enum clv_status outline_end_polygon(struct clv_outline *outline, struct clv_error *err)
{
    FAIL_IF(outline->n_polygons >= MAX_POLYGONS, CLV_ERR_DATA, "an outline of more than %zu polygons", MAX_POLYGONS);
    NEED(!array_reserve((void **)&outline->polygon_ends, &outline->ends_capacity, outline->n_polygons + 1,
                        sizeof *outline->polygon_ends));
    outline->polygon_ends[outline->n_polygons++] = outline->n_points;
    return CLV_OK;
}

/* Cosine and sine of an angle in degrees; multiples of 90 are exact. */
static void find_direction(double direction[2], double degrees)
{
    static const double quarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    double angle = fmod(degrees, 360);
    angle += angle < 0 ? 360 : 0;
    for (int k = 0; k < 4; k++)
        if (angle == 90 * k) {
            memcpy(direction, quarters[k], sizeof quarters[k]);
            return;
        }
    direction[0] = portable_cos(angle * (M_PI / 180));
    direction[1] = portable_sin(angle * (M_PI / 180));
}

/* Makes an outline of one polygon from points, divided by scale. */
static enum clv_status outline_of_points(struct clv_outline **result, const double (*points)[2], size_t n,
                                         const double scale[2], struct clv_error *err)
{
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    for (size_t i = 0; i < n; i++)
        MUST(outline_add_point(outline, points[i][0] / scale[0], points[i][1] / scale[1], err));
    MUST(outline_end_polygon(outline, err));
    *result = TAKE(outline);
    return CLV_OK;
}

enum clv_status outline_of_rectangle(struct clv_outline **outline, const struct clv_box *box, double degrees,
                                     const double pivot[2], const double scale[2], struct clv_error *err)
{
    double direction[2], points[4][2];
    const double corners[4][2] = {{box->x, box->y},
                                  {box->x + box->width, box->y},
                                  {box->x + box->width, box->y + box->height},
                                  {box->x, box->y + box->height}};
    find_direction(direction, degrees);
    for (int k = 0; k < 4; k++) {
        double x = corners[k][0] - pivot[0], y = corners[k][1] - pivot[1];
        points[k][0] = pivot[0] + direction[0] * x - direction[1] * y;
        points[k][1] = pivot[1] + direction[1] * x + direction[0] * y;
    }
    return outline_of_points(outline, (const double(*)[2])points, 4, scale, err);
}

enum clv_status outline_of_ellipse(struct clv_outline **outline, const double centre[2], const double radii[2],
                                   double degrees, const double scale[2], struct clv_error *err)
{
    double direction[2];
    find_direction(direction, degrees);
    const double points[3][2] = {
        {centre[0], centre[1]},
        {centre[0] + radii[0] * direction[0], centre[1] + radii[0] * direction[1]},
        {centre[0] - radii[1] * direction[1], centre[1] + radii[1] * direction[0]},
    };
    MUST(outline_of_points(outline, points, 3, scale, err));
    (*outline)->is_ellipse = true;
    return CLV_OK;
}

struct clv_outline *outline_of_mask(const uint8_t *inside, const struct rle_frame *frame)
{
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    size_t n = (size_t)frame->width * (size_t)frame->height, capacity = 0, from = 0;
    if (!outline)
        return NULL;
    outline->frame = *frame;
    outline->order = RLE_BY_ROWS;
    for (size_t p = 0; p <= n; p++) {
        if (p < n && (inside[p] != 0) == outline->n_counts % 2)
            continue;
        if (array_reserve((void **)&outline->counts, &capacity, outline->n_counts + 1, sizeof *outline->counts))
            return NULL;
        outline->counts[outline->n_counts++] = (uint32_t)(p - from);
        from = p;
    }
    return TAKE(outline);
}

/* Computes the conjugate radii of an ellipse, u and v. */
static void find_radii(double radii[2][2], const double (*points)[2])
{
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 2; k++)
            radii[r][k] = points[r + 1][k] - points[0][k];
}

/* Bounding box of an ellipse: its half extent along each coordinate is sqrt(u^2 + v^2). */
static void bound_ellipse(struct clv_box *box, const double (*points)[2])
{
    double radii[2][2], half[2];
    find_radii(radii, points);
    for (int k = 0; k < 2; k++)
        half[k] = sqrt(radii[0][k] * radii[0][k] + radii[1][k] * radii[1][k]);
    box->x = points[0][0] - half[0];
    box->y = points[0][1] - half[1];
    box->width = 2 * half[0];
    box->height = 2 * half[1];
}

enum clv_status outline_bound(struct clv_box *box, const struct clv_outline *outline, struct clv_error *err)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    if (outline->counts) {
        struct rle_frame bounds;
        MUST(rle_bound(&bounds, &outline->frame, outline->counts, outline->n_counts, outline->order, err));
        box->x = bounds.left;
        box->y = bounds.top;
        box->width = bounds.width;
        box->height = bounds.height;
        return CLV_OK;
    }
    if (outline->is_ellipse) {
        bound_ellipse(box, (const double(*)[2])outline->points);
        return CLV_OK;
    }
    for (size_t i = 0; i < outline->n_points; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], outline->points[i][k]);
            high[k] = fmax(high[k], outline->points[i][k]);
        }
    box->x = outline->n_points ? low[0] : 0;
    box->y = outline->n_points ? low[1] : 0;
    box->width = outline->n_points ? high[0] - low[0] : 0;
    box->height = outline->n_points ? high[1] - low[1] : 0;
    return CLV_OK;
}

bool outline_suits(const struct clv_outline *outline, int32_t width, int32_t height)
{
    return !outline->counts || !outline->is_whole || !width || !height ||
           (outline->frame.width == width && outline->frame.height == height);
}

/* Fills pixels with a^2 + b^2 <= 1, where p - c = a u + b v. a and b are computed by Cramer's rule, multiplied by the
 * determinant of u and v. O(pixels of the bounding box). */
static enum clv_status fill_ellipse(const struct canvas *canvas, const double (*points)[2], struct clv_error *err)
{
    double radii[2][2];
    struct clv_box box = {0};
    for (int k = 0; k < 3; k++)
        FAIL_IF(!isfinite(points[k][0]) || !isfinite(points[k][1]), CLV_ERR_DATA, "an ellipse is not finite");
    find_radii(radii, points);
    bound_ellipse(&box, points);
    const double *u = radii[0], *v = radii[1], determinant = u[0] * v[1] - u[1] * v[0];
    const double width = canvas->width,
                 height = canvas->height; /* bounds are clamped to the canvas, so that they fit in an int */
    const int32_t first_y = int32_within(floor(box.y), 0, height);
    const int32_t first_x = int32_within(floor(box.x), 0, width);
    const int32_t end_y = int32_within(ceil(box.y + box.height), 0, height);
    const int32_t end_x = int32_within(ceil(box.x + box.width), 0, width);
    for (int32_t row = first_y; row < end_y; row++)
        for (int32_t column = first_x; column < end_x; column++) {
            double x = column + 0.5 - points[0][0], y = row + 0.5 - points[0][1];
            double a = x * v[1] - y * v[0], b = u[0] * y - u[1] * x;
            if (a * a + b * b <= determinant * determinant && determinant != 0)
                canvas->pixels[(size_t)row * (size_t)canvas->width + (size_t)column] = canvas->value;
        }
    return CLV_OK;
}

enum clv_status outline_fill(const struct canvas *canvas, const struct clv_outline *outline, bool is_relative,
                             struct clv_error *err)
{
    if (outline->counts)
        return rle_fill(canvas, &outline->frame, outline->counts, outline->n_counts, outline->order, err);
    OWNED_ARRAY double(*scaled)[2] = array_copy(outline->points, outline->n_points, sizeof *scaled);
    NEED(scaled);
    for (size_t i = 0; i < outline->n_points && is_relative; i++) {
        scaled[i][0] *= canvas->width;
        scaled[i][1] *= canvas->height;
    }
    const double(*points)[2] = (const double(*)[2])scaled;
    if (outline->is_ellipse)
        return fill_ellipse(canvas, points, err);
    if (outline->has_rings)
        return polygon_fill(canvas, points, outline->polygon_ends, outline->n_polygons, err);
    size_t first = 0;
    for (size_t k = 0; k < outline->n_polygons; first = outline->polygon_ends[k++]) {
        size_t n = outline->polygon_ends[k] - first;
        MUST(polygon_fill(canvas, points + first, &n, 1, err));
    }
    return CLV_OK;
}

/* The part of a run in one line (column or row) of the frame: pixels first..end - 1. */
struct piece_line {
    int64_t line, first, end;
    size_t parent; /* union-find, towards the first part of its piece */
};

struct pieces {
    struct piece_line *lines;
    size_t n, capacity, n_pieces;
    size_t before; /* index of the first part that may touch the next one */
};

static void pieces_drop(struct pieces *self)
{
    array_free(self->lines);
}

static size_t find_piece(struct pieces *self, size_t k)
{
    while (self->lines[k].parent != k)
        k = self->lines[k].parent = self->lines[self->lines[k].parent].parent;
    return k;
}

/* Adds pixels first..end - 1 of a line, after all added before, and joins the pieces that they touch. */
static enum clv_status add_piece_line(struct pieces *self, int64_t line, int64_t first, int64_t end,
                                      struct clv_error *err)
{
    NEED(!array_reserve((void **)&self->lines, &self->capacity, self->n + 1, sizeof *self->lines));
    size_t added = self->n++;
    self->lines[added] = (struct piece_line){line, first, end, added};
    self->n_pieces++;
    if (added && self->lines[added - 1].line == line && self->lines[added - 1].end == first) { /* no gap */
        self->n_pieces--;
        self->lines[added].parent = find_piece(self, added - 1);
    }
    while (self->before < added &&
           (self->lines[self->before].line < line - 1 ||
            (self->lines[self->before].line == line - 1 && self->lines[self->before].end < first)))
        self->before++;
    for (size_t k = self->before; k < added && self->lines[k].line == line - 1 && self->lines[k].first <= end; k++) {
        size_t a = find_piece(self, k), b = find_piece(self, added);
        self->n_pieces -= a != b;
        self->lines[b].parent = a;
    }
    return CLV_OK;
}

/* Adds a run of pixels at..end - 1. Of its full lines only the first and the last one are stored. */
static enum clv_status add_piece_run(struct pieces *self, int64_t at, int64_t end, int64_t side, struct clv_error *err)
{
    const int64_t last = (end - 1) / side, first = at / side;
    for (int64_t line = first; line <= last; line++) {
        int64_t from = line == first ? at % side : 0, to = line == last ? end - line * side : side;
        MUST(add_piece_line(self, line, from, to, err));
        if (line != first + 1 || line >= last - 2)
            continue;
        line = last - 1;
        MUST(add_piece_line(self, line, 0, side, err));
        self->n_pieces--;
        self->lines[find_piece(self, self->n - 1)].parent = find_piece(self, self->n - 2);
    }
    return CLV_OK;
}

static enum clv_status count_run_pieces(size_t *n, const struct clv_outline *runs, struct clv_error *err)
{
    struct clv_box bounds;
    OWNED(pieces_drop) struct pieces self = {0};
    const int64_t side = runs->order == RLE_BY_COLUMNS ? runs->frame.height : runs->frame.width;
    int64_t at = 0;
    MUST(outline_bound(&bounds, runs, err)); /* checks the runs */
    for (size_t i = 0; i < runs->n_counts; at += runs->counts[i++])
        if (i % 2 && runs->counts[i])
            MUST(add_piece_run(&self, at, at + runs->counts[i], side, err));
    *n = self.n_pieces < 2 ? self.n_pieces : 2;
    return CLV_OK;
}

enum clv_status outline_count_pieces(size_t *n, const struct clv_outline *outline, struct clv_error *err)
{
    struct clv_box bounds = {0};
    if (outline->counts)
        return count_run_pieces(n, outline, err);
    MUST(outline_bound(&bounds, outline, err));
    const double left = floor(bounds.x), top = floor(bounds.y);
    const double width = ceil(bounds.x + bounds.width) - left, height = ceil(bounds.y + bounds.height) - top;
    *n = outline->is_ellipse || outline->n_polygons == 1 ? 1 : 2;
    if (*n == 1 || !(width >= 1 && height >= 1 && width * height <= (double)RLE_MAX_PIXELS))
        return CLV_OK;
    const struct rle_frame frame = {0, 0, (int32_t)width, (int32_t)height};
    OWNED_ARRAY uint8_t *pixels = array_zalloc((size_t)width * (size_t)height, 1);
    OWNED(outline_drop) struct clv_outline *moved = outline_new();
    NEED(pixels && moved);
    for (size_t k = 0, i = 0; k < outline->n_polygons; k++) {
        for (; i < outline->polygon_ends[k]; i++)
            MUST(outline_add_point(moved, outline->points[i][0] - left, outline->points[i][1] - top, err));
        MUST(outline_end_polygon(moved, err));
    }
    moved->has_rings = outline->has_rings;
    MUST(outline_fill(&(struct canvas){pixels, frame.width, frame.height, 1}, moved, false, err));
    OWNED(outline_drop) struct clv_outline *runs = outline_of_mask(pixels, &frame);
    NEED(runs);
    return count_run_pieces(n, runs, err);
}
