#include <math.h>
#include <stdio.h>

#include "feature/blocks.h"

enum { CHANNELS = 3, BINS = 16, STATISTICS = 6 };

int32_t colour_size(void)
{
    return CHANNELS * BINS + STATISTICS;
}

void colour_fill(float *row, const struct scene *scene, int32_t region)
{
    int32_t count[CHANNELS * BINS] = {0};
    for (int32_t k = scene->start[region]; k < scene->start[region + 1]; k++) {
        const uint8_t *rgb = scene->rgb + (size_t)scene->pixel[k] * CHANNELS;
        for (int c = 0; c < CHANNELS; c++)
            count[c * BINS + rgb[c] * BINS / 256]++;
    }
    /* Square root of a histogram: the Hellinger kernel as a dot product. */
    const struct region *r = &scene->regions[region];
    for (int b = 0; b < CHANNELS * BINS; b++)
        row[b] = sqrtf((float)count[b] / (float)(CHANNELS * r->n_pixels));
    row += CHANNELS * BINS;
    row[0] = r->lab[0] / 100.0f;
    row[1] = r->lab[1] / 50.0f;
    row[2] = r->lab[2] / 50.0f;
    for (int c = 0; c < 3; c++)
        row[3 + c] = r->deviation[c] / 20.0f;
}

void colour_name(char *name, size_t size, int32_t index)
{
    static const char *const channel[] = {"red", "green", "blue"};
    static const char *const statistic[] = {"mean L",         "mean a",         "mean b",
                                            "deviation of L", "deviation of a", "deviation of b"};
    if (index < CHANNELS * BINS)
        snprintf(name, size, "%s bin %d", channel[index / BINS], index % BINS);
    else
        snprintf(name, size, "%s", statistic[index - CHANNELS * BINS]);
}
