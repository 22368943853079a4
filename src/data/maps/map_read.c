#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cleave/tensors.h"
#include "data/maps/map_array.h"
#include "image/codec.h"
#include "image/formats.h"

#define ZIP "PK\x03\x04"

static enum clv_status parse_png(struct clv_map *map, const unsigned char *bytes, size_t size,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    struct png_grey grey;
    enum clv_status status = png_decode_grey(&grey, bytes, size, &resolved, err);
    if (status != CLV_OK)
        return status;
    size_t n = (size_t)grey.width * (size_t)grey.height;
    struct clv_map made = {.width = grey.width, .height = grey.height, .n_channels = 1, .is_integer = true};
    made.values = array_alloc(n, sizeof *made.values);
    for (size_t p = 0; p < n && made.values; p++)
        made.values[p] = (float)grey.values[p] / (float)grey.largest;
    array_free(grey.values);
    if (!made.values)
        return fail_memory(err);
    *map = made;
    return CLV_OK;
}

static bool find_type(enum map_type *type, enum clv_dtype dtype)
{
    switch (dtype) {
    case CLV_U8: *type = MAP_U8; return true;
    case CLV_U16: *type = MAP_U16; return true;
    case CLV_F16: *type = MAP_F16; return true;
    case CLV_F32: *type = MAP_F32; return true;
    case CLV_F64: *type = MAP_F64; return true;
    default: return false;
    }
}

static enum clv_status from_tensor(struct clv_map *map, const struct clv_tensor *tensor, enum clv_map_layout layout,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    struct map_array array = {.bytes = tensor->data, .n_dimensions = tensor->n_dimensions};
    if (!find_type(&array.type, tensor->dtype))
        return fail(err, CLV_ERR_DATA, "tensor \"%.60s\" is of whole numbers; maps are U8, U16, F16, F32 or F64",
                    tensor->name);
    memcpy(array.shape, tensor->shape, sizeof tensor->shape);
    return map_from_array(map, &array, layout, limits, err);
}

static enum clv_status parse_tensors(struct clv_map *map, const unsigned char *bytes, size_t size,
                                     enum clv_map_layout layout, const struct clv_image_limits *limits,
                                     struct clv_error *err)
{
    struct clv_tensors *tensors;
    enum clv_status status = clv_tensors_parse(&tensors, bytes, size, "safetensors", err);
    if (status != CLV_OK)
        return status;
    const struct clv_tensor *tensor = clv_tensors_find(tensors, "map");
    if (!tensor && clv_tensors_count(tensors) == 1)
        tensor = clv_tensors_at(tensors, 0);
    status = tensor ? from_tensor(map, tensor, layout, limits, err)
                    : fail(err, CLV_ERR_DATA, "%zu tensors; a map is the only one, or the one called \"map\"",
                           clv_tensors_count(tensors));
    clv_tensors_close(tensors);
    return status;
}

enum clv_status map_parse(struct clv_map *map, const unsigned char *bytes, size_t size, enum clv_map_layout layout,
                          const struct clv_image_limits *limits, struct clv_error *err)
{
    struct map_array array;
    const char *format;
    if (image_format(&format, bytes, size) == FORMAT_PNG)
        return parse_png(map, bytes, size, limits, err);
    if (npy_recognised(bytes, size)) {
        enum clv_status status = npy_parse(&array, bytes, size, err);
        return status == CLV_OK ? map_from_array(map, &array, layout, limits, err) : status;
    }
    if (size >= 4 && memcmp(bytes, ZIP, 4) == 0)
        return fail(err, CLV_ERR_DATA, "a .npz archive; a map is one array in a .npy file (numpy.save, not savez)");
    if (size >= 9 && bytes[8] == '{')
        return parse_tensors(map, bytes, size, layout, limits, err);
    return fail(err, CLV_ERR_DATA, "no map of %zu bytes: neither PNG nor .npy nor safetensors", size);
}

enum clv_status clv_map_read(struct clv_map *map, const char *path, enum clv_map_layout layout,
                             const struct clv_image_limits *limits, struct clv_error *err)
{
    struct file_map file;
    enum clv_status status = file_map_open(&file, path, err);
    if (status != CLV_OK)
        return status;
    status = map_parse(map, file.bytes, file.size, layout, limits, err);
    file_map_close(&file);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, path);
}
