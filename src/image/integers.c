/* Reads and writes images of objects, whose numbers may exceed 255: PNG of 8 or 16 bits, and TIFF of up to 32 bits.
 * Start at integer_image_read. */
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
    enum { COLOUR_TYPE_AT = 25, GREY = 0, PALETTE = 3 };
    OWNED(clv_indexed_image_release) struct clv_indexed_image indexed = {0};
    OWNED(png_grey_release) struct png_grey grey = {0};
    const int colour_type = from->size > COLOUR_TYPE_AT ? from->bytes[COLOUR_TYPE_AT] : GREY;
    const bool has_palette = colour_type == PALETTE;
    FAIL_IF(colour_type != GREY && !has_palette, CLV_ERR_DATA,
            "a PNG with colours or alpha; objects are numbers of 8 or 16 bits in a PNG of grey or a palette");
    MUST(has_palette ? png_decode_indexed(&indexed, from, err)
                     : png_decode_grey(&grey, from->bytes, from->size, from->limits, err));
    *image = (struct integer_image){.width = has_palette ? indexed.width : grey.width,
                                    .height = has_palette ? indexed.height : grey.height};
    size_t n = (size_t)image->width * (size_t)image->height;
    image->values = array_alloc(n, sizeof *image->values);
    NEED(image->values);
    for (size_t i = 0; i < n; i++)
        image->values[i] = has_palette ? indexed.values[i] : grey.values[i];
    return CLV_OK;
}

static enum clv_status decode(struct integer_image *image, const struct image_bytes *from, struct clv_error *err)
{
    const char *format = NULL;
    OWNED(integer_image_release) struct integer_image result = {0};
    enum image_format kind = image_format(&format, from->bytes, from->size);
    if (kind == FORMAT_PNG)
        MUST(decode_png(&result, from, err));
    else if (kind == FORMAT_TIFF)
        MUST(tiff_decode_integers(&result.values, &result.width, &result.height, from, err));
    else
        return fail(err, CLV_ERR_DATA, "%s; objects are numbers of 8 or 16 bits in a PNG, or up to 32 in a TIFF",
                    format ? format : "no image");
    *image = TAKE(result);
    return CLV_OK;
}

enum clv_status integer_image_read(struct integer_image *image, const char *path, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    OWNED(file_map_close) struct file_map map = {0};
    uint32_t page = 1;
    size_t length;
    path_page(&length, &page, path);
    OWNED_ARRAY char *file = string_copy(path);
    NEED(file);
    file[length] = 0;
    MUST(file_map_open(&map, file, err));
    enum clv_status status = decode(image, &(struct image_bytes){map.bytes, map.size, page, &resolved, 0}, err);
    return status ? fail_within(err, status, path) : CLV_OK;
}

enum clv_status integer_image_write_png(const char *path, const struct integer_image *image, struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    OWNED_ARRAY uint8_t *samples = array_alloc(n, 2); /* most significant byte first, as in PNG */
    NEED(samples);
    for (size_t i = 0; i < n; i++) {
        samples[2 * i] = (uint8_t)(image->values[i] >> 8);
        samples[2 * i + 1] = (uint8_t)image->values[i];
    }
    return png_write_grey16(path, image->width, image->height, samples, err);
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
                                   {273, LONG, 0}, /* offset of the strip, set below */
                                   {277, SHORT, 1},     {278, LONG, height}, {279, LONG, (uint32_t)(n * 4)},
                                   {339, SHORT, 1}}; /* unsigned */
    const uint32_t n_entries = sizeof entries / sizeof *entries, begin = HEADER + 2 + n_entries * ENTRY + 4;
    FAIL_IF(n > (UINT32_MAX - begin) / 4, CLV_ERR_DATA, "%s: %ux%u pixels of 32 bits are more than a TIFF holds", path,
            width, height);
    OWNED_ARRAY uint8_t *bytes = array_zalloc(begin + n * 4, 1);
    NEED(bytes);
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
    return file_write(path, bytes, begin + n * 4, err);
}
