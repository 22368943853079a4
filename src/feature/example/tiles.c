/* Extracts an image at a fixed scale tile by tile. The features of a tile use a halo around it; its regions and the
 * edges across its borders are added to one graph. Start at tiles_extract. */
#include "feature/example/example.h"

#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

void tile_release(struct tile *tile)
{
    clv_superpixels_release(&tile->map);
    clv_adjacency_release(&tile->adjacency);
    arrays_free(tile->rows.row, tile->rows.index, tile->rows.value, tile->regions, tile->map_means);
    *tile = (struct tile){0};
}

static enum clv_status cut_out(struct clv_image *part, const struct clv_image *image, const struct patch *at,
                               struct clv_error *err)
{
    size_t row = (size_t)at->width * 3, stride = (size_t)image->width * 3;
    *part = (struct clv_image){at->width, at->height, 3, array_alloc((size_t)at->height, row)};
    NEED(part->pixels);
    for (int32_t k = 0; k < at->height; k++)
        memcpy(part->pixels + (size_t)k * row, image->pixels + (size_t)(at->y + k) * stride + (size_t)at->x * 3, row);
    return CLV_OK;
}

static enum clv_status find_regions(struct clv_superpixels *found, const struct clv_image *image,
                                    const struct clv_recipe *recipe, struct clv_error *err)
{
    struct clv_slic_options options = recipe->slic;
    options.n_superpixels = working_superpixels(recipe, (double)image->width * image->height);
    return clv_slic(found, image, &options, err);
}

/* Divides a part of the tile and its halo into regions, which are numbered after the existing ones. */
static enum clv_status divide_part(struct clv_superpixels *all, const struct clv_image *seen, const struct patch *part,
                                   const struct clv_recipe *recipe, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image pixels = {0};
    OWNED(clv_superpixels_release) struct clv_superpixels regions = {0};
    MUST(cut_out(&pixels, seen, part, err));
    MUST(find_regions(&regions, &pixels, recipe, err));
    for (int32_t y = 0; y < part->height; y++) {
        const int32_t *from = regions.labels + (size_t)y * (size_t)part->width;
        int32_t *to = all->labels + (size_t)(part->y + y) * (size_t)all->width + (size_t)part->x;
        for (int32_t x = 0; x < part->width; x++)
            to[x] = all->n + from[x];
    }
    all->n += regions.n;
    return CLV_OK;
}

/* Divides the core into regions, then each of the four sides of the halo. Dividing the core alone, and then core and
 * halo together, would take twice as long. */
static enum clv_status divide_tile(struct tile *tile, const struct clv_image *seen, const struct patch *core,
                                   const struct clv_recipe *recipe, struct clv_error *err)
{
    if (core->width == seen->width && core->height == seen->height) {
        MUST(find_regions(&tile->map, seen, recipe, err));
        tile->n = tile->map.n;
        return CLV_OK;
    }
    int32_t right = core->x + core->width, bottom = core->y + core->height;
    const struct patch sides[] = {{.width = seen->width, .height = core->y},
                                  {.y = core->y, .width = core->x, .height = core->height},
                                  {.x = right, .y = core->y, .width = seen->width - right, .height = core->height},
                                  {.y = bottom, .width = seen->width, .height = seen->height - bottom}};
    tile->map = (struct clv_superpixels){seen->width, seen->height, 0, NULL};
    tile->map.labels = array_alloc((size_t)seen->width, (size_t)seen->height * sizeof *tile->map.labels);
    NEED(tile->map.labels);
    MUST(divide_part(&tile->map, seen, core, recipe, err));
    tile->n = tile->map.n;
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
        MUST(sides[k].width && sides[k].height ? divide_part(&tile->map, seen, &sides[k], recipe, err) : CLV_OK);
    return CLV_OK;
}

/* Keeps only edges between the tile's own regions. */
static void keep_inner(struct clv_adjacency *adjacency, int32_t n)
{
    int32_t n_kept = 0;
    for (int32_t e = 0; e < adjacency->n_edges; e++)
        if (adjacency->edges[e][1] < n) { /* the higher node */
            memcpy(adjacency->edges[n_kept], adjacency->edges[e], sizeof *adjacency->edges);
            adjacency->boundary_length[n_kept++] = adjacency->boundary_length[e];
        }
    adjacency->n_nodes = n;
    adjacency->n_edges = n_kept;
}

enum clv_status tile_extract(struct tile *tile, const struct view_source *seen, const struct patch *core,
                             const struct layout *at, struct clv_error *err)
{
    OWNED(tile_release) struct tile result = {0};
    OWNED(views_release) struct views views = {0};
    MUST(divide_tile(&result, seen->working, core, at->recipe, err));
    MUST(clv_adjacency_build(&result.adjacency, &result.map, err));
    result.rows.superpixels = result.map; /* a view */
    MUST(views_init(&views, seen, &result.rows, &result.adjacency, at->recipe, err));
    MUST(rows_fill(&result.rows, result.n, &views, at, err));
    result.rows.superpixels = (struct clv_superpixels){0};
    result.regions = array_copy(views.image.regions, (size_t)result.n, sizeof *result.regions);
    NEED(result.regions);
    result.n_channels = views.pooled.n_channels;
    result.map_means = TAKE(views.pooled.mean);
    keep_inner(&result.adjacency, result.n);
    result.problem = (struct clv_problem){.n_nodes = result.n,
                                          .n_edges = result.adjacency.n_edges,
                                          .n_features = at->n_features,
                                          .row = result.rows.row,
                                          .index = result.rows.index,
                                          .value = result.rows.value,
                                          .edges = (const int32_t(*)[2])result.adjacency.edges};
    *tile = TAKE(result);
    return CLV_OK;
}

/* The tiles of an image that were added so far. */
struct mosaic {
    const struct clv_image *working;
    const struct map_reader *maps;
    const struct layout *at;
    struct region_graph graph;
    int32_t *labels; /* [height][width] nodes of the graph */
    struct region *regions;
    float *map_means; /* [n_nodes][n_channels] */
    int32_t n_channels;
    size_t region_capacity, mean_capacity;
};

static void mosaic_release(struct mosaic *self)
{
    region_graph_release(&self->graph);
    arrays_free(self->regions, self->map_means, self->labels);
}

/* Returns a strip of the label map, with regions numbered from 0 within their patch. The caller frees *labels, which is
 * NULL if memory is out. */
static struct region_map strip_of(int32_t **labels, const struct mosaic *self, int32_t patch, struct patch at)
{
    *labels = array_alloc((size_t)at.width, (size_t)at.height * sizeof **labels);
    for (int32_t k = 0; *labels && k < at.width * at.height; k++) {
        int32_t x = at.x + k % at.width, y = at.y + k / at.width;
        size_t pixel = (size_t)y * (size_t)self->working->width + (size_t)x;
        (*labels)[k] = self->labels[pixel] - self->graph.first_node[patch];
    }
    return (struct region_map){patch, at.x, at.y, at.width, at.height, *labels};
}

/* Joins the last patch to patch `other`, which is to its left or above it. */
static enum clv_status join_back(struct mosaic *self, int32_t other, bool is_above, struct clv_error *err)
{
    int32_t last = self->graph.n_patches - 1;
    OWNED_ARRAY int32_t *before = NULL;
    OWNED_ARRAY int32_t *behind = NULL;
    struct patch at = self->graph.patches[last], next;
    *(is_above ? &at.height : &at.width) = 1;
    next = at;
    next.x -= !is_above;
    next.y -= is_above;
    struct region_map a = strip_of(&before, self, other, next), b = strip_of(&behind, self, last, at);
    NEED(before && behind);
    return region_graph_join(&self->graph, &a, &b, REGION_SEAM, NULL, err);
}

/* Adds a tile's regions to the graph and its labels to the map. */
static enum clv_status lay_tile(struct mosaic *self, const struct tile *tile, const struct patch *patch,
                                const struct patch *core, struct clv_error *err)
{
    int32_t first = self->graph.n_nodes;
    MUST(region_graph_append(&self->graph, patch, &tile->problem, tile->adjacency.boundary_length, err));
    size_t n = (size_t)self->graph.n_nodes, k = (size_t)tile->n_channels;
    if (array_reserve((void **)&self->regions, &self->region_capacity, n, sizeof *self->regions) ||
        (k && array_reserve((void **)&self->map_means, &self->mean_capacity, n, k * sizeof *self->map_means)))
        return fail_memory(err);
    self->n_channels = tile->n_channels;
    if (k)
        memcpy(self->map_means + (size_t)first * k, tile->map_means, (size_t)tile->n * k * sizeof *self->map_means);
    memcpy(self->regions + first, tile->regions, (size_t)tile->n * sizeof *self->regions);
    for (int32_t y = 0; y < core->height; y++) {
        const int32_t *from = tile->map.labels + (size_t)(core->y + y) * (size_t)tile->map.width + (size_t)core->x;
        int32_t *to = self->labels + (size_t)(patch->y + y) * (size_t)self->working->width + (size_t)patch->x;
        for (int32_t x = 0; x < core->width; x++)
            to[x] = first + from[x];
    }
    return CLV_OK;
}

struct tile_bounds tile_bounds(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t k)
{
    int32_t side = recipe->tile_px, halo = recipe->halo_px, n_columns = (width - 1) / side + 1;
    int32_t x = k % n_columns * side, y = k / n_columns * side;
    struct patch patch = {
        .x = x, .y = y, .width = width - x < side ? width - x : side, .height = height - y < side ? height - y : side};
    int32_t left = x < halo ? 0 : x - halo, top = y < halo ? 0 : y - halo;
    int32_t right = width - x - patch.width < halo ? width : x + patch.width + halo;
    int32_t bottom = height - y - patch.height < halo ? height : y + patch.height + halo;
    struct patch core = {.x = x - left, .y = y - top, .width = patch.width, .height = patch.height};
    return (struct tile_bounds){patch, core, {left, top, right - left, bottom - top, width, height}};
}

/* Extracts tile k, counted in rows of n_columns, and joins it to the tiles above and to its left. */
static enum clv_status add_tile(struct mosaic *self, int32_t k, int32_t n_columns, struct clv_error *err)
{
    const struct tile_bounds bounds = tile_bounds(self->at->recipe, self->working->width, self->working->height, k);
    const struct image_part *at = &bounds.seen;
    const struct map_window window = {at->left, at->top, at->whole_width, at->whole_height};
    const struct patch part = {.x = at->left, .y = at->top, .width = at->width, .height = at->height};
    OWNED(clv_image_release) struct clv_image seen = {0};
    const struct view_source source = {&seen, self->maps, &window};
    OWNED(tile_release) struct tile tile = {0};
    MUST(cut_out(&seen, self->working, &part, err));
    MUST(tile_extract(&tile, &source, &bounds.core, self->at, err));
    MUST(lay_tile(self, &tile, &bounds.patch, &bounds.core, err));
    if (k >= n_columns)
        MUST(join_back(self, k - n_columns, true, err));
    if (k % n_columns)
        MUST(join_back(self, k - 1, false, err));
    return CLV_OK;
}

void tile_edges_fill(float *features, const struct clv_adjacency *edges, const struct edge_ends *ends,
                     const struct layout *at)
{
    const struct clv_recipe *recipe = at->recipe;
    int32_t n_scales = at->start[BLOCK_words] >= 0 ? recipe->n_scales : 0, p = edge_feature_count(recipe);
    const struct map_pool pooled = {.n_channels = ends->n_channels, .mean = (float *)ends->map_means};
    const struct edge_units units = edge_units_fixed(recipe);
    if (recipe->n_maps)
        map_edges_fill(features, p, edges, &pooled, recipe, units.side);
    edges_fill(features, p, edges, ends->regions, units,
               (struct node_words){ends->rows, n_scales * words_of_scale(recipe), n_scales});
}

enum clv_status tiles_extract(struct clv_example *example, int32_t *n_edges, const struct view_source *source,
                              const struct layout *at, struct clv_error *err)
{
    const struct clv_image *working = source->working;
    OWNED(mosaic_release) struct mosaic self = {.working = working, .maps = source->maps, .at = at};
    struct region_graph *graph = &self.graph;
    int32_t side = at->recipe->tile_px, n_columns = (working->width - 1) / side + 1;
    int32_t n_tiles = n_columns * ((working->height - 1) / side + 1);
    region_graph_init(graph, 0);
    graph->n_edge_features = edge_feature_count(at->recipe);
    self.labels = array_alloc((size_t)working->width, (size_t)working->height * sizeof *self.labels);
    NEED(self.labels);
    for (int32_t k = 0; k < n_tiles; k++)
        MUST(add_tile(&self, k, n_columns, err));
    const struct clv_adjacency all = {graph->n_nodes, graph->n_edges, graph->edges, graph->contact};
    const struct clv_problem rows = {.row = graph->row, .index = graph->index, .value = graph->value};
    const struct edge_ends ends = {self.regions, &rows, self.map_means, self.n_channels};
    tile_edges_fill(graph->edge_features, &all, &ends, at);
    *n_edges = graph->n_edges;
    example->superpixels = (struct clv_superpixels){working->width, working->height, graph->n_nodes, NULL};
    example->superpixels.labels = TAKE(self.labels);
    example->row = TAKE(graph->row);
    example->index = TAKE(graph->index);
    example->value = TAKE(graph->value);
    example->edges = TAKE(graph->edges);
    example->edge_features = TAKE(graph->edge_features);
    return CLV_OK;
}
