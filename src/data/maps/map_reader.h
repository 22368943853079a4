/* A map's channels, one after the other: of a large file only those pages are in memory that are being read. */
#ifndef DATA_MAP_READER_H
#define DATA_MAP_READER_H

#include "data/maps/map_array.h"

struct map_reader {
    struct clv_map map; /* values NULL: they are in the file */
    struct map_planes planes;
    struct file_map file;    /* zeros: none */
    struct map_block *block; /* where channels stand side by side: those read last; or NULL */
};
/* views[] of at most CLV_MAX_MAPS maps in memory, which are not closed; NULL of NULL. */
const struct map_reader *map_readers_of(struct map_reader *views, const struct clv_map *maps, int32_t n_maps);

/* What clv_map_read reads, with its errors. A small map, which may be used more than once, is read into memory; what
 * is in the channels of a large one is looked at as they are read. */
enum clv_status map_reader_open(struct map_reader *self, const char *path, enum clv_map_layout layout,
                                const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
void map_reader_close(struct map_reader *self);

/* *values[height][width] of a channel, until the next one: the map's own, or the scratch filled with them. */
enum clv_status map_reader_channel(const float **values, float *scratch, const struct map_reader *self, int32_t channel,
                                   struct clv_error *err) CLV_CHECK;

/* Bytes of memory that the map of a file takes while it is used, 0 for what cannot be read. Looks at its head alone. */
double map_file_memory(const char *path, enum clv_map_layout layout, const struct clv_image_limits *limits);

/* What clv_map_read does with the bytes of a file. */
enum clv_status map_parse(struct clv_map *map, const unsigned char *bytes, size_t size, enum clv_map_layout layout,
                          const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

#endif
