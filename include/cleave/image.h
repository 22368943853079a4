/* Images: 8-bit pixels in memory, PNG and JPEG files, overlays.
 *
 *     struct clv_image image = {0};
 *     struct clv_error error;
 *     if (clv_image_read(&image, "horse.jpg", NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_image_release(&image);
 */
#ifndef CLEAVE_IMAGE_H
#define CLEAVE_IMAGE_H

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* pixels[height][width][channels], row-major, interleaved; channels is 1 (grey, or labels) or 3 (sRGB). */
struct clv_image {
    int32_t width, height, channels;
    uint8_t *pixels;
};

/* Refused from the header, before memory for pixels is taken. A field that is 0 means its default. */
struct clv_image_limits {
    uint64_t max_pixels;    /* default 64 Mpixel = 64 * 2^20 */
    int32_t max_side_px;    /* default 65,535 */
    int32_t max_jpeg_scans; /* default 100 */
};

CLV_API void clv_image_release(struct clv_image *image);
CLV_API enum clv_status clv_image_new(struct clv_image *image, int32_t width, int32_t height, int32_t channels,
                                      struct clv_error *err) CLV_CHECK; /* zeroed */

/* Reads any PNG or JPEG (told by content, not by name) as 3-channel sRGB: 16 bits are rounded to 8, palettes and grey are
 * expanded, alpha is composited over white, CMYK and YCCK are converted, EXIF orientation is applied. Truncated or corrupt
 * files fail; nothing is guessed. limits may be NULL. */
CLV_API enum clv_status clv_image_read(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                                       struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_image_decode(struct clv_image *image, const void *bytes, size_t size,
                                         const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Width and height as clv_image_read would return them (orientation applied), from the header alone. */
CLV_API enum clv_status clv_image_read_size(int32_t *width, int32_t *height, const char *path,
                                            const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* A PNG's raw sample values, for masks: palette indices or grey values of 1, 2, 4 or 8 bits, unscaled. Grey with 16 bits,
 * RGB, alpha and JPEG are refused with a hint ("masks must be 8-bit grey or palette PNG"). */
struct clv_indexed_image {
    int32_t width, height;
    uint8_t *values;         /* [height][width] */
    int bit_depth;           /* 1, 2, 4 or 8 */
    int palette_size;        /* 0: grey */
    uint8_t palette[256][3]; /* red, green, blue */
};
CLV_API void clv_indexed_image_release(struct clv_indexed_image *image);
CLV_API enum clv_status clv_indexed_image_read(struct clv_indexed_image *image, const char *path,
                                               const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_indexed_image_decode(struct clv_indexed_image *image, const void *bytes, size_t size,
                                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Writes all or nothing (temporary + rename). clv_png_write: 1 or 3 channels. clv_png_write_labels: 8-bit palette PNG with
 * palette_size colours, or 8-bit grey when palette_size is 0; labels[height][width]. */
CLV_API enum clv_status clv_png_write(const char *path, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_png_write_labels(const char *path, int32_t width, int32_t height, const uint8_t *labels,
                                             const uint8_t (*palette)[3], int palette_size,
                                             struct clv_error *err) CLV_CHECK;

/* The same into memory: *bytes is to be freed with clv_free. JPEG quality is 1..100; 1 or 3 channels. */
CLV_API enum clv_status clv_png_encode(uint8_t **bytes, size_t *size, const struct clv_image *image,
                                       struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_png_encode_labels(uint8_t **bytes, size_t *size, int32_t width, int32_t height,
                                              const uint8_t *labels, const uint8_t (*palette)[3], int palette_size,
                                              struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_jpeg_encode(uint8_t **bytes, size_t *size, const struct clv_image *image, int quality,
                                        struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_jpeg_write(const char *path, const struct clv_image *image, int quality,
                                       struct clv_error *err) CLV_CHECK;
CLV_API void clv_free(void *memory);

/* Area-averaging when shrinking, bilinear when enlarging; any channel count. O(source + target pixels). */
CLV_API enum clv_status clv_image_resize(struct clv_image *target, const struct clv_image *source, int32_t width,
                                         int32_t height, struct clv_error *err) CLV_CHECK;

/* Nearest neighbour: enlarges or shrinks a label map; target[target_height][target_width] is the caller's. */
CLV_API void clv_labels_resize(uint8_t *target, int32_t target_width, int32_t target_height, const uint8_t *source,
                               int32_t source_width, int32_t source_height);

/* sRGB (D65) to CIE L*a*b*: lab[n][3], L in 0..100, a and b about -128..127; within 0.05 of the exact value. */
CLV_API void clv_rgb_to_lab(float *lab, const uint8_t *rgb, size_t n);

/* Colours of labels 0..255 when a set names none: 0 is black, the others far apart (the PASCAL VOC bit-reversal scheme). */
CLV_API void clv_default_palette(uint8_t palette[256][3]);

/* Paints `labels` over `image` (3 channels, changed in place): each non-zero label's region is tinted with its palette
 * colour at `opacity` 0..1, and every border between two labels is drawn as a crisp line of `outline_px` >= 0 pixels, light
 * with a dark rim so that it is seen on any ground. Labels equal to void_label (-1: none) are hatched grey. */
CLV_API void clv_overlay_draw(struct clv_image *image, const uint8_t *labels, const uint8_t (*palette)[3], double opacity,
                              int32_t outline_px, int void_label);

#ifdef __cplusplus
}
#endif
#endif
