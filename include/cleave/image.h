/* Images: 8-bit pixels in memory, files of many formats, overlays.
 *
 *     struct clv_image image = {0};
 *     struct clv_error error;
 *     if (clv_image_read(&image, "horse.jpg", NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_image_release(&image);
 *
 * To read the source: src/image/decode.c finds the format by its first bytes (formats.c) and calls the file that knows
 * it (image/image.h; png.c, jpeg.c, webp.c, tiff.c, bmp.c, pnm.c); raster/ reads images of bands. exif.c finds the
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

/* Numbers in memory, of the machine's byte order, the last dimension running fastest: what a .npy file would hold. */
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
 * weight[c][b] * value[b], the value first put into low[b]..high[b]; rounded, and clipped at 0..255. */
struct clv_bands {
    int32_t n_bands; /* 0: nothing is learned */
    char files[256]; /* limits->band_files of the training images; "": an image is a file */
    float low[CLV_MAX_BANDS], high[CLV_MAX_BANDS]; /* percentiles 1 and 99 of the training images' pixels */
    float middle[CLV_MAX_BANDS];                   /* and 50, which takes the place of missing values */
    float weight[3][CLV_MAX_BANDS], offset[3];
    float scale; /* the recipe's, whose working pixels the map of bands has; 0: it shrinks by the image's size */
};

/* Limits that are checked in the header of an image, before memory for its pixels is taken (the message names value
 * and limit), and the range of grey to read. A field that is 0 (or less) means its default. JPEG sides end at
 * libjpeg's 65,500 whatever the limit. Files longer than 8 bytes for each of max_pixels and 64 MiB more are refused
 * before they are read. TIFFs are exempt: only the page that is asked for is read. */
struct clv_image_limits {
    uint64_t max_pixels;    /* default 64 Mpixel = 64 * 2^20 */
    int32_t max_side_px;    /* default 65,535 */
    int32_t max_jpeg_scans; /* default 100; each scan of a progressive JPEG costs a pass over the whole image */
    int32_t grey16_low, grey16_high; /* 16-bit grey samples that become 0 and 255; unless low < high 0 and 65,535 */
    const struct clv_bands *bands;   /* how images of bands are shown; NULL: by their own values */
    const char *band_files;          /* "red.tif,nir.tif": files that are bands of one image; NULL: each is one */
};

CLV_API void clv_image_release(struct clv_image *image);

/* Zeroed pixels, sizes >= 1. *image is only written to, so whatever it owned before must be released first. */
CLV_API enum clv_status clv_image_new(struct clv_image *image, int32_t width, int32_t height, int32_t channels,
                                      struct clv_error *err) CLV_CHECK;

/* Three channels of pixels[height][width][channels] in memory, as of a file: 1 grey, 2 grey and alpha, 3 sRGB, 4 sRGB
 * and alpha, which is composited over white. *image is a new one. CLV_ERR_USAGE for other channels. O(pixels). */
CLV_API enum clv_status clv_image_from_pixels(struct clv_image *image, const uint8_t *pixels, int32_t width,
                                              int32_t height, int32_t channels, struct clv_error *err) CLV_CHECK;

/* Reads an image (of a format recognised by content, not by name) as 3-channel sRGB.
 *
 * PNG: every colour type, bit depth and interlacing. JPEG: baseline, progressive, arithmetic; grey, YCbCr, RGB, CMYK
 * and YCCK (with Adobe's inversion). WebP: lossy and lossless, not animated. TIFF and BigTIFF: what libtiff shows as
 * colours, 8 or 16 bits, strips or tiles, compressed or not. BMP: 1 to 32 bits, uncompressed. PBM, PGM, PPM: raw and
 * plain, 8 or 16 bits. Formats that are not read (HEIC, AVIF, JPEG XL, GIF, PSD, ..) are refused by their name.
 *
 * 16 bits are rounded to the nearest 8 (grey: by the limits' range), palettes and grey are expanded, alpha and
 * transparent colours are composited over white in 8 bits: (c a + 255 (255 - a)) / 255, rounded. The orientation that
 * JPEG, WebP (EXIF) and TIFF state is applied, and malformed EXIF ignored. Colour profiles and gamma are not: samples
 * count as sRGB.
 *
 * Images of bands are a TIFF of more bands, of signed or floating-point samples or of 32 bits, and .npy files of
 * [height][width][bands]: with limits->bands, and then all images are read as bands, they are shown as that says;
 * without, red, green and blue where the file has them, else principal components, by percentiles 1 and 99 of their own
 * values; floating-point colours of 0..1 and 0..255 keep that range.
 *
 * A page of a TIFF with several goes by path and number: "stack.tif#2"; the path alone is the first one. Pages marked
 * as reduced copies of others or as their transparency do not count.
 *
 * Truncated or corrupt files fail; nothing is made up: every checksum of a PNG must hold up to its IEND, and what
 * libjpeg calls a warning (data missing, superfluous or invalid) is an error. limits may be NULL. Status:
 * CLV_ERR_NO_INPUT (missing, unreadable, a folder, FIFO or device), CLV_ERR_DATA (content, limits), CLV_ERR_MEMORY.
 * *image is unchanged on failure. Safe from several threads. O(pixels), times scans for JPEG. */
CLV_API enum clv_status clv_image_read(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                                       struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_image_decode(struct clv_image *image, const void *bytes, size_t size,
                                         const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* How many images a file holds: the pages of a TIFF, 1 of any other file, damaged ones as well (reading them
 * fails). */
CLV_API enum clv_status clv_image_count(uint32_t *n, const char *path, struct clv_error *err) CLV_CHECK;

/* Width and height as clv_image_read would return them (orientation applied), from the header alone: of a large file
 * only the beginning is read. */
CLV_API enum clv_status clv_image_read_size(int32_t *width, int32_t *height, const char *path,
                                            const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Raw sample values, for masks: palette indices or grey values of 1, 2, 4 or 8 bits, unscaled, of PNG, TIFF, BMP and
 * PNM (of bits the white ones are 1); transparency is ignored. Other kinds are refused with a hint ("masks must be
 * 8-bit grey or palette PNG"), and so is an index that the palette lacks. */
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
 * with palette_size colours (0..256), or 8-bit grey when palette_size is 0; labels[height][width], each below
 * palette_size (CLV_ERR_USAGE names the pixel). Compressed for speed: run lengths only. */
CLV_API enum clv_status clv_png_write(const char *path, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_png_write_labels(const char *path, int32_t width, int32_t height, const uint8_t *labels,
                                             const uint8_t (*palette)[3], int palette_size,
                                             struct clv_error *err) CLV_CHECK;

/* Encodes an image into memory: *bytes is to be freed with clv_free. JPEG quality is 1..100, colour at full
 * resolution from 90 on and halved below; 1 or 3 channels; at most 65,500 pixels a side. */
CLV_API enum clv_status clv_png_encode(uint8_t **bytes, size_t *size, const struct clv_image *image,
                                       struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_jpeg_encode(uint8_t **bytes, size_t *size, const struct clv_image *image, int quality,
                                        struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_jpeg_write(const char *path, const struct clv_image *image, int quality,
                                       struct clv_error *err) CLV_CHECK;
CLV_API void clv_free(void *memory);

/* Area-averaging when shrinking, bilinear when enlarging, for each axis on its own; any channel count; rounded to
 * nearest. *target is only written to. O(source + target pixels + source width x target height). */
CLV_API enum clv_status clv_image_resize(struct clv_image *target, const struct clv_image *source, int32_t width,
                                         int32_t height, struct clv_error *err) CLV_CHECK;

/* Nearest neighbour: enlarges or shrinks a label map; target[target_height][target_width] is the caller's. Target
 * pixel x takes source pixel floor((x + 1/2) source_width / target_width), rows likewise. */
CLV_API void clv_labels_resize(uint8_t *target, int32_t target_width, int32_t target_height, const uint8_t *source,
                               int32_t source_width, int32_t source_height);

/* sRGB (D65) to CIE L*a*b*: rgb[n][3] to lab[n][3], L in 0..100, a and b about -128..127; within 0.02 of the exact
 * value, the same bits whatever the machine's vector width. A few hundred Mpixel/s on one thread. */
CLV_API void clv_rgb_to_lab(float *lab, const uint8_t *rgb, size_t n);

/* Colours of labels 0..255 when a set names none: 0 is black, the others far apart (the PASCAL VOC bit-reversal
 * scheme). */
CLV_API void clv_default_palette(uint8_t palette[256][3]);

/* Paints `labels` over `image` (3 channels, changed in place): each non-zero label's region is tinted with its palette
 * colour at `opacity` 0..1, and every border between two labels is drawn as a crisp line of `outline_px` pixels
 * (0..100), light with a dark rim (1 pixel, from 3 on half the line's width) so that it is seen on any background. The
 * line follows the border smoothed over a few pixels, is centred on it, and antialiased; a line of one pixel is on
 * the higher label's side. Labels equal to void_label (-1: none) are hatched grey. Takes no memory. O(pixels + border
 * length x outline_px^2). */
CLV_API void clv_overlay_draw(struct clv_image *image, const uint8_t *labels, const uint8_t (*palette)[3],
                              double opacity, int32_t outline_px, int void_label);

#ifdef __cplusplus
}
#endif
#endif
