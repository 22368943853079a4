/* Divides an image into zones, its centre, its rim and the strip along its border, and measures in which of them the
 * codes of a region's pixels (colours, visual words) are more frequent. Start at zones_measure. */
#include "feature/blocks/blocks.h"

#include <math.h>

#include "base/base.h"

static const float CENTRE_RADIUS = 0.35f; /* in widths and heights of the image */
static const double STRIP = 0.06;         /* the strip's depth, in sides of a square of as many pixels */
static const float RARE = 0.0005f;        /* added to frequencies: codes rarer than this are uninformative */

float centrality(float x, float y)
{
    float dx = (x - 0.5f) / CENTRE_RADIUS, dy = (y - 0.5f) / CENTRE_RADIUS;
    float r2 = dx * dx + dy * dy;
    return 1 / (1 + r2 * r2);
}

void zones_release(struct zones *zones)
{
    arrays_free(zones->centre, zones->strip);
    *zones = (struct zones){0};
}

enum clv_status zones_init(struct zones *zones, const struct scene *scene, struct clv_error *err)
{
    int32_t w = scene->width, h = scene->height;
    size_t n = (size_t)w * (size_t)h;
    OWNED(zones_release) struct zones result = {.scene = scene,
                                                .n_pixels = w * h,
                                                .centre = array_alloc(n, sizeof *result.centre),
                                                .strip = array_alloc(n, sizeof *result.strip)};
    NEED(result.centre && result.strip);
    int32_t depth = int32_within(ceil(STRIP * sqrt((double)n)), 0, INT32_MAX);
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            size_t i = (size_t)y * (size_t)w + (size_t)x;
            result.centre[i] = centrality(((float)x + 0.5f) / (float)w, ((float)y + 0.5f) / (float)h);
            result.strip[i] = x < depth || y < depth || w - 1 - x < depth || h - 1 - y < depth;
        }
    *zones = TAKE(result);
    return CLV_OK;
}

/* Occurrences of one code in each zone; later their frequencies. */
struct tally {
    float centre, strip, all;
};

/* Turns tally.centre and tally.strip into how much likelier the code is there. */
static void compare_frequencies(struct tally *tally, int32_t n_codes)
{
    double centre = 0, strip = 0, all = 0;
    for (int32_t c = 0; c < n_codes; c++) {
        centre += tally[c].centre;
        strip += tally[c].strip;
        all += tally[c].all;
    }
    float of_centre = (float)(1 / centre), of_rim = all > centre ? (float)(1 / (all - centre)) : 0;
    float of_strip = (float)(1 / strip), of_all = (float)(1 / all);
    for (int32_t c = 0; c < n_codes; c++) {
        float inner = tally[c].centre * of_centre + RARE, outer = (tally[c].all - tally[c].centre) * of_rim + RARE;
        float edge = tally[c].strip * of_strip + RARE, any = tally[c].all * of_all + RARE;
        tally[c].centre = inner / (inner + outer);
        tally[c].strip = edge / (edge + any);
    }
}

enum clv_status zones_measure(float *odds, size_t stride, const struct zones *zones, const int32_t *code,
                              int32_t n_codes, struct clv_error *err)
{
    const struct scene *scene = zones->scene;
    OWNED_ARRAY struct tally *tally = array_zalloc((size_t)n_codes, sizeof *tally);
    NEED(tally);
    for (int32_t i = 0; i < zones->n_pixels; i++) {
        tally[code[i]].centre += zones->centre[i];
        tally[code[i]].strip += zones->strip[i];
        tally[code[i]].all += 1;
    }
    compare_frequencies(tally, n_codes);
    for (int32_t r = 0; r < scene->n_regions; r++) {
        float inner = 0, edge = 0;
        for (int32_t k = scene->start[r]; k < scene->start[r + 1]; k++) {
            const struct tally *t = &tally[code[scene->pixel[k]]];
            inner += t->centre;
            edge += t->strip;
        }
        float n = (float)(scene->start[r + 1] - scene->start[r]);
        odds[(size_t)r * stride] = inner / n;
        odds[(size_t)r * stride + 1] = edge / n;
    }
    return CLV_OK;
}
