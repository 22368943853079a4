/* Makes one example of successive slices. Edges join regions that overlap in neighbouring slices after motion, and
 * every node also gets the mean features of the regions that overlap it. Start at stack_add and stack_take. */
#include "feature/example/example.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

void slice_release(struct slice *slice)
{
    clv_example_release(&slice->example);
    motion_pyramid_release(&slice->pixels);
    array_free(slice->motion);
    slice->motion = NULL;
}

enum clv_status slice_set_pixels(struct slice *slice, const struct clv_image *image, const struct clv_recipe *recipe,
                                 struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image working = {0};
    MUST(working_image_of(&working, image, recipe, err));
    return motion_pyramid_init(&slice->pixels, &working, err);
}

void stack_init(struct stack *self, const struct clv_recipe *recipe, int32_t n_labels)
{
    *self = (struct stack){0};
    layout_init(&self->at, recipe);
    region_graph_init(&self->graph, n_labels);
}

void stack_release(struct stack *self)
{
    region_graph_release(&self->graph);
}

/* Computes |x_a - x_b|^2 over the columns below `split`, and over the others. */
static void row_distances(double distance[2], const struct region_graph *graph, int32_t a, int32_t b, int32_t split)
{
    int64_t i = graph->row[a], j = graph->row[b];
    distance[0] = distance[1] = 0;
    while (i < graph->row[a + 1] || j < graph->row[b + 1]) {
        int32_t p = i < graph->row[a + 1] ? graph->index[i] : INT32_MAX;
        int32_t q = j < graph->row[b + 1] ? graph->index[j] : INT32_MAX, column = p < q ? p : q;
        double x = p == column ? (double)graph->value[i++] : 0, y = q == column ? (double)graph->value[j++] : 0;
        distance[column >= split] += (x - y) * (x - y);
    }
}

static float similarity(double distance, double mean)
{
    return mean > 0 ? portable_expf((float)(-distance / (2 * mean))) : 1;
}

/* Fills the features of the edges from index `first`, which are between the last two slices. Differences are divided by
 * their mean over these edges. */
static void fill_next(struct stack *self, int32_t first, const struct clv_example *slice)
{
    struct region_graph *graph = &self->graph;
    const struct clv_superpixels *map = &slice->superpixels;
    int32_t n = graph->n_edges - first;
    int32_t split = self->at.start[BLOCK_words] >= 0 ? words_size(self->at.recipe) : 0;
    double area = (double)map->width * map->height / map->n, mean[2] = {0, 0}, distance[2];
    double shrink = (double)map->width * map->height / ((double)slice->width * slice->height);
    for (int32_t e = first; e < first + n; e++) {
        row_distances(distance, graph, graph->edges[e][0], graph->edges[e][1], split);
        mean[0] += distance[0] / n;
        mean[1] += distance[1] / n;
    }
    for (int32_t e = first; e < first + n; e++) {
        int32_t a = graph->edges[e][0], b = graph->edges[e][1];
        const float *p = graph->centroid + 2 * (size_t)a, *q = graph->centroid + 2 * (size_t)b;
        float x = p[0] - q[0], y = p[1] - q[1], overlap = (float)((double)graph->contact[e] / area);
        double smaller = shrink * (double)fminf(graph->area[a], graph->area[b]);
        float *f = graph->edge_features + (size_t)e * (size_t)graph->n_edge_features;
        row_distances(distance, graph, a, b, split);
        f[NEXT_CONSTANT] = 1;
        f[NEXT_OVERLAP] = overlap;
        f[NEXT_SHARE] = (float)fmin((double)graph->contact[e] / smaller, 1);
        f[NEXT_NEAR] = portable_expf(-(x * x + y * y) * (float)map->n / 2);
        f[NEXT_TEXTURE] = overlap * similarity(distance[0], mean[0]);
        f[NEXT_OTHER] = overlap * similarity(distance[1], mean[1]);
    }
}

/* Estimates the motion of each region of the previous slice: the mean optical flow of its pixels. */
static enum clv_status find_motion(struct slice *slice, const struct slice *before, struct clv_error *err)
{
    const struct clv_superpixels *map = &before->example.superpixels;
    size_t n = (size_t)map->width * (size_t)map->height;
    OWNED_ARRAY float *flow = array_alloc(n, 2 * sizeof *flow);
    OWNED_ARRAY double *sum = array_zalloc((size_t)map->n, 3 * sizeof *sum);
    OWNED_ARRAY int32_t(*motion)[2] = array_alloc((size_t)map->n, sizeof *motion);
    NEED(flow && sum && motion);
    MUST(motion_estimate(flow, &before->pixels, &slice->pixels, err));
    for (size_t i = 0; i < n; i++) {
        double *of = sum + 3 * (size_t)map->labels[i];
        of[0] += (double)flow[2 * i];
        of[1] += (double)flow[2 * i + 1];
        of[2]++;
    }
    const int32_t sides[2] = {map->width, map->height};
    for (int32_t r = 0; r < map->n; r++)
        for (int k = 0; k < 2; k++)
            motion[r][k] = int32_within(floor(sum[3 * r + k] / sum[3 * r + 2] + 0.5), -sides[k], sides[k]);
    slice->motion = TAKE(motion);
    return CLV_OK;
}

static enum clv_status join(struct stack *self, struct slice *slice, const struct slice *before, struct clv_error *err)
{
    struct region_graph *graph = &self->graph;
    int32_t n_edges = graph->n_edges, last = graph->n_patches - 1;
    struct region_map a = region_map_of(graph, last - 1, before->example.superpixels.labels);
    struct region_map b = region_map_of(graph, last, slice->example.superpixels.labels);
    if (!slice->motion)
        MUST(find_motion(slice, before, err));
    MUST(region_graph_join(graph, &a, &b, REGION_NEXT, (const int32_t(*)[2])slice->motion, err));
    fill_next(self, n_edges, &slice->example);
    return CLV_OK;
}

enum clv_status stack_add(struct stack *self, struct slice *slice, const struct slice *before, struct clv_error *err)
{
    struct region_graph *graph = &self->graph;
    const struct clv_example *example = &slice->example;
    const struct clv_superpixels *map = &example->superpixels;
    const struct patch patch = {.z = graph->n_patches, .width = map->width, .height = map->height};
    struct clv_problem problem = example->problem;
    FAIL_IF(before && (before->example.width != example->width || before->example.height != example->height),
            CLV_ERR_DATA, "%dx%d pixels, the slice before it has %dx%d", example->width, example->height,
            before->example.width, before->example.height);
    OWNED_ARRAY float *none = NULL;
    if (graph->n_labels && !example->counts) {
        none = array_zalloc((size_t)problem.n_nodes, (size_t)graph->n_labels * sizeof *none);
        NEED(none);
    }
    problem.label = NULL;
    problem.theta = !graph->n_labels ? NULL : none ? none : example->counts;
    MUST(region_graph_append(graph, &patch, &problem, NULL, err));
    if (before)
        MUST(join(self, slice, before, err));
    return CLV_OK;
}

/* New rows of all nodes, with the mean features of overlapping regions in neighbouring slices, weighted by overlap. */
struct means {
    int64_t *row;
    int32_t *index;
    float *value;
    size_t capacity;
    int64_t *first; /* [n_nodes + 1] first overlap of each node */
    int32_t *other; /* [2 n_edges] the overlapping regions */
    float *contact; /* [2 n_edges] pixels of overlap */
    float *sum;     /* [n_own] */
};

static void means_release(struct means *self)
{
    arrays_free(self->row, self->index, self->value, self->first, self->other, self->contact, self->sum);
    *self = (struct means){0};
}

/* Lists the overlaps of each node from the edges between slices. */
static void list_overlaps(struct means *self, const struct region_graph *graph)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t e = 0; e < graph->n_edges; e++)
            for (int end = 0; end < 2 && graph->kind[e] == REGION_NEXT; end++) {
                int64_t *at = &self->first[graph->edges[e][end] + !pass];
                if (pass) {
                    self->other[*at] = graph->edges[e][1 - end];
                    self->contact[*at] = graph->contact[e];
                }
                ++*at;
            }
        for (int32_t i = 0; i < graph->n_nodes && !pass; i++)
            self->first[i + 1] += self->first[i];
    }
    for (int32_t i = graph->n_nodes; i > 0; i--) /* each value has moved to the next index */
        self->first[i] = self->first[i - 1];
    self->first[0] = 0;
}

/* Appends the means to the entries of region i, whose indices are below n_own. */
static enum clv_status add_means(struct means *self, const struct region_graph *graph, int32_t i, int32_t n_own,
                                 struct clv_error *err)
{
    int64_t begin = graph->row[i], n = graph->row[i + 1] - begin, at = self->row[i];
    double all = 0;
    const struct array_part parts[] = {{&self->index, sizeof *self->index}, {&self->value, sizeof *self->value}};
    if (array_reserve_all(parts, 2, &self->capacity, (size_t)(at + n) + (size_t)n_own))
        return fail_memory(err);
    memcpy(self->index + at, graph->index + begin, (size_t)n * sizeof *self->index);
    memcpy(self->value + at, graph->value + begin, (size_t)n * sizeof *self->value);
    at += n;
    for (int64_t k = self->first[i]; k < self->first[i + 1]; k++) {
        all += (double)self->contact[k];
        for (int64_t e = graph->row[self->other[k]]; e < graph->row[self->other[k] + 1]; e++)
            self->sum[graph->index[e]] += self->contact[k] * graph->value[e];
    }
    for (int32_t c = 0; c < n_own && all > 0; c++)
        if (self->sum[c] != 0) {
            self->index[at] = n_own + c;
            self->value[at++] = self->sum[c] / (float)all;
            self->sum[c] = 0;
        }
    self->row[i + 1] = at;
    return CLV_OK;
}

static enum clv_status append_overlap_means(struct stack *self, struct clv_error *err)
{
    struct region_graph *graph = &self->graph;
    size_t n = (size_t)graph->n_nodes, m = (size_t)graph->n_edges;
    OWNED(means_release) struct means result = {.row = array_zalloc(n + 1, sizeof *result.row),
                                                .first = array_zalloc(n + 2, sizeof *result.first),
                                                .other = array_alloc(m, 2 * sizeof *result.other),
                                                .contact = array_alloc(m, 2 * sizeof *result.contact),
                                                .sum = array_zalloc((size_t)self->at.n_own, sizeof *result.sum)};
    NEED(result.row && result.first && result.other && result.contact && result.sum);
    list_overlaps(&result, graph);
    for (int32_t i = 0; i < graph->n_nodes; i++)
        MUST(add_means(&result, graph, i, self->at.n_own, err));
    arrays_free(graph->row, graph->index, graph->value);
    graph->row = TAKE(result.row);
    graph->index = TAKE(result.index);
    graph->value = TAKE(result.value);
    return CLV_OK;
}

enum clv_status stack_take(struct clv_example *window, struct stack *self, struct clv_error *err)
{
    struct region_graph *graph = &self->graph;
    MUST(append_overlap_means(self, err));
    size_t n = (size_t)graph->n_nodes, n_labels = (size_t)graph->n_labels;
    OWNED(clv_example_release) struct clv_example result = {
        .theta = n_labels ? array_alloc(n, n_labels * sizeof *result.theta) : NULL,
        .label = n_labels ? array_alloc(n, sizeof *result.label) : NULL};
    NEED(!n_labels || (result.theta && result.label));
    if (n_labels) {
        balanced_theta(result.theta, graph->theta, graph->n_nodes, graph->n_labels);
        majority_labels(result.label, result.theta, graph->n_nodes, graph->n_labels);
    }
    result.row = TAKE(graph->row);
    result.index = TAKE(graph->index);
    result.value = TAKE(graph->value);
    result.edges = TAKE(graph->edges);
    result.edge_features = TAKE(graph->edge_features);
    result.area = TAKE(graph->area);
    result.centroid = TAKE(graph->centroid);
    result.counts = TAKE(graph->theta);
    example_problem(&result, graph->n_nodes, graph->n_edges, graph->n_features, graph->n_edge_features);
    region_graph_release(graph);
    region_graph_init(graph, (int32_t)n_labels);
    *window = TAKE(result);
    return CLV_OK;
}
