/* Joins the outer ring and the holes of an object into one ring, each hole at the point of the outer ring that is
 * nearest to the hole's first point, for formats without holes. Start at contours_keyhole. */
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

static int64_t squared_distance(const int32_t a[2], const int32_t b[2])
{
    int64_t across = (int64_t)a[0] - b[0], down = (int64_t)a[1] - b[1];
    return across * across + down * down;
}

static size_t nearest_point(const int32_t (*points)[2], size_t n, const int32_t to[2])
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (squared_distance(points[i], to) < squared_distance(points[best], to))
            best = i;
    return best;
}

enum clv_status contours_keyhole(int32_t (**points)[2], size_t *n, const struct contours *self, size_t k,
                                 struct clv_error *err)
{
    size_t first_ring, end_ring;
    contours_rings(self, k, &first_ring, &end_ring);
    size_t first = first_ring ? self->ring_ends[first_ring - 1] : 0, n_outer = self->ring_ends[first_ring] - first;
    size_t n_all = self->ring_ends[end_ring - 1] - first + 2 * (end_ring - first_ring), m = 0;
    const int32_t(*outer)[2] = (const int32_t(*)[2])self->points + first;
    OWNED_ARRAY int32_t(*result)[2] = array_alloc(n_all, sizeof *result);
    /* joint[r]: index of the point of the outer ring where hole r is joined; joint[0] is not used */
    OWNED_ARRAY size_t *joint = array_alloc(end_ring - first_ring, sizeof *joint);
    NEED(result && joint);
    for (size_t r = first_ring + 1; r < end_ring; r++)
        joint[r - first_ring] = nearest_point(outer, n_outer, self->points[self->ring_ends[r - 1]]);
    for (size_t i = 0; i < n_outer; i++) {
        memcpy(result[m++], outer[i], sizeof *result);
        for (size_t r = first_ring + 1; r < end_ring; r++) {
            if (joint[r - first_ring] != i)
                continue;
            size_t start = self->ring_ends[r - 1], size = self->ring_ends[r] - start;
            memcpy(result + m, self->points + start, size * sizeof *result);
            m += size;
            memcpy(result[m++], self->points[start], sizeof *result);
            memcpy(result[m++], outer[i], sizeof *result);
        }
    }
    *points = TAKE(result);
    *n = m;
    return CLV_OK;
}
