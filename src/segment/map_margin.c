#include "segment/map_margin.h"

#include "base/array.h"
#include "base/error.h"
#include "feature/blocks/map_pool.h"
#include "feature/recipe/layout.h"

double map_margin_weight(const struct clv_model *model, int32_t map, size_t row, int32_t channel)
{
    struct layout layout;
    float unit;
    layout_init(&layout, &model->recipe);
    int32_t column = layout.maps + maps_mean_column(&unit, &model->recipe, map, channel);
    return model->w[row * (size_t)model->shape.n_features + (size_t)column] * (double)unit;
}

enum clv_status map_margin(struct clv_map *margin, const struct clv_map *map, int32_t index,
                           const struct clv_model *model, struct clv_error *err)
{
    struct clv_map ready = {0};
    const struct clv_recipe_map *recipe_map = &model->recipe.maps[index];
    size_t n = (size_t)map->width * (size_t)map->height;
    enum clv_status status = map_ready(&ready, map, recipe_map, err);
    if (status != CLV_OK)
        return status;
    float *sum = array_zalloc(n, sizeof *sum);
    if (!sum) {
        clv_map_release(&ready);
        return fail_memory(err);
    }
    for (int32_t c = 0; c < ready.n_channels; c++) {
        bool is_features = recipe_map->kind == CLV_MAP_FEATURES;
        double of_two = ready.n_channels == 2 ? c - 0.5 : 1; /* half the log-odds of label 1, minus those of label 0 */
        double weight = is_features ? map_margin_weight(model, index, 0, c) : of_two;
        const float *channel = ready.values + (size_t)c * n;
        for (size_t p = 0; p < n; p++)
            sum[p] += (float)(weight * (double)channel[p]);
    }
    *margin = (struct clv_map){.width = map->width, .height = map->height, .n_channels = 1, .values = sum};
    clv_map_release(&ready);
    return CLV_OK;
}
