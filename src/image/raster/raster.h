/* Rasters: images of any number of bands, samples of any depth, and a georeference, read by windows. raster_tiff.c
 * reads TIFFs and raster.c all else, values.c whole files of them; bands.c makes ordinary images of bands.
 * raster_write.c writes masks and other rasters, raster_rows.c reads them again by rows.
 *
 * A raster is a TIFF or BigTIFF (strips or tiles, planar or interleaved, grey, white to black or red, green and blue
 * with further bands; whole numbers of 1 to 32 or of 64 bits, signed or not, or floating-point ones of 16, 32 or 64), a
 * .npy array of [height][width] or [height][width][bands], or any image that clv_image_read knows: three bands of
 * 0..255; in builds WITH_GDAL=1 also whatever GDAL reads (raster_gdal.c). */
#ifndef IMAGE_RASTER_RASTER_H
#define IMAGE_RASTER_RASTER_H

#include <stdbool.h>
#include <tiffio.h>

#include "base/base.h"
#include "cleave/image.h"
#include "cleave/status.h"
#include "image/image.h"

/* Arrays of numbers as they stand in files, and where a .npy file has its one. */

enum number_type {
    NUMBER_U8 = CLV_NUMBER_U8,
    NUMBER_U16 = CLV_NUMBER_U16,
    NUMBER_F16 = CLV_NUMBER_F16,
    NUMBER_F32 = CLV_NUMBER_F32,
    NUMBER_F64 = CLV_NUMBER_F64,
    NUMBER_I8 = CLV_NUMBER_I8,
    NUMBER_I16 = CLV_NUMBER_I16,
    NUMBER_U32 = CLV_NUMBER_U32,
    NUMBER_I32 = CLV_NUMBER_I32
};
size_t number_type_size(enum number_type type);

/* A number at any address. */
double number_load(const unsigned char *bytes, enum number_type type, bool big_endian);

/* IEEE 754 half precision; every value of it is one of single precision. */
float number_from_half(uint16_t bits);

enum { NUMBER_MAX_DIMENSIONS = 6 };

/* Numbers at any address, in either byte order. */
struct number_array {
    const unsigned char *bytes; /* all of them are there */
    enum number_type type;
    bool big_endian, is_fortran; /* is_fortran: the first dimension runs fastest */
    int32_t n_dimensions;
    int64_t shape[NUMBER_MAX_DIMENSIONS];
};

/* A view of numbers in memory. CLV_ERR_USAGE: none of 2 or 3 dimensions of 1 or more. */
enum clv_status number_array_of(struct number_array *view, const struct clv_array *array,
                                struct clv_error *err) CLV_CHECK;

/* "16 x 32 x 32" */
void number_shape_name(char *name, size_t size, const struct number_array *array);

/* Numbers from one index of a dimension to the next. */
size_t number_stride(const struct number_array *array, int32_t dimension);

/* The array of a .npy file, a view of its bytes; types are those that `readable` names, which ends the message about
 * others. */
#define NPY_OF_MAPS    "maps are u1, u2, f2, f4 or f8"
#define NPY_OF_RASTERS "rasters are u1, i1, u2, i2, u4, i4, f2, f4 or f8"
bool npy_recognised(const unsigned char *bytes, size_t size);
enum clv_status npy_parse(struct number_array *array, const unsigned char *bytes, size_t size, const char *readable,
                          struct clv_error *err) CLV_CHECK;

/* Where a raster lies on Earth: GeoTIFF's tags as they stand in the file (OGC 19-008r4), and what follows from them. */

/* Zeros: no georeference. Its arrays are its own. */
struct georeference {
    double *scale, *tie_points, *transformation, *doubles; /* tags 33550, 33922, 34264 and 34736 */
    uint16_t *keys;                                        /* tag 34735: four numbers a key, after four of a head */
    char *texts;                                           /* tag 34737 */
    uint16_t n_scale, n_tie_points, n_transformation, n_doubles, n_keys;
    bool may_lack_data; /* somewhere; of a mask: RASTER_VOID is its no-data value, tag 42113 */
};
void georeference_release(struct georeference *georeference);
bool georeference_exists(const struct georeference *georeference);

/* Coordinates of a corner of pixels, (0, 0) the upper left one's: by the transformation, or by the first tie point and
 * the scale. False, and the corner itself, where the raster has neither. Where the keys say that coordinates are those
 * of pixels' centres, the corner is half a pixel before them. */
bool georeference_at(double at[2], const struct georeference *georeference, double x, double y);

/* Computes the map from such coordinates to corners: x = m[0] at[0] + m[1] at[1] + m[2], and y by the next three.
 * Returns false if there is no georeference, or if it has no inverse. */
bool georeference_inverse(double m[6], const struct georeference *georeference);

/* The coordinate system's EPSG code, 0 where the keys name none; *is_geographic: degrees of longitude and latitude. */
int georeference_epsg(bool *is_geographic, const struct georeference *georeference);

/* How a raster is opened: images that store no bands are decoded as a whole or refused; RASTER_STORED takes indices of
 * palettes for a band, too. */
enum raster_access { RASTER_WHOLE, RASTER_WINDOWS, RASTER_STORED };

/* A file. */
struct raster_part {
    struct file_map map;
    struct raster_tiff *tiff;  /* or NULL */
    struct raster_gdal *gdal;  /* or NULL */
    struct number_array array; /* of a .npy file; bytes NULL: none */
    struct clv_image image;    /* decoded; pixels NULL: not that */
    int32_t n_bands;
    uint32_t page; /* of the file, from 1 */
};

struct raster {
    int32_t width, height, n_bands;
    bool is_colour;                   /* the first three bands are red, green and blue */
    bool is_photograph;               /* what clv_image_read shows as it is: colours or grey of up to 8 bits */
    bool is_plain;                    /* what it shows at all, 16 bits squeezed */
    bool is_bytes;                    /* all samples are whole numbers of 8 bits */
    bool has_palette;                 /* samples are indices of colours */
    struct georeference georeference; /* of the first file */
    enum raster_access access;
    struct raster_part *parts; /* [n_parts] */
    size_t n_parts;
};

/* Opens a file or a page of one ("a.tif#2"). With limits->band_files, "red.tif,nir.tif", a file whose path ends with
 * the first of the names is one of several: the others stand next to it, and their bands follow. Sizes are checked
 * against the limits (NULL: 2^31 - 1 a side). Errors name file and reason: CLV_ERR_NO_INPUT; CLV_ERR_DATA for kinds
 * that are not read, files of different sizes, more than CLV_MAX_BANDS bands, and what is truncated or corrupt as far
 * as heads show it. Of large files only what is looked at is in memory. */
enum clv_status raster_open(struct raster *self, const char *path, const struct clv_image_limits *limits,
                            struct clv_error *err) CLV_CHECK;
/* Opens rasters of any size; CLV_ERR_DATA for files that are decoded as a whole (PNG, JPEG, TIFFs of palettes or
 * YCbCr). */
enum clv_status raster_open_windows(struct raster *self, const char *path, const struct clv_image_limits *limits,
                                    struct clv_error *err) CLV_CHECK;
/* Opens a TIFF of one band of whole numbers, of any size, to be read as they are stored: a mask (indices of a
 * palette, or grey) by raster_read_labels, an image of objects by raster_read_numbers. CLV_ERR_DATA for other files. */
enum clv_status raster_open_stored(struct raster *self, const char *path, struct clv_error *err) CLV_CHECK;
void raster_close(struct raster *self); /* zeros: does nothing */

/* Rasters in memory, as raster_open gives the same of a .npy file, and of an image file that stores no bands. The
 * numbers must stay, pixels are copied. No limits hold, and messages carry no name. */
enum clv_status raster_of_array(struct raster *self, const struct clv_array *array, struct clv_error *err) CLV_CHECK;
enum clv_status raster_of_image(struct raster *self, const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* Adds to *hash what tells the raster's files from others of their names (stamp_file): of all files that it is made of,
 * further bands and the sources of a VRT included, which page, and the order of axes if one is chosen.
 * CLV_ERR_NO_INPUT names a file that cannot be examined. O(files). */
enum clv_status raster_stamp(uint64_t *hash, const struct raster *self, bool is_strict,
                             struct clv_error *err) CLV_CHECK;

/* Gives back what of the files is in memory. */
void raster_forget(const struct raster *self);

/* values[height][width][n_bands] of a part of the raster, whose whole size does not matter here. NAN is what has no
 * data: the file's no-data value, NaN, infinities, and pixels that an alpha band hides. A strip or tile is decoded as a
 * whole; the last one is kept. One thread at a time. CLV_ERR_DATA: the file is corrupt there. */
enum clv_status raster_read(float *values, struct raster *self, const struct image_part *window,
                            struct clv_error *err) CLV_CHECK;

/* labels[height][width] of up to 8 bits, numbers[height][width] of up to 32, 0..INT32_MAX, of a raster that
 * raster_open_stored opened; the darker of two inks has the smaller one. CLV_ERR_DATA: samples of more bits, a
 * number out of range, a corrupt file. */
enum clv_status raster_read_labels(uint8_t *labels, struct raster *self, const struct image_part *window,
                                   struct clv_error *err) CLV_CHECK;
enum clv_status raster_read_numbers(int32_t *numbers, struct raster *self, const struct image_part *window,
                                    struct clv_error *err) CLV_CHECK;

/* Pixels across and down of what is decoded together; one row where any is as quick. */
void raster_block(int32_t *width, int32_t *height, const struct raster *self);

#define RASTER_VOID 255 /* CLV_VOID */

/* RASTER_VOID in the place of the labels of pixels that have no data in any band. labels[height][width] are of the
 * window. Reads nothing of a raster that cannot lack any. O(pixels). */
enum clv_status raster_void_labels(uint8_t *labels, struct raster *self, const struct image_part *window,
                                   struct clv_error *err) CLV_CHECK;

/* Does so for labels[height][width] of a whole file; changes none if raster_may_be is false for the file. */
enum clv_status raster_void_missing(uint8_t *labels, int32_t width, int32_t height, const char *path,
                                    const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* *georeference of a TIFF called .tif or .tiff or of a file of GDAL's (georeference_release), zeros of other files
 * and what cannot be opened. */
void georeference_find(struct georeference *georeference, const char *path);

/* Whether a file may be a raster that clv_image_decode does not show, by its name, the limits and GDAL. */
bool raster_may_be(const char *path, const struct clv_image_limits *limits);

/* Whether the file is to be read by its bands: a TIFF or .npy file of other than grey or colours of up to 8 bits. What
 * cannot be opened is not. Looks at the head alone. */
bool raster_is_deep(const char *path, const struct clv_image_limits *limits);

/* CLV_ERR_DATA for a file of another number of bands than `n`, naming it. */
enum clv_status raster_fail_bands(const struct raster *self, const char *path, int32_t n, struct clv_error *err);

/* Samples as a file has them: samples[height][width][n_bands], NAN without data, array_free them. NULL where they are
 * what clv_image_read shows (colours and grey of up to 8 bits) and of kinds that are not read so: colours of 16 bits in
 * a PNG, TIFFs that are turned. CLV_ERR_DATA: the file is corrupt. */
struct raster_values {
    int32_t width, height, n_bands;
    float *samples;
};
enum clv_status raster_values_read(struct raster_values *values, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Ordinary images of rasters' bands, and what a training learns for it (struct clv_bands). */

/* Pixels of several rasters that are looked at: begin with zeros, and release them. */
struct band_samples {
    size_t n, capacity;
    int32_t n_bands;
    bool is_colour; /* all rasters so far have red, green and blue */
    float *value;   /* [n_bands][capacity], NAN where there is none */
};
void band_samples_release(struct band_samples *self);

/* Adds pixels spread evenly over one of n_rasters, called `path`. CLV_ERR_DATA for another number of bands than that of
 * the first, called first_path. O(looked at). */
enum clv_status band_samples_add(struct band_samples *self, struct raster *raster, size_t n_rasters, const char *path,
                                 const char *first_path, struct clv_error *err) CLV_CHECK;

/* Percentiles of the samples, and the colours' weights: red, green and blue as they are where all rasters have them,
 * one band as grey, else the leading three principal components (Pearson 1901; of standardised bands), of the
 * lengths of their deviations; zeros of no samples. CLV_ERR_DATA names a band without any value. */
enum clv_status bands_learn(struct clv_bands *bands, const struct band_samples *samples,
                            struct clv_error *err) CLV_CHECK;

/* *image is a new one. bands NULL: by the raster's own values. CLV_ERR_DATA for another number of bands. O(pixels). */
enum clv_status bands_show(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                           struct clv_error *err) CLV_CHECK;

/* Shows a part of the raster as it is in a copy that is resized to the part's whole size, no larger: the very pixels
 * that clv_image_resize makes of bands_show's. Memory: some rows, and the part. */
enum clv_status bands_show_part(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                                const struct image_part *wanted, struct clv_error *err) CLV_CHECK;

/* How a raster of 8 bits is shown as it is, missing pixels white; false: it is none of grey, or red, green and blue. */
bool bands_are_plain(struct clv_bands *bands, const struct raster *raster);

/* pixels[n][3] of values[n][bands->n_bands]. */
void bands_colours(uint8_t *pixels, const float *values, size_t n, const struct clv_bands *bands);

/* GeoTIFF's tags and GDAL's no-data value in TIFFs that libtiff has open. */

/* Reads the tags of the directory that libtiff has read; *georeference is only written to. A no-data value that is
 * not a number counts as none. */
enum clv_status geo_tags_read(struct georeference *georeference, bool *has_no_data, double *no_data, TIFF *tiff,
                              struct clv_error *err) CLV_CHECK;

/* Into the directory that is being written; false: libtiff refuses. */
bool geo_tags_write(TIFF *tiff, const struct georeference *georeference);

/* Declares the types of these tags for this file. Call it before a directory is written. */
void geo_tags_declare(TIFF *tiff);

/* Windows of TIFFs. */

struct raster_tiff;

/* *tiff is NULL where the page is one that its colours are all of (palette unless takes_palette, YCbCr, ..), which
 * clv_image_decode reads; else it, and what the raster says of it, are filled in; the georeference is in both cases.
 * its bytes must stay. */
enum clv_status raster_tiff_open(struct raster_tiff **tiff, struct raster *raster, const struct image_bytes *from,
                                 bool takes_palette, struct clv_error *err) CLV_CHECK;
void raster_tiff_close(struct raster_tiff *self);
DROPS(raster_tiff_drop, struct raster_tiff, raster_tiff_close)

/* Reads like raster_read, with `step` values from pixel to pixel. */
enum clv_status raster_tiff_read(float *values, size_t step, struct raster_tiff *self, const struct image_part *at,
                                 struct clv_error *err) CLV_CHECK;

/* Reads one band of whole numbers like raster_read_labels (numbers NULL) or raster_read_numbers (labels NULL). */
enum clv_status raster_tiff_read_whole(uint8_t *labels, int32_t *numbers, struct raster_tiff *self,
                                       const struct image_part *at, struct clv_error *err) CLV_CHECK;
void raster_tiff_block(int32_t *width, int32_t *height, const struct raster_tiff *self);

/* Files that GDAL reads, like TIFFs above; builds WITH_GDAL=0 know none. Formats that this folder reads are not left
 * to GDAL. An alpha band does not count as a band: pixels that it or another mask hides are NAN. The georeference
 * has the tags that GDAL writes into GeoTIFFs. */

struct raster_gdal;
bool raster_has_gdal(void);
bool raster_gdal_knows(const char *path);
enum clv_status raster_gdal_open(struct raster_gdal **gdal, struct raster *raster, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void raster_gdal_close(struct raster_gdal *self);
DROPS(raster_gdal_drop, struct raster_gdal, raster_gdal_close)
/* raster_stamp of the files that GDAL says the dataset is made of, `path` among them. */
enum clv_status raster_gdal_stamp(uint64_t *hash, const struct raster_gdal *self, const char *path, bool is_strict,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status raster_gdal_read(float *values, size_t step, struct raster_gdal *self, const struct image_part *window,
                                 struct clv_error *err) CLV_CHECK;

/* Full-width bands of rows of a raster and of what was made of it, from its top to its bottom.
 *
 *     OWNED(raster_rows_close) struct raster_rows rows = {0};
 *     MUST(raster_rows_open(&rows, &(struct raster_rows_files){.mask = path}, 256, halo, err));
 *     for (bool more = true;;) {
 *         MUST(raster_rows_next(&more, &rows, err));
 *         if (!more)
 *             break;
 *         ..                                                     // rows.band
 *     } */

struct raster_rows_files {
    const char *image; /* of bands, opened by windows; NULL: not read, as all of these */
    const struct clv_image_limits *limits;
    const struct clv_bands *bands; /* pixels of the band are the image's colours by these */
    bool has_samples;              /* samples of the band are the image's values */
    const char *mask;              /* a TIFF, read as it is stored */
    const uint8_t *label_of;       /* [256] the labels of its values; NULL: they are themselves */
    const char *objects;           /* a TIFF of numbers */
};

struct raster_rows_source {
    struct raster raster;
    int32_t step, end;           /* rows that are decoded together; the first row that was not read yet */
    int32_t columns, chunk_rows; /* of the image: pixels whose values are read at a time */
};

struct raster_rows {
    struct raster_rows_files files; /* what they point to must stay */
    struct raster_rows_source image, mask, objects;
    int32_t width, height, max_rows, halo;
    struct image_band band; /* the current one */
    uint8_t *pixels, *labels;
    float *samples, *values;
    int32_t *numbers;
};

/* Opens the files, which must have one size, for bands of n_rows rows with a halo of `halo`. Memory: the rows of a
 * band, its halo and a row of tiles. */
enum clv_status raster_rows_open(struct raster_rows *self, const struct raster_rows_files *files, int32_t n_rows,
                                 int32_t halo, struct clv_error *err) CLV_CHECK;
void raster_rows_close(struct raster_rows *self);
/* Reads the next band; *more is false behind the last one. */
enum clv_status raster_rows_next(bool *more, struct raster_rows *self, struct clv_error *err) CLV_CHECK;
void raster_rows_rewind(struct raster_rows *self);

/* A new georeference of the part of a raster whose upper left corner is at the pixel (left, top). */
enum clv_status georeference_of_part(struct georeference *part, const struct georeference *georeference, int32_t left,
                                     int32_t top, struct clv_error *err) CLV_CHECK;

/* Tiled GeoTIFFs: masks, images of objects, overlays and cut-outs. */

#define RASTER_TILE 256 /* pixels a side */

struct raster_layout {
    int32_t width, height;
    int n_channels, bits; /* 1 of 8, 16 or 32; 3 (red, green, blue) or 4 (and alpha, not multiplied) of 8 */
    const uint8_t (*palette)[3];
    int palette_size; /* of labels; 0: grey */
};

/* A file that is being written, all or nothing: in tiles, deflated. */
struct raster_writer {
    struct file_writer file;
    struct tiff *tiff; /* libtiff's */
    int32_t width, height;
    size_t pixel_bytes;
    uint8_t *tile; /* scratch */
    uint8_t *rows; /* [RASTER_TILE][width] that wait for the others of a row of tiles */
    int32_t n_held;
    uint32_t n_written;      /* tiles */
    const char *description; /* of pages: of the first one; NULL: none. With one, pages have strips, not tiles */
    char message[200];
};

/* Begins a file of the image's size, a BigTIFF from 4 GB of pixels on, with its palette (NULL: grey) and the
 * georeference's tags (NULL or zeros: none). *self must not move. Release it with commit or abort, once. */
enum clv_status raster_writer_open(struct raster_writer *self, const char *path, const struct label_image *image,
                                   const struct georeference *georeference, struct clv_error *err) CLV_CHECK;

/* Begins a file of any layout in the same way. Only masks (one channel of 8 bits) name a no-data value. */
enum clv_status raster_writer_create(struct raster_writer *self, const char *path, const struct raster_layout *layout,
                                     const struct georeference *georeference, struct clv_error *err) CLV_CHECK;

/* The next tile, row after row of them: its pixels that are in the image, rows `stride` pixels apart. Samples of more
 * than a byte are in the machine's order. */
enum clv_status raster_writer_put(struct raster_writer *self, const void *pixels, size_t stride,
                                  struct clv_error *err) CLV_CHECK;

/* The next rows of the image, in place of tiles. */
enum clv_status raster_writer_rows(struct raster_writer *self, const void *rows, int32_t n_rows,
                                   struct clv_error *err) CLV_CHECK;
enum clv_status raster_writer_commit(struct raster_writer *self, struct clv_error *err) CLV_CHECK;
void raster_writer_abort(struct raster_writer *self);

/* A file of n_pages pages: the first one opens it, in a writer of zeros, or of a description. */
enum clv_status raster_writer_add_page(struct raster_writer *self, const char *path, const struct label_image *page,
                                       size_t n_pages, struct clv_error *err) CLV_CHECK;

/* Writes a mask at once. */
enum clv_status raster_write_labels(const char *path, const struct label_image *image,
                                    const struct georeference *georeference, struct clv_error *err) CLV_CHECK;

#endif
