/* Measures objects with the definitions of scikit-image's regionprops: area, perimeter (Benkrid & Crookes 2000),
 * moments, convex hull and colours. Start at clv_objects_measure, at the end. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "object/object.h"

/* One object's sums; moments are central. */
struct sums {
    uint64_t x, y, value[3], square[3];
    double xx, xy, yy, perimeter, probability;
    int64_t first_row; /* of its rows */
};

/* The first and last column of an object in one row of its box. */
struct extent {
    int32_t first, last;
};

struct measuring {
    const struct clv_object_map *map;
    const struct clv_image *image;
    const float *probability;
    struct clv_object *rows;
    struct sums *sums;
    struct extent *extents; /* of all objects' rows */
    int32_t (*line)[2];     /* scratch: left and right end of each half row of a hull */
    int32_t *chain;         /* scratch: half rows */
};

static int32_t object_at(const struct clv_object_map *map, int32_t x, int32_t y)
{
    return x < 0 || y < 0 || x >= map->width || y >= map->height
               ? 0
               : map->objects[(size_t)y * (size_t)map->width + (size_t)x];
}

/* Returns whether a pixel of object k has a side at which the object ends. */
static bool is_border(const struct clv_object_map *map, int32_t k, int32_t x, int32_t y)
{
    return object_at(map, x, y) == k && (object_at(map, x - 1, y) != k || object_at(map, x + 1, y) != k ||
                                         object_at(map, x, y - 1) != k || object_at(map, x, y + 1) != k);
}

/* Returns what a border pixel adds to the perimeter, by its neighbours on the border: 1 for steps along sides, the
 * root of 2 along diagonals, the mean of both for one of each (Benkrid & Crookes 2000). */
static double border_length(const struct clv_object_map *map, int32_t k, int32_t x, int32_t y)
{
    int code = 1;
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++)
            if ((dx || dy) && is_border(map, k, x + dx, y + dy))
                code += dx && dy ? 10 : 2;
    switch (code) {
    case 5:
    case 7:
    case 15:
    case 17:
    case 25:
    case 27: return 1;
    case 21:
    case 33: return sqrt(2);
    case 13:
    case 23: return (1 + sqrt(2)) / 2;
    default: return 0;
    }
}

/* Areas, boxes, sums of places and colours. */
static void sum_up(struct measuring *self)
{
    const struct clv_object_map *map = self->map;
    size_t p = 0;
    for (int32_t k = 0; k < map->n_objects; k++)
        self->rows[k] =
            (struct clv_object){.label = map->labels ? map->labels[k] : -1, .left = map->width, .top = map->height};
    for (int32_t y = 0; y < map->height; y++)
        for (int32_t x = 0; x < map->width; x++, p++) {
            if (!map->objects[p])
                continue;
            struct clv_object *row = &self->rows[map->objects[p] - 1];
            struct sums *sums = &self->sums[map->objects[p] - 1];
            row->area++;
            row->left = x < row->left ? x : row->left;
            row->top = y < row->top ? y : row->top;
            row->right = x >= row->right ? x + 1 : row->right;
            row->bottom = y + 1;
            sums->x += (uint64_t)x;
            sums->y += (uint64_t)y;
            sums->probability += self->probability ? (double)self->probability[p] : 0;
            for (int c = 0; c < 3 && self->image; c++) {
                uint64_t value = self->image->pixels[3 * p + (size_t)c];
                sums->value[c] += value;
                sums->square[c] += value * value;
            }
        }
}

/* Moments about the centroids, perimeters, and where each row of an object begins and ends. */
static void sum_moments(struct measuring *self)
{
    const struct clv_object_map *map = self->map;
    size_t p = 0;
    for (int32_t y = 0; y < map->height; y++)
        for (int32_t x = 0; x < map->width; x++, p++) {
            if (!map->objects[p])
                continue;
            const struct clv_object *row = &self->rows[map->objects[p] - 1];
            struct sums *sums = &self->sums[map->objects[p] - 1];
            struct extent *extent = &self->extents[sums->first_row + y - row->top];
            double dx = x - row->centroid_x, dy = y - row->centroid_y;
            sums->xx += dx * dx;
            sums->xy += dx * dy;
            sums->yy += dy * dy;
            extent->first = extent->last < 0 ? x : extent->first;
            extent->last = x;
            if (is_border(map, map->objects[p], x, y))
                sums->perimeter += border_length(map, map->objects[p], x, y);
        }
}

static double eccentricity(const struct sums *sums, double area)
{
    double mean = (sums->xx + sums->yy) / (2 * area), half = (sums->xx - sums->yy) / (2 * area), xy = sums->xy / area;
    double root = sqrt(half * half + xy * xy), large = mean + root, small = fmax(mean - root, 0);
    return large > 0 ? sqrt(fmax(1 - small / large, 0)) : 0;
}

static int64_t floor_ratio(int64_t a, int64_t b) /* b > 0 */
{
    return a / b - (a % b < 0);
}

/* Columns x, halved, of the hull's edge from half row u to v, at half row `at`: a / (2 b) of the pixels' columns. */
static void edge_at(int64_t *a, int64_t *b, const struct measuring *self, int side, int32_t u, int32_t v, int32_t at)
{
    *b = v > u ? v - u : 1;
    *a = self->line[u][side] * *b + (int64_t)(at - u) * (self->line[v][side] - self->line[u][side]);
}

/* Columns where the convex hull's left (side 0) or right (1) border is in each row of n: first, or last column in it.
 * */
static void hull_side(int64_t *sum, struct measuring *self, int side, int32_t n_half)
{
    int32_t n = 0, *chain = self->chain;
    int64_t a, b, sign = side ? 1 : -1;
    for (int32_t v = 0; v < n_half; v++) {
        while (n > 1) { /* the point before lies on or inside the line to this one */
            edge_at(&a, &b, self, side, chain[n - 2], v, chain[n - 1]);
            if (sign * (a - self->line[chain[n - 1]][side] * b) < 0)
                break;
            n--;
        }
        chain[n++] = v;
    }
    for (int32_t i = 0, at = 1; at < n_half; at += 2) { /* rows of pixels */
        while (chain[i + 1] < at)
            i++;
        edge_at(&a, &b, self, side, chain[i], chain[i + 1], at);
        *sum += side ? floor_ratio(a, 2 * b) + 1 : floor_ratio(-a, 2 * b);
    }
}

/* Pixels whose centres are in the convex hull of the middles of all pixels' sides, or on its border. In half pixels,
 * which are whole numbers: exact. */
static int64_t hull_area(struct measuring *self, const struct clv_object *row, const struct extent *extents)
{
    int32_t n_rows = row->bottom - row->top, n_half = 2 * n_rows + 1;
    int64_t sum = 0;
    for (int32_t v = 0; v < n_half; v++)
        self->line[v][0] = INT32_MAX, self->line[v][1] = INT32_MIN;
    for (int32_t r = 0; r < n_rows; r++) {
        if (extents[r].last < 0)
            continue;
        for (int32_t v = 2 * r; v <= 2 * r + 2; v++) { /* sides above and below, and those to the left and right */
            int32_t wider = v == 2 * r + 1, first = 2 * extents[r].first - wider, last = 2 * extents[r].last + wider;
            self->line[v][0] = first < self->line[v][0] ? first : self->line[v][0];
            self->line[v][1] = last > self->line[v][1] ? last : self->line[v][1];
        }
    }
    for (int32_t v = 0, before = 0; v < n_half; v++) { /* rows without a pixel, of objects in pieces, add no point */
        if (self->line[v][0] != INT32_MAX) {
            before = v;
            continue;
        }
        int32_t next = v;
        while (self->line[next][0] == INT32_MAX)
            next++;
        for (int side = 0; side < 2; side++) {
            int64_t a, b;
            edge_at(&a, &b, self, side, before, next, v);
            self->line[v][side] = (int32_t)(side ? floor_ratio(a, b) : -floor_ratio(-a, b));
        }
    }
    hull_side(&sum, self, 0, n_half);
    hull_side(&sum, self, 1, n_half);
    return sum;
}

static void finish(struct measuring *self)
{
    for (int32_t k = 0; k < self->map->n_objects; k++) {
        struct clv_object *row = &self->rows[k];
        struct sums *sums = &self->sums[k];
        double area = (double)row->area;
        row->perimeter = sums->perimeter;
        row->eccentricity = eccentricity(sums, area);
        row->solidity = area / (double)hull_area(self, row, self->extents + sums->first_row);
        row->mean_probability = self->probability        ? sums->probability / area
                                : self->map->probability ? self->map->probability[k]
                                                         : NAN;
        for (int c = 0; c < 3; c++) {
            double mean = (double)sums->value[c] / area, square = (double)sums->square[c] / area;
            row->mean[c] = self->image ? mean : NAN;
            row->deviation[c] = self->image ? sqrt(fmax(square - mean * mean, 0)) : NAN;
        }
    }
}

enum clv_status objects_measure_samples(double *mean, double *deviation, const struct clv_object_map *map,
                                        const float *samples, int32_t n_bands, struct clv_error *err)
{
    const size_t n_pixels = (size_t)map->width * (size_t)map->height, n = (size_t)n_bands;
    const size_t n_values = (size_t)map->n_objects * n;
    OWNED_ARRAY double *count = array_zalloc(n_values, sizeof *count);
    NEED(count);
    for (size_t i = 0; i < n_values; i++)
        mean[i] = deviation[i] = 0;
    for (int about_mean = 0; about_mean < 2; about_mean++) {
        for (size_t p = 0; p < n_pixels; p++) {
            const size_t row = (size_t)(map->objects[p] - 1) * n;
            for (size_t b = 0; map->objects[p] && b < n; b++) {
                const double value = (double)samples[p * n + b];
                if (isnan(value))
                    continue;
                count[row + b] += !about_mean;
                if (about_mean)
                    deviation[row + b] += (value - mean[row + b]) * (value - mean[row + b]);
                else
                    mean[row + b] += value;
            }
        }
        for (size_t i = 0; i < n_values; i++)
            if (about_mean)
                deviation[i] = count[i] > 0 ? sqrt(deviation[i] / count[i]) : NAN;
            else
                mean[i] = count[i] > 0 ? mean[i] / count[i] : NAN;
    }
    return CLV_OK;
}

static void measuring_release(struct measuring *self)
{
    arrays_free(self->rows, self->sums, self->line, self->chain, self->extents);
}

enum clv_status clv_objects_measure(struct clv_object **rows, const struct clv_object_map *map,
                                    const struct clv_image *image, const float *probability, struct clv_error *err)
{
    size_t n = (size_t)map->n_objects, n_half = 2 * (size_t)map->height + 1;
    FAIL_IF(image && (image->width != map->width || image->height != map->height || image->channels != 3),
            CLV_ERR_USAGE, "objects of %dx%d, an image of %dx%d with %d channels", map->width, map->height,
            image->width, image->height, image->channels);
    OWNED(measuring_release) struct measuring self = {.map = map, .image = image, .probability = probability};
    self.rows = array_alloc(n, sizeof *self.rows);
    self.sums = array_zalloc(n, sizeof *self.sums);
    self.line = array_alloc(n_half, sizeof *self.line);
    self.chain = array_alloc(n_half, sizeof *self.chain);
    NEED(self.rows && self.sums && self.line && self.chain);
    sum_up(&self);
    int64_t n_rows = 0;
    for (size_t k = 0; k < n; k++) {
        FAIL_IF(!self.rows[k].area, CLV_ERR_USAGE, "object %zu of %zu has no pixel", k + 1, n);
        self.rows[k].centroid_x = (double)self.sums[k].x / (double)self.rows[k].area;
        self.rows[k].centroid_y = (double)self.sums[k].y / (double)self.rows[k].area;
        self.sums[k].first_row = n_rows;
        n_rows += self.rows[k].bottom - self.rows[k].top;
    }
    NEED(self.extents = array_alloc((size_t)n_rows, sizeof *self.extents));
    for (int64_t r = 0; r < n_rows; r++)
        self.extents[r] = (struct extent){-1, -1};
    sum_moments(&self);
    finish(&self);
    *rows = TAKE(self.rows);
    return CLV_OK;
}
