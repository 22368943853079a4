/* A frame at its working size, with all that is computed of it once. */
#ifndef SEQUENCE_FRAME_H
#define SEQUENCE_FRAME_H

#include "sequence/motion.h"

#define FRAME_PIXELS (1 << 17) /* of a working size, at most */
#define FRAME_BINS   12        /* of lightness, a and b, for colours near a place */
#define FRAME_FINE   24        /* for colours of the whole frame */

struct frame {
    struct clv_image image;
    float *lab;              /* [height][width][3] */
    uint16_t *colour, *fine; /* [height][width] bins */
    struct motion_pyramid pyramid;
};

/* The least whole number by which sides are divided for a working size. */
int32_t frame_factor(int32_t width, int32_t height);

enum clv_status frame_init(struct frame *self, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
void frame_release(struct frame *self);

#endif
