/* Reading images: which decoder reads a file. */
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "image/codec.h"
#include "image/exif.h"

#define HEAD_BYTES 65536 /* enough for the header of nearly every image */

static enum clv_status not_an_image(size_t size, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, size ? "not a PNG or JPEG image" : "empty file, not a PNG or JPEG image");
}

/* Bytes a file may have: the largest image the limits allow, uncompressed with 16-bit RGBA, and what surrounds it. */
static size_t max_file_bytes(const struct clv_image_limits *limits)
{
    uint64_t pixels = limits_resolved(limits).max_pixels, around = UINT64_C(64) << 20;
    return pixels > (PTRDIFF_MAX - around) / 8 ? PTRDIFF_MAX : (size_t)(pixels * 8 + around);
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
