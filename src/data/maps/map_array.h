/* This folder reads maps. map_reader.c opens a file and finds out its kind; map_array.c makes planes of an array; map_find.c finds the map of an image. npy_write.c writes some. Read
 * map_array.h first: an array as it stands in a file, and what becomes of it. */
#ifndef DATA_MAP_ARRAY_H
#define DATA_MAP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "cleave/maps.h"
#include "image/raster/npy.h"

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
/* planes[n][height][width] of channels first to first + n. The bytes are those of `file` (zeros: of memory), whose pages
 * are given back. */
enum clv_status map_planes_load(float *planes, const struct map_planes *self, size_t first, size_t n,
                                const struct file_map *file, struct clv_error *err) CLV_CHECK;

/* Channels stand side by side at each pixel: whoever reads one passes all. */
bool map_planes_interleaved(const struct map_planes *self);

/* Writes values[n_channels][height][width] as one, whole or not at all. */
enum clv_status npy_write_planes(const char *path, const uint16_t *values, int32_t n_channels, int32_t height,
                                 int32_t width, struct clv_error *err) CLV_CHECK;

#endif
