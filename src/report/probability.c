/* Shows probability maps: draws them over a photo, tinted by their entropy, and computes their mean probability and
 * entropy. Start at probability_draw. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define TINT_OPACITY 0.8

const uint8_t uncertain_colour[3] = {255, 120, 0};

double probability_entropy(double p)
{
    return p <= 0 || p >= 1 ? 0 : -(p * portable_log2(p) + (1 - p) * portable_log2(1 - p));
}

/* Tints a pixel, the more the larger `opacity` is. */
static void tint(uint8_t *pixel, double opacity)
{
    double grey = (299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2]) / 1000.0;
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)int32_within(rint(grey + opacity * (uncertain_colour[c] - grey)), 0, 255);
}

enum clv_status probability_draw_band(uint8_t *pixels, const struct image_band *band, int32_t outline_px,
                                      struct clv_error *err)
{
    size_t width = (size_t)band->width, n = (size_t)(band->above + band->n_rows + band->below) * width;
    const uint8_t *probability = band->labels + image_band_start(band), palette[256][3] = {{0}};
    OWNED_ARRAY uint8_t *labels = array_alloc(n, 1);
    struct image_band sides = *band;
    double opacity[256];
    NEED(labels);
    for (int v = 0; v < 256; v++)
        opacity[v] = TINT_OPACITY * probability_entropy(v / 255.0);
    for (size_t i = 0; i < (size_t)band->n_rows * width; i++)
        tint(pixels + 3 * i, opacity[probability[i]]);
    for (size_t i = 0; i < n; i++)
        labels[i] = band->labels[i] > 127;
    sides.labels = labels;
    overlay_band(pixels, &sides, palette, 0, outline_px, -1);
    return CLV_OK;
}

enum clv_status probability_draw(struct clv_image *image, const uint8_t *probability, int32_t outline_px,
                                 struct clv_error *err)
{
    const struct image_band all = image_band_of(image, probability);
    return probability_draw_band(image->pixels, &all, outline_px, err);
}

void probability_sums_add(struct probability_sums *sums, const uint8_t *probability, size_t n)
{
    double of_value[256];
    for (int v = 0; v < 256; v++)
        of_value[v] = probability_entropy(v / 255.0);
    for (size_t i = 0; i < n; i++) {
        sums->probability += probability[i];
        sums->entropy += of_value[probability[i]];
    }
    sums->n += (double)n;
}

void probability_sums_means(double *share, double *entropy, const struct probability_sums *sums)
{
    *share = sums->n > 0 ? sums->probability / 255 / sums->n : 0;
    *entropy = sums->n > 0 ? sums->entropy / sums->n : 0;
}

void probability_means(double *share, double *entropy, const uint8_t *probability, size_t n)
{
    struct probability_sums sums = {0};
    probability_sums_add(&sums, probability, n);
    probability_sums_means(share, entropy, &sums);
}
