#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/data.h"
#include "data/maps/maps.h"

/* The place of a name among the set's, n_maps where it is new. */
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

/* Images of one stem in different folders must not go by one map. */
static enum clv_status check_shared(const struct clv_set *set, char *const *maps, struct clv_error *err)
{
    struct use *uses = array_alloc(set->n_items, sizeof *uses);
    MUST_IF(!uses, fail_memory(err));
    for (size_t i = 0; i < set->n_items; i++)
        uses[i] = (struct use){maps[i], set->items[i].name};
    qsort(uses, set->n_items, sizeof *uses, compare_uses);
    enum clv_status status = CLV_OK;
    for (size_t i = 1; i < set->n_items && status == CLV_OK; i++)
        if (strcmp(uses[i - 1].map, uses[i].map) == 0 && strcmp(uses[i - 1].image, uses[i].image) != 0)
            status = fail(err, CLV_ERR_DATA, "%s: the map of two images, %s and %s; keep their folders", uses[i].map,
                          uses[i - 1].image, uses[i].image);
    array_free(uses);
    return status;
}

enum clv_status clv_set_add_maps(struct clv_set *set, const char *name, const char *folder, struct clv_error *err)
{
    size_t m = find_name(set, name);
    if (!*name || strlen(name) > CLV_MAX_MAP_NAME)
        return fail(err, CLV_ERR_USAGE, "map \"%.60s\": a map's name has 1 to %d bytes", name, CLV_MAX_MAP_NAME);
    FAIL_IF(m == CLV_MAX_MAPS, CLV_ERR_USAGE, "map \"%s\": one more than %d", name, CLV_MAX_MAPS);
    char **maps = array_zalloc(set->n_items, sizeof *maps);
    enum clv_status status = maps ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < set->n_items && status == CLV_OK; i++)
        status = map_find(&maps[i], folder, set->items[i].name, err);
    TRY(check_shared(set, maps, err));
    for (size_t i = 0; maps && i < set->n_items; i++) {
        char **own = &set->items[i].maps[m], *other = maps[i];
        if (status == CLV_OK) {
            other = *own;
            *own = maps[i];
        }
        array_free(other);
    }
    array_free(maps);
    if (status == CLV_OK && m == set->n_maps)
        memcpy(set->map_names[set->n_maps++], name, strlen(name) + 1);
    return status;
}
