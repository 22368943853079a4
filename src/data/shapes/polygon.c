/* Fills polygons by the even-odd rule: a pixel is inside if its centre is. The crossings of all edges with each row of
 * centres are sorted, and pixels between pairs are filled. Start at polygon_fill. */
#include "data/shapes/shapes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define FARTHEST 1e300 /* limit of coordinates, so that their differences are finite */

struct edge {
    const double *upper, *lower; /* its ends; crossings then do not depend on its direction */
    int32_t first_row, end_row;  /* it crosses the pixel centres of rows first_row..end_row - 1 */
};

/* The first row whose centre is not above y, clamped to 0..height; also for columns. */
static int32_t row_from(double y, int32_t height)
{
    return int32_within(ceil(y - 0.5), 0, height);
}

/* Returns false if the edge crosses no row. */
static bool edge_between(struct edge *edge, const double *a, const double *b, int32_t height)
{
    edge->upper = a[1] <= b[1] ? a : b;
    edge->lower = a[1] <= b[1] ? b : a;
    edge->first_row = row_from(edge->upper[1], height);
    edge->end_row = row_from(edge->lower[1], height);
    return edge->first_row < edge->end_row;
}

static double cross(const struct edge *edge, int32_t row)
{
    double share = (row + 0.5 - edge->upper[1]) / (edge->lower[1] - edge->upper[1]);
    return edge->upper[0] + share * (edge->lower[0] - edge->upper[0]);
}

typedef void take_edge(void *context, const struct edge *edge);

static void walk_edges(const double (*points)[2], const size_t *ring_ends, size_t n_rings, int32_t height,
                       take_edge *take, void *context)
{
    size_t first = 0;
    struct edge edge;
    for (size_t ring = 0; ring < n_rings; first = ring_ends[ring++])
        for (size_t i = first; i < ring_ends[ring]; i++)
            if (edge_between(&edge, points[i], points[i + 1 < ring_ends[ring] ? i + 1 : first], height))
                take(context, &edge);
}

/* Crossings of edges with rows of pixel centres. Those of row y are x[start[y]]..x[start[y + 1] - 1]. */
struct crossings {
    size_t *start; /* [height + 1] */
    size_t *n;     /* [height] so far */
    double *x;
    size_t n_rows; /* all crossings: sum of the rows that each edge crosses */
};

static void count_rows(void *context, const struct edge *edge)
{
    struct crossings *self = context;
    size_t n = (size_t)(edge->end_row - edge->first_row);
    self->n_rows = n > SIZE_MAX - self->n_rows ? SIZE_MAX : self->n_rows + n;
    if (self->n_rows > POLYGON_MAX_CROSSINGS)
        return;
    for (int32_t row = edge->first_row; row < edge->end_row; row++)
        self->start[row + 1]++;
}

static void put_crossings(void *context, const struct edge *edge)
{
    struct crossings *self = context;
    for (int32_t row = edge->first_row; row < edge->end_row; row++)
        self->x[self->start[row] + self->n[row]++] = cross(edge, row);
}

static void fill_row(uint8_t *row, int32_t width, double *x, size_t n, uint8_t value)
{
    qsort(x, n, sizeof *x, compare_doubles);
    for (size_t i = 0; i + 1 < n; i += 2) {
        int32_t from = row_from(x[i], width), to = row_from(x[i + 1], width);
        if (from < to)
            memset(row + from, value, (size_t)(to - from));
    }
}

static void crossings_release(struct crossings *self)
{
    arrays_free(self->start, self->n, self->x);
}

enum clv_status polygon_fill(const struct canvas *canvas, const double (*points)[2], const size_t *ring_ends,
                             size_t n_rings, struct clv_error *err)
{
    int32_t width = canvas->width, height = canvas->height;
    for (size_t i = 0; n_rings && i < ring_ends[n_rings - 1]; i++)
        FAIL_IF(!(fabs(points[i][0]) <= FARTHEST && fabs(points[i][1]) <= FARTHEST), CLV_ERR_DATA,
                "point %zu of a polygon is not finite, or too far away", i + 1);
    size_t n = (size_t)height;
    OWNED(crossings_release) struct crossings self = {.start = array_zalloc(n + 1, sizeof *self.start),
                                                      .n = array_zalloc(n, sizeof *self.n)};
    NEED(self.start && self.n);
    walk_edges(points, ring_ends, n_rings, height, count_rows, &self);
    FAIL_IF(self.n_rows > POLYGON_MAX_CROSSINGS, CLV_ERR_DATA,
            "a polygon whose edges cross more than %zu rows of pixels", POLYGON_MAX_CROSSINGS);
    for (size_t row = 0; row < n; row++)
        self.start[row + 1] += self.start[row];
    NEED(self.x = array_alloc(self.n_rows, sizeof *self.x));
    walk_edges(points, ring_ends, n_rings, height, put_crossings, &self);
    for (size_t row = 0; row < n; row++)
        fill_row(canvas->pixels + row * (size_t)width, width, self.x + self.start[row], self.n[row], canvas->value);
    return CLV_OK;
}
