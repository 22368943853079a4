#include "data/shapes/shapes.h"

#include <math.h>

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
    MUST_IF(array_reserve((void **)&outline->points, &outline->points_capacity, outline->n_points + 1,
                          sizeof *outline->points),
            fail_memory(err));
    outline->points[outline->n_points][0] = x;
    outline->points[outline->n_points++][1] = y;
    return CLV_OK;
}

enum clv_status outline_end_polygon(struct clv_outline *outline, struct clv_error *err)
{
    FAIL_IF(outline->n_polygons >= MAX_POLYGONS, CLV_ERR_DATA, "an outline of more than %zu polygons", MAX_POLYGONS);
    MUST_IF(array_reserve((void **)&outline->polygon_ends, &outline->ends_capacity, outline->n_polygons + 1,
                          sizeof *outline->polygon_ends),
            fail_memory(err));
    outline->polygon_ends[outline->n_polygons++] = outline->n_points;
    return CLV_OK;
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
    return !outline->counts || outline->order != RLE_BY_COLUMNS || !width || !height ||
           (outline->frame.width == width && outline->frame.height == height);
}

enum clv_status outline_fill(const struct canvas *canvas, const struct clv_outline *outline, bool is_relative,
                             struct clv_error *err)
{
    if (outline->counts)
        return rle_fill(canvas, &outline->frame, outline->counts, outline->n_counts, outline->order, err);
    double(*points)[2] = array_copy(outline->points, outline->n_points, sizeof *points);
    enum clv_status status = points ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < outline->n_points && points && is_relative; i++) {
        points[i][0] *= canvas->width;
        points[i][1] *= canvas->height;
    }
    size_t first = 0;
    if (outline->has_rings && status == CLV_OK)
        status = polygon_fill(canvas, (const double(*)[2])points, outline->polygon_ends, outline->n_polygons, err);
    for (size_t k = outline->has_rings ? outline->n_polygons : 0; k < outline->n_polygons && status == CLV_OK;
         first = outline->polygon_ends[k++]) {
        size_t n = outline->polygon_ends[k] - first;
        status = polygon_fill(canvas, (const double(*)[2])points + first, &n, 1, err);
    }
    array_free(points);
    return status;
}
