/* Masks as tiled GeoTIFFs. */
#ifndef IMAGE_RASTER_WRITE_H
#define IMAGE_RASTER_WRITE_H

#include "base/file_write.h"
#include "image/raster/raster_place.h"

#define RASTER_TILE 256 /* pixels a side */

/* A file that is being written, all or nothing: labels of 8 bits in tiles, deflated. */
struct raster_writer {
    struct file_writer file;
    struct tiff *tiff; /* libtiff's */
    int32_t width, height;
    uint32_t n_written; /* tiles */
    char message[200];
};

/* Begins a file of that size, a BigTIFF from 4 GB of pixels on, with the place's tags (NULL or zeros: none) and
 * palette[palette_size <= 256] (NULL: grey). *self must not move. Release it with commit or abort, once. */
enum clv_status raster_writer_open(struct raster_writer *self, const char *path, int32_t width, int32_t height,
                                   const struct raster_place *place, const uint8_t (*palette)[3], int palette_size,
                                   struct clv_error *err) CLV_CHECK;

/* The next tile, row after row of them: labels of its pixels that are in the image, rows `stride` apart. */
enum clv_status raster_writer_put(struct raster_writer *self, const uint8_t *labels, size_t stride,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status raster_writer_commit(struct raster_writer *self, struct clv_error *err) CLV_CHECK;
void raster_writer_abort(struct raster_writer *self);

/* labels[height][width] at once. */
enum clv_status raster_write_labels(const char *path, int32_t width, int32_t height, const uint8_t *labels,
                                    const struct raster_place *place, const uint8_t (*palette)[3], int palette_size,
                                    struct clv_error *err) CLV_CHECK;

#endif
