/* Measures objects as scikit-image's regionprops does: area, perimeter (Benkrid & Crookes 2000), moments, convex hull
 * and colours. The image is read twice, by bands of rows. Sums are in the order of pixels, so that results do not
 * depend on the rows per band. Start at clv_objects_measure, at the end. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "object/object.h"

/* A corner of a convex hull, in half pixels and half rows of the object's box. */
struct corner {
    int32_t row, column;
};

/* The left or the right border of the convex hull of the rows so far, by Andrew's monotone chain. */
struct chain {
    struct corner *corners;
    size_t n, capacity;
};

/* The convex hull of an object whose pixels are read row by row. */
struct hull {
    int64_t n_missing;                          /* pixels that are not read yet */
    int32_t row, first, last;                   /* columns of the last row */
    int32_t row_above, first_above, last_above; /* columns of the row before; row_above is -1 without one */
    struct chain sides[2];
};

/* Sums over the pixels of an object; moments are central. */
struct object_sums {
    uint64_t x, y, value[3], square[3];
    double xx, xy, yy, perimeter, probability;
    struct hull *hull; /* NULL before the first pixel and after the last one */
    int64_t hull_area;
};

static void hull_free(struct hull *self)
{
    if (self)
        arrays_free(self->sides[0].corners, self->sides[1].corners, self);
}

static int32_t object_at(const struct image_band *band, int32_t x, int32_t y)
{
    return x < 0 || y < 0 || x >= band->width || y >= band->height ? 0
                                                                   : band->objects[image_band_row(band, y) + (size_t)x];
}

/* Returns whether (x, y) is a pixel of object k and has a side at which the object ends. */
static bool is_border(const struct image_band *band, int32_t k, int32_t x, int32_t y)
{
    return object_at(band, x, y) == k && (object_at(band, x - 1, y) != k || object_at(band, x + 1, y) != k ||
                                          object_at(band, x, y - 1) != k || object_at(band, x, y + 1) != k);
}

/* Returns what a border pixel adds to the perimeter, by its neighbours on the border: 1 for steps along sides, the
 * root of 2 along diagonals, the mean of both for one of each (Benkrid & Crookes 2000). */
static double border_length(const struct image_band *band, int32_t k, int32_t x, int32_t y)
{
    int code = 1;
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++)
            if ((dx || dy) && is_border(band, k, x + dx, y + dy))
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

void object_measures_release(struct object_measures *self)
{
    for (int32_t k = 0; self->sums && k < self->n_objects; k++)
        hull_free(self->sums[k].hull);
    arrays_free(self->rows, self->sums, self->mean, self->deviation, self->count);
    *self = (struct object_measures){0};
}

enum clv_status object_measures_init(struct object_measures *self, int32_t n_objects, const uint8_t *labels,
                                     int32_t n_samples, struct clv_error *err)
{
    size_t n = (size_t)n_objects, n_values = n * (size_t)n_samples;
    OWNED(object_measures_release) struct object_measures result = {.n_objects = n_objects, .n_samples = n_samples};
    result.rows = array_alloc(n, sizeof *result.rows);
    result.sums = array_zalloc(n, sizeof *result.sums);
    if (n_samples) {
        result.mean = array_zalloc(n_values, sizeof *result.mean);
        result.deviation = array_zalloc(n_values, sizeof *result.deviation);
        result.count = array_zalloc(n_values, sizeof *result.count);
    }
    NEED(result.rows && result.sums && (!n_samples || (result.mean && result.deviation && result.count)));
    for (size_t k = 0; k < n; k++)
        result.rows[k] = (struct clv_object){.label = labels ? labels[k] : -1, .left = INT32_MAX, .top = INT32_MAX};
    *self = TAKE(result);
    return CLV_OK;
}

static void add_samples(double *sum, double *count, const float *samples, size_t n)
{
    for (size_t b = 0; b < n; b++) {
        if (isnan(samples[b]))
            continue;
        count[b]++;
        sum[b] += (double)samples[b];
    }
}

static void add_pixel(struct object_measures *self, size_t k, int32_t x, int32_t y, const uint8_t *pixel)
{
    struct clv_object *row = &self->rows[k];
    struct object_sums *sums = &self->sums[k];
    row->area++;
    row->left = x < row->left ? x : row->left;
    row->top = y < row->top ? y : row->top;
    row->right = x >= row->right ? x + 1 : row->right;
    row->bottom = y + 1;
    sums->x += (uint64_t)x;
    sums->y += (uint64_t)y;
    for (int c = 0; c < 3 && pixel; c++) {
        uint64_t value = pixel[c];
        sums->value[c] += value;
        sums->square[c] += value * value;
    }
}

void object_measures_sum(struct object_measures *self, const struct image_band *band, const float *probability)
{
    size_t p = image_band_start(band), n_samples = (size_t)self->n_samples, i = 0;
    self->has_pixels |= band->pixels != NULL;
    self->has_probability |= probability != NULL;
    for (int32_t y = band->top; y < band->top + band->n_rows; y++)
        for (int32_t x = 0; x < band->width; x++, p++, i++) {
            if (!band->objects[p])
                continue;
            size_t k = (size_t)band->objects[p] - 1;
            add_pixel(self, k, x, y, band->pixels ? band->pixels + 3 * p : NULL);
            self->sums[k].probability += probability ? (double)probability[i] : 0;
            if (n_samples)
                add_samples(self->mean + k * n_samples, self->count + k * n_samples, band->samples + p * n_samples,
                            n_samples);
        }
}

enum clv_status object_measures_centre(struct object_measures *self, struct clv_error *err)
{
    for (int32_t k = 0; k < self->n_objects; k++) {
        struct clv_object *row = &self->rows[k];
        struct object_sums *sums = &self->sums[k];
        FAIL_IF(!row->area, CLV_ERR_USAGE, "object %d of %d has no pixel", k + 1, self->n_objects);
        row->centroid_x = (double)sums->x / (double)row->area;
        row->centroid_y = (double)sums->y / (double)row->area;
    }
    for (size_t i = 0, n = (size_t)self->n_objects * (size_t)self->n_samples; i < n; i++)
        self->mean[i] = self->count[i] > 0 ? self->mean[i] / self->count[i] : NAN;
    return CLV_OK;
}

static int64_t floor_ratio(int64_t a, int64_t b) /* b > 0 */
{
    return a / b - (a % b < 0);
}

/* Computes the column at half row `at` of the hull's edge between two corners, as a / (2 b) in columns of pixels. */
static void edge_at(int64_t *a, int64_t *b, const struct corner *from, const struct corner *to, int32_t at)
{
    *b = to->row > from->row ? to->row - from->row : 1;
    *a = from->column * *b + (int64_t)(at - from->row) * (to->column - from->column);
}

/* Adds the outermost column of the next half row to a chain; side 0 is the left border. */
static enum clv_status chain_add(struct chain *self, int side, int32_t row, int32_t column, struct clv_error *err)
{
    const struct corner next = {row, column};
    int64_t a, b, sign = side ? 1 : -1;
    while (self->n > 1) { /* drop the last corner if it is on or inside the line to `next` */
        const struct corner *last = &self->corners[self->n - 1];
        edge_at(&a, &b, last - 1, &next, last->row);
        if (sign * (a - last->column * b) < 0)
            break;
        self->n--;
    }
    NEED(array_reserve((void **)&self->corners, &self->capacity, self->n + 1, sizeof next) == 0);
    self->corners[self->n++] = next;
    return CLV_OK;
}

/* Returns the sum over n_rows rows of the end of the columns inside the hull (side 1), or of minus the first one (side
 * 0). */
static int64_t chain_sum(const struct chain *self, int side, int32_t n_rows)
{
    int64_t a, b, sum = 0;
    const struct corner *from = self->corners;
    for (int32_t at = 1; at < 2 * n_rows; at += 2) { /* rows of pixels */
        while (from[1].row < at)
            from++;
        edge_at(&a, &b, from, from + 1, at);
        sum += side ? floor_ratio(a, 2 * b) + 1 : floor_ratio(-a, 2 * b);
    }
    return sum;
}

static int32_t outer(int side, int32_t a, int32_t b)
{
    return (side ? a > b : a < b) ? a : b;
}

/* Adds the half rows of the last row to the hull: the side that it shares with the row above, and its middle. If the
 * two rows do not touch, also adds the lower side of the row above. */
static enum clv_status add_row(struct hull *self, int32_t top, struct clv_error *err)
{
    int32_t half = 2 * (self->row - top);
    bool touches = self->row_above >= 0 && self->row_above == self->row - 1;
    for (int side = 0; side < 2; side++) {
        struct chain *chain = &self->sides[side];
        int32_t column = 2 * (side ? self->last : self->first);
        int32_t above = 2 * (side ? self->last_above : self->first_above);
        if (self->row_above >= 0 && !touches)
            MUST(chain_add(chain, side, 2 * (self->row_above - top) + 2, above, err));
        MUST(chain_add(chain, side, half, touches ? outer(side, column, above) : column, err));
        MUST(chain_add(chain, side, half + 1, side ? column + 1 : column - 1, err));
    }
    self->row_above = self->row;
    self->first_above = self->first;
    self->last_above = self->last;
    return CLV_OK;
}

/* Ends the hull of an object after its last pixel. hull_area counts the pixels whose centres are in the convex hull of
 * the midpoints of all pixels' sides, or on its border. Exact: coordinates are integers in half pixels. */
static enum clv_status end_hull(struct object_sums *sums, const struct clv_object *row, struct clv_error *err)
{
    struct hull *hull = sums->hull;
    int32_t n_rows = row->bottom - row->top;
    MUST(add_row(hull, row->top, err));
    for (int side = 0; side < 2; side++) {
        MUST(chain_add(&hull->sides[side], side, 2 * n_rows, 2 * (side ? hull->last : hull->first), err));
        sums->hull_area += chain_sum(&hull->sides[side], side, n_rows);
    }
    hull_free(hull);
    sums->hull = NULL;
    return CLV_OK;
}

/* Adds a pixel of an object to its hull. */
static enum clv_status extend_hull(struct object_sums *sums, const struct clv_object *row, int32_t x, int32_t y,
                                   struct clv_error *err)
{
    struct hull *hull = sums->hull;
    if (!hull) {
        NEED(hull = sums->hull = array_zalloc(1, sizeof *hull));
        *hull = (struct hull){.n_missing = row->area, .row = y, .first = x, .row_above = -1};
    } else if (hull->row != y) {
        MUST(add_row(hull, row->top, err));
        hull->row = y;
        hull->first = x;
    }
    hull->last = x;
    return --hull->n_missing ? CLV_OK : end_hull(sums, row, err);
}

static void add_deviations(double *deviation, const double *mean, const float *samples, size_t n)
{
    for (size_t b = 0; b < n; b++) {
        const double off = (double)samples[b] - mean[b];
        if (!isnan(samples[b]))
            deviation[b] += off * off;
    }
}

enum clv_status object_measures_shape(struct object_measures *self, const struct image_band *band,
                                      struct clv_error *err)
{
    size_t p = image_band_start(band), n_samples = (size_t)self->n_samples;
    for (int32_t y = band->top; y < band->top + band->n_rows; y++)
        for (int32_t x = 0; x < band->width; x++, p++) {
            if (!band->objects[p])
                continue;
            size_t k = (size_t)band->objects[p] - 1;
            const struct clv_object *row = &self->rows[k];
            struct object_sums *sums = &self->sums[k];
            double dx = x - row->centroid_x, dy = y - row->centroid_y;
            sums->xx += dx * dx;
            sums->xy += dx * dy;
            sums->yy += dy * dy;
            if (is_border(band, band->objects[p], x, y))
                sums->perimeter += border_length(band, band->objects[p], x, y);
            MUST(extend_hull(sums, row, x, y, err));
            if (n_samples)
                add_deviations(self->deviation + k * n_samples, self->mean + k * n_samples,
                               band->samples + p * n_samples, n_samples);
        }
    return CLV_OK;
}

static double eccentricity(const struct object_sums *sums, double area)
{
    double mean = (sums->xx + sums->yy) / (2 * area), half = (sums->xx - sums->yy) / (2 * area), xy = sums->xy / area;
    double root = sqrt(half * half + xy * xy), large = mean + root, small = fmax(mean - root, 0);
    return large > 0 ? sqrt(fmax(1 - small / large, 0)) : 0;
}

void object_measures_finish(struct object_measures *self)
{
    for (int32_t k = 0; k < self->n_objects; k++) {
        struct clv_object *row = &self->rows[k];
        struct object_sums *sums = &self->sums[k];
        double area = (double)row->area;
        row->perimeter = sums->perimeter;
        row->eccentricity = eccentricity(sums, area);
        row->solidity = area / (double)sums->hull_area;
        row->mean_probability = self->has_probability ? sums->probability / area : NAN;
        for (int c = 0; c < 3; c++) {
            double mean = (double)sums->value[c] / area, square = (double)sums->square[c] / area;
            row->mean[c] = self->has_pixels ? mean : NAN;
            row->deviation[c] = self->has_pixels ? sqrt(fmax(square - mean * mean, 0)) : NAN;
        }
    }
    for (size_t i = 0, n = (size_t)self->n_objects * (size_t)self->n_samples; i < n; i++)
        self->deviation[i] = self->count[i] > 0 ? sqrt(self->deviation[i] / self->count[i]) : NAN;
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
    for (size_t p = 0; p < n_pixels; p++) {
        const size_t row = (size_t)(map->objects[p] - 1) * n;
        if (map->objects[p])
            add_samples(mean + row, count + row, samples + p * n, n);
    }
    for (size_t i = 0; i < n_values; i++)
        mean[i] = count[i] > 0 ? mean[i] / count[i] : NAN;
    for (size_t p = 0; p < n_pixels; p++) {
        const size_t row = (size_t)(map->objects[p] - 1) * n;
        if (map->objects[p])
            add_deviations(deviation + row, mean + row, samples + p * n, n);
    }
    for (size_t i = 0; i < n_values; i++)
        deviation[i] = count[i] > 0 ? sqrt(deviation[i] / count[i]) : NAN;
    return CLV_OK;
}

enum clv_status clv_objects_measure(struct clv_object **rows, const struct clv_object_map *map,
                                    const struct clv_image *image, const float *probability, struct clv_error *err)
{
    FAIL_IF(image && (image->width != map->width || image->height != map->height || image->channels != 3),
            CLV_ERR_USAGE, "objects of %dx%d, an image of %dx%d with %d channels", map->width, map->height,
            image->width, image->height, image->channels);
    const struct image_band all = {.width = map->width,
                                   .height = map->height,
                                   .n_rows = map->height,
                                   .pixels = image ? image->pixels : NULL,
                                   .objects = map->objects};
    OWNED(object_measures_release) struct object_measures self = {0};
    MUST(object_measures_init(&self, map->n_objects, map->labels, 0, err));
    object_measures_sum(&self, &all, probability);
    MUST(object_measures_centre(&self, err));
    MUST(object_measures_shape(&self, &all, err));
    object_measures_finish(&self);
    for (int32_t k = 0; k < map->n_objects && !probability && map->probability; k++)
        self.rows[k].mean_probability = map->probability[k];
    *rows = TAKE(self.rows);
    return CLV_OK;
}
