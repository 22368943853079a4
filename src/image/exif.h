/* EXIF orientation: reading the tag, turning the pixels. */
#ifndef IMAGE_EXIF_H
#define IMAGE_EXIF_H

#include <stdbool.h>

#include "cleave/image.h"

/* The orientation tag (1..8) of an APP1 segment's payload ("Exif\0\0", then a TIFF header in either byte order).
 * Anything malformed, missing or out of range is 1: upright. EXIF 2.32, sections 4.5 and 4.6.4 A. */
int exif_orientation(const uint8_t *segment, size_t size);

/* The same without "Exif\0\0" in front, as WebP has it. */
int tiff_orientation(const uint8_t *bytes, size_t size);

bool exif_is_segment(const uint8_t *segment, size_t size);

/* Whether the orientation exchanges width and height. */
bool orientation_transposes(int orientation);

/* Turns the pixels so that the image is upright. 1 leaves it alone. */
enum clv_status image_orient(struct clv_image *image, int orientation, struct clv_error *err) CLV_CHECK;

#endif
