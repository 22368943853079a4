/* Where a raster lies on Earth: GeoTIFF's tags as they stand in the file (OGC 19-008r4), and what follows from them. */
#ifndef IMAGE_RASTER_PLACE_H
#define IMAGE_RASTER_PLACE_H

#include <stdbool.h>

#include "cleave/status.h"

/* Zeros: no place. Its arrays are its own. */
struct raster_place {
    double *scale, *tie_points, *transformation, *doubles; /* tags 33550, 33922, 34264 and 34736 */
    uint16_t *keys;                                        /* tag 34735: four numbers a key, after four of a head */
    char *texts;                                           /* tag 34737 */
    uint16_t n_scale, n_tie_points, n_transformation, n_doubles, n_keys;
};
void raster_place_release(struct raster_place *place);
bool raster_has_place(const struct raster_place *place);

/* Coordinates of a corner of pixels, (0, 0) the upper left one's: by the transformation, or by the first tie point and
 * the scale. False, and the corner itself, where the raster has neither. Where the keys say that coordinates are those
 * of pixels' centres, the corner is half a pixel before them. */
bool raster_place_at(double at[2], const struct raster_place *place, double x, double y);

/* The coordinate system's EPSG code, 0 where the keys name none; *is_geographic: degrees of longitude and latitude. */
int raster_place_epsg(bool *is_geographic, const struct raster_place *place);

#endif
