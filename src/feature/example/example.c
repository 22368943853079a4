/* Makes a problem of one image: shrinks it, divides it into superpixels or patches, and fills the features of nodes and
 * edges. Start at example_extract. */
#include "feature/example/example.h"

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "superpixel/superpixel.h"

void clv_example_release(struct clv_example *example)
{
    clv_superpixels_release(&example->superpixels);
    arrays_free(example->row, example->index, example->value, example->edges, example->edge_features, example->area,
                example->centroid, example->label, example->counts, example->theta);
    *example = (struct clv_example){0};
}

void example_problem(struct clv_example *example, int32_t n_nodes, int32_t n_edges, int32_t n_features,
                     int32_t n_edge_features)
{
    example->problem = (struct clv_problem){.n_nodes = n_nodes,
                                            .n_edges = n_edges,
                                            .n_features = n_features,
                                            .n_edge_features = n_edge_features,
                                            .row = example->row,
                                            .index = example->index,
                                            .value = example->value,
                                            .edges = (const int32_t(*)[2])example->edges,
                                            .edge_features = example->edge_features,
                                            .label = example->label,
                                            .theta = example->theta,
                                            .area = example->area,
                                            .centroid = example->centroid};
}

/* area[node] = number of original pixels whose working pixel is in the node. The mapping is separable: a working pixel
 * has (original columns mapped to its column) x (original rows mapped to its row) pixels. */
static enum clv_status count_areas(struct clv_example *example, struct clv_error *err)
{
    const struct clv_superpixels *sp = &example->superpixels;
    OWNED_ARRAY int64_t *columns = array_zalloc((size_t)sp->width, sizeof *columns);
    OWNED_ARRAY int64_t *rows = array_zalloc((size_t)sp->height, sizeof *rows);
    OWNED_ARRAY int64_t *count = array_zalloc((size_t)sp->n, sizeof *count);
    example->area = array_alloc((size_t)sp->n, sizeof *example->area);
    NEED(columns && rows && count && example->area);
    for (int32_t x = 0; x < example->width; x++)
        columns[working_coordinate(x, example->width, sp->width)]++;
    for (int32_t y = 0; y < example->height; y++)
        rows[working_coordinate(y, example->height, sp->height)]++;
    for (int32_t y = 0; y < sp->height; y++)
        for (int32_t x = 0; x < sp->width; x++)
            count[sp->labels[(size_t)y * (size_t)sp->width + (size_t)x]] += columns[x] * rows[y];
    for (int32_t i = 0; i < sp->n; i++)
        example->area[i] = (float)count[i];
    return CLV_OK;
}

static enum clv_status find_centroids(struct clv_example *example, const struct clv_recipe *recipe,
                                      struct clv_error *err)
{
    const struct clv_superpixels *nodes = &example->superpixels;
    double unit = working_unit(recipe, nodes->width, nodes->height);
    example->centroid = array_alloc((size_t)nodes->n, 2 * sizeof *example->centroid);
    NEED(example->centroid);
    const struct label_map map = {nodes->labels, nodes->width, nodes->height, nodes->n};
    return region_centroids(example->centroid, &map, unit, err);
}

static enum clv_status fill_edges(struct clv_example *example, const struct views *views,
                                  const struct clv_adjacency *adjacency, const struct layout *at, struct clv_error *err)
{
    const struct clv_recipe *recipe = at->recipe;
    size_t n_edges = (size_t)adjacency->n_edges;
    const struct scene *own = views_own(views);
    int32_t stride = edge_feature_count(recipe);
    example->edges = array_copy(adjacency->edges, n_edges, sizeof *example->edges);
    example->edge_features = array_zalloc(n_edges * (size_t)stride, sizeof *example->edge_features);
    NEED(example->edges && example->edge_features);
    if (recipe->n_maps)
        map_edges_fill(example->edge_features, stride, adjacency, &views->pooled, recipe,
                       edge_units_of(adjacency, own, recipe).side);
    if (example->grid.n_rows) {
        patch_edges_fill(example->edge_features, stride, adjacency, own);
        return CLV_OK;
    }
    int32_t n_scales = at->start[BLOCK_words] >= 0 ? recipe->n_scales : 0; /* 0 without word histograms */
    struct clv_problem rows = {.row = example->row, .index = example->index, .value = example->value};
    edges_fill(example->edge_features, stride, adjacency, views->image.regions,
               edge_units_of(adjacency, &views->image, recipe),
               (struct node_words){&rows, n_scales * words_of_scale(recipe), n_scales});
    return CLV_OK;
}

/* Divides the working image into nodes and lists their neighbours. */
static enum clv_status divide_image(struct clv_example *example, struct clv_adjacency *adjacency,
                                    const struct clv_image *working, const struct clv_recipe *recipe,
                                    struct clv_error *err)
{
    if (recipe->nodes == CLV_NODES_PATCHES) {
        MUST(patch_grid_init(&example->grid, working->width, working->height, recipe->patch_px, recipe->patch_step_px,
                             err));
        MUST(patch_grid_partition(&example->superpixels, &example->grid, err));
        return patch_grid_adjacency(adjacency, &example->grid, err);
    }
    MUST(clv_slic(&example->superpixels, working, &recipe->slic, err));
    return clv_adjacency_build(adjacency, &example->superpixels, err);
}

/* Extracts the whole working image at once. */
static enum clv_status extract_whole(struct clv_example *result, int32_t *n_edges, const struct view_source *source,
                                     const struct layout *at, struct clv_error *err)
{
    OWNED(views_release) struct views views = {0};
    OWNED(clv_adjacency_release) struct clv_adjacency adjacency = {0};
    MUST(divide_image(result, &adjacency, source->working, at->recipe, err));
    MUST(views_init(&views, source, result, &adjacency, at->recipe, err));
    MUST(rows_fill(result, result->superpixels.n, &views, at, err));
    MUST(fill_edges(result, &views, &adjacency, at, err));
    *n_edges = adjacency.n_edges;
    return CLV_OK;
}

enum clv_status clv_example_extract(struct clv_example *example, const struct clv_image *image,
                                    const struct clv_recipe *recipe, struct clv_error *err)
{
    return clv_example_extract_maps(example, image, NULL, recipe, err);
}

enum clv_status clv_example_extract_maps(struct clv_example *example, const struct clv_image *image,
                                         const struct clv_map *maps, const struct clv_recipe *recipe,
                                         struct clv_error *err)
{
    struct map_reader views[CLV_MAX_MAPS];
    return example_extract(example, image, map_readers_of(views, maps, recipe->n_maps), recipe, err);
}

enum clv_status example_extract(struct clv_example *example, const struct clv_image *image,
                                const struct map_reader *maps, const struct clv_recipe *recipe, struct clv_error *err)
{
    FAIL_IF(image->channels != 3 || image->width < 1 || image->height < 1, CLV_ERR_USAGE,
            "features need a 3-channel image, not %dx%d with %d channels", image->width, image->height,
            image->channels);
    MUST(recipe_check(recipe, true, err));
    FAIL_IF(recipe->n_maps && !maps, CLV_ERR_USAGE, "features: the recipe wants maps (%s), none are given",
            recipe->maps[0].name);
    OWNED(clv_example_release) struct clv_example result = {.width = image->width, .height = image->height};
    OWNED(clv_image_release) struct clv_image working = {0};
    const struct view_source source = {.working = &working, .maps = maps};
    struct layout at;
    int32_t n_edges = 0;
    layout_init(&at, recipe);
    MUST(working_image_of(&working, image, recipe, err));
    MUST((recipe->scale > 0 ? tiles_extract : extract_whole)(&result, &n_edges, &source, &at, err));
    MUST(count_areas(&result, err));
    MUST(find_centroids(&result, recipe, err));
    int32_t n_nodes = result.superpixels.n;
    *example = TAKE(result);
    example_problem(example, n_nodes, n_edges, at.n_features, edge_feature_count(recipe));
    return CLV_OK;
}
