/* This folder reads maps. map_reader.c opens a file and finds out its kind; map_array.c makes planes of an array;
 * map_find.c finds the map of an image. npy_write.c writes some. Read map_array.c first: an array as it stands in a
 * file, and what becomes of it. */
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

/* *map of an item's image by limits->bands, whose middles take the place of missing values; squares of pixels are
 * averaged so that it has no more than some 16 million values, or to bands->scale. CLV_ERR_USAGE without
 * limits->bands, errors of item_raster_open, CLV_ERR_DATA for another number of bands. O(pixels x channels). */
enum clv_status bands_map_read(struct clv_map *map, const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;

/* Bytes of memory that it takes, 0 for what cannot be opened. */
double bands_map_memory(const struct clv_item *item, const struct clv_image_limits *limits);

/* Makes a part of the map of a raster of any size at bands->scale: map pixels `wanted`, from values[..][n_bands] of (at
 * least) the pixels that resize_source gives for them, and one pixel more above and on the left. */
enum clv_status bands_map_part(struct clv_map *map, const struct image_part *wanted, const float *values,
                               const struct image_part *seen, const struct clv_bands *bands,
                               struct clv_error *err) CLV_CHECK;

/* An array whose dimensions are known: planes of channels. */
struct map_planes {
    struct number_array array;
    size_t n_channels, height, width;
    size_t deep, down, across; /* values from one channel, row, column to the next */
};
/* Messages carry no file name. */
enum clv_status map_planes_init(struct map_planes *planes, const struct number_array *array, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* About so many bytes of a file are in memory at a time while a channel is read. */
#define MAP_PAGES ((size_t)8 << 20)
/* planes[n][height][width] of channels first to first + n. The bytes are those of `file` (zeros: of memory), whose
 * pages are given back. */
enum clv_status map_planes_load(float *planes, const struct map_planes *self, size_t first, size_t n,
                                const struct file_map *file, struct clv_error *err) CLV_CHECK;

/* Channels are interleaved at each pixel, so that reading one passes over all. */
bool map_planes_interleaved(const struct map_planes *self);

/* Writes values[n_channels][height][width] as one, whole or not at all. */
enum clv_status npy_write_planes(const char *path, const uint16_t *values, int32_t n_channels, int32_t height,
                                 int32_t width, struct clv_error *err) CLV_CHECK;
enum clv_status npy_write_numbers(const char *path, const float *values, int32_t n_channels, int32_t height,
                                  int32_t width, struct clv_error *err) CLV_CHECK;

/* Writes such a file by rows, all or nothing: shape is {n_channels, height, width}, and values[n_channels][width] of
 * a row are 16-bit whole numbers, or floating-point ones where are_numbers. Release it with commit or abort. */
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

/* Maps made smoother. */

/* Blurs all channels in place, nearly by a Gaussian of so many of the map's pixels across and down (three boxes each,
 * Wells, PAMI 1986); beyond the border values stay the border's. Spreads below half a pixel change nothing. O(values),
 * whatever the spread. */
enum clv_status map_blur(struct clv_map *map, double across, double down, struct clv_error *err) CLV_CHECK;

/* A map's channels, one after the other: of a large file only those pages are in memory that are being read. */

struct map_reader {
    struct clv_map map; /* values NULL: they are in the file */
    struct map_planes planes;
    struct file_map file;    /* zeros: none */
    const char *name;        /* of an array in memory; NULL: the file's */
    struct map_block *block; /* where channels stand side by side: those read last; or NULL */
};
/* views[] of at most CLV_MAX_MAPS maps in memory, which are not closed; NULL of NULL. */
const struct map_reader *map_readers_of(struct map_reader *views, const struct clv_map *maps, int32_t n_maps);

/* Opens a map that clv_map_read reads, with its errors. A small map, which may be used more than once, is read into
 * memory; the values of a large one are checked as its channels are read. */
enum clv_status map_reader_open(struct map_reader *self, const char *path, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void map_reader_close(struct map_reader *self);

/* Opens a map in memory, which is `name` in messages, as that of a .npy file. Its numbers must stay. */
enum clv_status map_reader_of_array(struct map_reader *self, const struct clv_array *array, enum clv_map_layout layout,
                                    const char *name, const struct clv_image_limits *limits,
                                    struct clv_error *err) CLV_CHECK;

/* *values[height][width] of a channel, until the next one: the map's own, or the scratch filled with them. */
enum clv_status map_reader_channel(const float **values, float *scratch, const struct map_reader *self, int32_t channel,
                                   struct clv_error *err) CLV_CHECK;

/* Bytes of memory that the map of an array, or of a file, takes while it is used, 0 for what cannot be read. Looks at
 * its head alone. */
double map_array_memory(const struct clv_array *array, enum clv_map_layout layout,
                        const struct clv_image_limits *limits);
double map_file_memory(const char *path, enum clv_map_layout layout, const struct clv_image_limits *limits);

/* Parses the bytes of a file as clv_map_read does. */
enum clv_status map_parse(struct clv_map *map, const unsigned char *bytes, size_t size, enum clv_map_layout layout,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* Values of a map between its pixels. */

/* Which of the map's columns, and of its rows, each pixel of an image of some size is between. */
struct map_grid {
    int32_t width, height, map_width; /* of the image, and of the map */
    struct map_between {
        int32_t low, high;
        float share; /* of `high` */
    } * columns, *rows;
};
void map_grid_release(struct map_grid *grid);
enum clv_status map_grid_init(struct map_grid *grid, int32_t map_width, int32_t map_height, int32_t width,
                              int32_t height, struct clv_error *err) CLV_CHECK;

/* plane[height][width]: a channel at the centres of the image's pixels. O(pixels). */
void map_sample(float *plane, const struct map_grid *grid, const float *channel);

/* The map of an image in a folder of maps, as clv_set_add_maps says: *path (clv_free it). CLV_ERR_NO_INPUT, naming
 * image and folder, if there is none; CLV_ERR_DATA if there are two of one name. */
enum clv_status map_find(char **path, const char *folder, const char *image, struct clv_error *err) CLV_CHECK;

#endif
