/* The maps of an item of a set, in the order of a recipe. */
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/recipe/map_learning.h"

const char *map_path(const struct clv_set *set, const struct clv_item *item, const char *name)
{
    for (size_t m = 0; m < set->n_maps; m++)
        if (strcmp(set->map_names[m], name) == 0)
            return item->maps[m];
    return NULL;
}

enum clv_status map_of_item(struct clv_map *map, const struct clv_recipe_map *wanted, const struct clv_set *set,
                            const struct clv_item *item, const struct clv_image_limits *limits, struct clv_error *err)
{
    const char *path = map_path(set, item, wanted->name);
    if (!path)
        return fail(err, CLV_ERR_NO_INPUT, "%s: has no map %s; --maps %s=FOLDER or a column maps.%s tells where",
                    item->name, wanted->name, wanted->name, wanted->name);
    enum clv_status status = clv_map_read(map, path, (enum clv_map_layout)wanted->layout, limits, err);
    if (status == CLV_OK && wanted->n_channels && map->n_channels != wanted->n_channels) {
        status = fail(err, CLV_ERR_DATA, "%s: %d channels of %d x %d, other maps %s have %d", path, map->n_channels,
                      map->height, map->width, wanted->name, wanted->n_channels);
        clv_map_release(map);
    }
    return status;
}

void clv_item_maps_release(struct clv_map *maps, const struct clv_recipe *recipe)
{
    for (int32_t m = 0; maps && m < recipe->n_maps; m++)
        clv_map_release(&maps[m]);
    array_free(maps);
}

enum clv_status clv_item_maps_read(struct clv_map **maps, const struct clv_recipe *recipe, const struct clv_set *set,
                                   const struct clv_item *item, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    *maps = NULL;
    if (!recipe->n_maps)
        return CLV_OK;
    struct clv_map *read = array_zalloc((size_t)recipe->n_maps, sizeof *read);
    if (!read)
        return fail_memory(err);
    for (int32_t m = 0; m < recipe->n_maps && status == CLV_OK; m++)
        status = map_of_item(&read[m], &recipe->maps[m], set, item, limits, err);
    if (status == CLV_OK)
        *maps = read;
    else
        clv_item_maps_release(read, recipe);
    return status;
}
