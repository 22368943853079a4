/* Computes the feature blocks colour and rgb: histograms of the red, green and blue channels, a joint histogram of a
 * and b of CIE Lab, means and deviations. Start at colour_fill. */
#include <stdio.h>

#include "feature/blocks/blocks.h"

enum { CHANNELS = 3, BINS = 16, STATISTICS = 6, CHROMA_BINS = 16 };

static const float CHROMA_WIDTH = 8.0f; /* of a bin of a or b, in Lab; values beyond count in the outermost bins */
static const float CHROMA_WEIGHT = 0.5f;

int32_t chroma_size(const struct clv_recipe *recipe)
{
    return CHROMA_BINS * CHROMA_BINS * kernel_map_size(recipe);
}

int32_t rgb_size(const struct clv_recipe *recipe)
{
    return CHANNELS * BINS * kernel_map_size(recipe);
}

int32_t colour_size(const struct clv_recipe *recipe)
{
    return rgb_size(recipe) + STATISTICS + chroma_size(recipe);
}

static int chroma_bin(float value)
{
    int bin = (int)(value / CHROMA_WIDTH + CHROMA_BINS / 2);
    return bin < 0 ? 0 : bin > CHROMA_BINS - 1 ? CHROMA_BINS - 1 : bin;
}

void chroma_fill(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region)
{
    int32_t count[CHROMA_BINS * CHROMA_BINS] = {0};
    for (int32_t k = scene->start[region]; k < scene->start[region + 1]; k++) {
        const float *lab = scene->lab + (size_t)scene->pixel[k] * CHANNELS;
        count[chroma_bin(lab[1]) * CHROMA_BINS + chroma_bin(lab[2])]++;
    }
    for (int b = 0; b < CHROMA_BINS * CHROMA_BINS; b++, row += kernel_map->size) {
        if (count[b] == 0)
            continue;
        kernel_map_share(row, kernel_map, (float)count[b] / (float)scene->regions[region].n_pixels);
        for (int32_t k = 0; k < kernel_map->size; k++)
            row[k] *= CHROMA_WEIGHT;
    }
}

static void fill_rgb(float *row, const struct scene *scene, const struct kernel_map *kernel_map, int32_t region)
{
    int32_t count[CHANNELS * BINS] = {0};
    for (int32_t k = scene->start[region]; k < scene->start[region + 1]; k++) {
        const uint8_t *rgb = scene->rgb + (size_t)scene->pixel[k] * CHANNELS;
        for (int c = 0; c < CHANNELS; c++)
            count[c * BINS + rgb[c] * BINS / 256]++;
    }
    for (int b = 0; b < CHANNELS * BINS; b++, row += kernel_map->size)
        kernel_map_share(row, kernel_map, (float)count[b] / (float)(CHANNELS * scene->regions[region].n_pixels));
}

double rgb_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node, (void)of_image;
    return RGB_MET * kernel_map_size(recipe);
}

void rgb_fill(float *row, const struct views *views, int32_t region)
{
    fill_rgb(row, views_own(views), &views->kernel_map, region);
}

double colour_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node, (void)of_image;
    return (RGB_MET + CHROMA_MET) * kernel_map_size(recipe) + STATISTICS;
}

void colour_fill(float *row, const struct views *views, int32_t region)
{
    const struct scene *scene = views_own(views);
    const struct kernel_map *kernel_map = &views->kernel_map;
    const struct region *r = &scene->regions[region];
    fill_rgb(row, scene, kernel_map, region);
    row += CHANNELS * BINS * kernel_map->size;
    row[0] = r->lab[0] / 100.0f;
    row[1] = r->lab[1] / 50.0f;
    row[2] = r->lab[2] / 50.0f;
    for (int c = 0; c < 3; c++)
        row[3 + c] = r->deviation[c] / 20.0f;
    chroma_fill(row + STATISTICS, scene, kernel_map, region);
}

static const char *const channel[CHANNELS] = {"red", "green", "blue"};

static void channel_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t index)
{
    int32_t numbers = kernel_map_size(recipe), bin = index / numbers;
    snprintf(name, size, "%s%s %d", channel[bin / BINS], what, bin % BINS);
    kernel_map_name(name, size, recipe, index % numbers);
}

void rgb_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    channel_name(name, size, recipe, " alone, bin", index);
}

static void chroma_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    int32_t numbers = kernel_map_size(recipe), bin = index / numbers;
    snprintf(name, size, "chroma bin a %d b %d", bin / CHROMA_BINS, bin % CHROMA_BINS);
    kernel_map_name(name, size, recipe, index % numbers);
}

void colour_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    static const char *const statistic[] = {"mean L",         "mean a",         "mean b",
                                            "deviation of L", "deviation of a", "deviation of b"};
    int32_t after_rgb = index - rgb_size(recipe);
    if (after_rgb < 0)
        channel_name(name, size, recipe, " bin", index);
    else if (after_rgb < STATISTICS)
        snprintf(name, size, "%s", statistic[after_rgb]);
    else
        chroma_name(name, size, recipe, after_rgb - STATISTICS);
}
