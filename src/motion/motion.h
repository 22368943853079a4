/* Optical flow: where the pixels of one frame are in another. The method is dense inverse search (Kroeger, Timofte,
 * Dai, Van Gool: Fast optical flow using dense inverse search, 2016). Patches are matched from coarse to fine, and
 * the matches of their neighbours are tried, too. */
#ifndef MOTION_MOTION_H
#define MOTION_MOTION_H

#include "cleave/image.h"

#define MOTION_MAX_LEVELS 8

/* A frame's lightness at full size and halved again and again. */
struct motion_pyramid {
    int32_t n_levels, width[MOTION_MAX_LEVELS], height[MOTION_MAX_LEVELS];
    float *level[MOTION_MAX_LEVELS]; /* [height][width] 0..255 */
};

/* Builds the pyramid of an image of 3 channels. *self need not be initialised. O(pixels). */
enum clv_status motion_pyramid_init(struct motion_pyramid *self, const struct clv_image *image,
                                    struct clv_error *err) CLV_CHECK;
void motion_pyramid_release(struct motion_pyramid *self);

/* Sets flow[height][width][2] so that pixel (x, y) of `from` is at (x + flow[y][x][0], y + flow[y][x][1]) of `to`, a
 * frame of the same size. The result is the same on every machine. O(pixels), 8 bytes per pixel. */
enum clv_status motion_estimate(float *flow, const struct motion_pyramid *from, const struct motion_pyramid *to,
                                struct clv_error *err) CLV_CHECK;

#endif
