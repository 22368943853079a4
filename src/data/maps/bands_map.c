#include "data/maps/maps.h"

#include <math.h>

#include "base/base.h"
#include "image/raster/raster.h"

#define MOST_VALUES 16777216.0
#define COMPARED    8 /* bands */

static int32_t n_compared(int32_t n_bands)
{
    return n_bands < COMPARED ? n_bands : COMPARED;
}

int32_t bands_map_channels(int32_t n_bands)
{
    int32_t n = n_compared(n_bands);
    return n_bands + n * (n - 1) / 2;
}

/* Pixels a side that are averaged. */
static int32_t shrinking(const struct raster *raster)
{
    double values = (double)raster->width * raster->height * bands_map_channels(raster->n_bands);
    return values > MOST_VALUES ? (int32_t)ceil(sqrt(values / MOST_VALUES)) : 1;
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

/* values[rows][raster->width][n_bands] become row `y` of the map: means over what there is. */
static void add_row(struct clv_map *map, int32_t y, const float *values, int32_t rows, const struct raster *raster,
                    const struct clv_bands *bands)
{
    size_t plane = (size_t)map->width * (size_t)map->height;
    for (int32_t x = 0; x < map->width; x++) {
        double mean[CLV_MAX_BANDS];
        int32_t left = (int32_t)((int64_t)x * raster->width / map->width);
        int32_t right = (int32_t)((int64_t)(x + 1) * raster->width / map->width);
        float *to = map->values + (size_t)y * (size_t)map->width + (size_t)x;
        for (int32_t b = 0; b < raster->n_bands; b++) {
            double sum = 0;
            size_t n = 0;
            for (int32_t row = 0; row < rows; row++)
                for (int32_t column = left; column < right; column++) {
                    float value =
                        values[((size_t)row * (size_t)raster->width + (size_t)column) * (size_t)raster->n_bands +
                               (size_t)b];
                    sum += isnan(value) ? 0 : (double)value;
                    n += !isnan(value);
                }
            mean[b] = n ? sum / (double)n : (double)bands->middle[b];
            to[(size_t)b * plane] = (float)mean[b];
        }
        add_differences(to + (size_t)raster->n_bands * plane, plane, mean, raster->n_bands);
    }
}

static enum clv_status read_all(struct clv_map *map, struct raster *raster, const struct clv_bands *bands,
                                struct clv_error *err)
{
    int32_t by = shrinking(raster);
    *map = (struct clv_map){.width = (raster->width + by - 1) / by,
                            .height = (raster->height + by - 1) / by,
                            .n_channels = bands_map_channels(raster->n_bands)};
    float *rows = array_alloc((size_t)by * (size_t)raster->width, (size_t)raster->n_bands * sizeof *rows);
    map->values = array_alloc((size_t)map->width * (size_t)map->height, (size_t)map->n_channels * sizeof *map->values);
    enum clv_status status = rows && map->values ? CLV_OK : fail_memory(err);
    for (int32_t y = 0; y < map->height && status == CLV_OK; y++) {
        int32_t top = (int32_t)((int64_t)y * raster->height / map->height);
        int32_t bottom = (int32_t)((int64_t)(y + 1) * raster->height / map->height);
        status = raster_read(rows, raster, 0, top, raster->width, bottom - top, err);
        if (status == CLV_OK)
            add_row(map, y, rows, bottom - top, raster, bands);
    }
    array_free(rows);
    return status;
}

enum clv_status bands_map_read(struct clv_map *map, const char *path, const struct clv_image_limits *limits,
                               struct clv_error *err)
{
    const struct clv_bands *bands = limits ? limits->bands : NULL;
    struct clv_map made = {0};
    struct raster raster;
    if (!bands)
        return fail(err, CLV_ERR_USAGE, "%s: how bands are read has not been learned", path);
    MUST(raster_open(&raster, path, limits, err));
    enum clv_status status = CLV_OK;
    if (raster.n_bands != bands->n_bands)
        status = fail(err, CLV_ERR_DATA, "%s: %d band%s, the images learned from have %d", path, raster.n_bands,
                      raster.n_bands == 1 ? "" : "s", bands->n_bands);
    TRY(read_all(&made, &raster, bands, err));
    raster_close(&raster);
    if (status == CLV_OK)
        *map = made;
    else
        clv_map_release(&made);
    return status;
}

double bands_map_memory(const char *path, const struct clv_image_limits *limits)
{
    struct clv_error ignored; /* whoever reads the map will say */
    struct raster raster;
    if (raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return 0;
    double values = (double)raster.width * raster.height * bands_map_channels(raster.n_bands);
    raster_close(&raster);
    return sizeof(float) * fmin(values, MOST_VALUES);
}
