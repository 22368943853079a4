/* Maps: what a network says of an image, as planes of numbers on a grid of its own.
 *
 *     struct clv_map map = {0};
 *     if (clv_map_read(&map, "unet/horse012.npy", CLV_MAP_LAYOUT_AUTO, NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_map_release(&map);
 *
 * A map is stretched over the whole image, whatever its size: the centre of the map's pixel x of `width` is over
 * (x + 1/2) / width of the image's width. Between centres values are bilinear; beyond the outer centres, half a pixel
 * from the border, they stay those of the border. */
#ifndef CLEAVE_MAPS_H
#define CLEAVE_MAPS_H

#include <stdbool.h>

#include "cleave/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_MAX_MAPS         8    /* of a recipe or a set */
#define CLV_MAX_MAP_NAME     31   /* bytes */
#define CLV_MAX_MAP_CHANNELS 4096 /* of one map */

struct clv_map {
    int32_t width, height, n_channels;
    bool is_integer; /* its file has u8 or u16, which are fractions of their largest value */
    float *values;   /* [n_channels][height][width], finite */
};
CLV_API void clv_map_release(struct clv_map *map);

/* Where the channels of three dimensions stand. AUTO: where the first or the last dimension is smaller than both
 * others, it is the channels, unless the map would then be more than eight times as long as wide; else the one that
 * leaves the map nearer to a square; refused where that is both. BANDS: the file is an image whose bands, and their
 * normalised differences, are the channels (limits->bands). */
enum clv_map_layout { CLV_MAP_LAYOUT_AUTO, CLV_MAP_LAYOUT_CHW, CLV_MAP_LAYOUT_HWC, CLV_MAP_LAYOUT_BANDS };

/* Reads a map, whose format is recognised by content:
 *   PNG       grey with 1 to 16 bits: one channel, in 0..1
 *   .npy      versions 1 to 3; u1, u2, f2, f4, f8 in either byte order; C and Fortran order
 *   safetensors  U8, U16, F16, F32, F64; the only tensor there is, or the one called "map"
 * Two dimensions are H x W, three by `layout`; leading dimensions of 1 beyond three are dropped. u8 and u16 count as
 * fractions of 255 and 65535. Errors name file and shape or value: CLV_ERR_NO_INPUT; CLV_ERR_DATA for .npz, another
 * type, truncation or bytes too many, a side above limits->max_side_px, more than limits->max_pixels pixels or
 * CLV_MAX_MAP_CHANNELS channels or 2^27 values, NaN and infinities, and f64 beyond single precision; CLV_ERR_MEMORY.
 * Sizes are checked against the file before memory is taken. O(values). */
CLV_API enum clv_status clv_map_read(struct clv_map *map, const char *path, enum clv_map_layout layout,
                                     const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;

/* The map of an image in a folder of maps: *path (clv_free it) is FOLDER/NAME.npy, .png or .safetensors, NAME the
 * image's path without extension or, where that is not there, what is left of it after the first slash, and so on:
 * maps/images/a/7.npy, then maps/a/7.npy, then maps/7.npy. CLV_ERR_NO_INPUT, naming image and folder, if there is none;
 * CLV_ERR_DATA if there are two of one name. */
CLV_API enum clv_status clv_map_find(char **path, const char *folder, const char *image,
                                     struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
