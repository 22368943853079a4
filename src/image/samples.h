/* How samples of other depths become 8 bits: one rule for every format. */
#ifndef IMAGE_SAMPLES_H
#define IMAGE_SAMPLES_H

#include "cleave/image.h"

/* Over white, in 8 bits, rounded to nearest: (c a + 255 (255 - a)) / 255. */
static inline uint8_t over_white(uint32_t value, uint32_t alpha)
{
    return (uint8_t)((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

/* low..high to 0..255, rounded to nearest; what is outside is clipped. low < high < 2^16. */
static inline uint8_t sample_scaled(uint32_t value, uint32_t low, uint32_t high)
{
    if (value <= low || value >= high)
        return value <= low ? 0 : 255;
    return (uint8_t)((255 * (value - low) + (high - low) / 2) / (high - low));
}

#endif
