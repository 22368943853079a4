/* A label map cut into tiles, as a region graph. */
#ifndef TESTS_REGION_CUT_MAP_H
#define TESTS_REGION_CUT_MAP_H

#include <stdlib.h>

#include "superpixel/partition.h"
#include "superpixel/region_graph.h"

/* Labels of each tile alone, numbered by first pixel: tile[t] is [height][width] of patch t; of[node] is the label that
 * a node of the graph is a piece of; whole[height][width] the node of each pixel. */
struct cut_map {
    int32_t width, height, n_columns, n_rows;
    struct patch *patches;
    int32_t **tile, *of, *whole;
    struct region_graph graph;
};

static inline void cut_map_release(struct cut_map *map)
{
    for (int32_t t = 0; t < map->n_columns * map->n_rows; t++)
        free(map->tile[t]);
    free(map->tile);
    free(map->patches);
    free(map->of);
    free(map->whole);
    region_graph_release(&map->graph);
}

/* The regions of tile t, from node `first` on; returns how many. */
static inline int32_t cut_tile(struct cut_map *map, int32_t t, const int32_t *labels, int32_t first)
{
    const struct patch *at = &map->patches[t];
    int32_t n = 0, *own = malloc((size_t)at->width * (size_t)at->height * sizeof *own);
    for (int32_t y = 0; y < at->height; y++)
        for (int32_t x = 0; x < at->width; x++) {
            size_t pixel = (size_t)(y + at->y) * (size_t)map->width + (size_t)(x + at->x);
            int32_t r = 0;
            while (r < n && map->of[first + r] != labels[pixel])
                r++;
            if (r == n)
                map->of[first + n++] = labels[pixel];
            own[y * at->width + x] = r;
            map->whole[pixel] = first + r;
        }
    map->tile[t] = own;
    return n;
}

/* labels[height][width] in tiles of side x side pixels, the last ones what is left. Nodes have a feature, which is the
 * label, and edges two: 1 and the contact. */
static inline struct cut_map cut_map_of(const int32_t *labels, int32_t width, int32_t height, int32_t side)
{
    struct cut_map map = {
        .width = width, .height = height, .n_columns = (width + side - 1) / side, .n_rows = (height + side - 1) / side};
    int32_t n_tiles = map.n_columns * map.n_rows;
    size_t n_pixels = (size_t)width * (size_t)height;
    map.patches = calloc((size_t)n_tiles, sizeof *map.patches);
    map.tile = calloc((size_t)n_tiles, sizeof *map.tile);
    map.of = calloc(n_pixels, sizeof *map.of);
    map.whole = calloc(n_pixels, sizeof *map.whole);
    region_graph_init(&map.graph, 0);
    for (int32_t t = 0; t < n_tiles; t++) {
        int32_t x = t % map.n_columns * side, y = t / map.n_columns * side;
        map.patches[t] = (struct patch){.x = x,
                                        .y = y,
                                        .width = width - x < side ? width - x : side,
                                        .height = height - y < side ? height - y : side};
        int32_t first = map.graph.n_nodes, n = cut_tile(&map, t, labels, first);
        struct clv_superpixels own = {map.patches[t].width, map.patches[t].height, n, map.tile[t]};
        OWNED(clv_adjacency_release) struct clv_adjacency adjacency = {0};
        must(clv_adjacency_build(&adjacency, &own, err));
        OWNED_ARRAY int64_t *row = malloc(((size_t)n + 1) * sizeof *row);
        OWNED_ARRAY int32_t *zero = calloc((size_t)n, sizeof *zero);
        OWNED_ARRAY float *value = malloc((size_t)n * sizeof *value), *area = calloc((size_t)n, sizeof *area);
        OWNED_ARRAY float *features = malloc(((size_t)adjacency.n_edges + 1) * 2 * sizeof *features);
        for (int32_t i = 0; i < n; i++) {
            row[i] = i;
            value[i] = (float)map.of[first + i];
        }
        row[n] = n;
        for (int32_t p = 0; p < own.width * own.height; p++)
            area[own.labels[p]]++;
        for (int32_t e = 0; e < adjacency.n_edges; e++) {
            features[2 * e] = 1;
            features[2 * e + 1] = adjacency.boundary_length[e];
        }
        const struct clv_problem problem = {.n_nodes = n,
                                            .n_edges = adjacency.n_edges,
                                            .n_features = 1,
                                            .n_edge_features = 2,
                                            .row = row,
                                            .index = zero,
                                            .value = value,
                                            .edges = (const int32_t(*)[2])adjacency.edges,
                                            .edge_features = features,
                                            .area = area};
        must(region_graph_append(&map.graph, &map.patches[t], &problem, adjacency.boundary_length, err));
        const int32_t others[2] = {t - map.n_columns, t % map.n_columns ? t - 1 : -1};
        for (int k = 0; k < 2; k++) {
            if (others[k] < 0)
                continue;
            int32_t before = map.graph.n_edges;
            struct region_map a = region_map_of(&map.graph, others[k], map.tile[others[k]]);
            struct region_map b = region_map_of(&map.graph, t, map.tile[t]);
            must(region_graph_join(&map.graph, &a, &b, REGION_SEAM, NULL, err));
            for (int32_t e = before; e < map.graph.n_edges; e++) {
                map.graph.edge_features[2 * e] = 1;
                map.graph.edge_features[2 * e + 1] = map.graph.contact[e];
            }
        }
    }
    return map;
}

#endif
