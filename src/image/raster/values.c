/* Reads the samples of a file as they are stored, if an image would show other numbers: bands, and grey of 16 bits.
 * Start at raster_values_read. */
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "image/raster/raster.h"

static enum clv_status read_raster(struct raster_values *values, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    struct clv_error ignored;
    if (raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return CLV_OK;
    if (!raster.is_photograph || (limits && limits->bands)) {
        *values = (struct raster_values){raster.width, raster.height, raster.n_bands, NULL};
        values->samples =
            array_alloc((size_t)raster.width * (size_t)raster.height, (size_t)raster.n_bands * sizeof *values->samples);
        const struct image_part all = {.width = raster.width, .height = raster.height};
        NEED(values->samples);
        MUST(raster_read(values->samples, &raster, &all, err));
    }
    return CLV_OK;
}

/* Reads 16-bit grey; leaves *values as they are for other files. */
static enum clv_status read_png(struct raster_values *values, const uint8_t *bytes, size_t size,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    enum { DEPTH_AT = 24, COLOUR_TYPE_AT, HEAD };
    struct clv_image_limits resolved = limits_resolved(limits);
    OWNED(png_grey_release) struct png_grey grey = {0};
    const char *ignored = NULL;
    if (size < HEAD || bytes[DEPTH_AT] != 16 || bytes[COLOUR_TYPE_AT] != 0 ||
        image_format(&ignored, bytes, size) != FORMAT_PNG)
        return CLV_OK;
    MUST(png_decode_grey(&grey, bytes, size, &resolved, err));
    size_t n = (size_t)grey.width * (size_t)grey.height;
    *values = (struct raster_values){grey.width, grey.height, 1, array_alloc(n, sizeof *values->samples)};
    NEED(values->samples);
    for (size_t i = 0; i < n; i++)
        values->samples[i] = grey.values[i];
    return CLV_OK;
}

static void values_release(struct raster_values *self)
{
    array_free(self->samples);
}

enum clv_status raster_values_read(struct raster_values *values, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(values_release) struct raster_values result = {0};
    if (raster_may_be(path, limits)) {
        MUST(read_raster(&result, path, limits, err));
    } else {
        OWNED(file_map_close) struct file_map map = {0};
        MUST(file_map_open(&map, path, err));
        enum clv_status status = read_png(&result, map.bytes, map.size, limits, err);
        if (status)
            return fail_within(err, status, path);
    }
    *values = TAKE(result);
    return CLV_OK;
}
