/* Splits the pixels of objects into regions by a watershed of the core's probability, and computes features of the
 * borders between regions that touch. Start at object_regions_init, at the end; fill_border has the features. */
#include "object/object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "pixel_net/pixel_net.h"
#include "superpixel/region_graph.h"

#define MAX_BACKGROUND  .5F /* largest probability of the background of a pixel of an object */
#define MAX_DISTANCE    24.F
#define DISTANCE_WEIGHT .12F /* weight of the distance to the background in the map that is flooded */
#define RISE            .02  /* smallest rise of a region's peak above the saddle to a higher peak */

void object_regions_release(struct object_regions *self)
{
    array_free(self->regions);
    region_graph_release(&self->graph);
    arrays_free(self->features, self->area);
    *self = (struct object_regions){0};
}

/* A pair of neighbouring pixels of two regions. */
struct contact {
    int32_t a, b, p, q; /* regions a < b, pixels */
};

static int compare_contacts(const void *left, const void *right)
{
    const struct contact *l = left, *r = right;
    if (l->a != r->a)
        return (l->a > r->a) - (l->a < r->a);
    if (l->b != r->b)
        return (l->b > r->b) - (l->b < r->b);
    return l->p != r->p ? (l->p > r->p) - (l->p < r->p) : (l->q > r->q) - (l->q < r->q);
}

/* Maps [height][width] on which regions and borders are measured. */
struct planes {
    const float *background, *rim, *core;
    float *map, *distance;
};

/* Measures of a region that struct object_regions does not keep. */
struct region_measures {
    float map, distance, core; /* maximum, maximum, mean */
};

static void measure_regions(struct object_regions *self, struct region_measures *inside, const struct planes *planes)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++) {
        if (!self->regions[i])
            continue;
        size_t r = (size_t)self->regions[i] - 1;
        self->area[r]++;
        self->background[r] += planes->background[i];
        self->peak[r] = fmaxf(self->peak[r], planes->core[i]);
        inside[r].core += planes->core[i];
        inside[r].map = fmaxf(inside[r].map, planes->map[i]);
        inside[r].distance = fmaxf(inside[r].distance, planes->distance[i]);
    }
    for (int32_t r = 0; r < self->n; r++) {
        self->background[r] /= self->area[r];
        inside[r].core /= self->area[r];
    }
}

static float log_of(float x)
{
    return (float)portable_log((double)x);
}

/* Computes the features of the border with contacts[n]. `typical` is the median area of regions. */
static void fill_border(float *f, const struct object_regions *self, const struct region_measures *inside,
                        const struct planes *planes, const struct contact *contacts, size_t n, float typical)
{
    float core = 0, rim = 0, background = 0, map = 0, most_core = 0, most_background = 0, most_map = 0, neck = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        int32_t at = i % 2 ? contacts[i / 2].q : contacts[i / 2].p;
        core += planes->core[at];
        rim += planes->rim[at];
        background += planes->background[at];
        map += planes->map[at];
        most_core = fmaxf(most_core, planes->core[at]);
        most_background = fmaxf(most_background, planes->background[at]);
        most_map = fmaxf(most_map, planes->map[at]);
        neck = fmaxf(neck, planes->distance[at]);
    }
    const struct region_measures *a = inside + contacts->a, *b = inside + contacts->b;
    float area_a = self->area[contacts->a], area_b = self->area[contacts->b], pixels = 2 * (float)n;
    float small = fminf(area_a, area_b), large = fmaxf(area_a, area_b);
    float lower = fminf(a->map, b->map), higher = fmaxf(a->map, b->map), thin = fminf(a->distance, b->distance);
    const float values[BORDER_MEASURES] = {
        (float)n / sqrtf(small),
        (float)n / sqrtf(small + large),
        log_of(small) / 4,
        log_of(large) / 4,
        log_of(small / large) / 2,
        log_of((small + large) / typical) / 2,
        2 * core / pixels,
        2 * most_core,
        2 * rim / pixels,
        4 * background / pixels,
        2 * most_background,
        4 * (lower - most_map),
        2 * lower,
        4 * (higher - map / pixels),
        neck / thin,
        neck / 8,
        thin / 8,
        2 * fminf(a->core, b->core),
        4 * fmaxf(self->background[contacts->a], self->background[contacts->b]),
        4 * (lower - most_map) / (lower + .05F),
    };
    memcpy(f, values, sizeof values);
    f += BORDER_MEASURES;
    for (int i = 0; i < BORDER_MEASURES; i++)
        for (int j = 0; j <= i; j++)
            *f++ = values[i] * values[j] / 2;
}

/* Builds the graph of regions that touch, and the features of its edges. */
static enum clv_status connect(struct object_regions *self, const struct region_measures *inside,
                               const struct planes *planes, struct contact *contacts, struct clv_error *err)
{
    size_t n = 0, n_edges = 0;
    int32_t width = self->width, n_pixels = width * self->height;
    for (int32_t at = 0; at < n_pixels; at++)
        for (int down = 0; down < 2; down++) {
            int32_t next = down ? at + width : at + 1, a = self->regions[at];
            if (down ? next >= n_pixels : next % width == 0)
                continue;
            int32_t b = self->regions[next];
            if (a && b && a != b)
                contacts[n++] = (struct contact){(a < b ? a : b) - 1, (a < b ? b : a) - 1, at, next};
        }
    qsort(contacts, n, sizeof *contacts, compare_contacts);
    for (size_t i = 0; i < n; i++)
        n_edges += i == 0 || contacts[i].a != contacts[i - 1].a || contacts[i].b != contacts[i - 1].b;
    OWNED_ARRAY int32_t(*edges)[2] = array_alloc(n_edges, sizeof *edges);
    OWNED_ARRAY float *contact = array_alloc(n_edges, sizeof *contact);
    OWNED_ARRAY float *sorted = array_copy(self->area, (size_t)self->n, 4);
    self->features = array_alloc(n_edges, BORDER_FEATURES * sizeof *self->features);
    NEED(edges && contact && sorted && self->features);
    if (self->n)
        qsort(sorted, (size_t)self->n, sizeof *sorted, compare_floats);
    for (size_t i = 0, e = 0, end; i < n; i = end, e++) {
        for (end = i + 1; end < n && contacts[end].a == contacts[i].a && contacts[end].b == contacts[i].b;)
            end++;
        edges[e][0] = contacts[i].a;
        edges[e][1] = contacts[i].b;
        contact[e] = (float)(end - i);
        fill_border(self->features + e * BORDER_FEATURES, self, inside, planes, contacts + i, end - i,
                    sorted[self->n / 2]);
    }
    struct patch patch = {.width = width, .height = self->height};
    struct clv_problem problem = {.n_nodes = self->n, .n_edges = (int32_t)n_edges, .edges = (const int32_t(*)[2])edges};
    region_graph_init(&self->graph, 0);
    if (self->n > 0)
        MUST(region_graph_append(&self->graph, &patch, &problem, contact, err));
    return CLV_OK;
}

/* Sets is_inside in background that is enclosed by objects. stack[pixels] is scratch. */
static void fill_holes(uint8_t *is_inside, int32_t *stack, int32_t width, int32_t height)
{
    enum { OUTSIDE = 2 };
    int32_t n = 0, n_pixels = width * height;
    for (int32_t at = 0; at < n_pixels; at++) {
        int32_t x = at % width, y = at / width;
        if (!is_inside[at] && (x == 0 || y == 0 || x == width - 1 || y == height - 1)) {
            is_inside[at] = OUTSIDE;
            stack[n++] = at;
        }
    }
    while (n) {
        int32_t at = stack[--n], x = at % width, y = at / width;
        int32_t next[4] = {x > 0 ? at - 1 : at, x + 1 < width ? at + 1 : at, y > 0 ? at - width : at,
                           y + 1 < height ? at + width : at};
        for (int k = 0; k < 4; k++)
            if (!is_inside[next[k]]) {
                is_inside[next[k]] = OUTSIDE;
                stack[n++] = next[k];
            }
    }
    for (int32_t at = 0; at < n_pixels; at++)
        is_inside[at] = is_inside[at] != OUTSIDE;
}

/* Fills planes->map, which is flooded: the core's probability and a small weight of the distance to the background,
 * both smoothed. */
static enum clv_status fill_map(struct object_regions *self, struct planes *planes, uint8_t *is_inside,
                                struct clv_error *err)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    for (size_t i = 0; i < n; i++)
        is_inside[i] = planes->background[i] < MAX_BACKGROUND;
    fill_holes(is_inside, self->regions, self->width, self->height);
    for (size_t i = 0; i < n; i++)
        self->regions[i] = is_inside[i];
    filter_distance(planes->distance, self->regions, self->width, self->height, MAX_DISTANCE);
    for (size_t i = 0; i < n; i++)
        planes->distance[i] = is_inside[i] ? planes->distance[i] : 0;
    MUST(filter_gauss(planes->map, planes->distance, self->width, self->height, 1, err));
    for (size_t i = 0; i < n; i++)
        planes->map[i] = DISTANCE_WEIGHT * fminf(planes->map[i], MAX_DISTANCE / 2);
    OWNED_ARRAY float *smooth = array_alloc(n, sizeof *smooth);
    NEED(smooth);
    MUST(filter_gauss(smooth, planes->core, self->width, self->height, 1, err));
    for (size_t i = 0; i < n; i++)
        planes->map[i] += smooth[i];
    return CLV_OK;
}

static void planes_release(struct planes *self)
{
    array_free(self->map);
}

enum clv_status object_regions_init(struct object_regions *self, const float *probability, int32_t width,
                                    int32_t height, struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    OWNED(object_regions_release) struct object_regions result = {
        width, height, 0, array_alloc(n, sizeof *result.regions), {0}, NULL, NULL, NULL, NULL};
    OWNED(planes_release) struct planes planes = {probability + OBJECT_BACKGROUND * n, probability + OBJECT_RIM * n,
                                                  probability + OBJECT_CORE * n, array_alloc(n, 2 * sizeof *planes.map),
                                                  NULL};
    OWNED_ARRAY uint8_t *is_inside = array_alloc(n, sizeof *is_inside);
    OWNED_ARRAY struct contact *contacts = array_alloc(n, 2 * sizeof *contacts);
    OWNED_ARRAY struct region_measures *inside = NULL;
    NEED(result.regions && planes.map && is_inside && contacts);
    planes.distance = planes.map + n;
    MUST(fill_map(&result, &planes, is_inside, err));
    MUST(basins_find(result.regions, &result.n, &(struct basin_map){planes.map, is_inside, width, height}, RISE, err));
    size_t n_regions = (size_t)result.n;
    inside = array_zalloc(n_regions, sizeof *inside);
    result.area = array_zalloc(n_regions, 3 * sizeof *result.area);
    result.background = result.area ? result.area + n_regions : NULL;
    result.peak = result.area ? result.background + n_regions : NULL;
    NEED(inside && result.area);
    measure_regions(&result, inside, &planes);
    MUST(connect(&result, inside, &planes, contacts, err));
    *self = TAKE(result);
    return CLV_OK;
}
