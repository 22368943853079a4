/* Rasters: images with any number of bands, samples of any depth, and a georeference, read by windows. raster.c opens
 * them and reads windows by the reader of the format: raster_tiff.c, npy.c or raster_gdal.c. values.c reads the samples
 * of whole files, raster_rows.c bands of rows; bands.c converts bands to RGB. raster_write.c writes masks and other
 * rasters.
 *
 * A raster is a TIFF or BigTIFF (strips or tiles, planar or interleaved; grey, inverted grey or RGB, with further
 * bands; whole numbers of 1 to 32 or of 64 bits, signed or not, or floating-point ones of 16, 32 or 64), a .npy array
 * of [height][width] or [height][width][bands], or any image that clv_image_read knows: three bands of 0..255; in
 * builds WITH_GDAL=1 also whatever GDAL reads. */
#ifndef IMAGE_RASTER_RASTER_H
#define IMAGE_RASTER_RASTER_H

#include <stdbool.h>
#include <tiffio.h>

#include "base/base.h"
#include "cleave/image.h"
#include "cleave/status.h"
#include "image/image.h"

/* Arrays of numbers as files store them, such as the array of a .npy file. */

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

/* Returns the number at an address, which need not be aligned. */
double number_load(const unsigned char *bytes, enum number_type type, bool big_endian);

/* Converts IEEE 754 half precision to single precision, exactly. */
float number_from_half(uint16_t bits);

enum { NUMBER_MAX_DIMENSIONS = 6 };

/* Numbers at any address, in either byte order. */
struct number_array {
    const unsigned char *bytes; /* as many as the shape needs */
    enum number_type type;
    bool big_endian, is_fortran; /* is_fortran: the first dimension runs fastest */
    int32_t n_dimensions;
    int64_t shape[NUMBER_MAX_DIMENSIONS];
};

/* Makes a view of numbers in memory. CLV_ERR_USAGE unless they have 2 or 3 dimensions of at least 1. */
enum clv_status number_array_of(struct number_array *view, const struct clv_array *array,
                                struct clv_error *err) CLV_CHECK;

/* Writes text such as "16 x 32 x 32" to name[size]. */
void number_shape_name(char *name, size_t size, const struct number_array *array);

/* Returns how many numbers apart two neighbouring indices of a dimension are. */
size_t number_stride(const struct number_array *array, int32_t dimension);

/* Parses a .npy file; the array is a view of its bytes. `readable` contains the names of the types that are accepted,
 * and ends the message about other types. */
#define NPY_OF_MAPS    "maps are u1, u2, f2, f4 or f8"
#define NPY_OF_RASTERS "rasters are u1, i1, u2, i2, u4, i4, f2, f4 or f8"
bool npy_recognised(const unsigned char *bytes, size_t size);
enum clv_status npy_parse(struct number_array *array, const unsigned char *bytes, size_t size, const char *readable,
                          struct clv_error *err) CLV_CHECK;

/* Georeferences: GeoTIFF's tags as stored (OGC 19-008r4), and coordinates computed from them. */

/* Owns its arrays. Zeros: no georeference. */
struct georeference {
    double *scale, *tie_points, *transformation, *doubles; /* tags 33550, 33922, 34264 and 34736 */
    uint16_t *keys;                                        /* tag 34735: a head of four numbers, then four per key */
    char *texts;                                           /* tag 34737 */
    uint16_t n_scale, n_tie_points, n_transformation, n_doubles, n_keys;
    bool may_lack_data; /* pixels may have no data; in a mask: RASTER_VOID is the no-data value, tag 42113 */
};
void georeference_release(struct georeference *georeference);
bool georeference_exists(const struct georeference *georeference);

/* Computes the coordinates of a corner of pixels, (0, 0) being the upper left corner of the raster: by the
 * transformation, or by the first tie point and the scale. Returns false, and the corner itself in at[], if the raster
 * has neither. If the keys state that coordinates are those of pixel centres, subtracts half a pixel from x and y
 * first. */
bool georeference_at(double at[2], const struct georeference *georeference, double x, double y);

/* Computes the inverse of georeference_at: x = m[0] at[0] + m[1] at[1] + m[2], y = m[3] at[0] + m[4] at[1] + m[5].
 * Returns false if the georeference is missing or cannot be inverted. */
bool georeference_inverse(double m[6], const struct georeference *georeference);

/* Returns the EPSG code of the coordinate system, 0 if the keys name none. *is_geographic: coordinates are degrees of
 * longitude and latitude. */
int georeference_epsg(bool *is_geographic, const struct georeference *georeference);

/* How to open a raster. RASTER_WHOLE decodes images that do not store bands as a whole; the others refuse them.
 * RASTER_STORED also accepts palette indices as a band. */
enum raster_access { RASTER_WHOLE, RASTER_WINDOWS, RASTER_STORED };

/* A file of a raster. */
struct raster_part {
    struct file_map map;
    struct raster_tiff *tiff;  /* or NULL */
    struct raster_gdal *gdal;  /* or NULL */
    struct number_array array; /* of a .npy file; bytes NULL: none */
    struct clv_image image;    /* decoded as a whole; pixels NULL: it was not */
    int32_t n_bands;
    uint32_t page; /* of the file, from 1 */
};

struct raster {
    int32_t width, height, n_bands;
    bool is_colour;     /* the first three bands are red, green and blue */
    bool is_photograph; /* colours or grey of up to 8 bits, which clv_image_read shows unchanged */
    bool is_plain;      /* is_photograph, or colours or grey of 16 bits, which clv_image_read scales to 8 */
    bool is_bytes;      /* all samples are whole numbers of 8 bits */
    bool has_palette;   /* samples are indices of colours */
    struct georeference georeference; /* of the first file */
    enum raster_access access;
    struct raster_part *parts; /* [n_parts] */
    size_t n_parts;
};

/* Opens a file or a page of one ("a.tif#2"). With limits->band_files, "red.tif,nir.tif", a path that ends with the
 * first name stands for several files in its folder, one for each name, whose bands follow each other. Sizes are
 * checked against the limits (NULL: 2^31 - 1 per side). Errors name file and reason: CLV_ERR_NO_INPUT; CLV_ERR_DATA for
 * kinds that are not read, files of different sizes, more than CLV_MAX_BANDS bands, and files that are truncated or
 * corrupt as far as their heads show it. Files are mapped, so that parts that are not read take no memory. */
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

/* Make rasters of an array and of an image in memory, equal to those that raster_open makes of a .npy file and of an
 * image file that stores no bands. The array's numbers must stay valid; pixels are copied. No limits apply, and
 * messages name no file. */
enum clv_status raster_of_array(struct raster *self, const struct clv_array *array, struct clv_error *err) CLV_CHECK;
enum clv_status raster_of_image(struct raster *self, const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* Adds the stamps (stamp_file) of all files of the raster to *hash, those of further bands and of the sources of a VRT
 * included, with their pages and the order of axes if one is chosen. CLV_ERR_NO_INPUT names a file that cannot be
 * examined. O(files). */
enum clv_status raster_stamp(uint64_t *hash, const struct raster *self, bool is_strict,
                             struct clv_error *err) CLV_CHECK;

/* Gives back the memory of the files' mapped pages. */
void raster_forget(const struct raster *self);

/* Reads values[height][width][n_bands] of a window, whose whole size is ignored. Values without data are NAN: the
 * file's no-data value, NaN, infinities, and pixels that an alpha band hides. Decodes a strip or tile as a whole and
 * keeps the last one. Only one thread may read a raster at a time. CLV_ERR_DATA: the file is corrupt there. */
enum clv_status raster_read(float *values, struct raster *self, const struct image_part *window,
                            struct clv_error *err) CLV_CHECK;

/* Read labels[height][width] of up to 8 bits or numbers[height][width] of up to 32 bits, 0..INT32_MAX, from a raster
 * that raster_open_stored opened. Inverted grey is inverted again, so that the darker value is smaller. CLV_ERR_DATA:
 * samples of more bits, a number out of range, or a corrupt file. */
enum clv_status raster_read_labels(uint8_t *labels, struct raster *self, const struct image_part *window,
                                   struct clv_error *err) CLV_CHECK;
enum clv_status raster_read_numbers(int32_t *numbers, struct raster *self, const struct image_part *window,
                                    struct clv_error *err) CLV_CHECK;

/* Sets the width and height, in pixels, of the blocks that are decoded together. The height is 1 if rows can be read
 * one by one without decoding a block again. */
void raster_block(int32_t *width, int32_t *height, const struct raster *self);

#define RASTER_VOID 255 /* CLV_VOID */

/* Sets the labels of pixels that have no data in any band to RASTER_VOID. labels[height][width] are those of the
 * window. Reads nothing if the raster cannot lack data. O(pixels). */
enum clv_status raster_void_labels(uint8_t *labels, struct raster *self, const struct image_part *window,
                                   struct clv_error *err) CLV_CHECK;

/* Does the same for labels[height][width] of a whole file that clv_image_read has read. Changes none if the file is not
 * read by its bands: raster_may_be is false for it, or the raster is refused and limits->bands is NULL. */
enum clv_status raster_void_missing(uint8_t *labels, int32_t width, int32_t height, const char *path,
                                    const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Reads the georeference of a file whose path ends with .tif or .tiff, or that GDAL reads; zeros for other files and
 * those that cannot be opened. Release it with georeference_release. */
void georeference_find(struct georeference *georeference, const char *path);

/* Whether a file may be a raster: by its extension, by a page in its path, by the limits' bands, or because GDAL reads
 * it. */
bool raster_may_be(const char *path, const struct clv_image_limits *limits);

/* Whether the file is a raster with other samples than grey or colours of up to 8 bits, which is read by its bands.
 * False for files that cannot be opened. */
bool raster_is_deep(const char *path, const struct clv_image_limits *limits);

/* Fails with CLV_ERR_DATA, because the raster does not have n bands. The message names the path. */
enum clv_status raster_fail_bands(const struct raster *self, const char *path, int32_t n, struct clv_error *err);

/* The samples that a file stores: samples[height][width][n_bands], NAN without data; the caller frees them with
 * array_free. NULL if clv_image_read shows the same numbers (colours and grey of up to 8 bits), and for kinds whose
 * samples are not read: colours of 16 bits in a PNG, TIFFs that are not upright. CLV_ERR_DATA: the file is corrupt. */
struct raster_values {
    int32_t width, height, n_bands;
    float *samples;
};
enum clv_status raster_values_read(struct raster_values *values, const char *path,
                                   const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Conversion of bands to RGB images, which training learns (struct clv_bands). */

/* A sample of the pixels of several rasters. Zeros: empty. */
struct band_samples {
    size_t n, capacity;
    int32_t n_bands;
    bool is_colour; /* all rasters so far have red, green and blue */
    float *value;   /* [n_bands][capacity], NAN without data */
};
void band_samples_release(struct band_samples *self);

/* Adds pixels that are spread evenly over a raster, one of n_rasters. CLV_ERR_DATA if its number of bands is not that
 * of the first raster; the message has both paths. O(pixels of the rows that are read). */
enum clv_status band_samples_add(struct band_samples *self, struct raster *raster, size_t n_rasters, const char *path,
                                 const char *first_path, struct clv_error *err) CLV_CHECK;

/* Learns percentiles of the samples and the weights of colours: red, green and blue on one scale if all rasters have
 * them, one band as grey, otherwise the first three principal components of standardised bands (Pearson 1901), whose
 * standard deviations keep their ratios. Zeros without samples. CLV_ERR_DATA names a band without any value. */
enum clv_status bands_learn(struct clv_bands *bands, const struct band_samples *samples,
                            struct clv_error *err) CLV_CHECK;

/* Converts a raster to a new image. bands NULL: learned from this raster alone. CLV_ERR_DATA for another number of
 * bands. O(pixels). */
enum clv_status bands_show(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                           struct clv_error *err) CLV_CHECK;

/* Converts a part of the raster, resized: the wanted part of a copy of wanted->whole_width x whole_height pixels, no
 * side larger. The pixels equal that part of clv_image_resize on bands_show's image. Memory: some rows, and the
 * part. */
enum clv_status bands_show_part(struct clv_image *image, struct raster *raster, const struct clv_bands *bands,
                                const struct image_part *wanted, struct clv_error *err) CLV_CHECK;

/* Sets the bands that show a raster of 8 bits unchanged, and missing pixels white. Returns false if it is neither grey
 * nor red, green and blue. */
bool bands_are_plain(struct clv_bands *bands, const struct raster *raster);

/* Converts values[n][bands->n_bands] to pixels[n][3]. */
void bands_colours(uint8_t *pixels, const float *values, size_t n, const struct clv_bands *bands);

/* GeoTIFF's tags and GDAL's no-data value in TIFFs that libtiff has open. */

/* Reads the tags of the directory that libtiff has read; *georeference is overwritten. A no-data value that is not a
 * number counts as none. */
enum clv_status geo_tags_read(struct georeference *georeference, bool *has_no_data, double *no_data, TIFF *tiff,
                              struct clv_error *err) CLV_CHECK;

/* Sets the tags of the directory that is being written; false if libtiff refuses. */
bool geo_tags_write(TIFF *tiff, const struct georeference *georeference);

/* Declares the types of these tags for this file. Call it before a directory is written. */
void geo_tags_declare(TIFF *tiff);

/* Windows of TIFFs. */

struct raster_tiff;

/* Opens a page and describes it in *raster. If its samples are not read as they are stored (palette unless
 * takes_palette, YCbCr and so on), *tiff becomes NULL, only the georeference of an upright page is set, and
 * clv_image_decode reads the page. from->bytes must stay valid. */
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

/* Files that GDAL reads, with functions like those of TIFFs above. In builds WITH_GDAL=0 raster_gdal_knows is false for
 * all files. GDAL does not read the formats that cleave reads itself. An alpha band does not count as a band: pixels
 * that it or another mask hides are NAN. The georeference has the tags that GDAL writes into GeoTIFFs. */

struct raster_gdal;
bool raster_has_gdal(void);
bool raster_gdal_knows(const char *path);
enum clv_status raster_gdal_open(struct raster_gdal **gdal, struct raster *raster, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void raster_gdal_close(struct raster_gdal *self);
DROPS(raster_gdal_drop, struct raster_gdal, raster_gdal_close)
/* Does the work of raster_stamp for the files of the dataset that GDAL lists, and for `path`. */
enum clv_status raster_gdal_stamp(uint64_t *hash, const struct raster_gdal *self, const char *path, bool is_strict,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status raster_gdal_read(float *values, size_t step, struct raster_gdal *self, const struct image_part *window,
                                 struct clv_error *err) CLV_CHECK;

/* Reads a raster, its mask and its objects from top to bottom, by bands of full rows.
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
    const char *image; /* a raster, read by windows; NULL (also mask and objects): not read */
    const struct clv_image_limits *limits;
    const struct clv_bands *bands; /* convert the image to the band's pixels; NULL: no pixels */
    bool has_samples;              /* the band's samples are the image's values */
    const char *mask;              /* a TIFF, read as it is stored */
    const uint8_t *label_of;       /* [256] the label of each value of the mask; NULL: values are labels */
    const char *objects;           /* a TIFF of numbers */
};

struct raster_rows_source {
    struct raster raster;
    int32_t step, end;           /* rows that are decoded together; the first row that is not read yet */
    int32_t columns, chunk_rows; /* of the image: the block of pixels that is read at a time */
};

struct raster_rows {
    struct raster_rows_files files; /* what its members point to must stay valid */
    struct raster_rows_source image, mask, objects;
    int32_t width, height, max_rows, halo;
    struct image_band band; /* the current one */
    uint8_t *pixels, *labels;
    float *samples, *values;
    int32_t *numbers;
};

/* Opens the files, which must have the same size, for bands of n_rows rows with a halo of `halo` rows. Memory: the rows
 * of a band, its halo and a row of tiles. */
enum clv_status raster_rows_open(struct raster_rows *self, const struct raster_rows_files *files, int32_t n_rows,
                                 int32_t halo, struct clv_error *err) CLV_CHECK;
void raster_rows_close(struct raster_rows *self);
/* Reads the next band; *more becomes false after the last one. */
enum clv_status raster_rows_next(bool *more, struct raster_rows *self, struct clv_error *err) CLV_CHECK;
void raster_rows_rewind(struct raster_rows *self);

/* Makes the georeference of the part of a raster whose upper left corner is at the pixel (left, top). */
enum clv_status georeference_of_part(struct georeference *part, const struct georeference *georeference, int32_t left,
                                     int32_t top, struct clv_error *err) CLV_CHECK;

/* Tiled GeoTIFFs: masks, images of objects, overlays and cut-outs. */

#define RASTER_TILE 256 /* pixels a side */

struct raster_layout {
    int32_t width, height;
    int n_channels, bits; /* 1 of 8, 16 or 32 bits; 3 (RGB) or 4 (RGBA, not multiplied) of 8 bits */
    const uint8_t (*palette)[3];
    int palette_size; /* of labels; 0: grey */
};

/* A file that is being written, all or nothing, in deflated tiles. */
struct raster_writer {
    struct file_writer file;
    struct tiff *tiff; /* libtiff's */
    int32_t width, height;
    size_t pixel_bytes;
    uint8_t *tile; /* scratch */
    uint8_t *rows; /* [RASTER_TILE][width]: rows of tiles that are not complete yet */
    int32_t n_held;
    uint32_t n_written;      /* tiles */
    const char *description; /* of the first page; NULL: none. With one, pages have strips, not tiles */
    char message[200];
};

/* Begins a file of the image's size, a BigTIFF from 4 GB of pixels on, with its palette (NULL: grey) and the
 * georeference's tags (NULL or zeros: none). *self must not move. Release it with commit or abort, once. */
enum clv_status raster_writer_open(struct raster_writer *self, const char *path, const struct label_image *image,
                                   const struct georeference *georeference, struct clv_error *err) CLV_CHECK;

/* Begins a file of any layout in the same way. Only masks (one channel of 8 bits) name a no-data value. */
enum clv_status raster_writer_create(struct raster_writer *self, const char *path, const struct raster_layout *layout,
                                     const struct georeference *georeference, struct clv_error *err) CLV_CHECK;

/* Writes the next tile, in rows from left to right: those of its pixels that are in the image, rows `stride` pixels
 * apart. Samples of more than a byte are in the machine's order. */
enum clv_status raster_writer_put(struct raster_writer *self, const void *pixels, size_t stride,
                                  struct clv_error *err) CLV_CHECK;

/* Writes the next rows of the image, instead of tiles. */
enum clv_status raster_writer_rows(struct raster_writer *self, const void *rows, int32_t n_rows,
                                   struct clv_error *err) CLV_CHECK;
enum clv_status raster_writer_commit(struct raster_writer *self, struct clv_error *err) CLV_CHECK;
void raster_writer_abort(struct raster_writer *self);

/* Adds a page to a file of n_pages pages. The first page opens the file; the writer must be zeros then, except its
 * description. */
enum clv_status raster_writer_add_page(struct raster_writer *self, const char *path, const struct label_image *page,
                                       size_t n_pages, struct clv_error *err) CLV_CHECK;

/* Writes a mask at once. */
enum clv_status raster_write_labels(const char *path, const struct label_image *image,
                                    const struct georeference *georeference, struct clv_error *err) CLV_CHECK;

#endif
