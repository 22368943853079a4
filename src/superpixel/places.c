#include "superpixel/superpixel.h"

#include "base/base.h"

enum clv_status region_places(float *place, const int32_t *labels, int32_t width, int32_t height, int32_t n,
                              double unit, struct clv_error *err)
{
    struct sums {
        int64_t x, y, pixels;
    } *sums = array_zalloc((size_t)n, sizeof *sums);
    if (!sums)
        return fail_memory(err);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            struct sums *sum = &sums[labels[(size_t)y * (size_t)width + (size_t)x]];
            sum->x += x;
            sum->y += y;
            sum->pixels++;
        }
    for (size_t i = 0; i < (size_t)n; i++) {
        double pixels = sums[i].pixels > 0 ? (double)sums[i].pixels : 1, half = sums[i].pixels > 0 ? 0.5 : 0;
        place[2 * i] = (float)(((double)sums[i].x / pixels + half) / unit);
        place[2 * i + 1] = (float)(((double)sums[i].y / pixels + half) / unit);
    }
    array_free(sums);
    return CLV_OK;
}
