/* Builds one graph over the regions of many patches (tiles, slices or frames) and joins regions across seams or by
 * overlap. Start at region_graph_append and region_graph_join. */
#include "superpixel/region_graph.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/base.h"

void region_graph_init(struct region_graph *self, int32_t n_labels)
{
    *self = (struct region_graph){.n_labels = n_labels};
}

void region_graph_release(struct region_graph *self)
{
    void *const arrays[] = {self->patches, self->first_node, self->first_edge, self->edges, self->kind,
                            self->contact, self->row,        self->index,      self->value, self->edge_features,
                            self->area,    self->centroid,   self->label,      self->theta};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    *self = (struct region_graph){0};
}

/* Checks the sizes of a patch, and that its problem has the same arrays as the first one. */
static enum clv_status check_patch(const struct region_graph *self, const struct patch *patch,
                                   const struct clv_problem *regions, struct clv_error *err)
{
    const struct {
        const char *name;
        bool is_had, is_given;
    } parts[] = {
        {"features", self->row, regions->row},
        {"features of edges", self->edge_features, regions->row && self->n_edge_features},
        {"areas", self->area, regions->area},
        {"centroids", self->centroid, regions->centroid},
        {"labels", self->label, regions->label},
        {"loss weights", self->theta, regions->theta},
    };
    if (patch->width < 1 || patch->height < 1 || regions->n_nodes < 1 || regions->n_edges < 0)
        return fail(err, CLV_ERR_USAGE, "patch %d: %dx%d pixels, %d regions, %d edges", self->n_patches, patch->width,
                    patch->height, regions->n_nodes, regions->n_edges);
    if ((int64_t)self->n_nodes + regions->n_nodes >= INT32_MAX ||
        (int64_t)self->n_edges + regions->n_edges >= INT32_MAX)
        return fail(err, CLV_ERR_USAGE, "patch %d: more than 2^31 regions or edges", self->n_patches);
    for (size_t k = 0; self->n_patches && k < sizeof parts / sizeof *parts; k++)
        if (parts[k].is_had != parts[k].is_given)
            return fail(err, CLV_ERR_USAGE, "patch %d %s %s, unlike the first one", self->n_patches,
                        parts[k].is_given ? "has" : "has no", parts[k].name);
    if (regions->row && (regions->n_edge_features > self->n_edge_features ||
                         (self->n_patches && regions->n_features != self->n_features)))
        return fail(err, CLV_ERR_USAGE, "patch %d: %d features and %d of edges, must be %d and at most %d",
                    self->n_patches, regions->n_features, regions->n_edge_features, self->n_features,
                    self->n_edge_features);
    if (regions->theta && self->n_labels < 1)
        return fail(err, CLV_ERR_USAGE, "patch %d: loss weights of a graph of no labels", self->n_patches);
    return CLV_OK;
}

static int reserve_nodes(struct region_graph *self, size_t n, const struct clv_problem *like)
{
    struct array_part parts[5];
    size_t n_parts = 0;
    if (like->row)
        parts[n_parts++] = (struct array_part){&self->row, sizeof *self->row};
    if (like->area)
        parts[n_parts++] = (struct array_part){&self->area, sizeof *self->area};
    if (like->centroid)
        parts[n_parts++] = (struct array_part){&self->centroid, 2 * sizeof *self->centroid};
    if (like->label)
        parts[n_parts++] = (struct array_part){&self->label, sizeof *self->label};
    if (like->theta)
        parts[n_parts++] = (struct array_part){&self->theta, (size_t)self->n_labels * sizeof *self->theta};
    return n_parts ? array_reserve_all(parts, n_parts, &self->node_capacity, n) : 0;
}

static int reserve_edges(struct region_graph *self, size_t n, bool has_features)
{
    const struct array_part parts[] = {{&self->edges, sizeof *self->edges},
                                       {&self->kind, sizeof *self->kind},
                                       {&self->contact, sizeof *self->contact},
                                       {&self->edge_features, (size_t)self->n_edge_features * sizeof(float)}};
    return array_reserve_all(parts, has_features && self->n_edge_features ? 4 : 3, &self->edge_capacity, n ? n : 1);
}

static int reserve(struct region_graph *self, const struct clv_problem *regions, size_t n_entries)
{
    const struct array_part patches[] = {{&self->patches, sizeof *self->patches},
                                         {&self->first_node, sizeof *self->first_node},
                                         {&self->first_edge, sizeof *self->first_edge}};
    const struct array_part entries[] = {{&self->index, sizeof *self->index}, {&self->value, sizeof *self->value}};
    size_t held = self->row && self->n_nodes ? (size_t)self->row[self->n_nodes] : 0;
    return array_reserve_all(patches, 3, &self->patch_capacity, (size_t)self->n_patches + 2) ||
           reserve_nodes(self, (size_t)self->n_nodes + (size_t)regions->n_nodes + 1, regions) ||
           reserve_edges(self, (size_t)self->n_edges + (size_t)regions->n_edges, regions->row) ||
           (regions->row && array_reserve_all(entries, 2, &self->entry_capacity, held + n_entries + 1));
}

static void append_nodes(struct region_graph *self, const struct clv_problem *regions)
{
    size_t at = (size_t)self->n_nodes, n = (size_t)regions->n_nodes, k = (size_t)self->n_labels;
    if (regions->row) {
        int64_t first = regions->row[0], shift = (at ? self->row[at] : 0) - first;
        for (size_t i = 0; i <= n; i++)
            self->row[at + i] = regions->row[i] + shift;
        size_t n_entries = (size_t)(regions->row[n] - first);
        array_put(self->index + self->row[at], n_entries ? regions->index + first : NULL, n_entries,
                  sizeof *self->index);
        array_put(self->value + self->row[at], n_entries ? regions->value + first : NULL, n_entries,
                  sizeof *self->value);
    }
    if (regions->area)
        array_put(self->area + at, regions->area, n, sizeof *self->area);
    if (regions->centroid)
        array_put(self->centroid + 2 * at, regions->centroid, n, 2 * sizeof *self->centroid);
    if (regions->label)
        array_put(self->label + at, regions->label, n, sizeof *self->label);
    if (regions->theta)
        array_put(self->theta + k * at, regions->theta, n, k * sizeof *self->theta);
    self->n_nodes += regions->n_nodes;
}

/* Appends an edge with features of 0. */
static void append_edge(struct region_graph *self, int32_t a, int32_t b, enum region_edge kind, float contact)
{
    size_t e = (size_t)self->n_edges++, p = (size_t)self->n_edge_features;
    self->edges[e][0] = a;
    self->edges[e][1] = b;
    self->kind[e] = (uint8_t)kind;
    self->contact[e] = contact;
    for (size_t k = 0; k < p && self->edge_features; k++)
        self->edge_features[e * p + k] = 0;
}

/* Checks a patch and reserves memory for its nodes and edges. */
static enum clv_status check_and_reserve(struct region_graph *self, const struct patch *patch,
                                         const struct clv_problem *regions, struct clv_error *err)
{
    MUST(check_patch(self, patch, regions, err));
    size_t n_entries = regions->row ? (size_t)(regions->row[regions->n_nodes] - regions->row[0]) : 0;
    NEED(reserve(self, regions, n_entries) == 0);
    return CLV_OK;
}

enum clv_status region_graph_append(struct region_graph *self, const struct patch *patch,
                                    const struct clv_problem *regions, const float *contact, struct clv_error *err)
{
    int32_t n_edge_features = self->n_edge_features;
    if (self->n_patches == 0 && regions->row && regions->n_edge_features > n_edge_features)
        self->n_edge_features = regions->n_edge_features;
    enum clv_status status = check_and_reserve(self, patch, regions, err);
    if (status != CLV_OK) {
        self->n_edge_features = n_edge_features;
        return status;
    }
    int32_t shift = self->n_nodes, k = self->n_patches++;
    size_t p = (size_t)regions->n_edge_features, stride = (size_t)self->n_edge_features;
    self->n_features = regions->n_features;
    self->patches[k] = *patch;
    self->first_node[k] = shift;
    self->first_edge[k] = self->n_edges;
    append_nodes(self, regions);
    for (int32_t e = 0; e < regions->n_edges; e++) {
        append_edge(self, regions->edges[e][0] + shift, regions->edges[e][1] + shift, REGION_WITHIN,
                    contact ? contact[e] : 0);
        if (regions->row && p)
            array_put(self->edge_features + (size_t)(self->n_edges - 1) * stride,
                      regions->edge_features + (size_t)e * p, p, sizeof(float));
    }
    self->first_node[k + 1] = self->n_nodes;
    self->first_edge[k + 1] = self->n_edges;
    return CLV_OK;
}

struct region_map region_map_of(const struct region_graph *graph, int32_t patch, const int32_t *labels)
{
    const struct patch *at = &graph->patches[patch];
    return (struct region_map){patch, at->x, at->y, at->width, at->height, labels};
}

static enum clv_status check_join(const struct region_graph *self, const struct region_map *a,
                                  const struct region_map *b, enum region_edge kind, const int32_t (*motion)[2],
                                  struct clv_error *err)
{
    if (a->patch < 0 || a->patch >= b->patch || b->patch != self->n_patches - 1)
        return fail(err, CLV_ERR_USAGE, "patches %d and %d of %d: a join is of an earlier one and the last", a->patch,
                    b->patch, self->n_patches);
    if (kind != REGION_NEXT && (kind != REGION_SEAM || motion))
        return fail(err, CLV_ERR_USAGE, "patches are joined by seams, or by motion to the next");
    bool is_apart =
        a->x + a->width <= b->x || b->x + b->width <= a->x || a->y + a->height <= b->y || b->y + b->height <= a->y;
    if (kind == REGION_SEAM && !is_apart)
        return fail(err, CLV_ERR_USAGE, "patches %d and %d overlap, so that there is no seam", a->patch, b->patch);
    const struct region_map *maps[] = {a, b};
    for (int m = 0; m < 2; m++) {
        int32_t n = self->first_node[maps[m]->patch + 1] - self->first_node[maps[m]->patch];
        for (size_t i = 0; i < (size_t)maps[m]->width * (size_t)maps[m]->height; i++)
            if (maps[m]->labels[i] < 0 || maps[m]->labels[i] >= n)
                return fail(err, CLV_ERR_USAGE, "patch %d: its map has the region %d of %d", maps[m]->patch,
                            maps[m]->labels[i], n);
    }
    return CLV_OK;
}

/* Region a of one patch and region b of another, with `length` pairs of pixels that touch or overlap. */
struct region_pair {
    int32_t a, b;
    int64_t length;
};

struct pair_list {
    struct region_pair *list;
    size_t n, capacity;
};

static enum clv_status pair_list_add(struct pair_list *self, int32_t a, int32_t b, struct clv_error *err)
{
    if (self->n && self->list[self->n - 1].a == a && self->list[self->n - 1].b == b) {
        self->list[self->n - 1].length++;
        return CLV_OK;
    }
    NEED(array_reserve((void **)&self->list, &self->capacity, self->n + 1, sizeof *self->list) == 0);
    self->list[self->n++] = (struct region_pair){a, b, 1};
    return CLV_OK;
}

/* Adds the pairs of regions that overlap after each region of a is moved by motion[region], or by `move` if motion is
 * NULL. */
static enum clv_status add_moved_pairs(struct pair_list *self, const struct region_map *a, const struct region_map *b,
                                       const int32_t move[2], const int32_t (*motion)[2], struct clv_error *err)
{
    for (int32_t y = 0; y < a->height; y++)
        for (int32_t x = 0; x < a->width; x++) {
            int32_t region = a->labels[(size_t)y * (size_t)a->width + (size_t)x];
            const int32_t *by = motion ? motion[region] : move;
            int64_t u = (int64_t)a->x + x + by[0] - b->x, v = (int64_t)a->y + y + by[1] - b->y;
            if (u >= 0 && u < b->width && v >= 0 && v < b->height)
                MUST(pair_list_add(self, region, b->labels[v * b->width + u], err));
        }
    return CLV_OK;
}

static int by_ends(const void *one, const void *other)
{
    const struct region_pair *p = one, *q = other;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

/* Sorts the list and merges entries of the same pair of regions. */
static void pair_list_merge(struct pair_list *self)
{
    size_t n = 0;
    if (self->n)
        qsort(self->list, self->n, sizeof *self->list, by_ends);
    for (size_t i = 0; i < self->n; i++)
        if (n && by_ends(&self->list[n - 1], &self->list[i]) == 0)
            self->list[n - 1].length += self->list[i].length;
        else
            self->list[n++] = self->list[i];
    self->n = n;
}

static void pair_list_release(struct pair_list *self)
{
    array_free(self->list);
}

enum clv_status region_graph_join(struct region_graph *self, const struct region_map *a, const struct region_map *b,
                                  enum region_edge kind, const int32_t (*motion)[2], struct clv_error *err)
{
    static const int32_t beside[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    OWNED(pair_list_release) struct pair_list found = {0};
    MUST(check_join(self, a, b, kind, motion, err));
    for (int d = 0; d < 4 && kind == REGION_SEAM; d++)
        MUST(add_moved_pairs(&found, a, b, beside[d], NULL, err));
    if (kind == REGION_NEXT)
        MUST(add_moved_pairs(&found, a, b, (const int32_t[2]){0, 0}, motion, err));
    pair_list_merge(&found);
    FAIL_IF(found.n >= (size_t)(INT32_MAX - self->n_edges), CLV_ERR_USAGE, "patch %d: more than 2^31 edges", b->patch);
    NEED(reserve_edges(self, (size_t)self->n_edges + found.n, self->edge_features) == 0);
    for (size_t i = 0; i < found.n; i++)
        append_edge(self, self->first_node[a->patch] + found.list[i].a, self->first_node[b->patch] + found.list[i].b,
                    kind, (float)found.list[i].length);
    self->first_edge[self->n_patches] = self->n_edges;
    return CLV_OK;
}
