/* One image as a structured problem, its truth, and its labels as a mask. */
#include "feature/example/example.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/blocks/edges.h"
#include "feature/blocks/working.h"
#include "feature/example/views.h"
#include "feature/recipe/recipe.h"
#include "superpixel/patch_grid.h"
#include "superpixel/places.h"

void clv_example_release(struct clv_example *example)
{
    clv_superpixels_release(&example->superpixels);
    array_free(example->row);
    array_free(example->index);
    array_free(example->value);
    array_free(example->edges);
    array_free(example->edge_features);
    array_free(example->volume);
    array_free(example->place);
    array_free(example->label);
    array_free(example->counts);
    array_free(example->theta);
    *example = (struct clv_example){0};
}

/* Moves the non-zero entries of dense[n] to the end of the sparse matrix, and clears them. */
static enum clv_status append_row(struct clv_example *example, size_t *capacity, size_t *n_entries, float *dense,
                                  int32_t n, struct clv_error *err)
{
    const struct array_part entries[] = {{&example->value, sizeof(float)}, {&example->index, sizeof(int32_t)}};
    if (array_reserve_all(entries, 2, capacity, *n_entries + (size_t)n))
        return fail_memory(err);
    for (int32_t k = 0; k < n; k++)
        if (dense[k] != 0) {
            example->index[*n_entries] = k;
            example->value[(*n_entries)++] = dense[k];
        }
    memset(dense, 0, (size_t)n * sizeof *dense);
    return CLV_OK;
}

static void fill_row(float *row, struct views *views, const struct clv_patch_grid *grid,
                     const struct clv_recipe *recipe, const struct layout *at, int32_t r)
{
    const struct scene *own = views_own(views);
    const struct kernel_map *map = &views->kernel_map;
    for (int32_t s = 0; s < CLV_MAX_SCALES; s++)
        if (at->words[s] >= 0)
            words_fill(row + at->words[s], own, &views->maps[s], map, r);
    if (at->colour >= 0)
        colour_fill(row + at->colour, own, map, r);
    if (at->position >= 0)
        position_fill(row + at->position, own, r);
    if (at->size >= 0)
        size_fill(row + at->size, own, r);
    if (at->contrast >= 0)
        contrast_fill(row + at->contrast, views->measures + (size_t)r * (size_t)views->n_measures, views->n_measures);
    if (at->surround >= 0)
        surround_fill(row + at->surround, &views->surround, views->maps, map, recipe, 0, r);
    if (at->scene >= 0)
        memcpy(row + at->scene, views->of_whole,
               (size_t)surround_size(recipe, recipe->n_scales - 1) * sizeof *views->of_whole);
    if (at->rgb >= 0)
        rgb_fill(row + at->rgb, own, map, r);
    for (int32_t s = 0; at->word >= 0 && s < recipe->n_scales; s++)
        word_fill(row + at->word + s * recipe->n_words, own, &views->maps[s], r);
    if (at->hog >= 0)
        hog_fill(row + at->hog, &views->hog, own, r);
    if (at->maps >= 0)
        maps_fill(row + at->maps, &views->pooled, recipe, r);
    if (at->fisher >= 0)
        fisher_fill(row + at->fisher, &views->fisher, grid, r);
}

static enum clv_status fill_rows(struct clv_example *example, struct views *views, const struct clv_recipe *recipe,
                                 const struct layout *at, struct clv_error *err)
{
    int32_t n_nodes = example->superpixels.n;
    float *dense = array_zalloc((size_t)at->n_features, sizeof *dense);
    size_t capacity = 0, n_entries = 0;
    example->row = array_alloc((size_t)n_nodes + 1, sizeof *example->row);
    enum clv_status status = dense && example->row ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        example->row[0] = 0;
    for (int32_t r = 0; r < n_nodes && status == CLV_OK; r++) {
        fill_row(dense, views, &example->grid, recipe, at, r);
        status = append_row(example, &capacity, &n_entries, dense, at->n_features, err);
        example->row[r + 1] = (int64_t)n_entries;
    }
    array_free(dense);
    return status;
}

/* volume[node] = original pixels whose working pixel is in the node. The mapping is separable: a working pixel
 * stands for (original columns mapped to its column) x (original rows mapped to its row) pixels. */
static enum clv_status count_volume(struct clv_example *example, struct clv_error *err)
{
    const struct clv_superpixels *sp = &example->superpixels;
    int64_t *columns = array_zalloc((size_t)sp->width, sizeof *columns);
    int64_t *rows = array_zalloc((size_t)sp->height, sizeof *rows);
    int64_t *count = array_zalloc((size_t)sp->n, sizeof *count);
    example->volume = array_alloc((size_t)sp->n, sizeof *example->volume);
    enum clv_status status = CLV_OK;
    if (!columns || !rows || !count || !example->volume) {
        status = fail_memory(err);
        goto done;
    }
    for (int32_t x = 0; x < example->width; x++)
        columns[working_coordinate(x, example->width, sp->width)]++;
    for (int32_t y = 0; y < example->height; y++)
        rows[working_coordinate(y, example->height, sp->height)]++;
    for (int32_t y = 0; y < sp->height; y++)
        for (int32_t x = 0; x < sp->width; x++)
            count[sp->labels[(size_t)y * (size_t)sp->width + (size_t)x]] += columns[x] * rows[y];
    for (int32_t i = 0; i < sp->n; i++)
        example->volume[i] = (float)count[i];
done:
    array_free(columns);
    array_free(rows);
    array_free(count);
    return status;
}

static enum clv_status find_places(struct clv_example *example, struct clv_error *err)
{
    const struct clv_superpixels *nodes = &example->superpixels;
    example->place = array_alloc((size_t)nodes->n, 2 * sizeof *example->place);
    return example->place ? region_places(example->place, nodes->labels, nodes->width, nodes->height, nodes->n, err)
                          : fail_memory(err);
}

static enum clv_status fill_edges(struct clv_example *example, const struct views *views,
                                  const struct clv_adjacency *adjacency, const struct clv_recipe *recipe,
                                  const struct layout *at, struct clv_error *err)
{
    size_t n_edges = (size_t)adjacency->n_edges;
    const struct scene *own = views_own(views);
    float side = sqrtf((float)own->width * (float)own->height / (float)own->n_regions);
    int32_t stride = edge_feature_count(recipe);
    example->edges = array_copy(adjacency->edges, n_edges, sizeof *example->edges);
    example->edge_features = array_alloc(n_edges * (size_t)stride, sizeof *example->edge_features);
    if (!example->edges || !example->edge_features)
        return fail_memory(err);
    if (recipe->n_maps)
        map_edges_fill(example->edge_features, stride, adjacency, &views->pooled, recipe, side);
    if (example->grid.n_rows) {
        patch_edges_fill(example->edge_features, stride, adjacency, own);
        return CLV_OK;
    }
    int32_t n_scales = at->words[0] >= 0 ? recipe->n_scales : 0; /* of the texture, where there are histograms */
    struct clv_problem rows = {.row = example->row, .index = example->index, .value = example->value};
    edges_fill(example->edge_features, stride, adjacency, &views->image, &rows, n_scales * words_size(recipe),
               n_scales);
    return CLV_OK;
}

/* The nodes and who neighbours whom. */
static enum clv_status divide(struct clv_example *example, struct clv_adjacency *adjacency,
                              const struct clv_image *working, const struct clv_recipe *recipe, struct clv_error *err)
{
    enum clv_status status;
    if (recipe->nodes == CLV_NODES_PATCHES) {
        status = patch_grid_init(&example->grid, working->width, working->height, recipe->patch_px,
                                 recipe->patch_step_px, err);
        TRY(patch_grid_partition(&example->superpixels, &example->grid, err));
        return status == CLV_OK ? patch_grid_adjacency(adjacency, &example->grid, err) : status;
    }
    status = clv_slic(&example->superpixels, working, &recipe->slic, err);
    return status == CLV_OK ? clv_adjacency_build(adjacency, &example->superpixels, err) : status;
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
    if (image->channels != 3 || image->width < 1 || image->height < 1)
        return fail(err, CLV_ERR_USAGE, "features need a 3-channel image, not %dx%d with %d channels", image->width,
                    image->height, image->channels);
    enum clv_status status = recipe_check(recipe, true, err);
    if (status == CLV_OK && recipe->n_maps && !maps)
        status = fail(err, CLV_ERR_USAGE, "features: the recipe wants maps (%s), none are given", recipe->maps[0].name);
    if (status != CLV_OK)
        return status;
    struct clv_example made = {.width = image->width, .height = image->height};
    struct clv_image working = {0};
    struct views views = {0};
    struct clv_adjacency adjacency = {0};
    struct layout at;
    layout_init(&at, recipe);
    status = working_image(&working, image, recipe->working_pixels, err);
    TRY(divide(&made, &adjacency, &working, recipe, err));
    TRY(views_init(&views, &working, &made, &adjacency, maps, recipe, &at, err));
    TRY(fill_rows(&made, &views, recipe, &at, err));
    TRY(fill_edges(&made, &views, &adjacency, recipe, &at, err));
    TRY(count_volume(&made, err));
    TRY(find_places(&made, err));
    int32_t n_edges = adjacency.n_edges, n_features = at.n_features;
    clv_adjacency_release(&adjacency);
    views_release(&views);
    clv_image_release(&working);
    if (status != CLV_OK) {
        clv_example_release(&made);
        return status;
    }
    *example = made;
    example->problem = (struct clv_problem){.n_nodes = made.superpixels.n,
                                            .n_edges = n_edges,
                                            .n_features = n_features,
                                            .n_edge_features = edge_feature_count(recipe),
                                            .row = made.row,
                                            .index = made.index,
                                            .value = made.value,
                                            .edges = (const int32_t(*)[2])made.edges,
                                            .edge_features = made.edge_features,
                                            .volume = made.volume,
                                            .place = made.place};
    return CLV_OK;
}
