/* Planes of numbers, [height][width], that follow a frame: sampled between pixels, blurred, measured from a border. */
#ifndef SEQUENCE_PLANES_H
#define SEQUENCE_PLANES_H

#include <stdbool.h>
#include <stddef.h>

#include "cleave/status.h"

/* out[channels] = plane[height][width][channels] at (x, y), bilinear; the border repeats. */
void plane_sample(float *out, const float *plane, int32_t channels, int32_t width, int32_t height, float x, float y);

/* Means over squares of 2 radius + 1 pixels, `passes` times: three of them are nearly a Gaussian of variance
 * radius (radius + 1). Outside there are zeros. scratch[max(width, height)] */
void plane_blur(float *plane, int32_t width, int32_t height, int32_t radius, int32_t passes, float *scratch);

/* distance[height][width] = how far pixels are from the nearest one of the other side, positive where plane > 1/2, in
 * steps of 1 and sqrt 2; without another side `none`, with its sign. */
void plane_distance(float *distance, const float *plane, int32_t width, int32_t height, float none);

#endif
