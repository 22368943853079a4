/* An image's bands as a map. */
#ifndef DATA_BANDS_MAP_H
#define DATA_BANDS_MAP_H

#include "cleave/maps.h"

/* Channels of the map of so many bands: themselves, and the normalised differences (a - b) / (|a| + |b|) of all pairs of
 * them, or of 8 that are spread evenly over more (Tucker 1979, of two). */
int32_t bands_map_channels(int32_t n_bands);

/* *map of the raster at `path` by limits->bands, whose middles take the place of missing values; squares of pixels are
 * averaged so that it has no more than some 16 million values. CLV_ERR_USAGE without limits->bands, errors of
 * raster_open, CLV_ERR_DATA for another number of bands. O(pixels x channels). */
enum clv_status bands_map_read(struct clv_map *map, const char *path, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;

/* Bytes of memory that it takes, 0 for what cannot be opened. */
double bands_map_memory(const char *path, const struct clv_image_limits *limits);

#endif
