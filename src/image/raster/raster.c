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
    raster_place_release(&self->place);
    *self = (struct raster){0};
}

static enum clv_status open_array(struct raster_part *part, struct raster *own, const struct clv_image_limits *limits,
                                  struct clv_error *err)
{
    char shape[160];
    struct number_array *array = &part->array;
    MUST(npy_parse(array, part->map.bytes, part->map.size, NPY_OF_RASTERS, err));
    int64_t n_bands = array->n_dimensions == 3 ? array->shape[2] : 1;
    bool is_float = array->type == NUMBER_F16 || array->type == NUMBER_F32 || array->type == NUMBER_F64;
    number_shape_name(shape, sizeof shape, array);
    if ((array->n_dimensions != 2 && array->n_dimensions != 3) || n_bands < 1 || n_bands > CLV_MAX_BANDS)
        return fail(err, CLV_ERR_DATA, "shape %s; a raster is height x width x bands, of up to %d bands", shape,
                    CLV_MAX_BANDS);
    FAIL_IF(array->shape[0] > UINT32_MAX || array->shape[1] > UINT32_MAX, CLV_ERR_DATA, "shape %s is too large", shape);
    enum clv_status status = limits_check((uint32_t)array->shape[1], (uint32_t)array->shape[0], limits, err);
    *own = (struct raster){.width = (int32_t)array->shape[1],
                           .height = (int32_t)array->shape[0],
                           .n_bands = (int32_t)n_bands,
                           .is_bytes = array->type == NUMBER_U8,
                           .place.may_lack_data = is_float};
    return status;
}

/* What is not stored as bands is decoded. */
static enum clv_status open_image(struct raster_part *part, struct raster *own, const char *path,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    enum clv_status status = image_read_plain(&part->image, path, limits, err);
    *own = (struct raster){.width = part->image.width,
                           .height = part->image.height,
                           .n_bands = 3,
                           .is_colour = true,
                           .is_photograph = true,
                           .is_plain = true,
                           .is_bytes = true,
                           .place = own->place};
    return status;
}

/* A file, or a channel of one, from 1; what it says of itself is in *own. *n_channels are those of the page. */
static enum clv_status open_part(struct raster_part *part, struct raster *own, uint32_t *n_channels, uint32_t channel,
                                 bool is_by_windows, const char *path, const struct clv_image_limits *limits,
                                 struct clv_error *err)
{
    size_t length;
    uint32_t page = 1;
    const char *format;
    struct clv_error ignored;
    bool names_page = path_page(&length, &page, path);
    char *file = string_copy(path);
    *own = (struct raster){0};
    *n_channels = 1;
    MUST_IF(!file, fail_memory(err));
    file[length] = 0;
    enum clv_status status = file_map_open(&part->map, file, err);
    array_free(file);
    if (status != CLV_OK)
        return status;
    bool is_tiff = image_format(&format, part->map.bytes, part->map.size) == FORMAT_TIFF;
    part->page = names_page ? page : 1;
    const struct image_bytes from = {part->map.bytes, part->map.size, part->page, limits, channel};
    struct stack_axes axes;
    if (is_tiff && tiff_find_axes(&axes, part->map.bytes, part->map.size, &ignored) == CLV_OK)
        *n_channels = axes.n_channels;
    if (is_tiff)
        status = raster_tiff_open(&part->tiff, own, &from, err);
    else if (npy_recognised(part->map.bytes, part->map.size))
        status = open_array(part, own, limits, err);
    else if (raster_gdal_knows(path))
        status = raster_gdal_open(&part->gdal, own, path, limits, err);
    if (status != CLV_OK)
        return fail_within(err, status, path);
    if (!part->tiff && !part->array.bytes && !part->gdal)
        status = is_by_windows ? fail(err, CLV_ERR_DATA,
                                      "%s: only TIFFs of bands, grey or RGB and .npy files are read by "
                                      "windows",
                                      path)
                               : open_image(part, own, path, limits, err);
    if (status != CLV_OK)
        raster_place_release(&own->place);
    part->n_bands = own->n_bands;
    return status;
}

/* The part's path: `name` in the place of the first name at the end of `path`. */
static char *sibling(const char *path, size_t first_length, const char *name, size_t length)
{
    size_t kept = strlen(path) - first_length;
    char *made = array_alloc(kept + length + 1, 1);
    if (made) {
        memcpy(made, path, kept);
        memcpy(made + kept, name, length);
        made[kept + length] = 0;
    }
    return made;
}

static enum clv_status add_channel(struct raster *self, uint32_t *n_channels, uint32_t channel, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    struct raster own = {0};
    struct raster_part *part = &self->parts[self->n_parts];
    FAIL_IF(self->n_parts == CLV_MAX_BANDS, CLV_ERR_DATA, "%s: more than %d bands with those before", path,
            CLV_MAX_BANDS);
    enum clv_status status = open_part(part, &own, n_channels, channel, self->is_by_windows, path, limits, err);
    self->n_parts++;
    if (status == CLV_OK && self->n_parts > 1 && (own.width != self->width || own.height != self->height))
        status = fail(err, CLV_ERR_DATA, "%s: %dx%d pixels, the first of its bands has %dx%d", path, own.width,
                      own.height, self->width, self->height);
    if (status == CLV_OK && self->n_bands + own.n_bands > CLV_MAX_BANDS)
        status = fail(err, CLV_ERR_DATA, "%s: more than %d bands with those before", path, CLV_MAX_BANDS);
    if (status != CLV_OK || self->n_parts > 1) {
        raster_place_release(&own.place);
        self->n_bands += status == CLV_OK ? own.n_bands : 0;
        self->is_bytes &= own.is_bytes;
        self->is_colour = self->is_photograph = self->is_plain = false;
        return status;
    }
    own.parts = self->parts;
    own.is_by_windows = self->is_by_windows;
    own.n_parts = self->n_parts;
    *self = own;
    return CLV_OK;
}

/* All channels of a file's page follow each other. */
static enum clv_status add_part(struct raster *self, const char *path, const struct clv_image_limits *limits,
                                struct clv_error *err)
{
    uint32_t n_channels, ignored;
    MUST(add_channel(self, &n_channels, 1, path, limits, err));
    for (uint32_t channel = 2; channel <= n_channels; channel++)
        MUST(add_channel(self, &ignored, channel, path, limits, err));
    return CLV_OK;
}

static enum clv_status open_all(struct raster *self, bool is_by_windows, const char *path,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = {.max_pixels = UINT64_C(1) << 62, .max_side_px = INT32_MAX, .max_jpeg_scans = 0};
    struct raster made = {.is_by_windows = is_by_windows};
    const char *names = limits && limits->band_files ? limits->band_files : "";
    size_t first = strcspn(names, ","), length = strlen(path);
    bool is_several = first && length >= first && memcmp(path + length - first, names, first) == 0;
    if (limits && !is_by_windows)
        resolved = limits_resolved(limits);
    made.parts = array_zalloc(CLV_MAX_BANDS, sizeof *made.parts);
    enum clv_status status = made.parts ? CLV_OK : fail_memory(err);
    TRY_IF(!is_several, add_part(&made, path, &resolved, err));
    for (const char *name = names; is_several && status == CLV_OK; name += strcspn(name, ",") + 1) {
        char *own = sibling(path, first, name, strcspn(name, ","));
        if (made.n_parts == CLV_MAX_BANDS)
            status = fail(err, CLV_ERR_USAGE, "more than %d files of bands", CLV_MAX_BANDS);
        else
            status = own ? add_part(&made, own, &resolved, err) : fail_memory(err);
        array_free(own);
        if (!name[strcspn(name, ",")])
            break;
    }
    DELIVER(self, made, raster_close(&made));
    return status;
}

enum clv_status raster_open(struct raster *self, const char *path, const struct clv_image_limits *limits,
                            struct clv_error *err)
{
    return open_all(self, false, path, limits, err);
}

enum clv_status raster_open_windows(struct raster *self, const char *path, const struct clv_image_limits *limits,
                                    struct clv_error *err)
{
    return open_all(self, true, path, limits, err);
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

enum clv_status raster_read(float *values, struct raster *self, const struct image_part *window, struct clv_error *err)
{
    size_t step = (size_t)self->n_bands;
    enum clv_status status = CLV_OK;
    for (size_t k = 0; k < self->n_parts && status == CLV_OK; k++) {
        struct raster_part *part = &self->parts[k];
        if (part->tiff)
            status = raster_tiff_read(values, step, part->tiff, window, err);
        else if (part->gdal)
            status = raster_gdal_read(values, step, part->gdal, window, err);
        else if (part->array.bytes)
            read_array(values, step, part, window);
        else
            read_image(values, step, &part->image, window);
        if (status != CLV_OK)
            fail_within(err, status, part->map.path);
        values += part->n_bands;
    }
    return status;
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
    if (!self->place.may_lack_data)
        return CLV_OK;
    float *values = array_alloc((size_t)step * width, n_bands * sizeof *values);
    enum clv_status status = values ? CLV_OK : fail_memory(err);
    for (int32_t top = 0; top < window->height && status == CLV_OK; top += step) {
        part.top = window->top + top;
        part.height = window->height - top < step ? window->height - top : step;
        status = raster_read(values, self, &part, err);
        for (size_t p = 0; p < (size_t)part.height * width && status == CLV_OK; p++)
            if (!has_data(values + p * n_bands, self->n_bands))
                labels[(size_t)top * width + p] = RASTER_VOID;
    }
    array_free(values);
    return status;
}

enum clv_status raster_void_missing(uint8_t *labels, int32_t width, int32_t height, const char *path,
                                    const struct clv_image_limits *limits, struct clv_error *err)
{
    struct raster raster;
    const struct image_part all = {.width = width, .height = height};
    if (!raster_may_be(path, limits))
        return CLV_OK;
    MUST(raster_open(&raster, path, limits, err));
    enum clv_status status = raster_void_labels(labels, &raster, &all, err);
    raster_close(&raster);
    return status;
}

void raster_find_place(struct raster_place *place, const char *path)
{
    struct raster raster;
    struct clv_error ignored;
    *place = (struct raster_place){0};
    if ((!text_ends_with(path, ".tif") && !text_ends_with(path, ".tiff") && !raster_gdal_knows(path)) ||
        raster_open(&raster, path, NULL, &ignored) != CLV_OK)
        return;
    *place = raster.place;
    raster.place = (struct raster_place){0};
    raster_close(&raster);
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
    return fail(err, CLV_ERR_DATA, "%s: %d band%s, the images learned from have %d%s", path, self->n_bands,
                self->n_bands == 1 ? "" : "s", n,
                is_shown ? "; a model of `train --range LOW,HIGH' takes grey of 16 bits as PNG and as TIFF" : "");
}

bool raster_is_deep(const char *path, const struct clv_image_limits *limits)
{
    struct raster raster;
    struct clv_error ignored;
    if (!raster_may_be(path, limits) || raster_open(&raster, path, limits, &ignored) != CLV_OK)
        return false;
    bool is_deep = !raster.is_photograph;
    raster_close(&raster);
    return is_deep;
}
