/* Finds objects that touch each other with a learned model: networks compute the probabilities of background, rim and
 * core, a watershed splits objects into regions, and a partition by learned scores of borders merges the regions. Start
 * at object_model_find, at the end. */
#include "object/object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "pixel_net/pixel_net.h"
#include "superpixel/region_graph.h"

#define RIM        .45F /* width of the rim, as a share of the distance of the innermost pixel */
#define MAX_RIM    6.F
#define MAX_INSIDE 64.F

/* An object has at most MAX_BACKGROUND mean probability of the background, at least MIN_PEAK maximum probability of the
 * core, and at least the share MIN_AREA of the median area. Chosen by cross-validation on training images of nuclei. */
#define MAX_BACKGROUND .25F
#define MIN_PEAK       .3F
#define MIN_AREA       .1F

const int32_t object_net_copies[2] = {1, 3};

void object_model_release(struct object_model *self)
{
    pixel_net_release(&self->nets[0]);
    pixel_net_release(&self->nets[1]);
    array_free(self->weights);
    *self = (struct object_model){0};
}

void object_model_size(int32_t *working_width, int32_t *working_height, const struct object_model *self, int32_t width,
                       int32_t height)
{
    *working_width = int32_within(width / (double)self->shrink, 1, width);
    *working_height = int32_within(height / (double)self->shrink, 1, height);
}

enum clv_status object_classes(uint8_t *classes, float *distance, const int32_t *objects, int32_t width, int32_t height,
                               struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    int32_t n_objects = 0;
    filter_distance(distance, objects, width, height, MAX_INSIDE);
    for (size_t i = 0; i < n; i++)
        n_objects = objects[i] > n_objects ? objects[i] : n_objects;
    OWNED_ARRAY float *innermost = array_zalloc((size_t)n_objects + 1, sizeof *innermost);
    NEED(innermost);
    for (size_t i = 0; i < n; i++)
        innermost[objects[i]] = fmaxf(innermost[objects[i]], distance[i]);
    for (size_t i = 0; i < n; i++) {
        float rim = fminf(RIM * innermost[objects[i]], MAX_RIM);
        classes[i] = !objects[i] ? OBJECT_BACKGROUND : distance[i] > rim ? OBJECT_CORE : OBJECT_RIM;
    }
    return CLV_OK;
}

enum clv_status object_model_classify(struct pixel_bank *bank, float *probability, const struct object_model *self,
                                      const struct clv_image *working, const struct pixel_light *light,
                                      struct clv_error *err)
{
    size_t n = (size_t)working->width * (size_t)working->height;
    enum { AT_ONCE = PIXEL_NET_AT_ONCE };
    float x[PIXEL_CONTEXT_SIZE * AT_ONCE] = {0}, some[OBJECT_CLASSES * AT_ONCE];
    MUST(pixel_bank_init(bank, working, light, err));
    for (int k = 0; k < 2 && self->nets[k].weights; k++) {
        for (size_t i = 0; i < n; i += AT_ONCE) {
            size_t count = n - i < AT_ONCE ? n - i : AT_ONCE;
            pixel_bank_at(x, AT_ONCE, bank, i, count);
            pixel_net_predict(some, &self->nets[k], x);
            for (size_t c = 0; c < OBJECT_CLASSES; c++)
                memcpy(probability + c * n + i, some + c * AT_ONCE, count * sizeof *some);
        }
        if (k == 0)
            MUST(pixel_bank_add_context(bank, probability, err));
    }
    return CLV_OK;
}

enum clv_status object_model_regions(struct object_regions *regions, const struct object_model *self,
                                     const struct clv_image *working, const struct pixel_light *light,
                                     struct clv_error *err)
{
    size_t n = (size_t)working->width * (size_t)working->height;
    OWNED_ARRAY float *probability = array_alloc(n, OBJECT_CLASSES * sizeof *probability);
    NEED(probability);
    {
        OWNED(pixel_bank_release) struct pixel_bank bank = {0}; /* large: released before the regions are computed */
        MUST(object_model_classify(&bank, probability, self, working, light, err));
    }
    return object_regions_init(regions, probability, working->width, working->height, err);
}

/* Partitions the regions by the log odds of their borders. Without weights each region is a part. */
static enum clv_status divide(int32_t *part, int32_t *n_parts, const struct object_model *self,
                              const struct object_regions *regions, struct clv_error *err)
{
    const struct region_graph *graph = &regions->graph;
    for (int32_t r = 0; r < regions->n; r++)
        part[r] = r;
    *n_parts = regions->n;
    if (!graph->n_edges || !self->weights)
        return CLV_OK;
    OWNED_ARRAY double *same = array_zalloc((size_t)graph->n_edges, sizeof *same);
    OWNED(edge_problem_release) struct edge_problem edges = {0};
    NEED(same);
    MUST(edge_problem_init(&edges, graph, regions->features, BORDER_FEATURES, NULL, err));
    for (int32_t e = 0; e < graph->n_edges; e++)
        for (int64_t k = edges.row[e]; k < edges.row[e + 1]; k++)
            same[e] -= self->weights[edges.index[k]] * (double)edges.value[k];
    struct signed_graph by_edges = {graph->n_nodes, graph->n_edges, (const int32_t(*)[2])graph->edges, same};
    MUST(partition_greedy(part, n_parts, &by_edges, err));
    return partition_improve(part, n_parts, &by_edges, err);
}

/* Measures of a part. */
struct object {
    float area, background, peak;
    int32_t number; /* 0: not numbered yet, -1: not an object */
};

static int compare_areas(const void *left, const void *right)
{
    float a = ((const struct object *)left)->area, b = ((const struct object *)right)->area;
    return (a > b) - (a < b);
}

/* Measures the parts, and sets the number of parts that are not objects to -1. sorted[n_parts] is scratch. */
static void classify_parts(struct object *parts, struct object *sorted, const int32_t *part, int32_t n_parts,
                           const struct object_regions *regions)
{
    for (int32_t r = 0; r < regions->n; r++) {
        struct object *one = parts + part[r];
        one->area += regions->area[r];
        one->background += regions->background[r] * regions->area[r];
        one->peak = fmaxf(one->peak, regions->peak[r]);
    }
    memcpy(sorted, parts, (size_t)n_parts * sizeof *sorted);
    qsort(sorted, (size_t)n_parts, sizeof *sorted, compare_areas);
    for (int32_t k = 0; k < n_parts; k++)
        if (parts[k].background > MAX_BACKGROUND * parts[k].area || parts[k].peak < MIN_PEAK ||
            parts[k].area < MIN_AREA * sorted[n_parts / 2].area)
            parts[k].number = -1;
}

enum clv_status object_model_divide(struct clv_object_map *map, const struct object_model *self,
                                    const struct object_regions *regions, struct clv_error *err)
{
    const size_t n = (size_t)regions->width * (size_t)regions->height;
    OWNED(clv_object_map_release)
    struct clv_object_map result = {.width = regions->width, .height = regions->height};
    int32_t n_parts = 0;
    OWNED_ARRAY int32_t *part = array_alloc((size_t)regions->n, sizeof *part);
    OWNED_ARRAY struct object *parts = array_zalloc((size_t)regions->n, 2 * sizeof *parts);
    result.objects = array_alloc(n, sizeof *result.objects);
    result.probability = array_alloc((size_t)regions->n, sizeof *result.probability);
    NEED(part && parts && result.objects && result.probability);
    MUST(divide(part, &n_parts, self, regions, err));
    classify_parts(parts, parts + regions->n, part, n_parts, regions);
    for (size_t p = 0; p < n; p++) {
        int32_t region = regions->regions[p];
        struct object *one = region ? parts + part[region - 1] : NULL;
        if (one && !one->number) {
            result.probability[result.n_objects] = (double)(1 - one->background / one->area);
            one->number = ++result.n_objects;
        }
        result.objects[p] = one && one->number > 0 ? one->number : 0;
    }
    *map = TAKE(result);
    return CLV_OK;
}

enum clv_status object_model_find(struct clv_object_map *map, const struct object_model *self,
                                  const struct clv_image *working, const struct pixel_light *light,
                                  struct clv_error *err)
{
    OWNED(object_regions_release) struct object_regions regions = {0};
    MUST(object_model_regions(&regions, self, working, light, err));
    return object_model_divide(map, self, &regions, err);
}
