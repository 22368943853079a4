/* Computes the log ratio of the frequencies of a pixel's colour in the foreground and in the background of the whole
 * image, from smoothed histograms. Start at fine_colours_ratio. */
#include "refine/refine.h"

#include "base/base.h"

enum { BINS = 24, COLOURS = BINS * BINS * BINS };

#define DOUBT 1e-5 /* added to each frequency */

/* colours[width] = the bins of the colours of row y. lab[width][3] is scratch. */
static void bins_of_row(int32_t *colours, float *lab, const struct clv_image *image, int32_t y)
{
    size_t width = (size_t)image->width;
    clv_rgb_to_lab(lab, image->pixels + 3 * (size_t)y * width, width);
    for (size_t x = 0; x < width; x++)
        colours[x] = colour_bin(lab + 3 * x, BINS);
}

/* Sets ratio[COLOURS] to the log ratios of the colours of counts[2][COLOURS], background and foreground. ratio has
 * space for as many values as counts. */
static void take_ratios(float *ratio, const int32_t *counts)
{
    float *background = ratio, *foreground = ratio + COLOURS;
    for (size_t c = 0; c < (size_t)2 * COLOURS; c++)
        ratio[c] = (float)counts[c];
    colour_bins_smooth_all(ratio, 2, BINS);
    double total[2] = {0, 0};
    for (size_t c = 0; c < COLOURS; c++) {
        total[0] += (double)background[c];
        total[1] += (double)foreground[c];
    }
    for (size_t c = 0; c < COLOURS; c++) {
        double own = (double)foreground[c] / total[1], other = (double)background[c] / total[0];
        background[c] = total[0] > 0 && total[1] > 0 ? (float)portable_log((own + DOUBT) / (other + DOUBT)) : 0;
    }
}

enum clv_status fine_colours_ratio(float *ratio, const struct clv_image *image, const uint8_t *labels,
                                   struct clv_error *err)
{
    size_t width = (size_t)image->width;
    OWNED_ARRAY int32_t *counts = array_zalloc((size_t)2 * COLOURS, sizeof *counts);
    OWNED_ARRAY float *of_colour = array_alloc((size_t)2 * COLOURS, sizeof *of_colour);
    OWNED_ARRAY float *lab = array_alloc(width, 3 * sizeof *lab);
    OWNED_ARRAY int32_t *colours = array_alloc(width, sizeof *colours);
    NEED(counts && of_colour && lab && colours);
    for (int32_t y = 0; y < image->height; y++) {
        const uint8_t *row = labels + (size_t)y * width;
        bins_of_row(colours, lab, image, y);
        for (size_t x = 0; x < width; x++)
            counts[(row[x] == 1 ? COLOURS : 0) + colours[x]]++;
    }
    take_ratios(of_colour, counts);
    for (int32_t y = 0; y < image->height; y++) {
        bins_of_row(colours, lab, image, y);
        for (size_t x = 0; x < width; x++)
            ratio[(size_t)y * width + x] = of_colour[colours[x]];
    }
    return CLV_OK;
}
