#include <math.h>
#include <stdio.h>

#include "feature/blocks/blocks.h"

enum { CHANNELS = 3, BINS = 16, STATISTICS = 6, CHROMA_BINS = 16 };

static const float CHROMA_WIDTH = 8.0f; /* of a bin of a or of b; what lies beyond the outermost counts there */
static const float CHROMA_WEIGHT = 0.5f;

int32_t colour_size(void)
{
    return CHANNELS * BINS + STATISTICS + CHROMA_BINS * CHROMA_BINS;
}

int32_t chroma_size(void)
{
    return CHROMA_BINS * CHROMA_BINS;
}

static int chroma_bin(float value)
{
    int bin = (int)(value / CHROMA_WIDTH + CHROMA_BINS / 2);
    return bin < 0 ? 0 : bin > CHROMA_BINS - 1 ? CHROMA_BINS - 1 : bin;
}

void chroma_fill(float *row, const struct scene *scene, int32_t region)
{
    for (int32_t k = scene->start[region]; k < scene->start[region + 1]; k++) {
        const float *lab = scene->lab + (size_t)scene->pixel[k] * CHANNELS;
        row[chroma_bin(lab[1]) * CHROMA_BINS + chroma_bin(lab[2])] += 1;
    }
    for (int b = 0; b < CHROMA_BINS * CHROMA_BINS; b++)
        row[b] = CHROMA_WEIGHT * sqrtf(row[b] / (float)scene->regions[region].n_pixels);
}

int32_t rgb_size(void)
{
    return CHANNELS * BINS;
}

void rgb_fill(float *row, const struct scene *scene, int32_t region)
{
    int32_t count[CHANNELS * BINS] = {0};
    for (int32_t k = scene->start[region]; k < scene->start[region + 1]; k++) {
        const uint8_t *rgb = scene->rgb + (size_t)scene->pixel[k] * CHANNELS;
        for (int c = 0; c < CHANNELS; c++)
            count[c * BINS + rgb[c] * BINS / 256]++;
    }
    /* Square root of a histogram: the Hellinger kernel as a dot product. */
    for (int b = 0; b < CHANNELS * BINS; b++)
        row[b] = sqrtf((float)count[b] / (float)(CHANNELS * scene->regions[region].n_pixels));
}

void colour_fill(float *row, const struct scene *scene, int32_t region)
{
    const struct region *r = &scene->regions[region];
    rgb_fill(row, scene, region);
    row += CHANNELS * BINS;
    row[0] = r->lab[0] / 100.0f;
    row[1] = r->lab[1] / 50.0f;
    row[2] = r->lab[2] / 50.0f;
    for (int c = 0; c < 3; c++)
        row[3 + c] = r->deviation[c] / 20.0f;
    chroma_fill(row + STATISTICS, scene, region);
}

static const char *const channel[CHANNELS] = {"red", "green", "blue"};

void rgb_name(char *name, size_t size, int32_t index)
{
    snprintf(name, size, "%s alone, bin %d", channel[index / BINS], index % BINS);
}

void colour_name(char *name, size_t size, int32_t index)
{
    static const char *const statistic[] = {"mean L",         "mean a",         "mean b",
                                            "deviation of L", "deviation of a", "deviation of b"};
    if (index < CHANNELS * BINS)
        snprintf(name, size, "%s bin %d", channel[index / BINS], index % BINS);
    else if (index < CHANNELS * BINS + STATISTICS)
        snprintf(name, size, "%s", statistic[index - CHANNELS * BINS]);
    else
        snprintf(name, size, "chroma bin a %d b %d", (index - CHANNELS * BINS - STATISTICS) / CHROMA_BINS,
                 (index - CHANNELS * BINS - STATISTICS) % CHROMA_BINS);
}
