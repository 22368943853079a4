/* Warns of maps of another network: compares the channels' means over the first 1, 2, 4, 8 and so on images with
 * those of the training images. Start at map_drift_add. */
#include "feature/recipe/recipe.h"

#include <math.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

size_t map_drift_size(const struct clv_recipe *recipe)
{
    size_t n = 0;
    for (int32_t m = 0; m < recipe->n_maps; m++)
        n += (size_t)map_values(&recipe->maps[m]);
    return n;
}

enum clv_status map_drift_init(struct map_drift *drift, const struct clv_recipe *recipe, struct clv_error *err)
{
    *drift = (struct map_drift){0};
    drift->sum = array_zalloc(map_drift_size(recipe) + 1, sizeof *drift->sum);
    return drift->sum ? CLV_OK : fail_memory(err);
}

void map_drift_release(struct map_drift *drift)
{
    array_free(drift->sum);
    *drift = (struct map_drift){0};
}

enum clv_status map_drift_means(float *mean, const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err)
{
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        OWNED(map_ready_release) struct map_ready ready = {0};
        const float *values;
        MUST(map_ready_init(&ready, &maps[m], &recipe->maps[m], err));
        for (int32_t c = 0; c < ready.n_channels; c++) {
            MUST(map_ready_channel(&values, &ready, c, err));
            *mean++ = (float)map_channel_mean(values, ready.n);
        }
    }
    return CLV_OK;
}

/* Returns the squared shift of the images' mean, averaged over the channels that vary among training images. */
static double squared_shift(const double *sum, size_t n, const struct clv_recipe_map *map)
{
    size_t n_values = (size_t)map_values(map), n_varied = 0;
    double total = 0;
    for (size_t c = 0; c < n_values; c++) {
        double deviation = (double)map->usual[n_values + c];
        double shift = sum[c] / (double)n - (double)map->usual[c];
        if (!(deviation > 0))
            continue;
        total += shift / deviation * (shift / deviation);
        n_varied++;
    }
    return n_varied ? total / (double)n_varied : 0;
}

int32_t map_drift_add(double *deviations, struct map_drift *drift, const float *mean, const struct clv_recipe *recipe)
{
    size_t size = map_drift_size(recipe);
    drift->n++;
    for (size_t c = 0; c < size; c++)
        drift->sum[c] += (double)mean[c];
    if (drift->n & (drift->n - 1))
        return -1;
    const double *sum = drift->sum;
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        const struct clv_recipe_map *map = &recipe->maps[m];
        bool is_checked = map->usual && map->use != CLV_MAP_USE_IGNORED && !drift->is_reported[m];
        double shift = is_checked ? squared_shift(sum, drift->n, map) : 0;
        if (shift > 1 + 8 / (double)drift->n) {
            drift->is_reported[m] = true;
            *deviations = sqrt(shift);
            return m;
        }
        sum += map_values(map);
    }
    return -1;
}
