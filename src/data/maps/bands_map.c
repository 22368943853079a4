/* Makes maps of rasters at a reduced size: their bands, and the normalised differences of pairs of bands (Tucker 1979
 * has that of two bands). Start at bands_map_read. */
#include "data/maps/maps.h"

#include <math.h>

#include "base/base.h"
#include "data/data.h"
#include "image/raster/raster.h"

#define MOST_VALUES 16777216.0
#define COMPARED    8 /* bands that are compared in pairs, at most */

static int32_t n_compared(int32_t n_bands)
{
    return n_bands < COMPARED ? n_bands : COMPARED;
}

/* Number of channels for n_bands bands: the bands, and the normalised differences (a - b) / (|a| + |b|) of all pairs of
 * bands. Of more than 8 bands, 8 that are spread evenly are compared. */
static int32_t bands_map_channels(int32_t n_bands)
{
    int32_t n = n_compared(n_bands);
    return n_bands + n * (n - 1) / 2;
}

/* The size of the map of a raster, as a part that covers it. */
static struct image_part map_size(int32_t width, int32_t height, const struct clv_bands *bands)
{
    double values = (double)width * height * bands_map_channels(bands->n_bands);
    int32_t by = values > MOST_VALUES ? int32_within(ceil(sqrt(values / MOST_VALUES)), 1, INT32_MAX / 2) : 1;
    bool is_fixed = bands->scale > 0;
    int32_t map_width = is_fixed ? scaled_size(width, bands->scale) : (width + by - 1) / by;
    int32_t map_height = is_fixed ? scaled_size(height, bands->scale) : (height + by - 1) / by;
    return (struct image_part){0, 0, map_width, map_height, map_width, map_height};
}

/* The first row or column of the image that row or column `at` of the map covers. */
static int32_t begin(int32_t at, int32_t size, int32_t map_size)
{
    return (int32_t)((int64_t)at * size / map_size);
}

static void add_differences(float *channel, size_t plane, const double *mean, int32_t n_bands)
{
    int32_t n = n_compared(n_bands);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++, channel += plane) {
            double a = mean[n > 1 ? i * (n_bands - 1) / (n - 1) : 0], b = mean[j * (n_bands - 1) / (n - 1)];
            double size = fabs(a) + fabs(b);
            *channel = size > 0 ? (float)((a - b) / size) : 0;
        }
}

/* Computes row `y` of the part: means of the values that are present, and their differences. */
static void add_row(struct clv_map *map, int32_t y, const struct image_part *wanted, const float *values,
                    const struct image_part *source, const struct clv_bands *bands)
{
    size_t plane = (size_t)map->width * (size_t)map->height, n_bands = (size_t)bands->n_bands;
    int32_t top = begin(wanted->top + y, source->whole_height, wanted->whole_height);
    int32_t bottom = begin(wanted->top + y + 1, source->whole_height, wanted->whole_height);
    int32_t right = begin(wanted->left, source->whole_width, wanted->whole_width);
    for (int32_t x = 0; x < map->width; x++) {
        double mean[CLV_MAX_BANDS];
        int32_t left = right;
        right = begin(wanted->left + x + 1, source->whole_width, wanted->whole_width);
        float *to = map->values + (size_t)y * (size_t)map->width + (size_t)x;
        for (size_t b = 0; b < n_bands; b++) {
            double sum = 0;
            size_t n = 0;
            for (int32_t row = top; row < bottom; row++)
                for (int32_t column = left; column < right; column++) {
                    size_t at = (size_t)(row - source->top) * (size_t)source->width + (size_t)(column - source->left);
                    float value = values[at * n_bands + b];
                    sum += isnan(value) ? 0 : (double)value;
                    n += !isnan(value);
                }
            mean[b] = n ? sum / (double)n : (double)bands->middle[b];
            to[b * plane] = (float)mean[b];
        }
        add_differences(to + n_bands * plane, plane, mean, bands->n_bands);
    }
}

static enum clv_status map_new(struct clv_map *map, const struct image_part *part, int32_t n_bands,
                               struct clv_error *err)
{
    *map = (struct clv_map){.width = part->width, .height = part->height, .n_channels = bands_map_channels(n_bands)};
    map->values = array_alloc((size_t)map->width * (size_t)map->height, (size_t)map->n_channels * sizeof *map->values);
    return map->values ? CLV_OK : fail_memory(err);
}

enum clv_status bands_map_part(struct clv_map *map, const struct image_part *wanted, const float *values,
                               const struct image_part *source, const struct clv_bands *bands, struct clv_error *err)
{
    MUST(map_new(map, wanted, bands->n_bands, err));
    for (int32_t y = 0; y < map->height; y++)
        add_row(map, y, wanted, values, source, bands);
    return CLV_OK;
}

static enum clv_status read_all(struct clv_map *map, struct raster *raster, const struct clv_bands *bands,
                                struct clv_error *err)
{
    const struct image_part all = map_size(raster->width, raster->height, bands);
    struct image_part source = {.width = raster->width, .whole_width = raster->width, .whole_height = raster->height};
    MUST(map_new(map, &all, bands->n_bands, err));
    size_t most = (size_t)(raster->height / all.height + 1) * (size_t)raster->width;
    OWNED_ARRAY float *rows = array_alloc(most, (size_t)raster->n_bands * sizeof *rows);
    NEED(rows);
    for (int32_t y = 0; y < all.height; y++) {
        source.top = begin(y, raster->height, all.height);
        source.height = begin(y + 1, raster->height, all.height) - source.top;
        MUST(raster_read(rows, raster, &source, err));
        add_row(map, y, &all, rows, &source, bands);
    }
    return CLV_OK;
}

enum clv_status bands_map_read(struct clv_map *map, const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err)
{
    const struct clv_bands *bands = limits ? limits->bands : NULL;
    OWNED(clv_map_release) struct clv_map result = {0};
    OWNED(raster_close) struct raster raster = {0};
    FAIL_IF(!bands, CLV_ERR_USAGE, "%s: how bands are read has not been learned", item->image);
    MUST(item_raster_open(&raster, item, limits, err));
    if (raster.n_bands != bands->n_bands)
        return raster_fail_bands(&raster, item->image, bands->n_bands, err);
    MUST(read_all(&result, &raster, bands, err));
    *map = TAKE(result);
    return CLV_OK;
}

double bands_map_memory(const struct clv_item *item, const struct clv_image_limits *limits)
{
    struct clv_error ignored; /* reported when the map is read */
    struct raster raster;
    if (item_raster_open(&raster, item, limits, &ignored) != CLV_OK)
        return 0;
    struct clv_bands bands = {.n_bands = raster.n_bands, .scale = limits && limits->bands ? limits->bands->scale : 0};
    struct image_part map = map_size(raster.width, raster.height, &bands);
    raster_close(&raster);
    return (double)map.width * map.height * bands_map_channels(bands.n_bands) * sizeof(float);
}
