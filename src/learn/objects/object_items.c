/* Reads an image of a set and its objects, and marks the pixels whose object is unknown. Start at object_items_read, at
 * the end. */
#include "base/base.h"
#include "data/data.h"
#include "learn/objects/objects.h"
#include "object/object.h"

/* Marks pixels whose object is unknown: void pixels of the mask, and pixels without an object whose label some object
 * of the image has. The latter pixels are a crowd, whose objects are not separated. */
static enum clv_status mark_unknown(struct clv_object_map *map, const struct clv_item *item,
                                    const struct object_items *self, struct clv_error *err)
{
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    const struct mask_wanted wanted = {map->width, map->height, self->limits};
    const size_t n = (size_t)map->width * (size_t)map->height;
    bool has_objects[256] = {false};
    if (!item->mask || item->is_derived)
        return CLV_OK;
    MUST(item_mask_read(&mask, item, self->labels, &wanted, err));
    for (size_t p = 0; p < n; p++)
        has_objects[mask.labels[p]] |= map->objects[p] != 0;
    has_objects[0] = false;
    has_objects[CLV_VOID] = true;
    for (size_t p = 0; p < n; p++)
        if (!map->objects[p] && has_objects[mask.labels[p]])
            map->objects[p] = OBJECT_UNKNOWN;
    return CLV_OK;
}

static enum clv_status count_tiny(size_t *n_tiny, const struct clv_object_map *map, struct clv_error *err)
{
    OWNED_ARRAY int32_t *area = array_zalloc((size_t)map->n_objects + 1, sizeof *area);
    NEED(area);
    for (size_t p = 0; p < (size_t)map->width * (size_t)map->height; p++)
        area[map->objects[p]]++;
    *n_tiny = 0;
    for (int32_t k = 1; k <= map->n_objects; k++)
        *n_tiny += area[k] == 1;
    return CLV_OK;
}

enum clv_status object_items_read(struct clv_image *image, int32_t **objects, const struct object_items *self,
                                  size_t index, struct clv_error *err)
{
    const struct clv_item *item = self->items[index];
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    MUST(item_image_read(image, item, self->limits, err));
    MUST(item_objects_read(&map, item, image->width, image->height, self->limits, err));
    MUST(count_tiny(&self->n_tiny[index], &map, err));
    MUST(mark_unknown(&map, item, self, err));
    *objects = TAKE(map.objects);
    return CLV_OK;
}
