#include "feature/recipe/map_watch.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/blocks/map_pool.h"

size_t map_watch_size(const struct clv_recipe *recipe)
{
    size_t n = 0;
    for (int32_t m = 0; m < recipe->n_maps; m++)
        n += (size_t)map_values(&recipe->maps[m]);
    return n;
}

enum clv_status map_watch_init(struct map_watch *watch, const struct clv_recipe *recipe, struct clv_error *err)
{
    *watch = (struct map_watch){0};
    watch->sum = array_zalloc(map_watch_size(recipe) + 1, sizeof *watch->sum);
    return watch->sum ? CLV_OK : fail_memory(err);
}

void map_watch_release(struct map_watch *watch)
{
    array_free(watch->sum);
    *watch = (struct map_watch){0};
}

enum clv_status map_watch_look(float *mean, const struct map_reader *maps, const struct clv_recipe *recipe,
                               struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (int32_t m = 0; m < recipe->n_maps && status == CLV_OK; m++) {
        struct map_ready ready = {0};
        const float *values;
        status = map_ready_init(&ready, &maps[m], &recipe->maps[m], err);
        for (int32_t c = 0; c < ready.n_channels && status == CLV_OK; c++) {
            status = map_ready_channel(&values, &ready, c, err);
            if (status == CLV_OK)
                *mean++ = (float)map_channel_mean(values, ready.n);
        }
        map_ready_release(&ready);
    }
    return status;
}

/* Over the channels that differ among training images. */
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

int32_t map_watch_add(double *deviations, struct map_watch *watch, const float *mean, const struct clv_recipe *recipe)
{
    size_t size = map_watch_size(recipe);
    watch->n++;
    for (size_t c = 0; c < size; c++)
        watch->sum[c] += (double)mean[c];
    if (watch->n & (watch->n - 1))
        return -1;
    const double *sum = watch->sum;
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        const struct clv_recipe_map *map = &recipe->maps[m];
        bool is_watched = map->usual && map->use != CLV_MAP_USE_IGNORED && !watch->is_told[m];
        double shift = is_watched ? squared_shift(sum, watch->n, map) : 0;
        if (shift > 1 + 8 / (double)watch->n) {
            watch->is_told[m] = true;
            *deviations = sqrt(shift);
            return m;
        }
        sum += map_values(map);
    }
    return -1;
}
