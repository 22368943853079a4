/* Rasters: images of any number of bands, samples of any depth, and a place on Earth, read by windows. raster_tiff.c
 * reads TIFFs and raster.c all else; raster_write.c writes masks, bands.c makes ordinary images of bands.
 *
 * A raster is a TIFF or BigTIFF (strips or tiles, planar or interleaved, grey, white to black or red, green and blue
 * with further bands; 1 to 16, or 32 bits of whole numbers, 8, 16 or 32 of signed ones, 16, 32 or 64 of floating
 * point), a .npy array of [height][width] or [height][width][bands], or any image that clv_image_read knows: three
 * bands of 0..255. */
#ifndef IMAGE_RASTER_H
#define IMAGE_RASTER_H

#include <stdbool.h>

#include "base/file.h"
#include "cleave/image.h"
#include "image/raster/npy.h"
#include "image/raster/raster_place.h"

/* A file. */
struct raster_part {
    struct file_map map;
    struct raster_tiff *tiff;  /* or NULL */
    struct number_array array; /* of a .npy file; bytes NULL: none */
    struct clv_image image;    /* decoded; pixels NULL: not that */
    int32_t n_bands;
};

struct raster {
    int32_t width, height, n_bands;
    bool is_colour;            /* the first three bands are red, green and blue */
    bool is_photograph;        /* what clv_image_read shows as it is: colours or grey of up to 8 bits */
    bool is_plain;             /* what it shows at all, 16 bits squeezed */
    bool is_bytes;             /* all samples are whole numbers of 8 bits */
    struct raster_place place; /* of the first file */
    struct raster_part *parts; /* [n_parts] */
    size_t n_parts;
};

/* Opens a file or a page of one ("a.tif#2"). With limits->band_files, "red.tif,nir.tif", a file whose path ends with the
 * first of the names is one of several: the others stand next to it, and their bands follow. Sizes are checked against
 * the limits (NULL: 2^31 - 1 a side). Errors name file and reason: CLV_ERR_NO_INPUT; CLV_ERR_DATA for kinds that are
 * not read, files of different sizes, more than CLV_MAX_BANDS bands, and what is truncated or corrupt as far as heads
 * show it. Of large files only what is looked at is in memory. */
enum clv_status raster_open(struct raster *self, const char *path, const struct clv_image_limits *limits,
                            struct clv_error *err) CLV_CHECK;
void raster_close(struct raster *self);

/* values[height][width][n_bands] of the window whose upper left pixel is (left, top) and which is in the raster. NAN is
 * what has no data: the file's no-data value, NaN, infinities, and pixels that an alpha band hides. A strip or tile is
 * decoded as a whole; the last one is kept. One thread at a time. CLV_ERR_DATA: the file is corrupt there. */
enum clv_status raster_read(float *values, struct raster *self, int32_t left, int32_t top, int32_t width,
                            int32_t height, struct clv_error *err) CLV_CHECK;

/* *place of a TIFF called .tif or .tiff (raster_place_release), zeros of other files and what cannot be opened. */
void raster_find_place(struct raster_place *place, const char *path);

/* Whether the file is to be read by its bands: a TIFF or .npy file of other than grey or colours of up to 8 bits. What
 * cannot be opened is not. Looks at the head alone. */
bool raster_is_deep(const char *path, const struct clv_image_limits *limits);

#endif
