/* Maps of probabilities over their images, as the report and `cleave marginals --overlay' show them. */
#ifndef REPORT_PROBABILITY_H
#define REPORT_PROBABILITY_H

#include "cleave/image.h"

extern const uint8_t uncertain_colour[3];

/* H(p) of a label that is there or not, in bits. */
double probability_entropy(double p);

/* Over an image of 3 channels, in place: grey, tinted the more the less certain probability[height][width] / 255 is,
 * with the outline of where the label is the more probable one. */
enum clv_status probability_draw(struct clv_image *image, const uint8_t *probability, int32_t outline_px,
                                 struct clv_error *err) CLV_CHECK;

/* Mean probability and entropy of n pixels. */
void probability_means(double *share, double *entropy, const uint8_t *probability, size_t n);

#endif
