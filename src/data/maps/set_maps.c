/* Adds a map from a folder to each item of a dataset. Start at clv_set_add_maps. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/data.h"
#include "data/maps/maps.h"

/* The index of a name among the dataset's maps, or n_maps if it is new. */
static size_t find_name(const struct clv_set *set, const char *name)
{
    size_t m = 0;
    while (m < set->n_maps && strcmp(set->map_names[m], name) != 0)
        m++;
    return m;
}

struct use {
    const char *map, *image;
};

static int compare_uses(const void *a, const void *b)
{
    const struct use *s = a, *t = b;
    int order = strcmp(s->map, t->map);
    return order ? order : strcmp(s->image, t->image);
}

/* Refuses a map that two images share: images of equal stem in different folders need different maps. */
static enum clv_status check_shared(const struct clv_set *set, char *const *maps, struct clv_error *err)
{
    OWNED_ARRAY struct use *uses = array_alloc(set->n_items, sizeof *uses);
    NEED(uses);
    for (size_t i = 0; i < set->n_items; i++)
        uses[i] = (struct use){maps[i], set->items[i].name};
    qsort(uses, set->n_items, sizeof *uses, compare_uses);
    for (size_t i = 1; i < set->n_items; i++)
        FAIL_IF(strcmp(uses[i - 1].map, uses[i].map) == 0 && strcmp(uses[i - 1].image, uses[i].image) != 0,
                CLV_ERR_DATA, "%s: the map of two images, %s and %s; keep their folders", uses[i].map,
                uses[i - 1].image, uses[i].image);
    return CLV_OK;
}

enum clv_status clv_set_add_maps(struct clv_set *set, const char *name, const char *folder, struct clv_error *err)
{
    size_t m = find_name(set, name);
    if (!*name || strlen(name) > CLV_MAX_MAP_NAME)
        return fail(err, CLV_ERR_USAGE, "map \"%.60s\": a map's name has 1 to %d bytes", name, CLV_MAX_MAP_NAME);
    FAIL_IF(m == CLV_MAX_MAPS, CLV_ERR_USAGE, "map \"%s\": one more than %d", name, CLV_MAX_MAPS);
    OWNED(path_list_release) struct path_list found = {.paths = array_zalloc(set->n_items, sizeof *found.paths)};
    NEED(found.paths);
    for (; found.n < set->n_items; found.n++)
        MUST(map_find(&found.paths[found.n], folder, set->items[found.n].name, err));
    MUST(check_shared(set, found.paths, err));
    for (size_t i = 0; i < set->n_items; i++) {
        char *before = set->items[i].maps[m];
        set->items[i].maps[m] = found.paths[i];
        found.paths[i] = before; /* freed with the list */
    }
    if (m == set->n_maps)
        memcpy(set->map_names[set->n_maps++], name, strlen(name) + 1);
    return CLV_OK;
}
