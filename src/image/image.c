/* Images in memory: allocating, releasing and limits. Decoders are chosen in decode.c. */
#include "cleave/image.h"

#include "base/base.h"
#include "image/image.h"

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
    FAIL_IF(width < 1 || height < 1 || channels < 1, CLV_ERR_USAGE,
            "an image of %dx%d pixels with %d channels is impossible", width, height, channels);
    size_t row;
    NEED(!__builtin_mul_overflow((size_t)width, (size_t)channels, &row));
    uint8_t *pixels = array_zalloc((size_t)height, row);
    NEED(pixels);
    *image = (struct clv_image){width, height, channels, pixels};
    return CLV_OK;
}

enum clv_status clv_image_from_pixels(struct clv_image *image, const uint8_t *pixels, int32_t width, int32_t height,
                                      int32_t channels, struct clv_error *err)
{
    FAIL_IF(channels < 1 || channels > 4, CLV_ERR_USAGE, "an image of %d channels, 1 to 4 are known", channels);
    MUST(clv_image_new(image, width, height, 3, err));
    size_t n = (size_t)width * (size_t)height, step = (size_t)channels, n_colours = step < 3 ? 1 : 3;
    for (size_t p = 0; p < n; p++)
        for (size_t c = 0; c < 3; c++) {
            const uint8_t *pixel = pixels + p * step;
            image->pixels[3 * p + c] = over_white(pixel[c % n_colours], step > n_colours ? pixel[n_colours] : 255);
        }
    return CLV_OK;
}

struct image_band image_band_of(const struct clv_image *image, const uint8_t *labels)
{
    return (struct image_band){.width = image->width,
                               .height = image->height,
                               .n_rows = image->height,
                               .pixels = image->pixels,
                               .labels = labels};
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
    if (resolved.grey16_low < 0 || resolved.grey16_high > 65535 || resolved.grey16_low >= resolved.grey16_high) {
        resolved.grey16_low = 0;
        resolved.grey16_high = 65535;
    }
    return resolved;
}

enum clv_status limits_check(uint32_t width, uint32_t height, const struct clv_image_limits *limits,
                             struct clv_error *err)
{
    uint32_t max_side = (uint32_t)limits->max_side_px;
    FAIL_IF(!width || !height, CLV_ERR_DATA, "an image of %ux%u pixels is impossible", width, height);
    if (width > max_side || height > max_side)
        return fail(err, CLV_ERR_DATA, "%ux%u pixels; the limit is %u pixels a side", width, height, max_side);
    if ((uint64_t)width * height > limits->max_pixels)
        return fail(err, CLV_ERR_DATA,
                    "%ux%u pixels are %llu; the limit is %llu pixels (--max-pixels; models of train --scale segment "
                    "TIFFs of any size)",
                    width, height, (unsigned long long)width * height, (unsigned long long)limits->max_pixels);
    return CLV_OK;
}

enum clv_status size_take(int32_t *width_px, int32_t *height_px, uint32_t width, uint32_t height,
                          const struct clv_image_limits *limits, struct clv_error *err)
{
    MUST(limits_check(width, height, limits, err));
    *width_px = (int32_t)width;
    *height_px = (int32_t)height;
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
