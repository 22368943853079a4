/* Images in memory, and which decoder reads a file. */
#include "cleave/image.h"

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "codec.h"
#include "exif.h"

#define HEAD_BYTES 65536 /* enough for the header of nearly every image */

void clv_free(void *memory)
{
    array_free(memory);
}

void clv_image_release(struct clv_image *image)
{
    array_free(image->pixels);
    *image = (struct clv_image){0};
}

void clv_indexed_image_release(struct clv_indexed_image *image)
{
    array_free(image->values);
    *image = (struct clv_indexed_image){0};
}

enum clv_status clv_image_new(struct clv_image *image, int32_t width, int32_t height, int32_t channels,
                              struct clv_error *err)
{
    if (width < 1 || height < 1 || channels < 1)
        return fail(err, CLV_ERR_USAGE, "an image of %dx%d pixels with %d channels is impossible", width, height,
                    channels);
    size_t row;
    if (__builtin_mul_overflow((size_t)width, (size_t)channels, &row))
        return fail_memory(err);
    uint8_t *pixels = array_zalloc((size_t)height, row);
    if (!pixels)
        return fail_memory(err);
    *image = (struct clv_image){width, height, channels, pixels};
    return CLV_OK;
}

struct clv_image_limits limits_resolved(const struct clv_image_limits *limits)
{
    struct clv_image_limits resolved = limits ? *limits : (struct clv_image_limits){0};
    if (!resolved.max_pixels)
        resolved.max_pixels = UINT64_C(64) << 20;
    if (resolved.max_side_px <= 0)
        resolved.max_side_px = 65535;
    if (resolved.max_jpeg_scans <= 0)
        resolved.max_jpeg_scans = 100;
    return resolved;
}

enum clv_status limits_check(uint32_t width, uint32_t height, const struct clv_image_limits *limits,
                             struct clv_error *err)
{
    uint32_t max_side = (uint32_t)limits->max_side_px;
    if (!width || !height)
        return fail(err, CLV_ERR_DATA, "an image of %ux%u pixels is impossible", width, height);
    if (width > max_side || height > max_side)
        return fail(err, CLV_ERR_DATA, "%ux%u pixels; the limit is %u pixels a side", width, height, max_side);
    if ((uint64_t)width * height > limits->max_pixels)
        return fail(err, CLV_ERR_DATA, "%ux%u pixels are %llu; the limit is %llu pixels", width, height,
                    (unsigned long long)width * height, (unsigned long long)limits->max_pixels);
    return CLV_OK;
}

enum clv_status writable_check(const struct clv_image *image, struct clv_error *err)
{
    if (image->width < 1 || image->height < 1 || !image->pixels)
        return fail(err, CLV_ERR_USAGE, "an image of %dx%d pixels cannot be written", image->width, image->height);
    if (image->channels != 1 && image->channels != 3)
        return fail(err, CLV_ERR_USAGE, "an image of %d channels cannot be written, only 1 or 3", image->channels);
    return CLV_OK;
}

static enum clv_status not_an_image(size_t size, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, size ? "not a PNG or JPEG image" : "empty file, not a PNG or JPEG image");
}

/* Bytes a file may have: the largest image the limits allow, uncompressed with 16-bit RGBA, and room for what surrounds it. */
static size_t max_file_bytes(const struct clv_image_limits *limits)
{
    uint64_t pixels = limits_resolved(limits).max_pixels, room = UINT64_C(64) << 20;
    return pixels > (PTRDIFF_MAX - room) / 8 ? PTRDIFF_MAX : (size_t)(pixels * 8 + room);
}

enum clv_status clv_image_decode(struct clv_image *image, const void *bytes, size_t size,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    struct clv_image decoded = {0};
    int orientation = 1;
    enum clv_status status;
    if (png_recognised(bytes, size))
        status = png_decode(&decoded, bytes, size, &resolved, err);
    else if (jpeg_recognised(bytes, size))
        status = jpeg_decode(&decoded, &orientation, bytes, size, &resolved, err);
    else
        status = not_an_image(size, err);
    if (status == CLV_OK)
        status = image_orient(&decoded, orientation, err);
    if (status == CLV_OK)
        *image = decoded;
    else
        clv_image_release(&decoded);
    return status;
}

enum clv_status clv_image_read(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                               struct clv_error *err)
{
    char *bytes;
    size_t size;
    enum clv_status status = file_read(&bytes, &size, path, max_file_bytes(limits), err);
    if (status != CLV_OK)
        return status;
    status = clv_image_decode(image, bytes, size, limits, err);
    array_free(bytes);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, path);
}

static enum clv_status size_of(int32_t *width, int32_t *height, const char *bytes, size_t size,
                               const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    const uint8_t *head = (const uint8_t *)bytes;
    int32_t stored_width = 0, stored_height = 0;
    int orientation = 1;
    enum clv_status status;
    if (png_recognised(head, size))
        status = png_size(&stored_width, &stored_height, head, size, &resolved, err);
    else if (jpeg_recognised(head, size))
        status = jpeg_size(&stored_width, &stored_height, &orientation, head, size, &resolved, err);
    else
        status = not_an_image(size, err);
    if (status == CLV_OK) {
        *width = orientation_transposes(orientation) ? stored_height : stored_width;
        *height = orientation_transposes(orientation) ? stored_width : stored_height;
    }
    return status;
}

enum clv_status clv_image_read_size(int32_t *width, int32_t *height, const char *path,
                                    const struct clv_image_limits *limits, struct clv_error *err)
{
    char *bytes;
    size_t size;
    enum clv_status status = file_read_head(&bytes, &size, path, HEAD_BYTES, err);
    if (status != CLV_OK)
        return status;
    status = size_of(width, height, bytes, size, limits, err);
    bool cut = size == HEAD_BYTES && jpeg_recognised((const uint8_t *)bytes, size);
    array_free(bytes);
    if (status == CLV_ERR_DATA && cut) {
        /* A JPEG's size may stand behind megabytes of application segments. */
        status = file_read(&bytes, &size, path, max_file_bytes(limits), err);
        if (status != CLV_OK)
            return status;
        status = size_of(width, height, bytes, size, limits, err);
        array_free(bytes);
    }
    return status == CLV_OK ? CLV_OK : fail_within(err, status, path);
}

enum clv_status clv_indexed_image_decode(struct clv_indexed_image *image, const void *bytes, size_t size,
                                         const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    if (png_recognised(bytes, size))
        return png_decode_indexed(image, bytes, size, &resolved, err);
    if (jpeg_recognised(bytes, size))
        return fail(err, CLV_ERR_DATA,
                    "a JPEG, which does not keep label values; masks must be 8-bit grey or palette PNG");
    return not_an_image(size, err);
}

enum clv_status clv_indexed_image_read(struct clv_indexed_image *image, const char *path,
                                       const struct clv_image_limits *limits, struct clv_error *err)
{
    char *bytes;
    size_t size;
    enum clv_status status = file_read(&bytes, &size, path, max_file_bytes(limits), err);
    if (status != CLV_OK)
        return status;
    status = clv_indexed_image_decode(image, bytes, size, limits, err);
    array_free(bytes);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, path);
}
