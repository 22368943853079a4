/* Fills the sparse rows of node features, block by block. Start at fill_row. */
#include "feature/example/example.h"

#include <string.h>

#include "base/base.h"

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

static void fill_row(float *row, struct views *views, const struct clv_patch_grid *grid, const struct layout *at,
                     int32_t r)
{
    const struct clv_recipe *recipe = at->recipe;
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
        size_fill(row + at->size, own, recipe, r);
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

enum clv_status rows_fill(struct clv_example *example, int32_t n_nodes, struct views *views, const struct layout *at,
                          struct clv_error *err)
{
    OWNED_ARRAY float *dense = array_zalloc((size_t)at->n_features, sizeof *dense);
    size_t capacity = 0, n_entries = 0;
    example->row = array_alloc((size_t)n_nodes + 1, sizeof *example->row);
    NEED(dense && example->row);
    example->row[0] = 0;
    for (int32_t r = 0; r < n_nodes; r++) {
        fill_row(dense, views, &example->grid, at, r);
        MUST(append_row(example, &capacity, &n_entries, dense, at->n_features, err));
        example->row[r + 1] = (int64_t)n_entries;
    }
    return CLV_OK;
}
