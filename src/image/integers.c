#include "image/image.h"

#include <string.h>

#include "base/base.h"

void integer_image_release(struct integer_image *image)
{
    array_free(image->values);
    *image = (struct integer_image){0};
}

static enum clv_status decode_png(struct integer_image *image, const struct image_bytes *from, struct clv_error *err)
{
    enum { COLOUR_TYPE_AT = 25, PALETTE = 3 };
    struct clv_indexed_image indexed = {0};
    struct png_grey grey = {0};
    bool has_palette = from->size > COLOUR_TYPE_AT && from->bytes[COLOUR_TYPE_AT] == PALETTE;
    MUST(has_palette ? png_decode_indexed(&indexed, from, err)
                     : png_decode_grey(&grey, from->bytes, from->size, from->limits, err));
    *image = (struct integer_image){.width = has_palette ? indexed.width : grey.width,
                                    .height = has_palette ? indexed.height : grey.height};
    size_t n = (size_t)image->width * (size_t)image->height;
    image->values = array_alloc(n, sizeof *image->values);
    for (size_t i = 0; i < n && image->values; i++)
        image->values[i] = has_palette ? indexed.values[i] : grey.values[i];
    clv_indexed_image_release(&indexed);
    array_free(grey.values);
    return image->values ? CLV_OK : fail_memory(err);
}

enum clv_status integer_image_read(struct integer_image *image, const char *path, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    struct integer_image fresh = {0};
    struct file_map map = {0};
    uint32_t page = 1;
    size_t length;
    const char *format = NULL;
    path_page(&length, &page, path);
    char *file = string_copy(path);
    MUST_IF(!file, fail_memory(err));
    file[length] = 0;
    enum clv_status status = file_map_open(&map, file, err);
    array_free(file);
    if (status != CLV_OK)
        return status;
    const struct image_bytes from = {map.bytes, map.size, page, &resolved, 0};
    enum image_format kind = image_format(&format, map.bytes, map.size);
    if (kind == FORMAT_PNG)
        status = decode_png(&fresh, &from, err);
    else if (kind == FORMAT_TIFF)
        status = tiff_decode_integers(&fresh.values, &fresh.width, &fresh.height, &from, err);
    else
        status = fail(err, CLV_ERR_DATA, "%s; objects are numbers of 8 or 16 bits in a PNG, or up to 32 in a TIFF",
                      format ? format : "no image");
    file_map_close(&map);
    DELIVER(image, fresh, integer_image_release(&fresh));
    return status == CLV_OK ? CLV_OK : fail_within(err, status, path);
}

enum clv_status integer_image_write_png(const char *path, const struct integer_image *image, struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    uint8_t *samples = array_alloc(n, 2); /* most significant byte first, as PNG has them */
    MUST_IF(!samples, fail_memory(err));
    for (size_t i = 0; i < n; i++) {
        samples[2 * i] = (uint8_t)(image->values[i] >> 8);
        samples[2 * i + 1] = (uint8_t)image->values[i];
    }
    enum clv_status status = png_write_grey16(path, image->width, image->height, samples, err);
    array_free(samples);
    return status;
}

static void put_little(uint8_t *target, uint32_t value, int n)
{
    for (int k = 0; k < n; k++)
        target[k] = (uint8_t)(value >> 8 * k);
}

/* TIFF 6.0, sections 2 and 4: a header, one directory of entries of 12 bytes each, and the pixels as one strip. */
enum clv_status integer_image_write_tiff(const char *path, const struct integer_image *image, struct clv_error *err)
{
    enum { HEADER = 8, ENTRY = 12, SHORT = 3, LONG = 4 };
    const uint32_t width = (uint32_t)image->width, height = (uint32_t)image->height;
    size_t n = (size_t)width * height;
    const uint32_t entries[][3] = {{256, LONG, width},                                        /* tag, type, value */
                                   {257, LONG, height}, {258, SHORT, 32},    {259, SHORT, 1}, /* not compressed */
                                   {262, SHORT, 1},                                           /* 0 is black */
                                   {273, LONG, 0}, /* where the strip is: below */
                                   {277, SHORT, 1},     {278, LONG, height}, {279, LONG, (uint32_t)(n * 4)},
                                   {339, SHORT, 1}}; /* unsigned */
    const uint32_t n_entries = sizeof entries / sizeof *entries, begin = HEADER + 2 + n_entries * ENTRY + 4;
    if (n > (UINT32_MAX - begin) / 4)
        return fail(err, CLV_ERR_DATA, "%s: %ux%u pixels of 32 bits are more than a TIFF holds", path, width, height);
    uint8_t *bytes = array_zalloc(begin + n * 4, 1);
    MUST_IF(!bytes, fail_memory(err));
    put_little(bytes, 42 << 16 | 'I' << 8 | 'I', 4); /* little endian */
    put_little(bytes + 4, HEADER, 4);
    put_little(bytes + HEADER, n_entries, 2);
    for (uint32_t k = 0; k < n_entries; k++) {
        uint8_t *entry = bytes + HEADER + 2 + k * ENTRY;
        put_little(entry, entries[k][0], 2);
        put_little(entry + 2, entries[k][1], 2);
        put_little(entry + 4, 1, 4);
        put_little(entry + 8, entries[k][0] == 273 ? begin : entries[k][2], 4);
    }
    for (size_t i = 0; i < n; i++)
        put_little(bytes + begin + 4 * i, (uint32_t)image->values[i], 4);
    enum clv_status status = file_write(path, bytes, begin + n * 4, err);
    array_free(bytes);
    return status;
}
