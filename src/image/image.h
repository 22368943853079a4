#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tiffio.h>

#include "base/base.h"
#include "cleave/image.h"
#include "cleave/status.h"

/* Each format has its own file. This header declares the functions that decode.c calls there, and what the formats
 * share. Their messages lack the file name; callers add it. */

/* Returns a copy of the limits with every default filled in; limits may be NULL. */
struct clv_image_limits limits_resolved(const struct clv_image_limits *limits);

/* Fails with CLV_ERR_DATA if a side is 0 or exceeds the limits, which must be resolved. The message has the value and
 * the limit. */
enum clv_status limits_check(uint32_t width, uint32_t height, const struct clv_image_limits *limits,
                             struct clv_error *err) CLV_CHECK;

/* Checks the sizes as limits_check does, and stores them. */
enum clv_status size_take(int32_t *width_px, int32_t *height_px, uint32_t width, uint32_t height,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* A file in memory, and which part of it to decode. */
struct image_bytes {
    const uint8_t *bytes;
    size_t size;
    uint32_t page;                         /* of a TIFF, from 1 */
    const struct clv_image_limits *limits; /* resolved */
    uint32_t channel;                      /* of the page, from 1; 0: the only one */
};

/* Size and orientation as the header states them. */
struct image_head {
    int32_t width, height;
    int orientation; /* the EXIF tag, 1..8, still to be applied */
};

/* Returns the orientation (1..8) that a JPEG, WebP or TIFF file states; 1 if it states none or cannot be read. */
int image_orientation(const char *path, const struct clv_image_limits *limits);

/* Decodes the label values of a palette or grey PNG of up to 8 bits as they are stored. */
enum clv_status png_decode_indexed(struct clv_indexed_image *image, const struct image_bytes *from,
                                   struct clv_error *err) CLV_CHECK;

/* Samples of a PNG that has neither a palette nor grey of up to 8 bits: grey16[height][width] of 16-bit grey, or
 * rgba[height][width][4] of other kinds, with 8 bits each. The other array is NULL. */
struct wide_samples {
    int32_t width, height;
    uint16_t *grey16;
    uint8_t *rgba;
};
void wide_samples_release(struct wide_samples *samples);
enum clv_status png_decode_wide(struct wide_samples *samples, const uint8_t *bytes, size_t size,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Unscaled grey values of 1 to 16 bits: values[height][width] in 0..largest. Other kinds of PNG are CLV_ERR_DATA. */
struct png_grey {
    int32_t width, height, largest;
    uint16_t *values;
};
void png_grey_release(struct png_grey *grey);
enum clv_status png_decode_grey(struct png_grey *grey, const uint8_t *bytes, size_t size,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Decodes whole numbers of 8, 16 or 32 bits as they are stored, and applies the orientation. The caller frees
 * values[height][width] with array_free. CLV_ERR_DATA for other samples and for numbers outside 0..INT32_MAX. */
enum clv_status tiff_decode_integers(int32_t **values, int32_t *width, int32_t *height, const struct image_bytes *from,
                                     struct clv_error *err) CLV_CHECK;

/* Writes a 16-bit grey PNG of samples[height][width][2], the most significant byte first; all or nothing. */
enum clv_status png_write_grey16(const char *path, int32_t width, int32_t height, const uint8_t *samples,
                                 struct clv_error *err) CLV_CHECK;

/* Writes a PNG of rgba[height][width][4], colours not multiplied by alpha; all or nothing. */
enum clv_status png_write_rgba(const char *path, int32_t width, int32_t height, const uint8_t *rgba,
                               struct clv_error *err) CLV_CHECK;

/* Checks that a writer can take the image: at least 1x1 pixels, 1 or 3 channels. */
enum clv_status writable_check(const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* Reads the size or the image of a file as clv_image_read_size and clv_image_read do, but never as a raster of bands,
 * whatever limits->bands is. */
enum clv_status image_size_plain(int32_t *width, int32_t *height, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
enum clv_status image_read_plain(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                                 struct clv_error *err) CLV_CHECK;

/* Whether an image that was read without --range and not as bands has 16-bit grey values, all below 4096 and not all
 * 0. */
bool image_is_12_bit(const struct clv_image *image, const char *path, const struct clv_image_limits *limits);

/* EXIF orientation: reading the tag, turning the pixels. */

/* Returns the orientation tag (1..8) of an APP1 segment's payload ("Exif\0\0", then a TIFF header in either byte
 * order); 1 (upright) if the tag is missing, malformed or out of range. EXIF 2.32, sections 4.5 and 4.6.4 A. */
int exif_orientation(const uint8_t *segment, size_t size);

/* Reads the tag from a payload without "Exif\0\0" in front, as WebP has it. */
int tiff_orientation(const uint8_t *bytes, size_t size);

bool exif_is_segment(const uint8_t *segment, size_t size);

/* Whether the orientation exchanges width and height. */
bool orientation_transposes(int orientation);

/* Turns the pixels so that the image is upright. Orientation 1 changes nothing. */
enum clv_status image_orient(struct clv_image *image, int orientation, struct clv_error *err) CLV_CHECK;

/* Formats of image files, recognised by their first bytes. Formats that cleave does not read have names for
 * messages. */

/* The formats that are read, each by a codec at the end of its file: png_codec in png.c. */
#define EACH_CODEC(ROW) ROW(PNG, png) ROW(JPEG, jpeg) ROW(WEBP, webp) ROW(TIFF, tiff) ROW(BMP, bmp) ROW(PNM, pnm)

#define PLACE(format, name) FORMAT_##format,
enum image_format {
    FORMAT_UNKNOWN,
    FORMAT_FOREIGN, /* an image, in a format that is not read */
    FORMAT_GDAL,    /* a raster of a format that only builds with GDAL read */
    EACH_CODEC(PLACE) N_FORMATS,
    FORMAT_FIRST_READ = FORMAT_GDAL + 1
};
#undef PLACE

enum { MAX_MAGICS = 4, MAX_EXTENSIONS = 4 };
struct image_codec {
    const char *name; /* in messages: "WebP" */
    struct {
        const char *bytes; /* the first bytes of a file */
        size_t length;
    } magics[MAX_MAGICS];                                  /* the last one has NULL bytes */
    bool (*recognises)(const uint8_t *bytes, size_t size); /* by the first FORMAT_HEAD_BYTES; NULL: by magics */
    bool is_weak;                                          /* too short to recognise an image among other files */
    const char *extensions[MAX_EXTENSIONS];                /* NULL after the last one */
    enum {
        SIZE_IN_HEAD,
        SIZE_MAY_BE_BEHIND, /* if the head lacks the size, the whole file is searched for it */
        SIZE_BEHIND_IMAGE,
        PARTS_ANYWHERE, /* the file is mapped, and has pages */
    } reading;
    enum clv_status (*size)(struct image_head *head, const struct image_bytes *from, struct clv_error *err);
    /* Decodes to 3 channels. *orientation is 1 on entry. */
    enum clv_status (*decode)(struct clv_image *image, int *orientation, const struct image_bytes *from,
                              struct clv_error *err);
    /* Decodes label values as they are stored; in grey images a darker value is smaller. NULL: the format does not keep
     * them. */
    enum clv_status (*decode_indexed)(struct clv_indexed_image *image, const struct image_bytes *from,
                                      struct clv_error *err);
};
#define DECLARE(format, name) extern const struct image_codec name##_codec;
EACH_CODEC(DECLARE)
#undef DECLARE

/* Returns NULL for a format that cleave does not read. */
const struct image_codec *image_codec(enum image_format format);

/* Appends "PNG, JPEG .. or PNM". */
struct text;
void image_format_names(struct text *text);

#define FORMAT_HEAD_BYTES 32

/* Recognises a format by the first bytes of a file. *name becomes "PNG", "HEIC" and so on; NULL for FORMAT_UNKNOWN. */
enum image_format image_format(const char **name, const uint8_t *bytes, size_t size);

/* Whether the path names a page or has the extension of an image, or else the file begins like an image. Formats that
 * cleave does not read count as well, so that a folder of them gets a message. */
bool path_is_image(const char *path);

/* Converts lab[3], with L in 0..100 and the white point D50 as in TIFF and ICC profiles, to sRGB, rounded and
 * clipped. */
void lab_d50_to_rgb(uint8_t rgb[3], const double lab[3]);

/* Images of objects: one whole number per pixel, the number of its object. */

struct integer_image {
    int32_t width, height;
    int32_t *values; /* [height][width], 0 or more */
};
void integer_image_release(struct integer_image *image);

/* Reads numbers as they are stored: a PNG of grey values of up to 16 bits or of palette indices, or a TIFF (or a page
 * of one) of numbers of up to 32 bits. Applies the orientation. CLV_ERR_DATA, with the file's name, for other formats
 * and for numbers outside 0..INT32_MAX. O(pixels). */
enum clv_status integer_image_read(struct integer_image *image, const char *path, const struct clv_image_limits *limits,
                                   struct clv_error *err) CLV_CHECK;

/* Write a grey PNG of 16 bits (values up to 65,535) or an uncompressed TIFF of 32 bits; all or nothing. */
enum clv_status integer_image_write_png(const char *path, const struct integer_image *image,
                                        struct clv_error *err) CLV_CHECK;
enum clv_status integer_image_write_tiff(const char *path, const struct integer_image *image,
                                         struct clv_error *err) CLV_CHECK;

/* Colours of labels that every kind of colour vision distinguishes. */

/* Makes the palette for tints and legends. A colour that is too near that of an earlier label from 1 on, for common,
 * protan or deutan vision, is made lighter or darker. If no shade is far enough from all of them, the farthest is
 * taken. Label 0, which is not tinted, and the labels from n_labels on keep their colours. O(n_labels^2). */
void overlay_palette(uint8_t result[256][3], const uint8_t (*palette)[3], int32_t n_labels);

/* Returns the distance of two colours, about 0..255, for the kind of vision that distinguishes them worst. */
double overlay_palette_distance(const uint8_t a[3], const uint8_t b[3]);

/* Paths of the pages of a TIFF, such as a.tif#2. */

/* Adds the file at folder/path to the list, as `path`, or each page of a TIFF that has several: path#1, path#2, .. */
enum clv_status path_list_add_pages(struct path_list *list, const char *folder, const char *path,
                                    struct clv_error *err) CLV_CHECK;

/* Collects how the pages of files were read, if descriptions or --axes determine their order, to print it once. */
struct stack_note {
    size_t n; /* files */
    char text[512];
};

/* Notes the axes of a file, or of the file whose first page the path names. Ignores other pages and files that are not
 * a TIFF. */
void stack_note_add(struct stack_note *self, const char *path);
void stack_note_report(const struct stack_note *self, const struct clv_progress *progress);

/* Conversion of samples of other depths to 8 bits, the same for every format. */

/* Composes a value over white in 8 bits, rounded to nearest: (c a + 255 (255 - a)) / 255. */
static inline uint8_t over_white(uint32_t value, uint32_t alpha)
{
    return (uint8_t)((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

/* Maps low..high to 0..255, rounded to nearest and clipped. low < high < 2^16. */
static inline uint8_t sample_scaled(uint32_t value, uint32_t low, uint32_t high)
{
    if (value <= low || value >= high)
        return value <= low ? 0 : 255;
    return (uint8_t)((255 * (value - low) + (high - low) / 2) / (high - low));
}

/* A page of a TIFF, opened by libtiff. Only tiff_file.c, tiff.c (images), raster_tiff.c (windows of bands), geo_tags.c
 * and raster_write.c call libtiff. */

struct tiff_file {
    TIFF *tiff;
    const uint8_t *bytes;
    size_t size, position;
    char message[200]; /* libtiff's first error, and the first warning of a decoder */
    bool is_decoding;  /* a strip or tile is being decoded, so warnings are errors */
    bool has_byte_counts;
    uint32_t width, height;
    uint16_t bits, n_samples, photometric, orientation, format, compression;
    uint64_t plane_offset, plane_bytes, plane_shift; /* added to positions within the first plane */
    bool is_tiled, is_planar;
    uint32_t block_width, block_height; /* pixels of a tile, or of a strip (the last one may have fewer rows) */
};

/* Opens a page of a file in memory. The bytes are not copied, and *self must not move before tiff_close, which releases
 * it after a failure as well. CLV_ERR_DATA if the page or its size is missing, if the size is above the (resolved)
 * limits, or if a strip or tile is missing, lies beyond the end of the file or has too few bytes for its pixels, by any
 * compression; the message has the cause. Reads tags alone: O(strips or tiles). */
enum clv_status tiff_open(struct tiff_file *self, const struct image_bytes *from, struct clv_error *err) CLV_CHECK;
void tiff_close(struct tiff_file *self);

/* Decodes `wanted` bytes of the strip or tile that holds pixel (x, y) of a plane; plane 0 if samples are interleaved.
 * CLV_ERR_DATA if it is damaged; warnings of its decoder count as damage. */
enum clv_status tiff_read_block(void *block, size_t wanted, struct tiff_file *self, uint32_t x, uint32_t y,
                                uint16_t plane, struct clv_error *err) CLV_CHECK;

/* Decodes the whole page to raster[height][width] in libtiff's own form: pixels in the order that the file stores,
 * colours multiplied by alpha, to be read by TIFFGetR and so on. CLV_ERR_DATA if the page is damaged or libtiff cannot
 * convert its kind. */
enum clv_status tiff_read_colours(uint32_t *raster, struct tiff_file *self, struct clv_error *err) CLV_CHECK;

/* Fails with CLV_ERR_DATA and libtiff's first message, in which all but printable ASCII is replaced. For damaged files
 * and kinds that libtiff does not know. */
enum clv_status tiff_corrupt(struct tiff_file *self, struct clv_error *err);

/* Fails with CLV_ERR_DATA for a file that may be intact. The message has the kind of its samples and a kind to save it
 * as. */
enum clv_status tiff_unsupported(const struct tiff_file *self, struct clv_error *err);

/* The axes of a TIFF's pages (stack_axes.c). A plane is the image of one directory; in ImageJ's stacks of a single
 * directory the other planes follow the first one's pixels. A page is an image of one plane for each channel. */

enum stack_axes_source { AXES_OF_PAGES, AXES_OF_IMAGEJ, AXES_OF_OME, AXES_CHOSEN };

struct stack_axes {
    uint32_t n_channels, n_slices, n_frames; /* at least 1; pages are n_slices x n_frames */
    uint32_t step[3];                        /* planes from one channel, slice and frame to the next */
    enum stack_axes_source source;           /* AXES_OF_PAGES: every plane is a page */
    const char *planes, *planes_end;         /* TiffData elements of OME-XML, which override `step`; NULL: none */
};

/* The description in the first directory, which need not end with a 0, and the number of samples of a pixel. */
struct stack_description {
    const char *text; /* NULL: none */
    size_t length;
    uint32_t n_samples;
};

/* A line of ImageJ's description, with 1: the planes are in that order whatever --axes says, which is about the images
 * of these masks. */
#define STACK_FIXED "cleave="

/* Sets the order of axes, the slowest first, for all files with a number of planes that fits, except those with
 * STACK_FIXED. Letters may be followed
 * by sizes that the files lack ("TZC", "T6C2"). "" leaves the order to the files. CLV_ERR_USAGE for other letters. Call
 * it before images are read. */
enum clv_status stack_axes_choose(const char *axes, struct clv_error *err) CLV_CHECK;
bool stack_axes_are_chosen(void);

/* Adds the chosen order to a hash; returns the hash unchanged if none was chosen. */
uint64_t stack_axes_hash(uint64_t hash);

/* Finds the axes of n_planes planes. axes->planes points into the text. */
void stack_axes_find(struct stack_axes *axes, uint32_t n_planes, const struct stack_description *text);

/* Returns the number of planes in ImageJ's description, 1 without one. */
uint32_t stack_axes_n_planes(const struct stack_description *text);

/* Returns the plane of a page and channel, all from 0. Pages are in the order of time, and those of one time in the
 * order of z. */
uint32_t stack_axes_plane(const struct stack_axes *axes, uint32_t page, uint32_t channel);

#define STACK_NAME 160

/* Writes text such as "6 time points of 2 channels, as ImageJ describes them" to name[size]. */
void stack_axes_name(char *name, size_t size, const struct stack_axes *axes);

/* Finds the pages of a TIFF without libtiff, which would walk the whole chain of directories for each page and keep all
 * of them in memory. */

/* Finds the axes of the file's pages. Directories marked as reduced copies or as masks do not count. The chain of
 * directories ends at a pointer back to an earlier one, or at a pointer out of the file in the first. In a later
 * directory a pointer out of the file counts as one more page, which is refused when it is read. CLV_ERR_DATA: not a
 * TIFF, no image in it, more than 65,535 directories. TIFF 6.0, section 2; BigTIFF. */
enum clv_status tiff_find_axes(struct stack_axes *axes, const uint8_t *bytes, size_t size,
                               struct clv_error *err) CLV_CHECK;

/* Finds the axes of a file; AXES_OF_PAGES and one plane if it is not a TIFF or cannot be opened. axes->planes is NULL,
 * because the file is closed again. */
void image_find_axes(struct stack_axes *axes, const char *path);

/* Parts and bands of images, also of resized ones. */

/* A part of an image, and the size of the whole image, which need not be in memory. */
struct image_part {
    int32_t left, top, width, height, whole_width, whole_height;
};

/* A band of full rows of an image that is not in memory as a whole: its rows top .. top + n_rows - 1. The arrays begin
 * `above` rows before the band and end `below` rows after it. A function that computes a pixel from its neighbours
 * states its halo, the number of rows that it needs above and below; at the border of the image fewer are enough. */
struct image_band {
    int32_t width, height; /* of the image */
    int32_t top, n_rows, above, below;
    const uint8_t *pixels;  /* [above + n_rows + below][width][3]; NULL (also below): not requested */
    const uint8_t *labels;  /* [above + n_rows + below][width] */
    const int32_t *objects; /* [above + n_rows + below][width] numbers of objects, 0: none */
    const float *samples;   /* [above + n_rows + below][width][n_samples], NAN without data */
    int32_t n_samples;
};

/* Returns the whole image as one band. */
struct image_band image_band_of(const struct clv_image *image, const uint8_t *labels);

/* The number of pixels in the arrays before the first pixel of the band. */
static inline size_t image_band_start(const struct image_band *band)
{
    return (size_t)band->above * (size_t)band->width;
}

/* Index of the first pixel of the image's row y in the arrays, which must have that row. */
static inline size_t image_band_row(const struct image_band *band, int32_t y)
{
    return (size_t)(y - band->top + band->above) * (size_t)band->width;
}

/* Paints a band. Its pixels equal those of clv_overlay_draw on the whole image. Changes pixels[n_rows][width][3] in
 * place; band->labels have a halo of overlay_halo(outline_px) rows. */
void overlay_band(uint8_t *pixels, const struct image_band *band, const uint8_t (*palette)[3], double opacity,
                  int32_t outline_px, int void_label);
int32_t overlay_halo(int32_t outline_px);

/* Returns the length of a side in working pixels, at least 1; `scale` is a number of pixels per working pixel. */
int32_t scaled_size(int32_t size, float scale);

/* Copies an image, shrunk to n_pixels if it is larger; its sides are rounded. */
enum clv_status image_shrink(struct clv_image *copy, const struct clv_image *image, double n_pixels,
                             struct clv_error *err) CLV_CHECK;

/* Returns the part of a source of width x height pixels from which the wanted part of its shrunken copy is computed
 * (clv_image_resize, no side larger). */
struct image_part resize_source(const struct image_part *wanted, int32_t width, int32_t height);

/* Computes the wanted part of the copy. `source` has the pixels of part `from` of the whole source, which must contain
 * the part that resize_source returns. The result equals that part of the whole copy. */
enum clv_status image_resize_part(struct clv_image *target, const struct image_part *wanted,
                                  const struct clv_image *source, const struct image_part *from,
                                  struct clv_error *err) CLV_CHECK;

/* Computes those of the next rows of a shrunken copy (clv_image_resize, no side larger) whose source pixels are in the
 * band. Writes them to target->pixels from row *n_rows on, and adds their number to *n_rows. They equal those rows of
 * the whole copy. Bands come in order, with a halo of image_shrink_halo rows; after the last one *n_rows is
 * target->height. */
enum clv_status image_shrink_band(struct clv_image *target, int32_t *n_rows, const struct image_band *band,
                                  struct clv_error *err) CLV_CHECK;
int32_t image_shrink_halo(int32_t height, int32_t target_height);

/* Fills those rows of target[target_height][target_width] that clv_labels_resize takes from rows of the band. */
void labels_shrink_band(uint8_t *target, int32_t target_width, int32_t target_height, const struct image_band *band);

/* A mask to be written. */
struct label_image {
    int32_t width, height;
    const uint8_t *labels;       /* [height][width] */
    const uint8_t (*palette)[3]; /* [palette_size]; not used if that is 0: grey */
    int palette_size;            /* 0..256 */
};

/* Encodes the file of clv_png_write_labels in memory. Free *bytes with clv_free. */
enum clv_status png_encode_labels(uint8_t **bytes, size_t *size, const struct label_image *image,
                                  struct clv_error *err) CLV_CHECK;

/* A PNG of labels that is written row after row, all or nothing: the bytes of clv_png_write_labels. `image` gives the
 * size and the palette; its labels are ignored. png_rows_commit completes the file and releases the writer, also after
 * a failure; png_rows_close releases it and leaves no file. CLV_ERR_USAGE for a label without a colour. */
struct png_rows;
enum clv_status png_rows_open(struct png_rows **rows, const char *path, const struct label_image *image,
                              struct clv_error *err) CLV_CHECK;
enum clv_status png_rows_put(struct png_rows *self, const uint8_t *labels, int32_t n_rows,
                             struct clv_error *err) CLV_CHECK;
enum clv_status png_rows_commit(struct png_rows *self, struct clv_error *err) CLV_CHECK;
void png_rows_close(struct png_rows *self);
DROPS(png_rows_drop, struct png_rows, png_rows_close)

#endif
