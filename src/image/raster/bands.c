/* Learns from training images how to convert bands to RGB, and converts them. Ranges are percentiles; bands other than
 * red, green and blue are converted by principal components. Start at bands_learn. */
#include "image/raster/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/eigen.h"

#define MAX_SAMPLES      ((size_t)1 << 20) /* pixels, of all files */
#define MAX_FILE_SAMPLES 4096
#define ROWS             64                  /* read at a time */
#define PART_VALUES      ((double)(1 << 24)) /* values of a part, read at a time */

void band_samples_release(struct band_samples *self)
{
    array_free(self->value);
    *self = (struct band_samples){0};
}

static enum clv_status add_samples(struct band_samples *self, struct raster *raster, size_t wanted,
                                   struct clv_error *err)
{
    size_t width = (size_t)raster->width, height = (size_t)raster->height, n_bands = (size_t)raster->n_bands;
    size_t down = size_of_number(ceil(sqrt((double)width * (double)height / (double)wanted)));
    down = down < height ? down : height;
    size_t n_rows = (height + down - 1) / down, across = (width * n_rows + wanted - 1) / wanted,
           end = self->n + 2 * wanted;
    across = across < width ? across : width;
    OWNED_ARRAY float *row = array_alloc(width, n_bands * sizeof *row);
    NEED(row);
    for (size_t y = (down - 1) / 2; y < height; y += down) {
        const struct image_part line = {.top = (int32_t)y, .width = raster->width, .height = 1};
        MUST(raster_read(row, raster, &line, err));
        for (size_t x = (across - 1) / 2; x < width && self->n < end; x += across) {
            for (size_t b = 0; b < n_bands; b++)
                self->value[b * self->capacity + self->n] = row[x * n_bands + b];
            self->n++;
        }
    }
    return CLV_OK;
}

/* Finds the percentiles of each band among pixels with data. */
static enum clv_status find_ranges(struct clv_bands *bands, const struct band_samples *self, struct clv_error *err)
{
    OWNED_ARRAY float *sorted = array_alloc(self->n, sizeof *sorted);
    NEED(sorted);
    for (int32_t b = 0; b < self->n_bands; b++) {
        const float *from = self->value + (size_t)b * self->capacity;
        size_t n = 0;
        for (size_t i = 0; i < self->n; i++)
            if (!isnan(from[i]))
                sorted[n++] = from[i];
        FAIL_IF(!n, CLV_ERR_DATA, "band %d has no data anywhere", b + 1);
        qsort(sorted, n, sizeof *sorted, compare_floats);
        bands->low[b] = sorted[(n - 1) / 100];
        bands->middle[b] = sorted[(n - 1) / 2];
        bands->high[b] = sorted[(n - 1) - (n - 1) / 100];
        if (!(bands->high[b] > bands->low[b])) { /* all but rare values are equal: use the whole range */
            bands->low[b] = sorted[0];
            bands->high[b] = sorted[n - 1];
        }
    }
    return CLV_OK;
}

static double clipped(const struct clv_bands *bands, int32_t b, float value)
{
    double known = isnan(value) ? (double)bands->middle[b] : (double)value;
    return fmin(fmax(known, (double)bands->low[b]), (double)bands->high[b]);
}

/* Shows band b as a colour, low..high as 0..255. */
static void show_band(struct clv_bands *bands, int colour, int32_t b, float low, float high)
{
    double unit = high > low ? 255 / ((double)high - (double)low) : 0;
    bands->weight[colour][b] = (float)unit;
    bands->offset[colour] = (float)(-unit * (double)low);
}

/* Shows bands 0 to 2 as red, green and blue. They share a range, so that grey stays grey. */
static void show_colours(struct clv_bands *bands)
{
    float low = fminf(bands->low[0], fminf(bands->low[1], bands->low[2]));
    float high = fmaxf(bands->high[0], fmaxf(bands->high[1], bands->high[2]));
    for (int c = 0; c < 3; c++)
        show_band(bands, c, c, low, high);
}

static enum clv_status show_components(struct clv_bands *bands, const struct band_samples *self, struct clv_error *err)
{
    size_t n = (size_t)self->n_bands;
    double mean[CLV_MAX_BANDS] = {0}, unit[CLV_MAX_BANDS] = {0}, values[CLV_MAX_BANDS];
    OWNED_ARRAY double *matrix = array_zalloc(n, n * sizeof *matrix);
    NEED(matrix);
    for (size_t b = 0; b < n; b++) {
        double square = 0;
        for (size_t i = 0; i < self->n; i++)
            mean[b] += clipped(bands, (int32_t)b, self->value[b * self->capacity + i]) / (double)self->n;
        for (size_t i = 0; i < self->n; i++) {
            double off = clipped(bands, (int32_t)b, self->value[b * self->capacity + i]) - mean[b];
            square += off * off;
        }
        unit[b] = square > 0 ? 1 / sqrt(square / (double)self->n) : 0;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < self->n; i++)
                sum += (clipped(bands, (int32_t)a, self->value[a * self->capacity + i]) - mean[a]) *
                       (clipped(bands, (int32_t)b, self->value[b * self->capacity + i]) - mean[b]);
            matrix[a * n + b] = matrix[b * n + a] = sum * unit[a] * unit[b] / (double)self->n;
        }
    eigen_of_covariance(values, matrix, n);
    for (size_t c = 0; c < 3; c++) {
        size_t k = c < n ? c : 0; /* with two bands, blue repeats red */
        double scale = values[0] > 0 ? 255 / (5 * sqrt(values[0])) : 0,
               offset = 127.5; /* 5 deviations of the first one */
        for (size_t b = 0; b < n; b++) {
            double weight = matrix[k * n + b] * unit[b] * scale;
            bands->weight[c][b] = (float)weight;
            offset -= weight * mean[b];
        }
        bands->offset[c] = (float)offset;
    }
    return CLV_OK;
}

static enum clv_status learn(struct clv_bands *bands, const struct band_samples *self, bool is_colour,
                             struct clv_error *err)
{
    bands->n_bands = self->n_bands;
    MUST(find_ranges(bands, self, err));
    for (int c = 0; self->n_bands == 1 && c < 3; c++)
        show_band(bands, c, 0, bands->low[0], bands->high[0]);
    if (is_colour && self->n_bands >= 3)
        show_colours(bands);
    else if (self->n_bands > 1)
        MUST(show_components(bands, self, err));
    return CLV_OK;
}

enum clv_status band_samples_add(struct band_samples *self, struct raster *raster, size_t n_rasters, const char *path,
                                 const char *first_path, struct clv_error *err)
{
    size_t wanted = MAX_SAMPLES / n_rasters < MAX_FILE_SAMPLES ? MAX_SAMPLES / n_rasters : MAX_FILE_SAMPLES;
    wanted = wanted ? wanted : 1;
    if (!self->value) {
        *self = (struct band_samples){
            .capacity = n_rasters * 2 * wanted, .n_bands = raster->n_bands, .is_colour = raster->is_colour};
        self->value = array_alloc(self->capacity, (size_t)raster->n_bands * sizeof *self->value);
        NEED(self->value);
    }
    FAIL_IF(raster->n_bands != self->n_bands, CLV_ERR_DATA, "%s: %s, %s has %d", path,
            n_of((size_t)raster->n_bands, "band", "bands").text, first_path, self->n_bands);
    self->is_colour &= raster->is_colour;
    return add_samples(self, raster, wanted, err);
}

enum clv_status bands_learn(struct clv_bands *bands, const struct band_samples *samples, struct clv_error *err)
{
    struct clv_bands result = {0};
    if (samples->value)
        MUST(learn(&result, samples, samples->is_colour, err));
    *bands = result;
    return CLV_OK;
}

/* Learns from one raster. Grey and colours within 0..1 or 0..255 keep that range; 8 bits keep 0..255. */
static enum clv_status learn_from_raster(struct clv_bands *bands, struct raster *raster, struct clv_error *err)
{
    OWNED(band_samples_release) struct band_samples samples = {.capacity = 2 * MAX_FILE_SAMPLES,
                                                               .n_bands = raster->n_bands};
    samples.value = array_alloc(samples.capacity, (size_t)raster->n_bands * sizeof *samples.value);
    NEED(samples.value);
    MUST(add_samples(&samples, raster, MAX_FILE_SAMPLES, err));
    MUST(learn(bands, &samples, raster->is_colour, err));
    bool is_known = raster->is_colour || raster->n_bands == 1;
    float smallest = INFINITY, largest = -INFINITY;
    for (int32_t b = 0; b < (raster->is_colour ? 3 : 1) && is_known; b++)
        for (size_t i = 0; i < samples.n; i++) {
            smallest = fminf(smallest, samples.value[(size_t)b * samples.capacity + i]);
            largest = fmaxf(largest, samples.value[(size_t)b * samples.capacity + i]);
        }
    float top = raster->is_bytes || largest > 1 ? 255 : 1;
    for (int c = 0; c < 3 && is_known && smallest >= 0 && largest <= 255; c++) {
        int32_t b = raster->is_colour ? c : 0;
        bands->low[b] = 0;
        bands->high[b] = top;
        show_band(bands, c, b, 0, top);
    }
    return CLV_OK;
}

enum { COLOURS_AT_ONCE = 64 }; /* pixels per block, a constant so that the compiler vectorises loops */

/* Adds band b to the colours of n pixels, whose bands are next to each other. */
static void add_band(double sums[3][COLOURS_AT_ONCE], const float *values, size_t n, const struct clv_bands *bands,
                     int32_t b)
{
    const double low = (double)bands->low[b], high = (double)bands->high[b], middle = (double)bands->middle[b];
    const size_t step = (size_t)bands->n_bands;
    double known[COLOURS_AT_ONCE] = {0};
    for (size_t p = 0; p < n; p++)
        known[p] = (double)values[p * step];
    for (size_t p = 0; p < COLOURS_AT_ONCE; p++) {
        double value = isnan(known[p]) ? middle : known[p];
        value = value < low ? low : value;
        known[p] = value > high ? high : value;
    }
    for (int c = 0; c < 3; c++) {
        const double weight = (double)bands->weight[c][b];
        for (size_t p = 0; p < COLOURS_AT_ONCE; p++)
            sums[c][p] += weight * known[p];
    }
}

void bands_colours(uint8_t *pixels, const float *values, size_t n, const struct clv_bands *bands)
{
    double sums[3][COLOURS_AT_ONCE];
    for (size_t first = 0; first < n; first += COLOURS_AT_ONCE) {
        const size_t m = n - first < COLOURS_AT_ONCE ? n - first : COLOURS_AT_ONCE;
        for (int c = 0; c < 3; c++)
            for (size_t p = 0; p < COLOURS_AT_ONCE; p++)
                sums[c][p] = (double)bands->offset[c];
        for (int32_t b = 0; b < bands->n_bands; b++)
            add_band(sums, values + first * (size_t)bands->n_bands + b, m, bands, b);
        for (int c = 0; c < 3; c++)
            for (size_t p = 0; p < COLOURS_AT_ONCE; p++) {
                double value = sums[c][p] + 0.5;
                value = value > 0 ? value : 0;
                sums[c][p] = value < 255 ? value : 255;
            }
        for (size_t p = 0; p < m; p++)
            for (int c = 0; c < 3; c++)
                pixels[3 * (first + p) + (size_t)c] = (uint8_t)(int)sums[c][p];
    }
}

bool bands_are_plain(struct clv_bands *bands, const struct raster *raster)
{
    bool is_grey = raster->n_bands == 1 && !raster->is_colour;
    *bands = (struct clv_bands){.n_bands = raster->n_bands};
    if (!raster->is_photograph || !raster->is_bytes || !(is_grey || raster->n_bands == 3))
        return false;
    for (int c = 0; c < 3; c++) {
        int32_t b = is_grey ? 0 : c;
        bands->high[b] = bands->middle[b] = 255;
        show_band(bands, c, b, 0, 255);
    }
    return true;
}

enum clv_status bands_show(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                           struct clv_error *err)
{
    struct clv_bands learned = {0};
    OWNED(clv_image_release) struct clv_image result = {0};
    size_t width = (size_t)raster->width;
    OWNED_ARRAY float *values = NULL;
    if (!bands)
        MUST(learn_from_raster(&learned, raster, err));
    bands = bands ? bands : &learned;
    if (raster->n_bands != bands->n_bands)
        return raster_fail_bands(raster, raster->parts->map.path, bands->n_bands, err);
    MUST(clv_image_new(&result, raster->width, raster->height, 3, err));
    NEED(values = array_alloc(ROWS * width, (size_t)raster->n_bands * sizeof *values));
    for (int32_t y = 0; y < raster->height; y += ROWS) {
        int32_t rows = raster->height - y < ROWS ? raster->height - y : ROWS;
        const struct image_part part = {.top = y, .width = raster->width, .height = rows};
        MUST(raster_read(values, raster, &part, err));
        bands_colours(result.pixels + 3 * (size_t)y * width, values, (size_t)rows * width, bands);
    }
    *image = TAKE(result);
    return CLV_OK;
}

/* Reads and converts the wanted rows. */
static enum clv_status show_rows(struct clv_image *rows, struct raster *raster, const struct clv_bands *bands,
                                 const struct image_part *wanted, struct clv_error *err)
{
    const struct image_part from = resize_source(wanted, raster->width, raster->height);
    const size_t n = (size_t)from.width * (size_t)from.height;
    OWNED(clv_image_release) struct clv_image source = {0};
    OWNED_ARRAY float *values = array_alloc(n, (size_t)raster->n_bands * sizeof *values);
    NEED(values);
    MUST(clv_image_new(&source, from.width, from.height, 3, err));
    MUST(raster_read(values, raster, &from, err));
    bands_colours(source.pixels, values, n, bands);
    return image_resize_part(rows, wanted, &source, &from, err);
}

enum clv_status bands_show_part(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                                const struct image_part *wanted, struct clv_error *err)
{
    const double across = (double)raster->width / wanted->whole_width * wanted->width * raster->n_bands;
    const double down = (double)raster->height / wanted->whole_height;
    const int32_t n_rows = int32_within(PART_VALUES / (across * down), 1, wanted->height);
    OWNED(clv_image_release) struct clv_image result = {0};
    if (raster->n_bands != bands->n_bands)
        return raster_fail_bands(raster, raster->parts->map.path, bands->n_bands, err);
    MUST(clv_image_new(&result, wanted->width, wanted->height, 3, err));
    for (int32_t y = 0; y < wanted->height; y += n_rows) {
        OWNED(clv_image_release) struct clv_image rows = {0};
        struct image_part part = *wanted;
        part.top += y;
        part.height = wanted->height - y < n_rows ? wanted->height - y : n_rows;
        MUST(show_rows(&rows, raster, bands, &part, err));
        memcpy(result.pixels + 3 * (size_t)y * (size_t)part.width, rows.pixels,
               3 * (size_t)part.height * (size_t)part.width);
    }
    raster_forget(raster);
    *image = TAKE(result);
    return CLV_OK;
}
