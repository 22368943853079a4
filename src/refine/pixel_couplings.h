/* Couplings between the pixels of an image: borders are cheap along its edges. */
#ifndef REFINE_PIXEL_COUPLINGS_H
#define REFINE_PIXEL_COUPLINGS_H

#include "cleave/refine.h"

/* coupling[k][height][width], the planes of clv_grid (right, below, below right, below left): strength (e + (1 - e)
 * exp(-|I_p - I_q|^2 / (2 mean))) / |p - q| as clv_refine has it. Across the border they stay unset: nobody looks at
 * them. O(pixels). */
enum clv_status pixel_couplings_init(float *coupling[4], const struct clv_image *image, double strength,
                                     struct clv_error *err) CLV_CHECK;
void pixel_couplings_release(float *coupling[4]);

/* A coupling, which is meant for an image of 256 x 256, in one of n_pixels: borders grow with the side, areas with its
 * square. */
double coupling_at(double coupling, size_t n_pixels);

/* CLV_ERR_USAGE naming a value that is out of range. */
enum clv_status refine_check_options(const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

#endif
