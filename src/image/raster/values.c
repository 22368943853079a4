/* Samples as files have them, where those are other numbers than what images show. */
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "image/raster/raster.h"

static enum clv_status read_raster(struct raster_values *values, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    struct raster raster;
    struct clv_error ignored;
    enum clv_status status = CLV_OK;
    if (raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return CLV_OK;
    if (!raster.is_photograph || (limits && limits->bands)) {
        *values = (struct raster_values){raster.width, raster.height, raster.n_bands, NULL};
        values->samples =
            array_alloc((size_t)raster.width * (size_t)raster.height, (size_t)raster.n_bands * sizeof *values->samples);
        const struct image_part all = {.width = raster.width, .height = raster.height};
        status = values->samples ? raster_read(values->samples, &raster, &all, err) : fail_memory(err);
    }
    raster_close(&raster);
    return status;
}

/* Grey of 16 bits alone. */
static enum clv_status read_png(struct raster_values *values, const uint8_t *bytes, size_t size,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    enum { DEPTH_AT = 24, COLOUR_TYPE_AT, HEAD };
    struct clv_image_limits resolved = limits_resolved(limits);
    struct png_grey grey;
    const char *ignored = NULL;
    if (size < HEAD || bytes[DEPTH_AT] != 16 || bytes[COLOUR_TYPE_AT] != 0 ||
        image_format(&ignored, bytes, size) != FORMAT_PNG)
        return CLV_OK;
    MUST(png_decode_grey(&grey, bytes, size, &resolved, err));
    size_t n = (size_t)grey.width * (size_t)grey.height;
    *values = (struct raster_values){grey.width, grey.height, 1, array_alloc(n, sizeof *values->samples)};
    for (size_t i = 0; i < n && values->samples; i++)
        values->samples[i] = grey.values[i];
    array_free(grey.values);
    return values->samples ? CLV_OK : fail_memory(err);
}

enum clv_status raster_values_read(struct raster_values *values, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    struct raster_values made = {0};
    struct file_map map;
    enum clv_status status;
    if (raster_may_be(path, limits)) {
        status = read_raster(&made, path, limits, err);
    } else {
        MUST(file_map_open(&map, path, err));
        status = read_png(&made, map.bytes, map.size, limits, err);
        file_map_close(&map);
        if (status != CLV_OK)
            fail_within(err, status, path);
    }
    DELIVER(values, made, array_free(made.samples));
    return status;
}
