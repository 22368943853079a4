/* Reads a mask of another program in any format, as one code per pixel: a value, a colour, or transparent. Start at
 * foreign_mask_read. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "image/image.h"
#include "masks/masks.h"

void foreign_mask_release(struct foreign_mask *mask)
{
    array_free(mask->codes);
    *mask = (struct foreign_mask){0};
}

static uint32_t colour_code(const uint8_t *rgb)
{
    return CODE_COLOUR | (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

/* Converts pixels[height][width][channels] to codes: colours, or values if all are grey. A fourth channel is alpha. */
static enum clv_status take_colours(struct foreign_mask *mask, const uint8_t *pixels, size_t n, size_t channels,
                                    struct clv_error *err)
{
    bool is_grey = true;
    mask->codes = array_alloc(n, sizeof *mask->codes);
    NEED(mask->codes);
    for (size_t p = 0; p < n; p++) {
        const uint8_t *pixel = pixels + channels * p;
        mask->codes[p] = channels == 4 && pixel[3] < 128 ? CODE_CLEAR : channels == 1 ? pixel[0] : colour_code(pixel);
        is_grey &= channels == 1 || mask->codes[p] == CODE_CLEAR || (pixel[0] == pixel[1] && pixel[0] == pixel[2]);
    }
    for (size_t p = 0; p < n && is_grey && channels > 1; p++)
        mask->codes[p] = mask->codes[p] == CODE_CLEAR ? CODE_CLEAR : mask->codes[p] & 255;
    return CLV_OK;
}

static enum clv_status take_shown(struct foreign_mask *mask, const char *path, const struct clv_image_limits *limits,
                                  struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    MUST(clv_image_read(&image, path, limits, err));
    mask->width = image.width;
    mask->height = image.height;
    return take_colours(mask, image.pixels, (size_t)image.width * (size_t)image.height, (size_t)image.channels, err);
}

static enum clv_status take_wide(struct foreign_mask *mask, const struct file_map *file,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    struct wide_samples wide = {0};
    enum clv_status status = png_decode_wide(&wide, file->bytes, file->size, limits, err);
    if (status != CLV_OK)
        return fail_within(err, status, file->path);
    OWNED_ARRAY uint16_t *grey = wide.grey16;
    OWNED_ARRAY uint8_t *rgba = wide.rgba;
    const size_t n = (size_t)wide.width * (size_t)wide.height;
    mask->width = wide.width;
    mask->height = wide.height;
    if (rgba)
        return take_colours(mask, rgba, n, 4, err);
    bool are_levels = true; /* all values are multiples of 257: 8-bit levels */
    mask->codes = array_alloc(n, sizeof *mask->codes);
    NEED(mask->codes);
    for (size_t p = 0; p < n; p++)
        are_levels &= grey[p] % 257 == 0;
    for (size_t p = 0; p < n; p++)
        mask->codes[p] = are_levels ? grey[p] / 257u : grey[p];
    return CLV_OK;
}

static enum clv_status take_numbers(struct foreign_mask *mask, const char *path, const struct clv_image_limits *limits,
                                    struct clv_error *err)
{
    OWNED(integer_image_release) struct integer_image image = {0};
    MUST(integer_image_read(&image, path, limits, err));
    const size_t n = (size_t)image.width * (size_t)image.height;
    mask->codes = array_alloc(n, sizeof *mask->codes);
    NEED(mask->codes);
    mask->width = image.width;
    mask->height = image.height;
    for (size_t p = 0; p < n; p++) {
        FAIL_IF(image.values[p] > CLV_MAX_OBJECT_NUMBER, CLV_ERR_DATA, "%s: has a value of %d, above %d", path,
                image.values[p], CLV_MAX_OBJECT_NUMBER);
        mask->codes[p] = (uint32_t)image.values[p];
    }
    return CLV_OK;
}

/* Reads 8-bit values, with or without a palette. */
static enum clv_status take_indexed(struct foreign_mask *mask, const char *path, const struct clv_image_limits *limits,
                                    struct clv_error *err)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
    MUST(clv_indexed_image_read(&image, path, limits, err));
    mask->width = image.width;
    mask->height = image.height;
    mask->n_palette = image.palette_size;
    for (int v = 0; v < image.palette_size; v++)
        mask->palette[v] = colour_code(image.palette[v]);
    return take_colours(mask, image.values, (size_t)image.width * (size_t)image.height, 1, err);
}

/* Whether a WebP file is lossless. */
static bool is_lossless_webp(const uint8_t *bytes, size_t size)
{
    return size >= 16 && memcmp(bytes + 12, "VP8L", 4) == 0;
}

enum clv_status foreign_mask_read(struct foreign_mask *mask, const char *path, const struct clv_image_limits *limits,
                                  struct clv_error *err)
{
    OWNED(foreign_mask_release) struct foreign_mask result = {0};
    OWNED_ARRAY char *file = string_copy(path);
    size_t length;
    uint32_t page;
    const char *name;
    struct clv_error why = {0};
    NEED(file);
    path_page(&length, &page, path);
    file[length] = 0;
    OWNED(file_map_close) struct file_map map = {0};
    MUST(file_map_open(&map, file, err));
    const enum image_format format = image_format(&name, map.bytes, map.size);
    enum clv_status status;
    if (format == FORMAT_JPEG || format == FORMAT_WEBP) {
        result.is_lossy = format == FORMAT_JPEG || !is_lossless_webp(map.bytes, map.size);
        status = take_shown(&result, path, limits, err);
    } else if (format == FORMAT_PNG && mask_is_wide(map.bytes, map.size)) {
        status = take_wide(&result, &map, limits, err);
    } else {
        status = take_indexed(&result, path, limits, &why);
        if (status == CLV_ERR_DATA && format == FORMAT_TIFF && take_numbers(&result, path, limits, &why) == CLV_OK)
            status = CLV_OK;
        else if (status == CLV_ERR_DATA && format != FORMAT_PNG)
            status = take_shown(&result, path, limits, err);
        else if (status != CLV_OK && err)
            *err = why;
    }
    MUST(status);
    *mask = TAKE(result);
    return CLV_OK;
}

uint32_t foreign_code_shown(const struct foreign_mask *mask, uint32_t code)
{
    if (code < (uint32_t)mask->n_palette)
        return mask->palette[code];
    return code < 256 ? CODE_COLOUR | code << 16 | code << 8 | code : code;
}

void foreign_mask_show(struct foreign_mask *mask)
{
    for (size_t p = 0, n = (size_t)mask->width * (size_t)mask->height; p < n; p++)
        mask->codes[p] = foreign_code_shown(mask, mask->codes[p]);
}

enum clv_status foreign_mask_orient(struct foreign_mask *mask, int orientation, struct clv_error *err)
{
    /* the bytes of a code are turned as the four channels of an image */
    OWNED(clv_image_release) struct clv_image image = {.width = mask->width, .height = mask->height, .channels = 4};
    image.pixels = (uint8_t *)mask->codes;
    mask->codes = NULL;
    const size_t n = (size_t)mask->width * (size_t)mask->height;
    MUST(image_orient(&image, orientation, err));
    uint32_t *codes = array_alloc(n, sizeof *codes);
    NEED(codes);
    memcpy(codes, image.pixels, n * sizeof *codes);
    mask->width = image.width;
    mask->height = image.height;
    mask->codes = codes;
    return CLV_OK;
}

enum clv_status foreign_mask_resize(struct foreign_mask *mask, int32_t width, int32_t height, struct clv_error *err)
{
    uint32_t *codes = array_alloc((size_t)width * (size_t)height, sizeof *codes);
    NEED(codes);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const size_t from_x = (size_t)((2 * (int64_t)x + 1) * mask->width / (2 * (int64_t)width)),
                         from_y = (size_t)((2 * (int64_t)y + 1) * mask->height / (2 * (int64_t)height));
            codes[(size_t)y * (size_t)width + (size_t)x] = mask->codes[from_y * (size_t)mask->width + from_x];
        }
    array_free(mask->codes);
    mask->codes = codes;
    mask->width = width;
    mask->height = height;
    return CLV_OK;
}
