/* Zones of an image, and what is met more often in one than in another. */
#ifndef FEATURE_ZONES_H
#define FEATURE_ZONES_H

#include "feature/blocks/scene.h"

/* How much each pixel belongs to the image's centre (the rest belongs to its rim), and whether to the strip along
 * its border. */
struct zones {
    int32_t n_pixels;
    float *centre;  /* [height * width] in 0..1 */
    uint8_t *strip; /* [height * width] 0 or 1 */
};
void zones_release(struct zones *zones);
enum clv_status zones_init(struct zones *zones, const struct scene *scene, struct clv_error *err) CLV_CHECK;

/* How central a place is, x and y in 0..1: 1 in the middle, 1/2 on a circle about it, near 0 in the corners. */
float centrality(float x, float y);

/* code[height * width] in 0..n_codes-1 is some property of pixels (a word, a colour). For each region r:
 *   centre[r * stride] = mean over its pixels of C / (C + R), C and R the frequencies of the pixel's code in centre
 *     and rim,
 *   border[r * stride] = mean over its pixels of S / (S + A), S and A those in the strip and in all of the image;
 * 1/2 where the code is uninformative. O(pixels + n_codes). */
enum clv_status zones_measure(float *centre, float *border, size_t stride, const struct zones *zones,
                              const struct scene *scene, const int32_t *code, int32_t n_codes,
                              struct clv_error *err) CLV_CHECK;

#endif
