/* This folder reads network maps and maps of bands. map_reader.c opens a file of any kind; map_array.c converts an
 * array to planes of floats; map_find.c finds the map of an image; bands_map.c makes maps of an image's bands;
 * npy_write.c writes maps. Read map_array.c first. */
#ifndef DATA_MAPS_MAPS_H
#define DATA_MAPS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/status.h"
#include "image/image.h"
#include "image/raster/raster.h"

/* An image's bands as a map. */

/* Makes the map of an item's image by limits->bands; its middles replace missing values. Averages blocks of pixels: to
 * bands->scale, or so that the map has at most about 16 million values. CLV_ERR_USAGE without limits->bands,
 * CLV_ERR_DATA for another number of bands, errors of item_raster_open. O(pixels x channels). */
enum clv_status bands_map_read(struct clv_map *map, const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;

/* Bytes of memory of that map; 0 if the image cannot be opened. */
double bands_map_memory(const struct clv_item *item, const struct clv_image_limits *limits);

/* Makes a part of the map of a raster of any size at bands->scale: map pixels `wanted`, from the values of the image part
 * `source`, with bands interleaved. It must contain the pixels that resize_source gives for `wanted`, and one pixel more
 * above and on the left. */
enum clv_status bands_map_part(struct clv_map *map, const struct image_part *wanted, const float *values,
                               const struct image_part *source, const struct clv_bands *bands,
                               struct clv_error *err) CLV_CHECK;

/* An array with known dimensions, as planes of channels. */
struct map_planes {
    struct number_array array;
    size_t n_channels, height, width;
    size_t deep, down, across; /* strides of channels, rows and columns, in values */
};
/* Finds the dimensions. Messages do not name the file. */
enum clv_status map_planes_init(struct map_planes *planes, const struct number_array *array, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* While a channel is read, about this many bytes of the file are in memory. */
#define MAP_PAGES ((size_t)8 << 20)
/* Loads channels first..first + n - 1 to planes[n][height][width]. `file` is the file that contains the array, whose
 * pages are released after use; zeros: the array is in memory. */
enum clv_status map_planes_load(float *planes, const struct map_planes *self, size_t first, size_t n,
                                const struct file_map *file, struct clv_error *err) CLV_CHECK;

/* Whether channels are interleaved at each pixel, so that reading one channel reads all pages. */
bool map_planes_interleaved(const struct map_planes *self);

/* Write values[n_channels][height][width] as a .npy file, all or nothing: 16-bit whole numbers, or floats. */
enum clv_status npy_write_planes(const char *path, const uint16_t *values, int32_t n_channels, int32_t height,
                                 int32_t width, struct clv_error *err) CLV_CHECK;
enum clv_status npy_write_numbers(const char *path, const float *values, int32_t n_channels, int32_t height,
                                  int32_t width, struct clv_error *err) CLV_CHECK;

/* Writes such a file by rows, all or nothing. shape is {n_channels, height, width}; the values[n_channels][width] of a
 * row are 16-bit whole numbers, or floats if are_numbers. End it with npy_rows_commit or npy_rows_abort. */
struct npy_rows {
    struct file_writer file;
    size_t value_bytes;
    int32_t shape[3];
};
enum clv_status npy_rows_open(struct npy_rows *self, const char *path, bool are_numbers, const int32_t shape[3],
                              struct clv_error *err) CLV_CHECK;
enum clv_status npy_rows_put(struct npy_rows *self, const void *values, int32_t row, struct clv_error *err) CLV_CHECK;
enum clv_status npy_rows_commit(struct npy_rows *self, struct clv_error *err) CLV_CHECK;
void npy_rows_abort(struct npy_rows *self);

/* Smoothing of maps. */

/* Blurs all channels in place by approximate Gaussians with standard deviations `across` and `down`, in pixels of the
 * map: three box filters each (Wells, PAMI 1986). Values beyond the border are those at the border. A deviation below
 * half a pixel changes nothing. O(values), for any deviation. */
enum clv_status map_blur(struct clv_map *map, double across, double down, struct clv_error *err) CLV_CHECK;

/* Reads a map channel by channel: only the pages of a large file that are being read are in memory. */

struct map_reader {
    struct clv_map map; /* values NULL: they stay in the file or array */
    struct map_planes planes;
    struct file_map file;    /* zeros: no file */
    const char *name;        /* of an array in memory, for messages; NULL: the file's name is used */
    struct map_block *block; /* of interleaved channels, those read last; or NULL */
};
/* Makes views of at most CLV_MAX_MAPS maps in memory, which must not be closed. Returns `views`; NULL if maps is
 * NULL. */
const struct map_reader *map_readers_of(struct map_reader *views, const struct clv_map *maps, int32_t n_maps);

/* Opens a map, with the formats and errors of clv_map_read. Small maps are read into memory; the values of a large map
 * are checked when its channels are read. */
enum clv_status map_reader_open(struct map_reader *self, const char *path, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void map_reader_close(struct map_reader *self);

/* Opens an array in memory as the map of a .npy file. `name` names it in messages. The array must outlive the
 * reader. */
enum clv_status map_reader_of_array(struct map_reader *self, const struct clv_array *array, enum clv_map_layout layout,
                                    const char *name, const struct clv_image_limits *limits,
                                    struct clv_error *err) CLV_CHECK;

/* Gets a channel, *values[height][width], valid until the next call: it points into the map, or to scratch, which has as
 * many values. */
enum clv_status map_reader_channel(const float **values, float *scratch, const struct map_reader *self, int32_t channel,
                                   struct clv_error *err) CLV_CHECK;

/* Bytes of memory that the map of an array or of a file takes while it is used; 0 if it cannot be read. Reads only its
 * header. */
double map_array_memory(const struct clv_array *array, enum clv_map_layout layout,
                        const struct clv_image_limits *limits);
double map_file_memory(const char *path, enum clv_map_layout layout, const struct clv_image_limits *limits);

/* clv_map_read from the bytes of a file. */
enum clv_status map_parse(struct clv_map *map, const unsigned char *bytes, size_t size, enum clv_map_layout layout,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Interpolation between the pixels of a map. */

/* For each column and row of an image, the two columns or rows of the map between which it lies. */
struct map_grid {
    int32_t width, height, map_width; /* width, height: of the image */
    struct map_between {
        int32_t low, high;
        float share; /* weight of `high`, 0..1 */
    } * columns, *rows;
};
void map_grid_release(struct map_grid *grid);
enum clv_status map_grid_init(struct map_grid *grid, int32_t map_width, int32_t map_height, int32_t width,
                              int32_t height, struct clv_error *err) CLV_CHECK;

/* Interpolates a channel at the centres of the image's pixels: plane[height][width]. O(pixels). */
void map_sample(float *plane, const struct map_grid *grid, const float *channel);

/* Finds the map of an image in a folder of maps, by the rules of clv_set_add_maps. Free *path with clv_free.
 * CLV_ERR_NO_INPUT: the folder has no map of the image (both are named). CLV_ERR_DATA: two maps have the same name. */
enum clv_status map_find(char **path, const char *folder, const char *image, struct clv_error *err) CLV_CHECK;

#endif
