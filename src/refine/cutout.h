/* Cutting an object out of its image: colours with soft borders on transparency. */
#ifndef REFINE_CUTOUT_H
#define REFINE_CUTOUT_H

#include <stdbool.h>

#include "cleave/image.h"

/* rgba[height][width][4], colours not multiplied by alpha. */
struct cutout {
    int32_t width, height;
    uint8_t *rgba;
};
void cutout_release(struct cutout *self);

/* The object is what is labelled so: is_object[labels[height][width]]. Pixels farther than a few from its border
 * (2, and 1 more for every 1,000 pixels of the longer side) are opaque with their own colour, or transparent. In
 * between alpha is the expected share of the object in the pixel, by a linear model: the pixel's colour is
 *     alpha F + (1 - alpha) B + noise,
 * F and B the mean colours of what is surely inside and outside nearby, the noise their spread; before its colour is
 * seen, alpha has the mean a of the labels smoothed over the band, and the variance a (1 - a). The posterior mean
 *     (a / v_a + t s) / (1 / v_a + s),   v_a = a (1 - a),  s = |F - B|^2 / noise,  t = (I - B)(F - B) / |F - B|^2
 * follows the colours where they separate the sides, and the smoothed labels where they do not; it is stretched so
 * that 0.1 becomes 0 and 0.9 becomes 1, since faint remains show as a halo. A pixel that is
 * neither gets the most probable colour of its object's part (Chuang et al. 2001, "A Bayesian approach to digital
 * matting", eq. 9 with spreads in place of covariances), so that nothing of the ground shines through on another one;
 * transparent pixels next to the border carry F, for programs that scale the image.
 *
 * Image of 3 channels. One thread, whole numbers until the last step. O(pixels); 5 bytes a pixel. */
enum clv_status cutout_make(struct cutout *self, const struct clv_image *image, const uint8_t *labels,
                            const bool is_object[256], struct clv_error *err) CLV_CHECK;

/* Leaves the smallest rectangle around all that is not transparent; a cut-out of nothing stays as it is. */
void cutout_crop(struct cutout *self);

#endif
