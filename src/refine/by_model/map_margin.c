/* Turns a network map into one channel: the score of label 1 minus that of label 0, at the resolution of the map. */
#include "refine/by_model/by_model.h"

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"

double map_margin_weight(const struct clv_model *model, int32_t map, size_t row, int32_t channel)
{
    struct layout layout;
    float unit;
    layout_init(&layout, &model->recipe);
    int32_t column = layout.start[BLOCK_maps] + maps_mean_column(&unit, &model->recipe, map, channel);
    return model->w[row * (size_t)model->layout.n_features + (size_t)column] * (double)unit;
}

enum clv_status map_margin(struct clv_map *margin, const struct map_reader *map, int32_t index,
                           const struct clv_model *model, struct clv_error *err)
{
    OWNED(map_ready_release) struct map_ready ready = {0};
    const float *channel;
    const struct clv_recipe_map *recipe_map = &model->recipe.maps[index];
    MUST(map_ready_init(&ready, map, recipe_map, err));
    OWNED_ARRAY float *sum = array_zalloc(ready.n, sizeof *sum);
    NEED(sum);
    for (int32_t c = 0; c < ready.n_channels; c++) {
        bool is_features = recipe_map->kind == CLV_MAP_FEATURES;
        double of_two = ready.n_channels == 2 ? c - 0.5 : 1; /* half the difference of the log-odds of labels 1 and 0 */
        double weight = is_features ? map_margin_weight(model, index, 0, c) : of_two;
        MUST(map_ready_channel(&channel, &ready, c, err));
        for (size_t p = 0; p < ready.n; p++)
            sum[p] += (float)(weight * (double)channel[p]);
    }
    *margin = (struct clv_map){.width = ready.width, .height = ready.height, .n_channels = 1, .values = TAKE(sum)};
    return CLV_OK;
}
