/* Computes sums over the pixels of each superpixel: colour, centroid, bounding box and area; compares
 * colours, and finds superpixels of pixels. Start at region_sums_fill. */
#include "superpixel/superpixel.h"

#include <math.h>

#include "base/base.h"

void region_sums_fill(struct region_sums *sums, const struct clv_superpixels *map, const float *lab)
{
    for (int32_t y = 0, p = 0; y < map->height; y++)
        for (int32_t x = 0; x < map->width; x++, p++) {
            struct region_sums *sum = &sums[map->labels[p]];
            for (int k = 0; k < 3; k++)
                sum->lab[k] += lab[3 * p + k];
            sum->square += (double)lab[3 * p] * lab[3 * p];
            sum->x += x + 0.5;
            sum->y += y + 0.5;
            const int32_t point[2] = {x, y};
            for (int k = 0; k < 2; k++) {
                sum->low[k] = sum->n > 0 && sum->low[k] < point[k] ? sum->low[k] : point[k];
                sum->high[k] = sum->high[k] > point[k] ? sum->high[k] : point[k] + 1;
            }
            sum->n++;
        }
}

float region_sums_colour(float *lab, const struct region_sums *sums)
{
    double mean = sums->lab[0] / sums->n;
    for (int k = 0; k < 3; k++)
        lab[k] = (float)(sums->lab[k] / sums->n);
    return (float)sqrt(fmax(0, sums->square / sums->n - mean * mean));
}

float lab_square_distance(const float *a, const float *b, float weight)
{
    float dl = a[0] - b[0], da = a[1] - b[1], db = a[2] - b[2];
    return weight * dl * dl + da * da + db * db;
}

int32_t superpixel_at(const struct clv_superpixels *map, int32_t width, int32_t height, int32_t x, int32_t y)
{
    size_t column = (size_t)x * (size_t)map->width / (size_t)width;
    size_t row = (size_t)y * (size_t)map->height / (size_t)height;
    return map->labels[row * (size_t)map->width + column];
}

enum clv_status region_centroids(float *centroid, const struct label_map *map, double unit, struct clv_error *err)
{
    struct sums {
        int64_t x, y, pixels;
    };
    OWNED_ARRAY struct sums *sums = array_zalloc((size_t)map->n, sizeof *sums);
    NEED(sums);
    for (int32_t y = 0; y < map->height; y++)
        for (int32_t x = 0; x < map->width; x++) {
            struct sums *sum = &sums[map->labels[(size_t)y * (size_t)map->width + (size_t)x]];
            sum->x += x;
            sum->y += y;
            sum->pixels++;
        }
    for (size_t i = 0; i < (size_t)map->n; i++) {
        double pixels = sums[i].pixels > 0 ? (double)sums[i].pixels : 1, half = sums[i].pixels > 0 ? 0.5 : 0;
        centroid[2 * i] = (float)(((double)sums[i].x / pixels + half) / unit);
        centroid[2 * i + 1] = (float)(((double)sums[i].y / pixels + half) / unit);
    }
    return CLV_OK;
}
