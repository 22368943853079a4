/* Watershed by flooding from the highest pixel down; a peak that rises too little above its saddle joins its higher
 * neighbour (dynamics, Grimaud 1992). Start at flood. */
#include "object/object.h"

#include <stdlib.h>

#include "base/base.h"

struct pixel {
    float value;
    int32_t at;
};

static int compare_pixels(const void *left, const void *right)
{
    const struct pixel *a = left, *b = right;
    return a->value != b->value ? (a->value < b->value) - (a->value > b->value) : (a->at > b->at) - (a->at < b->at);
}

/* Floods pixels[n], which are sorted from the highest to the lowest. up[pixel] leads to its peak; -1 before the pixel
 * is flooded. */
static void flood(int32_t *up, const struct pixel *pixels, size_t n, const struct basin_map *basins, double rise)
{
    const float *map = basins->values;
    int32_t width = basins->width, height = basins->height;
    for (size_t i = 0; i < n; i++) {
        int32_t at = pixels[i].at, x = at % width, y = at / width, best = -1;
        int32_t next[4] = {y > 0 ? at - width : -1, x > 0 ? at - 1 : -1, x + 1 < width ? at + 1 : -1,
                           y + 1 < height ? at + width : -1};
        for (int k = 0; k < 4; k++)
            if (next[k] >= 0 && up[next[k]] >= 0 && (best < 0 || map[next[k]] > map[best]))
                best = next[k];
        up[at] = best < 0 ? at : root_of(up, best);
        for (int k = 0; best >= 0 && k < 4; k++) {
            if (next[k] < 0 || up[next[k]] < 0)
                continue;
            int32_t a = root_of(up, at), b = root_of(up, next[k]);
            int32_t lower = map[a] < map[b] || (map[a] == map[b] && a > b) ? a : b;
            if (a != b && (double)(map[lower] - map[at]) < rise)
                up[lower] = lower == a ? b : a;
        }
    }
}

enum clv_status basins_find(int32_t *regions, int32_t *n_regions, const struct basin_map *map, double rise,
                            struct clv_error *err)
{
    size_t n = (size_t)map->width * (size_t)map->height, n_inside = 0;
    OWNED_ARRAY struct pixel *pixels = array_alloc(n, sizeof *pixels);
    OWNED_ARRAY int32_t *up = array_alloc(n, sizeof *up);
    NEED(pixels && up);
    for (size_t i = 0; i < n; i++) {
        up[i] = -1;
        regions[i] = 0;
        if (map->is_inside[i])
            pixels[n_inside++] = (struct pixel){map->values[i], (int32_t)i};
    }
    qsort(pixels, n_inside, sizeof *pixels, compare_pixels);
    flood(up, pixels, n_inside, map, rise);
    *n_regions = 0;
    for (size_t i = 0; i < n; i++)
        if (up[i] >= 0)
            up[i] = root_of(up, (int32_t)i);
    for (size_t i = 0; i < n; i++) /* regions[peak] holds the region's number */
        if (up[i] >= 0) {
            if (!regions[up[i]])
                regions[up[i]] = ++*n_regions;
            regions[i] = regions[up[i]];
        }
    return CLV_OK;
}
