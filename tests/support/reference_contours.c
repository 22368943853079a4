/* The tracer of contours by following rings over the whole image, as the oracle of the one by rows: regions by
 * union-find over neighbours (Rosenfeld & Pfaltz 1966), their rings along pixel edges with the object on the right.
 * Start at reference_trace. */
#include "support/reference_contours.h"

#include <string.h>

#include "base/base.h"

#define VISITED (1 << 30) /* added to an object's number: the pixel's upper edge is in a ring */

void reference_release(struct reference_contours *self)
{
    arrays_free(self->objects, self->points, self->ring_ends, self->object_of);
    *self = (struct reference_contours){0};
}

/* Numbers of parts of regions, from 1; parent[number] leads to the one that stands for the whole region. */
struct parts {
    int32_t *parent;
    size_t n, capacity;
};

static int32_t find_part(struct parts *parts, int32_t part)
{
    while (parts->parent[part] != part)
        part = parts->parent[part] = parts->parent[parts->parent[part]];
    return part;
}

/* Joins two parts and returns the one that stands for both; a may be 0: there is no such part. */
static int32_t join_parts(struct parts *parts, int32_t a, int32_t b)
{
    int32_t first = a ? find_part(parts, a) : b, second = find_part(parts, b);
    if (first < second)
        return parts->parent[second] = first;
    return parts->parent[first] = second;
}

/* A part of a pixel's upper left neighbourhood, joined; 0: none of its label. */
static int32_t part_near(struct parts *parts, const struct reference_contours *self, const uint8_t *labels, int32_t x,
                         int32_t y)
{
    static const int8_t offsets[4][2] = {{-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    size_t at = (size_t)y * (size_t)self->width + (size_t)x;
    int32_t part = 0;
    for (int k = 0; k < 4; k++) {
        int32_t column = x + offsets[k][0], row = y + offsets[k][1];
        if (column < 0 || column >= self->width || row < 0)
            continue;
        size_t other = (size_t)row * (size_t)self->width + (size_t)column;
        if (labels[other] == labels[at])
            part = join_parts(parts, part, self->object_of[other]);
    }
    return part;
}

static enum clv_status find_parts(struct parts *parts, struct reference_contours *self, const uint8_t *labels,
                                  const bool is_traced[256], struct clv_error *err)
{
    size_t at = 0;
    for (int32_t y = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++, at++) {
            self->object_of[at] = 0;
            if (!is_traced[labels[at]])
                continue;
            int32_t part = part_near(parts, self, labels, x, y);
            if (!part) {
                NEED(!array_reserve((void **)&parts->parent, &parts->capacity, parts->n + 2, sizeof *parts->parent));
                part = (int32_t)++parts->n;
                parts->parent[part] = part;
            }
            self->object_of[at] = part;
        }
    return CLV_OK;
}

static void include(struct contour_object *object, int32_t x, int32_t y)
{
    int32_t right = object->left + object->width, bottom = object->top + object->height;
    object->left = x < object->left ? x : object->left;
    object->top = y < object->top ? y : object->top;
    object->width = (x + 1 > right ? x + 1 : right) - object->left;
    object->height = (y + 1 > bottom ? y + 1 : bottom) - object->top;
    object->n_pixels++;
}

static void parts_release(struct parts *self)
{
    array_free(self->parent);
}

/* Parts become objects. */
static enum clv_status find_objects(struct reference_contours *self, const uint8_t *labels, const bool is_traced[256],
                                    struct clv_error *err)
{
    OWNED(parts_release) struct parts parts = {0};
    MUST(find_parts(&parts, self, labels, is_traced, err));
    OWNED_ARRAY int32_t *number = array_zalloc(parts.n + 1, sizeof *number);
    NEED(number);
    size_t at = 0;
    for (int32_t y = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++, at++) {
            if (!self->object_of[at])
                continue;
            int32_t part = find_part(&parts, self->object_of[at]);
            if (!number[part]) {
                NEED(!array_reserve((void **)&self->objects, &self->objects_capacity, self->n_objects + 1,
                                    sizeof *self->objects));
                number[part] = (int32_t)self->n_objects + 1;
                self->objects[self->n_objects++] =
                    (struct contour_object){.label = labels[at], .left = x, .top = y, .number = number[part]};
            }
            self->object_of[at] = number[part];
            include(&self->objects[number[part] - 1], x, y);
        }
    return CLV_OK;
}

/* Directions: right, down, left, up; and where, from a corner reached that way, the pixels ahead are on either hand. */
static const int8_t step[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
static const int8_t ahead_right[4][2] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}};
static const int8_t ahead_left[4][2] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};

static int32_t object_at(const struct reference_contours *self, int32_t x, int32_t y)
{
    if (x < 0 || y < 0 || x >= self->width || y >= self->height)
        return 0;
    return self->object_of[(size_t)y * (size_t)self->width + (size_t)x] & ~VISITED;
}

bool reference_is_junction(const uint8_t *labels, int32_t width, int32_t height, int32_t x, int32_t y)
{
    int around[4], n_edges = 0;
    for (int k = 0; k < 4; k++) {
        int32_t column = x + ahead_right[k][0], row = y + ahead_right[k][1];
        bool is_inside = column >= 0 && row >= 0 && column < width && row < height;
        around[k] = is_inside ? labels[(size_t)row * (size_t)width + (size_t)column] : -1;
    }
    for (int k = 0; k < 4; k++)
        n_edges += around[k] != around[(k + 1) % 4];
    return n_edges > 2;
}

static enum clv_status add_point(struct reference_contours *self, int32_t x, int32_t y, struct clv_error *err)
{
    NEED(!array_reserve((void **)&self->points, &self->points_capacity, self->n_points + 1, sizeof *self->points));
    self->points[self->n_points][0] = x;
    self->points[self->n_points++][1] = y;
    return CLV_OK;
}

/* Along the ring that the upper edge of pixel (left, top) is in, with its object on the right. Where the object touches
 * itself by a corner the ring goes across. */
static enum clv_status trace_ring(struct reference_contours *self, const uint8_t *labels, int32_t left, int32_t top,
                                  struct clv_error *err)
{
    int32_t object = object_at(self, left, top), x = left, y = top;
    int direction = 0;
    do {
        if (direction == 0)
            self->object_of[(size_t)y * (size_t)self->width + (size_t)x] |= VISITED;
        x += step[direction][0];
        y += step[direction][1];
        int before = direction;
        if (object_at(self, x + ahead_left[before][0], y + ahead_left[before][1]) == object)
            direction = (before + 3) % 4;
        else if (object_at(self, x + ahead_right[before][0], y + ahead_right[before][1]) != object)
            direction = (before + 1) % 4;
        if (direction != before || reference_is_junction(labels, self->width, self->height, x, y))
            MUST(add_point(self, x, y, err));
    } while (x != left || y != top || direction != 0);
    NEED(!array_reserve((void **)&self->ring_ends, &self->rings_capacity, self->n_rings + 1, sizeof *self->ring_ends));
    self->ring_ends[self->n_rings++] = self->n_points;
    return CLV_OK;
}

/* All rings in the order met, and whose they are: *owner[n_rings], array_free it. */
static enum clv_status trace_rings(struct reference_contours *self, int32_t **owner, const uint8_t *labels,
                                   struct clv_error *err)
{
    size_t capacity = 0;
    for (int32_t y = 0; y < self->height; y++)
        for (int32_t x = 0; x < self->width; x++) {
            int32_t object = self->object_of[(size_t)y * (size_t)self->width + (size_t)x];
            if (!object || object & VISITED || object_at(self, x, y - 1) == object)
                continue;
            NEED(!array_reserve((void **)owner, &capacity, self->n_rings + 1, sizeof **owner));
            MUST(trace_ring(self, labels, x, y, err));
            (*owner)[self->n_rings - 1] = object - 1;
        }
    for (size_t i = 0; i < (size_t)self->width * (size_t)self->height; i++)
        self->object_of[i] &= ~VISITED;
    return CLV_OK;
}

/* Brings each object's rings together; they keep their order, in which the outer one is the first. */
static enum clv_status sort_rings(struct reference_contours *self, const int32_t *owner, struct clv_error *err)
{
    OWNED_ARRAY size_t *place = array_zalloc(self->n_objects + 1, sizeof *place);
    OWNED_ARRAY size_t *order = array_alloc(self->n_rings, sizeof *order);
    OWNED_ARRAY size_t *ends = array_alloc(self->n_rings, sizeof *ends);
    OWNED_ARRAY int32_t(*points)[2] = array_alloc(self->n_points, sizeof *points);
    NEED(place && order && ends && points);
    for (size_t r = 0; r < self->n_rings; r++)
        place[owner[r] + 1]++;
    for (size_t k = 0; k < self->n_objects; k++) {
        place[k + 1] += place[k];
        self->objects[k].end_ring = place[k + 1];
    }
    for (size_t r = 0; r < self->n_rings; r++)
        order[place[owner[r]]++] = r;
    size_t n = 0;
    for (size_t r = 0; r < self->n_rings; r++) {
        size_t first = order[r] ? self->ring_ends[order[r] - 1] : 0, size = self->ring_ends[order[r]] - first;
        memcpy(points + n, self->points + first, size * sizeof *points);
        n += size;
        ends[r] = n;
    }
    memcpy(self->points, points, n * sizeof *points);
    memcpy(self->ring_ends, ends, self->n_rings * sizeof *ends);
    return CLV_OK;
}

enum clv_status reference_trace(struct reference_contours *self, const uint8_t *labels, int32_t width, int32_t height,
                                const bool is_traced[256], struct clv_error *err)
{
    OWNED(reference_release) struct reference_contours result = {.width = width, .height = height};
    OWNED_ARRAY int32_t *owner = NULL;
    FAIL_IF((int64_t)width * height >= VISITED, CLV_ERR_USAGE, "contours of %dx%d pixels", width, height);
    result.object_of = array_alloc((size_t)width, (size_t)height * sizeof *result.object_of);
    NEED(result.object_of);
    MUST(find_objects(&result, labels, is_traced, err));
    MUST(trace_rings(&result, &owner, labels, err));
    if (result.n_rings)
        MUST(sort_rings(&result, owner, err));
    *self = TAKE(result);
    return CLV_OK;
}

/* Specks, in rounds over the whole image. */

/* Whether region a is the larger one; of equal ones the first; none, -1, is the smallest. */
static bool is_larger(const struct reference_contours *regions, int32_t a, int32_t b)
{
    int64_t size_a = a < 0 ? 0 : regions->objects[a].n_pixels, size_b = b < 0 ? 0 : regions->objects[b].n_pixels;
    return size_a != size_b ? size_a > size_b : a < b;
}

/* best[n_objects] = the largest region that each touches, or -1. */
static void find_largest_neighbours(int32_t *best, const struct reference_contours *regions)
{
    const int32_t *of = regions->object_of;
    for (size_t r = 0; r < regions->n_objects; r++)
        best[r] = -1;
    for (int32_t y = 0; y < regions->height; y++)
        for (int32_t x = 0; x < regions->width; x++)
            for (int k = 0; k < 9; k++) {
                int32_t u = x + k % 3 - 1, v = y + k / 3 - 1;
                if (u < 0 || v < 0 || u >= regions->width || v >= regions->height)
                    continue;
                int32_t own = of[(size_t)y * (size_t)regions->width + (size_t)x] - 1;
                int32_t other = of[(size_t)v * (size_t)regions->width + (size_t)u] - 1;
                if (other != own && is_larger(regions, other, best[own]))
                    best[own] = other;
            }
}

static enum clv_status merge_round(bool *again, uint8_t *labels, const struct reference_contours *regions,
                                   int32_t min_pixels, struct clv_error *err)
{
    OWNED_ARRAY int32_t *best = array_alloc(regions->n_objects, sizeof *best);
    size_t n_pixels = (size_t)regions->width * (size_t)regions->height;
    NEED(best);
    find_largest_neighbours(best, regions);
    *again = false;
    for (size_t r = 0; r < regions->n_objects; r++) {
        if (regions->objects[r].n_pixels >= min_pixels || !is_larger(regions, best[r], (int32_t)r))
            best[r] = -1; /* it stays */
        *again |= best[r] >= 0;
    }
    for (size_t p = 0; p < n_pixels; p++) {
        int32_t r = regions->object_of[p] - 1;
        while (best[r] >= 0)
            r = best[r];
        labels[p] = regions->objects[r].label;
    }
    return CLV_OK;
}

enum clv_status reference_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                       struct clv_error *err)
{
    bool is_traced[256];
    memset(is_traced, true, sizeof is_traced);
    for (bool again = true; again;) {
        OWNED(reference_release) struct reference_contours regions = {0};
        MUST(reference_trace(&regions, labels, width, height, is_traced, err));
        MUST(merge_round(&again, labels, &regions, min_pixels, err));
    }
    return CLV_OK;
}
