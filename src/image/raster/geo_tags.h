/* GeoTIFF's tags and GDAL's no-data value in TIFFs that libtiff has open. */
#ifndef IMAGE_GEO_TAGS_H
#define IMAGE_GEO_TAGS_H

#include <tiffio.h>

#include "image/raster/raster_place.h"

/* Of the directory that was read; *place is only written to. A no-data value that is no number counts as none. */
enum clv_status geo_tags_read(struct raster_place *place, bool *has_no_data, double *no_data, TIFF *tiff,
                              struct clv_error *err) CLV_CHECK;

/* Into the directory that is being written; false: libtiff refuses. */
bool geo_tags_write(TIFF *tiff, const struct raster_place *place);

/* Before a directory is written: what kinds these tags are, for this file alone. */
void geo_tags_declare(TIFF *tiff);

#endif
