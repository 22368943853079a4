/* Opens rasters and reads windows of them: TIFFs, .npy files, files that GDAL reads and decoded images have one set of
 * functions. Several files, and the channels of a page, become bands of one raster. Start at open_part. */
#include "image/raster/raster.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/digest.h"
#include "image/image.h"

static void close_part(struct raster_part *part)
{
    raster_tiff_close(part->tiff);
    raster_gdal_close(part->gdal);
    clv_image_release(&part->image);
    file_map_close(&part->map);
}

void raster_close(struct raster *self)
{
    for (size_t k = 0; k < self->n_parts; k++)
        close_part(&self->parts[k]);
    array_free(self->parts);
    georeference_release(&self->georeference);
    *self = (struct raster){0};
}

/* Describes the part's array in *found. */
static enum clv_status describe_array(struct raster_part *part, struct raster *found,
                                      const struct clv_image_limits *limits, struct clv_error *err)
{
    char shape[160];
    struct number_array *array = &part->array;
    int64_t n_bands = array->n_dimensions == 3 ? array->shape[2] : 1;
    bool is_float = array->type == NUMBER_F16 || array->type == NUMBER_F32 || array->type == NUMBER_F64;
    number_shape_name(shape, sizeof shape, array);
    if ((array->n_dimensions != 2 && array->n_dimensions != 3) || n_bands < 1 || n_bands > CLV_MAX_BANDS)
        return fail(err, CLV_ERR_DATA, "shape %s; a raster is height x width x bands, of up to %d bands", shape,
                    CLV_MAX_BANDS);
    FAIL_IF(array->shape[0] > UINT32_MAX || array->shape[1] > UINT32_MAX, CLV_ERR_DATA, "shape %s is too large", shape);
    MUST(limits_check((uint32_t)array->shape[1], (uint32_t)array->shape[0], limits, err));
    *found = (struct raster){.width = (int32_t)array->shape[1],
                             .height = (int32_t)array->shape[0],
                             .n_bands = (int32_t)n_bands,
                             .is_bytes = array->type == NUMBER_U8,
                             .georeference.may_lack_data = is_float};
    return CLV_OK;
}

static enum clv_status open_array(struct raster_part *part, struct raster *found, const struct clv_image_limits *limits,
                                  struct clv_error *err)
{
    MUST(npy_parse(&part->array, part->map.bytes, part->map.size, NPY_OF_RASTERS, err));
    return describe_array(part, found, limits, err);
}

/* Describes the part's image in *found. */
static void describe_image(struct raster_part *part, struct raster *found)
{
    *found = (struct raster){.width = part->image.width,
                             .height = part->image.height,
                             .n_bands = 3,
                             .is_colour = true,
                             .is_photograph = true,
                             .is_plain = true,
                             .is_bytes = true,
                             .georeference = found->georeference};
}

/* Decodes a file that does not store bands. */
static enum clv_status open_image(struct raster_part *part, struct raster *found, const char *path,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    MUST(image_read_plain(&part->image, path, limits, err));
    describe_image(part, found);
    return CLV_OK;
}

/* Opens a channel (from 1) of the part's page by the reader of its format. If none stores bands, the part stays closed
 * and has to be decoded as a whole. */
static enum clv_status open_stored(struct raster_part *part, struct raster *found, bool is_tiff, uint32_t channel,
                                   enum raster_access access, const char *path, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    if (is_tiff)
        return raster_tiff_open(&part->tiff, found,
                                &(struct image_bytes){part->map.bytes, part->map.size, part->page, limits, channel},
                                access == RASTER_STORED, err);
    if (npy_recognised(part->map.bytes, part->map.size))
        return open_array(part, found, limits, err);
    return raster_gdal_knows(path) ? raster_gdal_open(&part->gdal, found, path, limits, err) : CLV_OK;
}

/* Opens a channel (from 1) of a file's page and describes it in *found, which must be zeros. *n_channels becomes the
 * number of channels of the page. */
static enum clv_status open_part(struct raster_part *part, struct raster *found, uint32_t *n_channels, uint32_t channel,
                                 enum raster_access access, const char *path, const struct clv_image_limits *limits,
                                 struct clv_error *err)
{
    size_t length;
    uint32_t page = 1;
    const char *format;
    struct clv_error ignored;
    struct stack_axes axes;
    bool names_page = path_page(&length, &page, path);
    OWNED_ARRAY char *file = string_copy(path);
    *n_channels = 1;
    NEED(file);
    file[length] = 0;
    MUST(file_map_open(&part->map, file, err));
    bool is_tiff = image_format(&format, part->map.bytes, part->map.size) == FORMAT_TIFF;
    part->page = names_page ? page : 1;
    if (is_tiff && tiff_find_axes(&axes, part->map.bytes, part->map.size, &ignored) == CLV_OK)
        *n_channels = axes.n_channels;
    enum clv_status status = open_stored(part, found, is_tiff, channel, access, path, limits, err);
    if (status)
        return fail_within(err, status, path);
    if (!part->tiff && !part->array.bytes && !part->gdal) {
        FAIL_IF(access != RASTER_WHOLE, CLV_ERR_DATA,
                "%s: only TIFFs of bands, grey or RGB and .npy files are read by windows", path);
        MUST(open_image(part, found, path, limits, err));
    }
    part->n_bands = found->n_bands;
    return CLV_OK;
}

/* Returns the path with its last first_length bytes, the first name of the band files, replaced by `name`. */
static char *sibling(const char *path, size_t first_length, const char *name, size_t length)
{
    size_t kept = strlen(path) - first_length;
    char *result = array_alloc(kept + length + 1, 1);
    if (result) {
        memcpy(result, path, kept);
        memcpy(result + kept, name, length);
        result[kept + length] = 0;
    }
    return result;
}

static enum clv_status add_channel(struct raster *self, uint32_t *n_channels, uint32_t channel, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(raster_close) struct raster found = {0};
    FAIL_IF(self->n_parts == CLV_MAX_BANDS, CLV_ERR_DATA, "%s: more than %d bands with those before", path,
            CLV_MAX_BANDS);
    struct raster_part *part = &self->parts[self->n_parts++];
    MUST(open_part(part, &found, n_channels, channel, self->access, path, limits, err));
    bool is_first = self->n_parts == 1;
    FAIL_IF(!is_first && (found.width != self->width || found.height != self->height), CLV_ERR_DATA,
            "%s: %dx%d pixels, the first of its bands has %dx%d", path, found.width, found.height, self->width,
            self->height);
    FAIL_IF(self->n_bands + found.n_bands > CLV_MAX_BANDS, CLV_ERR_DATA, "%s: more than %d bands with those before",
            path, CLV_MAX_BANDS);
    if (!is_first) {
        self->n_bands += found.n_bands;
        self->is_bytes &= found.is_bytes;
        self->has_palette |= found.has_palette;
        self->is_colour = self->is_photograph = self->is_plain = false;
        return CLV_OK;
    }
    found.parts = self->parts;
    found.access = self->access;
    found.n_parts = self->n_parts;
    *self = TAKE(found);
    return CLV_OK;
}

/* Adds the channels of a file's page, one after the other. */
static enum clv_status add_part(struct raster *self, const char *path, const struct clv_image_limits *limits,
                                struct clv_error *err)
{
    uint32_t n_channels, ignored;
    MUST(add_channel(self, &n_channels, 1, path, limits, err));
    for (uint32_t channel = 2; channel <= n_channels; channel++)
        MUST(add_channel(self, &ignored, channel, path, limits, err));
    return CLV_OK;
}

static enum clv_status open_all(struct raster *self, enum raster_access access, const char *path,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = {.max_pixels = UINT64_C(1) << 62, .max_side_px = INT32_MAX, .max_jpeg_scans = 0};
    OWNED(raster_close) struct raster result = {.access = access};
    const char *names = limits && limits->band_files ? limits->band_files : "";
    size_t first = strcspn(names, ","), length = strlen(path);
    bool is_several = first && length >= first && memcmp(path + length - first, names, first) == 0;
    if (limits && access == RASTER_WHOLE)
        resolved = limits_resolved(limits);
    result.parts = array_zalloc(CLV_MAX_BANDS, sizeof *result.parts);
    NEED(result.parts);
    if (!is_several)
        MUST(add_part(&result, path, &resolved, err));
    for (const char *name = names; is_several; name += strcspn(name, ",") + 1) {
        FAIL_IF(result.n_parts == CLV_MAX_BANDS, CLV_ERR_USAGE, "more than %d files of bands", CLV_MAX_BANDS);
        OWNED_ARRAY char *file = sibling(path, first, name, strcspn(name, ","));
        NEED(file);
        MUST(add_part(&result, file, &resolved, err));
        if (!name[strcspn(name, ",")])
            break;
    }
    *self = TAKE(result);
    return CLV_OK;
}

/* Makes a raster of one part that *found describes. Takes over both. */
static void take_part(struct raster *self, struct raster *found, struct raster_part *parts)
{
    parts->page = 1;
    parts->n_bands = found->n_bands;
    found->parts = parts;
    found->n_parts = 1;
    *self = TAKE(*found);
}

enum clv_status raster_of_array(struct raster *self, const struct clv_array *array, struct clv_error *err)
{
    const struct clv_image_limits resolved = {.max_pixels = UINT64_C(1) << 62, .max_side_px = INT32_MAX};
    OWNED_ARRAY struct raster_part *part = array_zalloc(1, sizeof *part);
    struct raster found = {0};
    NEED(part);
    MUST(number_array_of(&part->array, array, err));
    MUST(describe_array(part, &found, &resolved, err));
    take_part(self, &found, TAKE(part));
    return CLV_OK;
}

enum clv_status raster_of_image(struct raster *self, const struct clv_image *image, struct clv_error *err)
{
    const size_t n = (size_t)image->width * (size_t)image->height;
    OWNED_ARRAY struct raster_part *part = array_zalloc(1, sizeof *part);
    struct raster found = {0};
    NEED(part);
    part->image = *image;
    NEED(part->image.pixels = array_copy(image->pixels, n, (size_t)image->channels));
    describe_image(part, &found);
    take_part(self, &found, TAKE(part));
    return CLV_OK;
}

enum clv_status raster_open(struct raster *self, const char *path, const struct clv_image_limits *limits,
                            struct clv_error *err)
{
    return open_all(self, RASTER_WHOLE, path, limits, err);
}

enum clv_status raster_open_windows(struct raster *self, const char *path, const struct clv_image_limits *limits,
                                    struct clv_error *err)
{
    return open_all(self, RASTER_WINDOWS, path, limits, err);
}

enum clv_status raster_open_stored(struct raster *self, const char *path, struct clv_error *err)
{
    OWNED(raster_close) struct raster result = {0};
    MUST(open_all(&result, RASTER_STORED, path, NULL, err));
    FAIL_IF(result.n_parts != 1 || !result.parts->tiff || result.n_bands != 1, CLV_ERR_DATA,
            "%s: not a TIFF of one whole number per pixel, which a mask and an image of objects are", path);
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status raster_stamp(uint64_t *hash, const struct raster *self, bool is_strict, struct clv_error *err)
{
    *hash = stack_axes_hash(*hash);
    for (size_t k = 0; k < self->n_parts; k++) {
        const struct raster_part *part = &self->parts[k];
        *hash = hash_number(*hash, part->page);
        MUST(part->gdal ? raster_gdal_stamp(hash, part->gdal, part->map.path, is_strict, err)
                        : stamp_file(hash, part->map.path, is_strict, err));
    }
    return CLV_OK;
}

void raster_forget(const struct raster *self)
{
    for (size_t k = 0; k < self->n_parts; k++)
        file_map_forget(&self->parts[k].map);
}

static void read_array(float *values, size_t step, const struct raster_part *part, const struct image_part *window)
{
    const struct number_array *array = &part->array;
    size_t down = number_stride(array, 0), across = number_stride(array, 1), n_bands = (size_t)part->n_bands;
    size_t deep = array->n_dimensions == 3 ? number_stride(array, 2) : 0, size = number_type_size(array->type);
    for (int32_t y = window->top; y < window->top + window->height; y++)
        for (int32_t x = window->left; x < window->left + window->width; x++, values += step)
            for (size_t b = 0; b < n_bands; b++) {
                size_t at = (size_t)y * down + (size_t)x * across + b * deep;
                float value = (float)number_load(array->bytes + at * size, array->type, array->big_endian);
                values[b] = isfinite(value) ? value : NAN;
            }
}

static void read_image(float *values, size_t step, const struct clv_image *image, const struct image_part *window)
{
    for (int32_t y = window->top; y < window->top + window->height; y++)
        for (int32_t x = window->left; x < window->left + window->width; x++, values += step) {
            const uint8_t *from = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            for (int c = 0; c < 3; c++)
                values[c] = from[c];
        }
}

static enum clv_status read_part(float *values, size_t step, const struct raster_part *part,
                                 const struct image_part *window, struct clv_error *err)
{
    if (part->tiff)
        return raster_tiff_read(values, step, part->tiff, window, err);
    if (part->gdal)
        return raster_gdal_read(values, step, part->gdal, window, err);
    if (part->array.bytes)
        read_array(values, step, part, window);
    else
        read_image(values, step, &part->image, window);
    return CLV_OK;
}

enum clv_status raster_read(float *values, struct raster *self, const struct image_part *window, struct clv_error *err)
{
    size_t step = (size_t)self->n_bands;
    for (size_t k = 0; k < self->n_parts; k++) {
        const struct raster_part *part = &self->parts[k];
        enum clv_status status = read_part(values, step, part, window, err);
        if (status)
            return fail_within(err, status, part->map.path);
        values += part->n_bands;
    }
    return CLV_OK;
}

static enum clv_status read_whole(uint8_t *labels, int32_t *numbers, struct raster *self,
                                  const struct image_part *window, struct clv_error *err)
{
    enum clv_status status = raster_tiff_read_whole(labels, numbers, self->parts->tiff, window, err);
    return status ? fail_within(err, status, self->parts->map.path) : CLV_OK;
}

enum clv_status raster_read_labels(uint8_t *labels, struct raster *self, const struct image_part *window,
                                   struct clv_error *err)
{
    return read_whole(labels, NULL, self, window, err);
}

enum clv_status raster_read_numbers(int32_t *numbers, struct raster *self, const struct image_part *window,
                                    struct clv_error *err)
{
    return read_whole(NULL, numbers, self, window, err);
}

void raster_block(int32_t *width, int32_t *height, const struct raster *self)
{
    *width = self->width;
    *height = 1;
    for (size_t k = 0; k < self->n_parts; k++) {
        int32_t across = self->width, down = 1;
        if (self->parts[k].tiff)
            raster_tiff_block(&across, &down, self->parts[k].tiff);
        *width = across < *width ? across : *width;
        *height = down > *height ? down : *height;
    }
}

#define VALUES_AT_ONCE ((size_t)16 << 20)

static bool has_data(const float *values, int32_t n_bands)
{
    for (int32_t b = 0; b < n_bands; b++)
        if (!isnan(values[b]))
            return true;
    return false;
}

enum clv_status raster_void_labels(uint8_t *labels, struct raster *self, const struct image_part *window,
                                   struct clv_error *err)
{
    struct image_part part = *window;
    size_t width = (size_t)part.width, n_bands = (size_t)self->n_bands, most = VALUES_AT_ONCE / (width * n_bands);
    int32_t step = most < 1 ? 1 : most < (size_t)window->height ? (int32_t)most : window->height;
    if (!self->georeference.may_lack_data)
        return CLV_OK;
    OWNED_ARRAY float *values = array_alloc((size_t)step * width, n_bands * sizeof *values);
    NEED(values);
    for (int32_t top = 0; top < window->height; top += step) {
        part.top = window->top + top;
        part.height = window->height - top < step ? window->height - top : step;
        MUST(raster_read(values, self, &part, err));
        for (size_t p = 0; p < (size_t)part.height * width; p++)
            if (!has_data(values + p * n_bands, self->n_bands))
                labels[(size_t)top * width + p] = RASTER_VOID;
    }
    return CLV_OK;
}

enum clv_status raster_void_missing(uint8_t *labels, int32_t width, int32_t height, const char *path,
                                    const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    const struct image_part all = {.width = width, .height = height};
    struct clv_error why = {0};
    if (!raster_may_be(path, limits))
        return CLV_OK;
    enum clv_status status = raster_open(&raster, path, limits, &why);
    if (status == CLV_ERR_DATA && !(limits && limits->bands))
        return CLV_OK; /* clv_image_read reads such a file, a turned TIFF for example, as an image without bands */
    if (status && err)
        *err = why;
    return status ? status : raster_void_labels(labels, &raster, &all, err);
}

void georeference_find(struct georeference *georeference, const char *path)
{
    OWNED(raster_close) struct raster raster = {0};
    struct clv_error ignored;
    *georeference = (struct georeference){0};
    if ((!text_ends_with(path, ".tif") && !text_ends_with(path, ".tiff") && !raster_gdal_knows(path)) ||
        raster_open(&raster, path, NULL, &ignored) != CLV_OK)
        return;
    *georeference = TAKE(raster.georeference);
}

bool raster_may_be(const char *path, const struct clv_image_limits *limits)
{
    size_t length;
    uint32_t page;
    return (limits && (limits->bands || limits->band_files)) || path_page(&length, &page, path) ||
           text_ends_with(path, ".tif") || text_ends_with(path, ".tiff") || text_ends_with(path, ".npy") ||
           raster_gdal_knows(path);
}

enum clv_status raster_fail_bands(const struct raster *self, const char *path, int32_t n, struct clv_error *err)
{
    bool is_shown = n == 1 && self->n_bands == 3 && (self->is_photograph || self->is_plain);
    struct stack_axes axes;
    char name[STACK_NAME];
    image_find_axes(&axes, path);
    stack_axes_name(name, sizeof name, &axes);
    if (axes.n_channels > 1)
        return fail(err, CLV_ERR_DATA,
                    "%s: %d bands, the images learned from have %d; its pages were read as %s: --axes T makes each an "
                    "image",
                    path, self->n_bands, n, name);
    return fail(err, CLV_ERR_DATA, "%s: %s, the images learned from have %d%s", path,
                n_of((size_t)self->n_bands, "band", "bands").text, n,
                is_shown ? "; a model of `train --range LOW,HIGH' takes grey of 16 bits as PNG and as TIFF" : "");
}

bool raster_is_deep(const char *path, const struct clv_image_limits *limits)
{
    OWNED(raster_close) struct raster raster = {0};
    struct clv_error ignored;
    if (!raster_may_be(path, limits) || raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return false;
    return !raster.is_photograph;
}
