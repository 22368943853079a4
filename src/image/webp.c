/* Reads WebP files by libwebp, which only this file uses; the orientation is that of the EXIF chunk. Start at
 * webp_decode. */
#include <string.h>

#include <webp/decode.h>

#include "base/base.h"
#include "image/image.h"

#define RIFF_HEADER  12
#define CHUNK_HEADER 8

static uint32_t little_endian(const uint8_t *b)
{
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

/* Returns the orientation in the EXIF chunk, which follows the image; 1 if the file has none. */
static int find_orientation(const uint8_t *bytes, size_t size)
{
    size_t at = RIFF_HEADER;
    while (at < size && size - at >= CHUNK_HEADER) {
        size_t length = little_endian(bytes + at + 4), left = size - at - CHUNK_HEADER;
        if (length > left)
            return 1;
        const uint8_t *payload = bytes + at + CHUNK_HEADER;
        if (memcmp(bytes + at, "EXIF", 4) == 0)
            return exif_is_segment(payload, length) ? exif_orientation(payload, length)
                                                    : tiff_orientation(payload, length);
        at += CHUNK_HEADER + length + (length & 1);
    }
    return 1;
}

static enum clv_status read_features(WebPBitstreamFeatures *features, const uint8_t *bytes, size_t size,
                                     const struct clv_image_limits *limits, struct clv_error *err)
{
    VP8StatusCode code = WebPGetFeatures(bytes, size, features);
    FAIL_IF(code != VP8_STATUS_OK, CLV_ERR_DATA, "corrupt WebP: %s",
            code == VP8_STATUS_NOT_ENOUGH_DATA ? "truncated file" : "its header is damaged");
    FAIL_IF(features->has_animation, CLV_ERR_DATA, "an animated WebP; only still ones are read");
    return limits_check((uint32_t)features->width, (uint32_t)features->height, limits, err);
}

static enum clv_status webp_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    WebPBitstreamFeatures features;
    MUST(read_features(&features, from->bytes, from->size, from->limits, err));
    *head = (struct image_head){features.width, features.height, find_orientation(from->bytes, from->size)};
    return CLV_OK;
}

/* Refuses files that are shorter than their RIFF header states. libwebp accepts them, but the orientation may be
 * missing. */
static enum clv_status check_length(const uint8_t *bytes, size_t size, struct clv_error *err)
{
    return size < RIFF_HEADER || little_endian(bytes + 4) > size - 8
               ? fail(err, CLV_ERR_DATA, "corrupt WebP: truncated file")
               : CLV_OK;
}

static enum clv_status webp_decode(struct clv_image *image, int *orientation, const struct image_bytes *from,
                                   struct clv_error *err)
{
    WebPDecoderConfig config;
    OWNED_ARRAY uint8_t *rgba = NULL;
    OWNED(clv_image_release) struct clv_image result = {0};
    MUST(check_length(from->bytes, from->size, err));
    FAIL_IF(!WebPInitDecoderConfig(&config), CLV_ERR_INTERNAL, "libwebp is of another version than its headers");
    MUST(read_features(&config.input, from->bytes, from->size, from->limits, err));
    MUST(clv_image_new(&result, config.input.width, config.input.height, 3, err));
    size_t width = (size_t)result.width, height = (size_t)result.height, n = width * height;
    bool has_alpha = config.input.has_alpha;
    if (has_alpha)
        NEED(rgba = array_alloc(height, width * 4));
    config.output.colorspace = has_alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = has_alpha ? rgba : result.pixels;
    config.output.u.RGBA.stride = (int)(width * (has_alpha ? 4 : 3));
    config.output.u.RGBA.size = n * (has_alpha ? 4 : 3);
    VP8StatusCode code = WebPDecode(from->bytes, from->size, &config);
    WebPFreeDecBuffer(&config.output);
    NEED(code != VP8_STATUS_OUT_OF_MEMORY);
    FAIL_IF(code != VP8_STATUS_OK, CLV_ERR_DATA, "corrupt WebP: %s",
            code == VP8_STATUS_NOT_ENOUGH_DATA ? "truncated file" : "its image is damaged");
    for (size_t i = 0; has_alpha && i < n; i++)
        for (size_t c = 0; c < 3; c++)
            result.pixels[3 * i + c] = over_white(rgba[4 * i + c], rgba[4 * i + 3]);
    *image = TAKE(result);
    *orientation = find_orientation(from->bytes, from->size);
    return CLV_OK;
}

static bool is_webp(const uint8_t *bytes, size_t size)
{
    return size >= RIFF_HEADER && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

const struct image_codec webp_codec = {
    .name = "WebP",
    .recognises = is_webp,
    .extensions = {".webp"},
    .reading = SIZE_BEHIND_IMAGE, /* the orientation, which may exchange the sides, follows the image */
    .size = webp_size,
    .decode = webp_decode,
};
