#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/blocks.h"
#include "feature/sift.h"
#include "feature/words.h"

void word_map_release(struct word_map *map)
{
    array_free(map->word);
    *map = (struct word_map){0};
}

enum clv_status word_map_init(struct word_map *map, const struct scene *scene, const struct clv_recipe *recipe,
                              int32_t scale, struct clv_error *err)
{
    *map = (struct word_map){0};
    struct sift_grid grid;
    enum clv_status status =
        sift_extract(&grid, scene->grey, scene->width, scene->height, recipe->bin_size_px[scale], recipe->step_px, err);
    if (status != CLV_OK)
        return status;
    size_t n = (size_t)grid.n_columns * (size_t)grid.n_rows;
    int32_t *word = array_alloc(n, sizeof *word);
    if (!word)
        status = fail_memory(err);
    else
        status = words_assign(word, &recipe->codebooks[scale], grid.values, n, err);
    if (status == CLV_OK)
        *map = (struct word_map){grid.n_columns, grid.step_px, word};
    else
        array_free(word);
    sift_grid_release(&grid);
    return status;
}

/* Every pixel votes for the word of its cell. */
void words_fill(float *row, const struct scene *scene, const struct word_map *map, int32_t region)
{
    int32_t first = scene->start[region], last = scene->start[region + 1];
    for (int32_t k = first; k < last; k++) {
        int32_t x = scene->pixel[k] % scene->width, y = scene->pixel[k] / scene->width;
        row[map->word[y / map->step_px * map->n_columns + x / map->step_px]] += 1;
    }
    /* Square root of the histogram, in place: a bin is met several times, and done once it is no longer a count >= 1. */
    for (int32_t k = first; k < last; k++) {
        int32_t x = scene->pixel[k] % scene->width, y = scene->pixel[k] / scene->width;
        float *bin = &row[map->word[y / map->step_px * map->n_columns + x / map->step_px]];
        if (*bin >= 1)
            *bin = -sqrtf(*bin / (float)(last - first));
    }
    for (int32_t k = first; k < last; k++) {
        int32_t x = scene->pixel[k] % scene->width, y = scene->pixel[k] / scene->width;
        float *bin = &row[map->word[y / map->step_px * map->n_columns + x / map->step_px]];
        *bin = fabsf(*bin);
    }
}
