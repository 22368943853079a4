/* Opens the maps of an item of a set, in the order of a recipe. Start at item_maps_open. */
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"

const char *map_path(const struct clv_set *set, const struct clv_item *item, const char *name)
{
    for (size_t m = 0; m < set->n_maps; m++)
        if (strcmp(set->map_names[m], name) == 0)
            return item->maps[m];
    return NULL;
}

static const struct clv_array *array_of(const struct clv_set *set, const struct clv_item *item, const char *name)
{
    for (size_t m = 0; m < set->n_maps; m++)
        if (strcmp(set->map_names[m], name) == 0)
            return item->map_arrays[m];
    return NULL;
}

enum clv_status map_of_item(struct map_reader *map, const struct clv_recipe_map *wanted, const struct clv_set *set,
                            const struct clv_item *item, const struct clv_image_limits *limits, struct clv_error *err)
{
    const char *path = map_path(set, item, wanted->name);
    const struct clv_array *array = array_of(set, item, wanted->name);
    const enum clv_map_layout layout = (enum clv_map_layout)wanted->layout;
    OWNED(map_reader_close) struct map_reader opened = {0};
    FAIL_IF(!path, CLV_ERR_NO_INPUT, "%s: has no map %s; --maps %s=FOLDER or a column maps.%s says where", item->name,
            wanted->name, wanted->name, wanted->name);
    if (item_is_in_memory(item) && layout == CLV_MAP_LAYOUT_BANDS)
        MUST(bands_map_read(&opened.map, item, limits, err));
    else
        MUST(array ? map_reader_of_array(&opened, array, layout, path, limits, err)
                   : map_reader_open(&opened, path, layout, limits, err));
    FAIL_IF(wanted->n_channels && opened.map.n_channels != wanted->n_channels, CLV_ERR_DATA,
            "%s: %d channels of %d x %d, other maps %s have %d", path, opened.map.n_channels, opened.map.height,
            opened.map.width, wanted->name, wanted->n_channels);
    *map = TAKE(opened);
    return CLV_OK;
}

struct opened_maps {
    struct map_reader *maps;
    int32_t n;
};

static void opened_maps_close(struct opened_maps *self)
{
    for (int32_t m = 0; self->maps && m < self->n; m++)
        map_reader_close(&self->maps[m]);
    array_free(self->maps);
}

void item_maps_close(struct map_reader *maps, const struct clv_recipe *recipe)
{
    opened_maps_close(&(struct opened_maps){maps, recipe->n_maps});
}

enum clv_status item_maps_open(struct map_reader **maps, const struct clv_recipe *recipe, const struct clv_set *set,
                               const struct clv_item *item, const struct clv_image_limits *limits,
                               struct clv_error *err)
{
    *maps = NULL;
    if (!recipe->n_maps)
        return CLV_OK;
    OWNED(opened_maps_close) struct opened_maps opened = {.n = recipe->n_maps};
    opened.maps = array_zalloc((size_t)recipe->n_maps, sizeof *opened.maps);
    NEED(opened.maps);
    for (int32_t m = 0; m < recipe->n_maps; m++)
        MUST(map_of_item(&opened.maps[m], &recipe->maps[m], set, item, limits, err));
    *maps = TAKE(opened.maps);
    return CLV_OK;
}

double item_maps_memory(const struct clv_recipe *recipe, const struct clv_set *set, const struct clv_item *item,
                        const struct clv_image_limits *limits)
{
    double bytes = 0;
    for (size_t m = 0; m < set->n_maps; m++) {
        enum clv_map_layout layout = CLV_MAP_LAYOUT_AUTO;
        for (int32_t k = 0; k < recipe->n_maps; k++)
            if (strcmp(set->map_names[m], recipe->maps[k].name) == 0) {
                layout = (enum clv_map_layout)recipe->maps[k].layout;
                bytes += recipe->maps[k].n_components ? (double)MAP_SUMS : 0;
            }
        bytes += item_is_in_memory(item) && layout == CLV_MAP_LAYOUT_BANDS ? bands_map_memory(item, limits)
                 : item->map_arrays[m] ? map_array_memory(item->map_arrays[m], layout, limits)
                 : item->maps[m]       ? map_file_memory(item->maps[m], layout, limits)
                                       : 0;
    }
    return bytes;
}
