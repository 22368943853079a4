/* What decode.c asks of the files that know a format each, and the little that they share. Messages carry no file name:
 * the caller that knows one puts it in front. */
#ifndef IMAGE_CODEC_H
#define IMAGE_CODEC_H

#include <stdbool.h>

#include "cleave/image.h"

/* A copy with every default filled in; limits may be NULL. */
struct clv_image_limits limits_resolved(const struct clv_image_limits *limits);

/* Refuses sizes that are zero or over the (resolved) limits, naming value and limit. */
enum clv_status limits_check(uint32_t width, uint32_t height, const struct clv_image_limits *limits,
                             struct clv_error *err) CLV_CHECK;

/* Header only; *orientation is the EXIF tag, 1..8, still to be applied. */
enum clv_status png_size(int32_t *width, int32_t *height, const uint8_t *bytes, size_t size,
                         const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status jpeg_size(int32_t *width, int32_t *height, int *orientation, const uint8_t *bytes, size_t size,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

enum clv_status webp_size(int32_t *width, int32_t *height, int *orientation, const uint8_t *bytes, size_t size,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status tiff_size(int32_t *width, int32_t *height, int *orientation, const uint8_t *bytes, size_t size,
                          uint32_t page, const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status bmp_size(int32_t *width, int32_t *height, const uint8_t *bytes, size_t size,
                         const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status pnm_size(int32_t *width, int32_t *height, const uint8_t *bytes, size_t size,
                         const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Whole images, 3 channels. */
enum clv_status png_decode(struct clv_image *image, const uint8_t *bytes, size_t size,
                           const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status jpeg_decode(struct clv_image *image, int *orientation, const uint8_t *bytes, size_t size,
                            const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

enum clv_status webp_decode(struct clv_image *image, int *orientation, const uint8_t *bytes, size_t size,
                            const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status tiff_decode(struct clv_image *image, int *orientation, const uint8_t *bytes, size_t size, uint32_t page,
                            const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status bmp_decode(struct clv_image *image, const uint8_t *bytes, size_t size,
                           const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status pnm_decode(struct clv_image *image, const uint8_t *bytes, size_t size,
                           const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Label values as they are stored; what shows the darker of two inks has the smaller one. */
enum clv_status png_decode_indexed(struct clv_indexed_image *image, const uint8_t *bytes, size_t size,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

enum clv_status tiff_decode_indexed(struct clv_indexed_image *image, const uint8_t *bytes, size_t size, uint32_t page,
                                    const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status bmp_decode_indexed(struct clv_indexed_image *image, const uint8_t *bytes, size_t size,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status pnm_decode_indexed(struct clv_indexed_image *image, const uint8_t *bytes, size_t size,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* The samples of a PNG that is neither palette nor grey of up to 8 bits, for masks: grey16[height][width] of 16-bit
 * grey, or rgba[height][width][4] with 8 bits each; array_free the one that is not NULL. */
struct wide_samples {
    int32_t width, height;
    uint16_t *grey16;
    uint8_t *rgba;
};
enum clv_status png_decode_wide(struct wide_samples *samples, const uint8_t *bytes, size_t size,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Grey values of 1 to 16 bits, unscaled: values[height][width] in 0..largest, array_free them. Other PNGs are
 * refused. */
struct png_grey {
    int32_t width, height, largest;
    uint16_t *values;
};
enum clv_status png_decode_grey(struct png_grey *grey, const uint8_t *bytes, size_t size,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Whole numbers of 8, 16 or 32 bits as they are stored, the orientation applied: values[height][width], array_free
 * them. */
enum clv_status tiff_decode_integers(int32_t **values, int32_t *width, int32_t *height, const uint8_t *bytes,
                                     size_t size, uint32_t page, const struct clv_image_limits *limits,
                                     struct clv_error *err) CLV_CHECK;

/* samples[height][width][2], the most significant byte first; all or nothing. */
enum clv_status png_write_grey16(const char *path, int32_t width, int32_t height, const uint8_t *samples,
                                 struct clv_error *err) CLV_CHECK;

/* rgba[height][width][4], colours not multiplied by alpha, all or nothing. */
enum clv_status png_write_rgba(const char *path, int32_t width, int32_t height, const uint8_t *rgba,
                               struct clv_error *err) CLV_CHECK;

/* What a writer can take: at least 1x1 pixels, 1 or 3 channels. */
enum clv_status writable_check(const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* clv_image_read and clv_image_read_size of what is no raster of bands, limits->bands or not. */
enum clv_status image_size_plain(int32_t *width, int32_t *height, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status image_read_plain(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                                 struct clv_error *err) CLV_CHECK;

/* Whether an image read without --range is 16-bit grey of values below 4096, and not black. */
bool image_is_12_bit(const struct clv_image *image, const char *path, const struct clv_image_limits *limits);

#endif
