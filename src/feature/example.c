/* One image as a structured problem, its truth, and its labels as a mask. */
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/blocks.h"
#include "feature/contrast.h"
#include "feature/edges.h"
#include "feature/working.h"

void clv_example_release(struct clv_example *example)
{
    clv_superpixels_release(&example->superpixels);
    array_free(example->row);
    array_free(example->index);
    array_free(example->value);
    array_free(example->edges);
    array_free(example->edge_features);
    array_free(example->volume);
    array_free(example->label);
    array_free(example->counts);
    array_free(example->theta);
    *example = (struct clv_example){0};
}

/* Moves the non-zero entries of a dense row to the end of the sparse matrix and clears it. */
static int append_row(struct clv_example *example, size_t *capacity, size_t *n_entries, float *dense,
                      int32_t n_features)
{
    size_t value_capacity = *capacity;
    if (array_reserve((void **)&example->value, &value_capacity, *n_entries + (size_t)n_features, sizeof(float)) ||
        array_reserve((void **)&example->index, capacity, *n_entries + (size_t)n_features, sizeof(int32_t)))
        return -1;
    for (int32_t k = 0; k < n_features; k++)
        if (dense[k] != 0) {
            example->index[*n_entries] = k;
            example->value[(*n_entries)++] = dense[k];
        }
    memset(dense, 0, (size_t)n_features * sizeof *dense);
    return 0;
}

static enum clv_status fill_word_maps(struct word_map *maps, const struct scene *scene, const struct clv_recipe *recipe,
                                      const struct layout *at, struct clv_error *err)
{
    if (at->words[0] < 0)
        return CLV_OK;
    struct sift_integral integral;
    enum clv_status status = sift_integral_init(&integral, scene->rgb, scene->width, scene->height, recipe, err);
    for (int32_t s = 0; s < recipe->n_scales && status == CLV_OK; s++)
        status = word_map_init(&maps[s], &integral, recipe, s, err);
    sift_integral_release(&integral);
    return status;
}

static enum clv_status fill_rows(struct clv_example *example, const struct scene *scene,
                                 const struct clv_adjacency *adjacency, const struct clv_recipe *recipe,
                                 const struct layout *at, struct clv_error *err)
{
    struct word_map maps[CLV_MAX_SCALES] = {0};
    int32_t n_measures = contrast_measures(recipe);
    float *measures = NULL;
    float *dense = array_zalloc((size_t)at->n_features, sizeof *dense);
    size_t capacity = 0, n_entries = 0;
    enum clv_status status = CLV_OK;
    example->row = array_alloc((size_t)scene->n_regions + 1, sizeof *example->row);
    if (!dense || !example->row) {
        status = fail_memory(err);
        goto done;
    }
    status = fill_word_maps(maps, scene, recipe, at, err);
    if (status != CLV_OK)
        goto done;
    if (at->contrast >= 0) {
        measures = array_zalloc((size_t)scene->n_regions * (size_t)n_measures, sizeof *measures);
        status = measures ? contrast_measure(measures, scene, adjacency, recipe, maps, err) : fail_memory(err);
        if (status != CLV_OK)
            goto done;
    }
    example->row[0] = 0;
    for (int32_t r = 0; r < scene->n_regions; r++) {
        for (int32_t s = 0; s < CLV_MAX_SCALES && at->words[s] >= 0; s++)
            words_fill(dense + at->words[s], scene, &maps[s], r);
        if (at->colour >= 0)
            colour_fill(dense + at->colour, scene, r);
        if (at->position >= 0)
            position_fill(dense + at->position, scene, r);
        if (at->size >= 0)
            size_fill(dense + at->size, scene, r);
        if (at->contrast >= 0)
            contrast_fill(dense + at->contrast, measures + (size_t)r * (size_t)n_measures, n_measures);
        if (append_row(example, &capacity, &n_entries, dense, at->n_features)) {
            status = fail_memory(err);
            goto done;
        }
        example->row[r + 1] = (int64_t)n_entries;
    }
done:
    for (int s = 0; s < CLV_MAX_SCALES; s++)
        word_map_release(&maps[s]);
    array_free(measures);
    array_free(dense);
    return status;
}

/* volume[node] = original pixels whose working pixel lies in the node. The mapping is separable: a working pixel stands for
 * (original columns mapped to its column) x (original rows mapped to its row) pixels. */
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

static enum clv_status fill_edges(struct clv_example *example, const struct scene *scene,
                                  const struct clv_adjacency *adjacency, const struct clv_recipe *recipe,
                                  const struct layout *at, struct clv_error *err)
{
    size_t n_edges = (size_t)adjacency->n_edges;
    example->edges = array_copy(adjacency->edges, n_edges, sizeof *example->edges);
    example->edge_features = array_alloc(n_edges * (size_t)edge_feature_count(), sizeof *example->edge_features);
    if (!example->edges || !example->edge_features)
        return fail_memory(err);
    int32_t n_scales = at->words[0] >= 0 ? recipe->n_scales : 0;
    struct clv_problem rows = {.row = example->row, .index = example->index, .value = example->value};
    edges_fill(example->edge_features, adjacency, scene, &rows, n_scales * recipe->n_words, n_scales);
    return CLV_OK;
}

enum clv_status clv_example_extract(struct clv_example *example, const struct clv_image *image,
                                    const struct clv_recipe *recipe, struct clv_error *err)
{
    if (image->channels != 3 || image->width < 1 || image->height < 1)
        return fail(err, CLV_ERR_USAGE, "features need a 3-channel image, not %dx%d with %d channels", image->width,
                    image->height, image->channels);
    enum clv_status status = recipe_check(recipe, 1, err);
    if (status != CLV_OK)
        return status;
    struct clv_example made = {.width = image->width, .height = image->height};
    struct clv_image working = {0};
    struct scene scene = {0};
    struct clv_adjacency adjacency = {0};
    struct layout layout;
    layout_init(&layout, recipe);
    status = working_image(&working, image, recipe->working_pixels, err);
    if (status == CLV_OK)
        status = clv_slic(&made.superpixels, &working, &recipe->slic, err);
    if (status == CLV_OK)
        status = scene_init(&scene, &working, &made.superpixels, err);
    if (status == CLV_OK)
        status = clv_adjacency_build(&adjacency, &made.superpixels, err);
    if (status == CLV_OK)
        status = fill_rows(&made, &scene, &adjacency, recipe, &layout, err);
    if (status == CLV_OK)
        status = fill_edges(&made, &scene, &adjacency, recipe, &layout, err);
    if (status == CLV_OK)
        status = count_volume(&made, err);
    int32_t n_edges = adjacency.n_edges;
    clv_adjacency_release(&adjacency);
    scene_release(&scene);
    clv_image_release(&working);
    if (status != CLV_OK) {
        clv_example_release(&made);
        return status;
    }
    *example = made;
    example->problem = (struct clv_problem){.n_nodes = made.superpixels.n,
                                            .n_edges = n_edges,
                                            .n_features = layout.n_features,
                                            .n_edge_features = edge_feature_count(),
                                            .row = made.row,
                                            .index = made.index,
                                            .value = made.value,
                                            .edges = (const int32_t(*)[2])made.edges,
                                            .edge_features = made.edge_features,
                                            .volume = made.volume};
    return CLV_OK;
}
