/* Merges regions that are too small to be objects into the largest region that they touch, in rounds. Start at
 * contours_merge_specks. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

/* Whether region a is the larger one; of equal ones the first; none, -1, is the smallest. */
static bool is_larger(const struct contours *regions, int32_t a, int32_t b)
{
    int64_t size_a = a < 0 ? 0 : regions->objects[a].n_pixels, size_b = b < 0 ? 0 : regions->objects[b].n_pixels;
    return size_a != size_b ? size_a > size_b : a < b;
}

/* best[n_objects] = the largest region that each touches, or -1. */
static void find_largest_neighbours(int32_t *best, const struct contours *regions)
{
    const int32_t *of = regions->object_of;
    for (size_t r = 0; r < regions->n_objects; r++)
        best[r] = -1;
    for (int32_t y = 0; y < regions->height; y++)
        for (int32_t x = 0; x < regions->width; x++)
            for (int k = 0; k < 9; k++) {
                int32_t u = x + k % 3 - 1, v = y + k / 3 - 1;
                if (u < 0 || v < 0 || u >= regions->width || v >= regions->height)
                    continue;
                int32_t own = of[(size_t)y * (size_t)regions->width + (size_t)x] - 1;
                int32_t other = of[(size_t)v * (size_t)regions->width + (size_t)u] - 1;
                if (other != own && is_larger(regions, other, best[own]))
                    best[own] = other;
            }
}

static enum clv_status merge_round(bool *again, uint8_t *labels, const struct contours *regions, int32_t min_pixels,
                                   struct clv_error *err)
{
    OWNED_ARRAY int32_t *best = array_alloc(regions->n_objects, sizeof *best);
    size_t n_pixels = (size_t)regions->width * (size_t)regions->height;
    NEED(best);
    find_largest_neighbours(best, regions);
    *again = false;
    for (size_t r = 0; r < regions->n_objects; r++) {
        if (regions->objects[r].n_pixels >= min_pixels || !is_larger(regions, best[r], (int32_t)r))
            best[r] = -1; /* it stays */
        *again |= best[r] >= 0;
    }
    for (size_t p = 0; p < n_pixels; p++) {
        int32_t r = regions->object_of[p] - 1;
        while (best[r] >= 0)
            r = best[r];
        labels[p] = regions->objects[r].label;
    }
    return CLV_OK;
}

enum clv_status contours_merge_specks(uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels,
                                      struct clv_error *err)
{
    bool is_traced[256];
    memset(is_traced, true, sizeof is_traced);
    for (bool again = true; again;) {
        OWNED(contours_release) struct contours regions = {0};
        MUST(contours_trace(&regions, labels, width, height, is_traced, err));
        MUST(merge_round(&again, labels, &regions, min_pixels, err));
    }
    return CLV_OK;
}
