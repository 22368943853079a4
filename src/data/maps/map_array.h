/* This folder reads maps. map_reader.c opens a file and finds out its kind; npy.c finds the array in a .npy file, and
 * map_array.c makes planes of an array; map_find.c finds the map of an image. npy_write.c writes some. Read
 * map_array.h first: an array as it stands in a file, and what becomes of it. */
#ifndef DATA_MAP_ARRAY_H
#define DATA_MAP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "cleave/maps.h"

enum map_type { MAP_U8, MAP_U16, MAP_F16, MAP_F32, MAP_F64 };
size_t map_type_size(enum map_type type);

enum { MAP_MAX_DIMENSIONS = 6 };

/* Numbers at any address, in either byte order. */
struct map_array {
    const unsigned char *bytes; /* all of them are there */
    enum map_type type;
    bool big_endian, is_fortran; /* is_fortran: the first dimension runs fastest */
    int32_t n_dimensions;
    int64_t shape[MAP_MAX_DIMENSIONS];
};

/* "16 x 32 x 32" */
void map_shape_name(char *name, size_t size, const struct map_array *array);

/* The number of bytes that a shape takes; false if a dimension is negative or the product overflows. */
bool map_array_bytes(size_t *bytes, const struct map_array *array);

/* An array whose dimensions are known: planes of channels. */
struct map_planes {
    struct map_array array;
    size_t n_channels, height, width;
    size_t deep, down, across; /* values from one channel, row, column to the next */
};
/* Messages carry no file name. */
enum clv_status map_planes_init(struct map_planes *planes, const struct map_array *array, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* About so many bytes of a file are in memory at a time while a channel is read. */
#define MAP_PAGES ((size_t)8 << 20)
/* planes[n][height][width] of channels first to first + n. The bytes are those of `file` (zeros: of memory), whose pages
 * are given back. */
enum clv_status map_planes_load(float *planes, const struct map_planes *self, size_t first, size_t n,
                                const struct file_map *file, struct clv_error *err) CLV_CHECK;

/* Channels stand side by side at each pixel: whoever reads one passes all. */
bool map_planes_interleaved(const struct map_planes *self);

/* The array of a .npy file, a view of its bytes. */
bool npy_recognised(const unsigned char *bytes, size_t size);
enum clv_status npy_parse(struct map_array *array, const unsigned char *bytes, size_t size,
                          struct clv_error *err) CLV_CHECK;

/* Writes values[n_channels][height][width] as one, whole or not at all. */
enum clv_status npy_write_planes(const char *path, const uint16_t *values, int32_t n_channels, int32_t height,
                                 int32_t width, struct clv_error *err) CLV_CHECK;

#endif
