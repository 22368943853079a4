/* Images: 8-bit pixels in memory, files of many formats, overlays.
 *
 *     struct clv_image image = {0};
 *     struct clv_error error;
 *     if (clv_image_read(&image, "horse.jpg", NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_image_release(&image);
 *
 * To read the source: src/image/decode.c recognises the format by the first bytes (formats.c) and calls its codec
 * (image/image.h; png.c, jpeg.c, webp.c, tiff.c, bmp.c, pnm.c); raster/ reads images with bands. exif.c finds the
 * orientation, resize.c, colour.c and draw.c work on pixels in memory. */
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

#define CLV_MAX_BANDS 64

/* An array of numbers in memory, in the machine's byte order, the last dimension fastest, as in a .npy file. */
enum clv_number {
    CLV_NUMBER_U8,
    CLV_NUMBER_U16,
    CLV_NUMBER_F16,
    CLV_NUMBER_F32,
    CLV_NUMBER_F64,
    CLV_NUMBER_I8,
    CLV_NUMBER_I16,
    CLV_NUMBER_U32,
    CLV_NUMBER_I32
};
struct clv_array {
    enum clv_number type;
    int32_t n_dimensions; /* 2 or 3 */
    int64_t shape[3];
    const void *values;
};

/* How to convert the bands of an image to RGB, learned from the training images, and the values that replace missing
 * data. Used for all images except 8-bit grey and colour. Colour c of a pixel is offset[c] + sum over bands b of
 * weight[c][b] * value[b], with the value clipped to low[b]..high[b] first; the result is rounded and clipped to
 * 0..255. */
struct clv_bands {
    int32_t n_bands; /* 0: nothing is learned */
    char files[256]; /* limits->band_files of the training images; "": one file per image */
    float low[CLV_MAX_BANDS], high[CLV_MAX_BANDS]; /* percentiles 1 and 99 of the training images' pixels */
    float middle[CLV_MAX_BANDS];                   /* percentile 50, which replaces missing values */
    float weight[3][CLV_MAX_BANDS], offset[3];
    float scale; /* the recipe's: the map of bands has its working pixels; 0: it is shrunk by the image's size */
};

/* Limits that are checked in the header of an image, before memory for its pixels is taken (the message names value and
 * limit), and the range of grey to read. A field that is 0 (or less) means its default. A JPEG has at most 65,500
 * pixels per side (libjpeg), whatever the limit. Files longer than 8 bytes x max_pixels + 64 MiB are errors before they
 * are read, except TIFFs, of which only the requested page is read. */
struct clv_image_limits {
    uint64_t max_pixels;    /* default 64 Mpixel = 64 * 2^20 */
    int32_t max_side_px;    /* default 65,535 */
    int32_t max_jpeg_scans; /* default 100; each scan of a progressive JPEG costs a pass over the whole image */
    int32_t grey16_low, grey16_high; /* 16-bit grey samples that become 0 and 255; 0 and 65,535 unless low < high */
    const struct clv_bands *bands;   /* how images with bands become colours; NULL: by their own values */
    const char *band_files;          /* "red.tif,nir.tif": files that are bands of one image; NULL: each is an image */
};

CLV_API void clv_image_release(struct clv_image *image);

/* Allocates zeroed pixels, sizes >= 1. *image is only written to, so the caller releases its former content first. */
CLV_API enum clv_status clv_image_new(struct clv_image *image, int32_t width, int32_t height, int32_t channels,
                                      struct clv_error *err) CLV_CHECK;

/* Makes a 3-channel image from pixels[height][width][channels] in memory, as from a file: 1 grey, 2 grey and alpha, 3
 * sRGB, 4 sRGB and alpha, which is composited over white. *image is only written to. CLV_ERR_USAGE for other channels.
 * O(pixels). */
CLV_API enum clv_status clv_image_from_pixels(struct clv_image *image, const uint8_t *pixels, int32_t width,
                                              int32_t height, int32_t channels, struct clv_error *err) CLV_CHECK;

/* Reads an image as 3-channel sRGB. The format is recognised by content, not by name.
 *
 * PNG: every colour type, bit depth and interlacing. JPEG: baseline, progressive, arithmetic; grey, YCbCr, RGB, CMYK
 * and YCCK (with Adobe's inversion). WebP: lossy and lossless, not animated. TIFF and BigTIFF: all that libtiff
 * converts to colours, 8 or 16 bits, strips or tiles, compressed or not. BMP: 1 to 32 bits, uncompressed. PBM, PGM,
 * PPM: raw and plain, 8 or 16 bits. Errors name other known formats (HEIC, AVIF, JPEG XL, GIF, PSD and so on).
 *
 * 16 bits are rounded to the nearest 8 (grey: by the limits' range), palettes and grey are expanded, alpha and
 * transparent colours are composited over white in 8 bits: (c a + 255 (255 - a)) / 255, rounded. The orientation stated
 * by JPEG, WebP (EXIF) and TIFF is applied; malformed EXIF is ignored. Colour profiles and gamma are not applied:
 * samples count as sRGB.
 *
 * Images with bands are TIFFs with more bands than colours need, with signed or floating-point samples or with 32 bits,
 * and .npy files of [height][width][bands]. With limits->bands, all images are read as bands and converted to colours
 * by it. Without, the colours are red, green and blue if the file has them, else principal components, scaled by
 * percentiles 1 and 99 of their own values; floating-point colours in 0..1 or 0..255 keep that range.
 *
 * A page of a TIFF is named by path and number: "stack.tif#2"; the path alone means the first page. Pages marked as
 * reduced copies of others or as their transparency do not count.
 *
 * Truncated or corrupt files are errors: every checksum of a PNG up to its IEND must be correct, and libjpeg's warnings
 * (data missing, superfluous or invalid) are errors. limits may be NULL. Status: CLV_ERR_NO_INPUT (missing, unreadable,
 * a folder, FIFO or device), CLV_ERR_DATA (content, limits), CLV_ERR_MEMORY. *image is unchanged on failure. Safe from
 * several threads. O(pixels), times scans for JPEG. */
CLV_API enum clv_status clv_image_read(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                                       struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_image_decode(struct clv_image *image, const void *bytes, size_t size,
                                         const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* *n = the number of images in a file: the pages of a TIFF, 1 for any other file, even a damaged one (reading it
 * fails). */
CLV_API enum clv_status clv_image_count(uint32_t *n, const char *path, struct clv_error *err) CLV_CHECK;

/* Width and height as clv_image_read would return them (orientation applied), from the header alone: only the beginning
 * of a large file is read. */
CLV_API enum clv_status clv_image_read_size(int32_t *width, int32_t *height, const char *path,
                                            const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Raw sample values, for masks: palette indices or grey values of 1, 2, 4 or 8 bits, unscaled, from PNG, TIFF, BMP and
 * PNM (with 1 bit, white is 1); transparency is ignored. Other kinds are errors with a hint ("masks must be 8-bit grey
 * or palette PNG"), and so is an index beyond the palette. */
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
                                                 const struct clv_image_limits *limits,
                                                 struct clv_error *err) CLV_CHECK;

/* Writes all or nothing (temporary + rename). clv_png_write: 1 or 3 channels. clv_png_write_labels: 8-bit palette PNG
 * with palette_size colours (0..256), or 8-bit grey if palette_size is 0; labels[height][width], each below
 * palette_size (CLV_ERR_USAGE names the pixel). Compressed for speed: run lengths only. */
CLV_API enum clv_status clv_png_write(const char *path, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_png_write_labels(const char *path, int32_t width, int32_t height, const uint8_t *labels,
                                             const uint8_t (*palette)[3], int palette_size,
                                             struct clv_error *err) CLV_CHECK;

/* Encodes an image into memory: the caller frees *bytes with clv_free. JPEG: quality 1..100, chroma at full resolution
 * from 90 on and halved below; 1 or 3 channels; at most 65,500 pixels per side. */
CLV_API enum clv_status clv_png_encode(uint8_t **bytes, size_t *size, const struct clv_image *image,
                                       struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_jpeg_encode(uint8_t **bytes, size_t *size, const struct clv_image *image, int quality,
                                        struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_jpeg_write(const char *path, const struct clv_image *image, int quality,
                                       struct clv_error *err) CLV_CHECK;
CLV_API void clv_free(void *memory);

/* Resizes each axis separately: area average when shrinking, bilinear when enlarging. Any number of channels; values
 * are rounded to nearest. *target is only written to. O(source + target pixels + source width x target height). */
CLV_API enum clv_status clv_image_resize(struct clv_image *target, const struct clv_image *source, int32_t width,
                                         int32_t height, struct clv_error *err) CLV_CHECK;

/* Resizes a label map by nearest neighbour; the caller owns target[target_height][target_width]. Target pixel x takes
 * source pixel floor((x + 1/2) source_width / target_width), rows likewise. */
CLV_API void clv_labels_resize(uint8_t *target, int32_t target_width, int32_t target_height, const uint8_t *source,
                               int32_t source_width, int32_t source_height);

/* sRGB (D65) to CIE L*a*b*: rgb[n][3] to lab[n][3], L in 0..100, a and b about -128..127; within 0.02 of the exact
 * value, with the same bits at any vector width of the machine. A few hundred Mpixel/s on one thread. */
CLV_API void clv_rgb_to_lab(float *lab, const uint8_t *rgb, size_t n);

/* Fills the default colours of labels 0..255: 0 is black, the others are far apart (the PASCAL VOC bit-reversal
 * scheme). */
CLV_API void clv_default_palette(uint8_t palette[256][3]);

/* Paints `labels` over `image` (3 channels, changed in place): each non-zero label's region is tinted with its palette
 * colour at `opacity` 0..1, and every border between two labels is drawn as a sharp line of `outline_px` pixels
 * (0..100), light with a dark rim, so that it is visible on any background. The rim is 1 pixel wide, or half the line's
 * width from 3 pixels on. The line is centred on the border, smoothed over a few pixels, and antialiased; a line of one
 * pixel is on the side of the higher label. Labels equal to void_label (-1: none) are hatched grey. Allocates no
 * memory. O(pixels + border length x outline_px^2). */
CLV_API void clv_overlay_draw(struct clv_image *image, const uint8_t *labels, const uint8_t (*palette)[3],
                              double opacity, int32_t outline_px, int void_label);

#ifdef __cplusplus
}
#endif
#endif
