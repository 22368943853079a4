/* Couplings between the pixels of an image: borders are cheap along its edges. */
#ifndef REFINE_PIXEL_COUPLINGS_H
#define REFINE_PIXEL_COUPLINGS_H

#include "cleave/refine.h"

/* strength (e + (1 - e) exp(-|I_p - I_q|^2 / (2 mean))) / |p - q| as clv_refine has it. */
struct pixel_couplings {
    const struct clv_image *image;
    float *weight; /* of squared distances up to last, which stands for all above, too */
    int32_t last;
    float straight, slanting; /* strengths */
};

/* O(pixels), next to no memory. */
enum clv_status pixel_couplings_init(struct pixel_couplings *self, const struct clv_image *image, double strength,
                                     struct clv_error *err) CLV_CHECK;
void pixel_couplings_release(struct pixel_couplings *self);

/* coupling[4][n], the planes of clv_grid (right, below, below right, below left), of pixels (x, y) to (x + n - 1, y); 0
 * across the image's border. */
void pixel_couplings_row(float *const coupling[4], const struct pixel_couplings *self, int32_t x, int32_t y, int32_t n);

/* A coupling, which is meant for an image of 256 x 256, in one of n_pixels: borders grow with the side, areas with its
 * square. */
double coupling_at(double coupling, size_t n_pixels);

#endif
