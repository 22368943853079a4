/* Makes pixels void that are further from every label border than a radius, so that only a band is scored. The
 * minimum and maximum of a square tell which pixels stay. Start at band_keep. */
#include "score/score.h"

#include "base/base.h"

/* Finds the lowest and the highest label of a row's pixels within the radius. Void counts as 255 for the lowest, 0 for
 * the highest. */
static void span_row(uint8_t *low, uint8_t *high, const uint8_t *labels, int32_t width, int32_t radius)
{
    for (int32_t x = 0; x < width; x++) {
        int32_t first = x > radius ? x - radius : 0, last = x < width - 1 - radius ? x + radius : width - 1;
        low[x] = UINT8_MAX;
        high[x] = 0;
        for (int32_t at = first; at <= last; at++) {
            uint8_t label = labels[at];
            low[x] = label < low[x] ? label : low[x];
            high[x] = label != CLV_VOID && label > high[x] ? label : high[x];
        }
    }
}

/* Sets low[width] and high[width] to the extremes over the rows first..last of low_of and high_of. */
static void span_column(uint8_t *low, uint8_t *high, const uint8_t *low_of, const uint8_t *high_of, int32_t width,
                        int32_t first, int32_t last)
{
    for (int32_t x = 0; x < width; x++) {
        low[x] = UINT8_MAX;
        high[x] = 0;
    }
    for (int32_t y = first; y <= last; y++)
        for (int32_t x = 0; x < width; x++) {
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            low[x] = low_of[at] < low[x] ? low_of[at] : low[x];
            high[x] = high_of[at] > high[x] ? high_of[at] : high[x];
        }
}

enum clv_status band_keep(struct clv_mask *mask, int32_t radius_px, struct clv_error *err)
{
    int32_t width = mask->width, height = mask->height;
    size_t n = (size_t)width * (size_t)height;
    OWNED_ARRAY uint8_t *spans = array_alloc(n + (size_t)width, 2);
    NEED(spans);
    uint8_t *low_of = spans, *high_of = spans + n, *low = spans + 2 * n, *high = low + width;
    for (int32_t y = 0; y < height; y++) {
        size_t at = (size_t)y * (size_t)width;
        span_row(low_of + at, high_of + at, mask->labels + at, width, radius_px);
    }
    for (int32_t y = 0; y < height; y++) {
        int32_t first = y > radius_px ? y - radius_px : 0,
                last = y < height - 1 - radius_px ? y + radius_px : height - 1;
        uint8_t *labels = mask->labels + (size_t)y * (size_t)width;
        span_column(low, high, low_of, high_of, width, first, last);
        for (int32_t x = 0; x < width; x++)
            labels[x] = low[x] < high[x] ? labels[x] : CLV_VOID;
    }
    return CLV_OK;
}
