/* Colours of labels that every kind of colour vision distinguishes. */
#ifndef IMAGE_OVERLAY_PALETTE_H
#define IMAGE_OVERLAY_PALETTE_H

#include <stdint.h>

/* The palette for tints and legends: of the labels from 1 on, one whose colour is too near that of an earlier label, as
 * a common, a protan or a deutan eye sees them, is made lighter or darker until it is not, or as far from all as any
 * of the shades tried. Label 0, which is not tinted, and all from n_labels on keep theirs. O(n_labels^2). */
void overlay_palette(uint8_t made[256][3], const uint8_t (*palette)[3], int32_t n_labels);

/* How far apart two colours are to the eye that distinguishes them worst, about 0..255. */
double overlay_palette_distance(const uint8_t a[3], const uint8_t b[3]);

#endif
