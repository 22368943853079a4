/* What a small network looks at in each pixel to tell the ground, the rim and the core of objects: responses of filters
 * at several scales to the lightness, which is stretched so that images of the same kind look alike, and to chroma. */
#ifndef OBJECT_PIXEL_BANK_H
#define OBJECT_PIXEL_BANK_H

#include "cleave/image.h"

enum {
    PIXEL_BANK_PLANES = 34,
    PIXEL_BANK_WHOLE = 7, /* of the whole image, the same in each pixel */
    PIXEL_BANK_SIZE = PIXEL_BANK_PLANES + PIXEL_BANK_WHOLE,
};

struct pixel_bank {
    int32_t width, height;
    float *planes; /* [PIXEL_BANK_PLANES][height][width] */
    float whole[PIXEL_BANK_WHOLE];
};

/* Of an image of 3 channels. About 150 bytes a pixel, and O(pixels). */
enum clv_status pixel_bank_init(struct pixel_bank *self, const struct clv_image *image,
                                struct clv_error *err) CLV_CHECK;
void pixel_bank_release(struct pixel_bank *self);

/* x[PIXEL_BANK_SIZE] of a pixel. */
void pixel_bank_at(float *x, const struct pixel_bank *self, size_t pixel);

#endif
