/* Reads network maps from PNG, .npy and safetensors files: small maps completely, large maps channel by channel, or in
 * blocks of channels if these are interleaved. Start at map_reader_open. */
#include "data/maps/maps.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"

#define ZIP "PK\x03\x04"

#define MAP_KEPT     4194304.0         /* largest number of values of a map that is kept in memory */
#define BLOCK_VALUES ((size_t)1 << 24) /* largest number of values of a block of channels */

/* Memory in bytes per pixel. */
#define PNG_PIXEL     14 /* decoded, as numbers, and as values */
#define CHANNEL_PIXEL 28 /* a channel as read, its values, sums of a component, a margin, blurred values */

static enum clv_status parse_png(struct clv_map *map, const unsigned char *bytes, size_t size,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    OWNED(png_grey_release) struct png_grey grey = {0};
    MUST(png_decode_grey(&grey, bytes, size, &resolved, err));
    size_t n = (size_t)grey.width * (size_t)grey.height;
    OWNED(clv_map_release) struct clv_map result = {
        .width = grey.width, .height = grey.height, .n_channels = 1, .is_integer = true};
    result.values = array_alloc(n, sizeof *result.values);
    NEED(result.values);
    for (size_t p = 0; p < n; p++)
        result.values[p] = (float)grey.values[p] / (float)grey.largest;
    *map = TAKE(result);
    return CLV_OK;
}

static bool find_type(enum number_type *type, enum clv_dtype dtype)
{
    switch (dtype) {
    case CLV_U8: *type = NUMBER_U8; return true;
    case CLV_U16: *type = NUMBER_U16; return true;
    case CLV_F16: *type = NUMBER_F16; return true;
    case CLV_F32: *type = NUMBER_F32; return true;
    case CLV_F64: *type = NUMBER_F64; return true;
    default: return false;
    }
}

/* Describes a tensor as an array. `bytes` is its data in the file, which may be misaligned. */
static enum clv_status from_tensor(struct number_array *array, const struct clv_tensor *tensor,
                                   const unsigned char *bytes, struct clv_error *err)
{
    *array = (struct number_array){.bytes = bytes, .n_dimensions = tensor->n_dimensions};
    FAIL_IF(!find_type(&array->type, tensor->dtype), CLV_ERR_DATA,
            "tensor \"%.60s\" is of whole numbers; maps are U8, U16, F16, F32 or F64", tensor->name);
    memcpy(array->shape, tensor->shape, sizeof tensor->shape);
    return CLV_OK;
}

static enum clv_status parse_tensors(struct number_array *array, const unsigned char *bytes, size_t size,
                                     struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    MUST(clv_tensors_parse(&tensors, bytes, size, "safetensors", err));
    const struct clv_tensor *tensor = clv_tensors_find(tensors, "map");
    if (!tensor && clv_tensors_count(tensors) == 1)
        tensor = clv_tensors_at(tensors, 0);
    FAIL_IF(!tensor, CLV_ERR_DATA, "%zu tensors; a map is the only one, or the one called \"map\"",
            clv_tensors_count(tensors));
    return from_tensor(array, tensor, bytes + tensors_offset(tensors, tensor), err);
}

static bool is_png(const unsigned char *bytes, size_t size)
{
    const char *format;
    return image_format(&format, bytes, size) == FORMAT_PNG;
}

static enum clv_status parse_array(struct map_planes *planes, const unsigned char *bytes, size_t size,
                                   enum clv_map_layout layout, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    struct number_array array;
    bool is_npy = npy_recognised(bytes, size), is_zip = size >= 4 && memcmp(bytes, ZIP, 4) == 0;
    FAIL_IF(!is_npy && is_zip, CLV_ERR_DATA,
            "a .npz archive; a map is one array in a .npy file (numpy.save, not savez)");
    FAIL_IF(!is_npy && (size < 9 || bytes[8] != '{'), CLV_ERR_DATA,
            "no map of %zu bytes: neither PNG nor .npy nor safetensors", size);
    MUST(is_npy ? npy_parse(&array, bytes, size, NPY_OF_MAPS, err) : parse_tensors(&array, bytes, size, err));
    return map_planes_init(planes, &array, layout, limits, err);
}

/* Sets the size of the map from the planes. */
static void describe(struct map_reader *self)
{
    const struct map_planes *planes = &self->planes;
    self->map = (struct clv_map){.width = (int32_t)planes->width,
                                 .height = (int32_t)planes->height,
                                 .n_channels = (int32_t)planes->n_channels,
                                 .is_integer = planes->array.type == NUMBER_U8 || planes->array.type == NUMBER_U16};
}

static enum clv_status parse(struct map_reader *self, const unsigned char *bytes, size_t size,
                             enum clv_map_layout layout, const struct clv_image_limits *limits, struct clv_error *err)
{
    if (is_png(bytes, size))
        return parse_png(&self->map, bytes, size, limits, err);
    MUST(parse_array(&self->planes, bytes, size, layout, limits, err));
    describe(self);
    return CLV_OK;
}

const struct map_reader *map_readers_of(struct map_reader *views, const struct clv_map *maps, int32_t n_maps)
{
    for (int32_t m = 0; maps && m < n_maps && m < CLV_MAX_MAPS; m++)
        views[m] = (struct map_reader){.map = maps[m]};
    return maps ? views : NULL;
}

void map_reader_close(struct map_reader *self)
{
    clv_map_release(&self->map);
    file_map_close(&self->file);
    array_free(self->block);
    self->block = NULL;
}

/* A block of channels that are read in one pass, from the channel `first` on. */
struct map_block {
    bool is_loaded;
    size_t first, most;
    float values[]; /* [most][height][width] */
};

/* The number of channels that fit into BLOCK_VALUES, at least 1. */
static size_t block_size(const struct map_planes *planes)
{
    size_t fit = BLOCK_VALUES / (planes->width * planes->height);
    return fit < 1 ? 1 : fit < planes->n_channels ? fit : planes->n_channels;
}

static enum clv_status block_new(struct map_block **block, const struct map_planes *planes, struct clv_error *err)
{
    size_t most = block_size(planes);
    *block = array_alloc(sizeof **block + most * planes->width * planes->height * sizeof *(*block)->values, 1);
    NEED(*block);
    (*block)->is_loaded = false;
    (*block)->most = most;
    return CLV_OK;
}

/* Loads the block with the channel. */
static enum clv_status block_load(struct map_block *block, const struct map_reader *self, size_t channel,
                                  struct clv_error *err)
{
    size_t first = channel - channel % block->most, left = self->planes.n_channels - first;
    if (block->is_loaded && block->first == first)
        return CLV_OK;
    block->first = first;
    block->is_loaded = false;
    MUST(map_planes_load(block->values, &self->planes, first, left < block->most ? left : block->most, &self->file,
                         err));
    block->is_loaded = true;
    return CLV_OK;
}

static enum clv_status load_channel(const float **values, float *scratch, const struct map_reader *self, size_t c,
                                    struct clv_error *err)
{
    if (!self->block) {
        MUST(map_planes_load(scratch, &self->planes, c, 1, &self->file, err));
        *values = scratch;
        return CLV_OK;
    }
    MUST(block_load(self->block, self, c, err));
    *values = self->block->values + (c - self->block->first) * (size_t)self->map.width * (size_t)self->map.height;
    return CLV_OK;
}

enum clv_status map_reader_channel(const float **values, float *scratch, const struct map_reader *self, int32_t channel,
                                   struct clv_error *err)
{
    size_t c = (size_t)channel, n = (size_t)self->map.width * (size_t)self->map.height;
    if (self->map.values) {
        *values = self->map.values + c * n;
        return CLV_OK;
    }
    enum clv_status status = load_channel(values, scratch, self, c, err);
    return status ? fail_within(err, status, self->name ? self->name : self->file.path) : CLV_OK;
}

/* Moves or reads all values to *map, which owns them; `self` keeps none. */
static enum clv_status take_all(struct clv_map *map, struct map_reader *self, struct clv_error *err)
{
    const struct map_planes *planes = &self->planes;
    size_t n = planes->width * planes->height, at_once = map_planes_interleaved(planes) ? planes->n_channels : 1;
    OWNED(clv_map_release) struct clv_map result = self->map;
    self->map.values = NULL;
    if (!result.values) {
        result.values = array_alloc(planes->n_channels, n * sizeof *result.values);
        NEED(result.values);
        for (size_t c = 0; c < planes->n_channels; c += at_once)
            MUST(map_planes_load(result.values + c * n, planes, c, at_once, &self->file, err));
    }
    *map = TAKE(result);
    return CLV_OK;
}

/* Reads all values if they are few; else allocates a block if channels are interleaved. */
static enum clv_status open_values(struct map_reader *self, struct clv_error *err)
{
    if ((double)self->map.width * self->map.height * self->map.n_channels <= MAP_KEPT)
        return take_all(&self->map, self, err);
    return !self->map.values && map_planes_interleaved(&self->planes) ? block_new(&self->block, &self->planes, err)
                                                                      : CLV_OK;
}

enum clv_status map_reader_open(struct map_reader *self, const char *path, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader result = {0};
    if (layout == CLV_MAP_LAYOUT_BANDS) {
        const struct clv_item item = {.image = (char *)(uintptr_t)path}; /* a view */
        *self = (struct map_reader){0};
        return bands_map_read(&self->map, &item, limits, err);
    }
    MUST(file_map_open(&result.file, path, err));
    enum clv_status status = parse(&result, result.file.bytes, result.file.size, layout, limits, err);
    status = status ? status : open_values(&result, err);
    if (status)
        return fail_within(err, status, path);
    if (result.map.values)
        file_map_close(&result.file);
    *self = TAKE(result);
    return CLV_OK;
}

/* Bytes of memory of an array's map while it is used. */
static double memory_of(const struct map_planes *planes)
{
    bool has_block = map_planes_interleaved(planes);
    double n = (double)(planes->width * planes->height), all = n * (double)planes->n_channels;
    return sizeof(float) * (all <= MAP_KEPT ? all : has_block ? n * (double)block_size(planes) : 0) + CHANNEL_PIXEL * n;
}

static enum clv_status open_array(struct map_reader *self, const struct clv_array *array, enum clv_map_layout layout,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    struct number_array numbers;
    MUST(number_array_of(&numbers, array, err));
    FAIL_IF(numbers.type > NUMBER_F64, CLV_ERR_DATA, "an array of other numbers; " NPY_OF_MAPS);
    MUST(map_planes_init(&self->planes, &numbers, layout, limits, err));
    describe(self);
    return open_values(self, err);
}

enum clv_status map_reader_of_array(struct map_reader *self, const struct clv_array *array, enum clv_map_layout layout,
                                    const char *name, const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader result = {.name = name};
    enum clv_status status = open_array(&result, array, layout, limits, err);
    if (status)
        return fail_within(err, status, name);
    *self = TAKE(result);
    return CLV_OK;
}

double map_file_memory(const char *path, enum clv_map_layout layout, const struct clv_image_limits *limits)
{
    struct clv_error ignored; /* reported when the map is read */
    OWNED(file_map_close) struct file_map file = {0};
    struct map_planes planes;
    int32_t width, height;
    double bytes = 0;
    if (layout == CLV_MAP_LAYOUT_BANDS)
        return bands_map_memory(&(struct clv_item){.image = (char *)(uintptr_t)path}, limits);
    if (file_map_open(&file, path, &ignored) != CLV_OK)
        return 0;
    if (is_png(file.bytes, file.size)) {
        if (clv_image_read_size(&width, &height, path, limits, &ignored) == CLV_OK)
            bytes = PNG_PIXEL * (double)width * height + (double)file.size;
    } else if (parse_array(&planes, file.bytes, file.size, layout, limits, &ignored) == CLV_OK) {
        bytes = memory_of(&planes) + (double)MAP_PAGES;
    }
    return bytes;
}

double map_array_memory(const struct clv_array *array, enum clv_map_layout layout,
                        const struct clv_image_limits *limits)
{
    struct clv_error ignored; /* reported when the map is read */
    struct number_array numbers;
    struct map_planes planes;
    return number_array_of(&numbers, array, &ignored) == CLV_OK &&
                   map_planes_init(&planes, &numbers, layout, limits, &ignored) == CLV_OK
               ? memory_of(&planes)
               : 0;
}

enum clv_status map_parse(struct clv_map *map, const unsigned char *bytes, size_t size, enum clv_map_layout layout,
                          const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader self = {0};
    MUST(parse(&self, bytes, size, layout, limits, err));
    return take_all(map, &self, err);
}

enum clv_status clv_map_read(struct clv_map *map, const char *path, enum clv_map_layout layout,
                             const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader self = {0};
    MUST(map_reader_open(&self, path, layout, limits, err));
    enum clv_status status = take_all(map, &self, err);
    return status ? fail_within(err, status, self.file.path) : CLV_OK;
}
