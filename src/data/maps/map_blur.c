/* Blurs maps by three successive box filters, which approximate a Gaussian (Wells 1986). Start at map_blur. */
#include "data/maps/maps.h"

#include "base/base.h"

enum { BOXES = 3 };

/* The integral of the line from its start to `at`; upto[k] is the integral up to pixel k. */
static double integral(const double *upto, const double *line, int32_t n, double at)
{
    if (at <= 0)
        return at * line[0];
    if (at >= n)
        return upto[n] + (at - n) * line[n - 1];
    int32_t k = int32_within(at, 0, n - 1);
    return upto[k] + (at - k) * line[k];
}

/* Blurs line[n] by three boxes of width 2 `reach`, whose variances sum to reach^2; scratch[2 n + 1]. */
static void blur_line(double *line, double *scratch, int32_t n, double reach)
{
    double *upto = scratch, *blurred = scratch + n + 1;
    for (int pass = 0; pass < BOXES; pass++) {
        upto[0] = 0;
        for (int32_t k = 0; k < n; k++)
            upto[k + 1] = upto[k] + line[k];
        for (int32_t k = 0; k < n; k++) {
            double low = integral(upto, line, n, k + 0.5 - reach), high = integral(upto, line, n, k + 0.5 + reach);
            blurred[k] = (high - low) / (2 * reach);
        }
        for (int32_t k = 0; k < n; k++)
            line[k] = blurred[k];
    }
}

/* Blurs n_lines lines of n values, `step` apart; lines begin `stride` apart. */
static void blur_lines(float *values, double *scratch, int32_t n_lines, int32_t n, ptrdiff_t stride, ptrdiff_t step,
                       double reach)
{
    double *line = scratch + 2 * (ptrdiff_t)n + 1;
    for (int32_t l = 0; l < n_lines && reach >= 0.5; l++) {
        float *at = values + l * stride;
        for (int32_t k = 0; k < n; k++)
            line[k] = (double)at[k * step];
        blur_line(line, scratch, n, reach);
        for (int32_t k = 0; k < n; k++)
            at[k * step] = (float)line[k];
    }
}

enum clv_status map_blur(struct clv_map *map, double across, double down, struct clv_error *err)
{
    int32_t width = map->width, height = map->height, longest = width > height ? width : height;
    OWNED_ARRAY double *scratch = array_alloc(3 * (size_t)longest + 1, sizeof *scratch);
    NEED(scratch);
    for (int32_t c = 0; c < map->n_channels; c++) {
        float *values = map->values + (ptrdiff_t)c * width * height;
        blur_lines(values, scratch, height, width, width, 1, across);
        blur_lines(values, scratch, width, height, 1, width, down);
    }
    return CLV_OK;
}
