#include "data/maps/map_array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "image/codec.h"

#define MAX_VALUES ((size_t)1 << 27)

void clv_map_release(struct clv_map *map)
{
    array_free(map->values);
    *map = (struct clv_map){0};
}

size_t map_type_size(enum map_type type)
{
    static const size_t sizes[] = {[MAP_U8] = 1, [MAP_U16] = 2, [MAP_F16] = 2, [MAP_F32] = 4, [MAP_F64] = 8};
    return sizes[type];
}

void map_shape_name(char *name, size_t size, const struct map_array *array)
{
    size_t used = (size_t)snprintf(name, size, "%s", array->n_dimensions ? "" : "no dimensions");
    for (int32_t d = 0; d < array->n_dimensions && used < size; d++)
        used += (size_t)snprintf(name + used, size - used, "%s%lld", d ? " x " : "", (long long)array->shape[d]);
}

bool map_array_bytes(size_t *bytes, const struct map_array *array)
{
    size_t product = map_type_size(array->type);
    for (int32_t d = 0; d < array->n_dimensions; d++)
        if (array->shape[d] < 0 || __builtin_mul_overflow(product, (size_t)array->shape[d], &product))
            return false;
    *bytes = product;
    return true;
}

/* IEEE 754 half precision; every value of it is one of single precision. */
static float from_half(uint16_t bits)
{
    int32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(fraction | 1024), exponent - 25);
    return bits & 0x8000 ? -size : size;
}

static double load(const unsigned char *bytes, enum map_type type, bool big_endian)
{
    size_t size = map_type_size(type);
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++)
        bits = bits << 8 | bytes[big_endian ? k : size - 1 - k];
    uint32_t half = (uint32_t)bits;
    float single;
    double value;
    switch (type) {
    case MAP_U8: return (double)((float)bits / 255);
    case MAP_U16: return (double)((float)bits / 65535);
    case MAP_F16: return (double)from_half((uint16_t)bits);
    case MAP_F32: memcpy(&single, &half, sizeof single); return (double)single;
    default: memcpy(&value, &bits, sizeof value); return value;
    }
}

/* Which dimension is which, and how many values apart its neighbours are. */
struct axes {
    int32_t channels, rows, columns; /* dimension; channels -1: there is one */
    size_t stride[MAP_MAX_DIMENSIONS];
};

static enum clv_status find_axes(struct axes *axes, const struct map_array *array, enum clv_map_layout layout,
                                 struct clv_error *err)
{
    char shape[160];
    const int64_t *size = array->shape;
    map_shape_name(shape, sizeof shape, array);
    if (array->n_dimensions == 2) {
        *axes = (struct axes){.channels = -1, .rows = 0, .columns = 1};
    } else if (array->n_dimensions == 3) {
        if (layout == CLV_MAP_LAYOUT_AUTO && size[0] < size[1] && size[0] < size[2])
            layout = CLV_MAP_LAYOUT_CHW;
        else if (layout == CLV_MAP_LAYOUT_AUTO && size[2] < size[0] && size[2] < size[1])
            layout = CLV_MAP_LAYOUT_HWC;
        if (layout == CLV_MAP_LAYOUT_AUTO)
            return fail(err, CLV_ERR_DATA, "shape %s may be channels first or last; --maps-layout chw or hwc tells",
                        shape);
        *axes = layout == CLV_MAP_LAYOUT_CHW ? (struct axes){.channels = 0, .rows = 1, .columns = 2}
                                             : (struct axes){.channels = 2, .rows = 0, .columns = 1};
    } else {
        return fail(err, CLV_ERR_DATA, "shape %s; a map is H x W, C x H x W or H x W x C", shape);
    }
    size_t stride = 1;
    for (int32_t k = 0; k < array->n_dimensions; k++) {
        int32_t d = array->is_fortran ? k : array->n_dimensions - 1 - k;
        axes->stride[d] = stride;
        stride *= (size_t)size[d];
    }
    return CLV_OK;
}

static enum clv_status check_size(const struct map_array *array, const struct axes *axes,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    char shape[160];
    struct clv_image_limits most = limits_resolved(limits);
    int64_t rows = array->shape[axes->rows], columns = array->shape[axes->columns];
    int64_t channels = axes->channels < 0 ? 1 : array->shape[axes->channels];
    map_shape_name(shape, sizeof shape, array);
    if (rows < 1 || columns < 1 || channels < 1)
        return fail(err, CLV_ERR_DATA, "shape %s has nothing in it", shape);
    if (rows > most.max_side_px || columns > most.max_side_px || (uint64_t)(rows * columns) > most.max_pixels)
        return fail(err, CLV_ERR_DATA, "shape %s: more than %d pixels a side or %llu in all", shape, most.max_side_px,
                    (unsigned long long)most.max_pixels);
    if (channels > CLV_MAX_MAP_CHANNELS)
        return fail(err, CLV_ERR_DATA, "shape %s: %lld channels, the limit is %d", shape, (long long)channels,
                    CLV_MAX_MAP_CHANNELS);
    if ((size_t)(rows * columns) > MAX_VALUES / (size_t)channels)
        return fail(err, CLV_ERR_DATA, "shape %s: more than %zu values", shape, MAX_VALUES);
    return CLV_OK;
}

enum clv_status map_from_array(struct clv_map *map, const struct map_array *array, enum clv_map_layout layout,
                               const struct clv_image_limits *limits, struct clv_error *err)
{
    struct axes axes = {0};
    struct map_array bare = *array;
    while (bare.n_dimensions > 3 && bare.shape[0] == 1)
        memmove(bare.shape, bare.shape + 1, (size_t)--bare.n_dimensions * sizeof *bare.shape);
    enum clv_status status = find_axes(&axes, &bare, layout, err);
    if (status == CLV_OK)
        status = check_size(&bare, &axes, limits, err);
    if (status != CLV_OK)
        return status;
    struct clv_map made = {.width = (int32_t)bare.shape[axes.columns],
                           .height = (int32_t)bare.shape[axes.rows],
                           .n_channels = axes.channels < 0 ? 1 : (int32_t)bare.shape[axes.channels],
                           .is_integer = bare.type == MAP_U8 || bare.type == MAP_U16};
    size_t width = (size_t)made.width, height = (size_t)made.height, size = map_type_size(bare.type), at = 0;
    size_t across = axes.stride[axes.columns], down = axes.stride[axes.rows];
    size_t deep = axes.channels < 0 ? 0 : axes.stride[axes.channels];
    made.values = array_alloc((size_t)made.n_channels * width, height * sizeof *made.values);
    if (!made.values)
        return fail_memory(err);
    for (size_t c = 0; c < (size_t)made.n_channels; c++)
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++) {
                double value = load(bare.bytes + (c * deep + y * down + x * across) * size, bare.type, bare.big_endian);
                if (!isfinite((float)value)) {
                    clv_map_release(&made);
                    return fail(err, CLV_ERR_DATA, "channel %zu has %g at (%zu, %zu)", c, value, x, y);
                }
                made.values[at++] = (float)value;
            }
    *map = made;
    return CLV_OK;
}
