/* The objects of an image of the set: its mask, and the label image of its objects. */
#include <string.h>

#include "base/base.h"
#include "cli/import/import.h"

enum clv_status import_objects_begin(struct import_objects *self, int32_t width, int32_t height, struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    *self = (struct import_objects){.map = {.width = width, .height = height}};
    self->map.objects = array_zalloc(n, sizeof *self->map.objects);
    self->layer = array_zalloc(n, 1);
    return self->map.objects && self->layer ? CLV_OK : fail_memory(err);
}

void import_objects_release(struct import_objects *self)
{
    clv_object_map_release(&self->map);
    arrays_free(self->layer, self->mask, self->objects);
}

enum clv_status import_objects_add(struct import_objects *self, uint8_t value, bool is_crowd,
                                   const struct clv_pixel_box *within, struct clv_error *err)
{
    if (array_reserve((void **)&self->objects, &self->capacity, self->n + 1, sizeof *self->objects))
        return fail_memory(err);
    struct import_object *own = &self->objects[self->n++];
    *own = (struct import_object){.value = value, .is_crowd = is_crowd};
    size_t stride = (size_t)self->map.width;
    for (int32_t y = within->first_y; y < within->end_y; y++)
        for (int32_t x = within->first_x; x < within->end_x; x++)
            own->area += self->layer[(size_t)y * stride + (size_t)x];
    own->left = own->area;
    for (int32_t y = within->first_y; y < within->end_y; y++)
        for (int32_t x = within->first_x; x < within->end_x; x++) {
            size_t at = (size_t)y * stride + (size_t)x;
            struct import_object *other = self->map.objects[at] ? &self->objects[self->map.objects[at] - 1] : NULL;
            if (!self->layer[at])
                continue;
            self->layer[at] = 0;
            if (!other || own->area <= other->area)
                self->map.objects[at] = (int32_t)self->n;
            if (other)
                (own->area <= other->area ? other : own)->left--;
        }
    return CLV_OK;
}

enum clv_status import_objects_end(struct import_objects *self, struct import_set *set, struct clv_error *err)
{
    size_t n = (size_t)self->map.width * (size_t)self->map.height;
    self->mask = array_alloc(n, 1);
    if (!self->mask)
        return fail_memory(err);
    for (size_t k = 0; k < self->n; k++) {
        struct import_object *object = &self->objects[k];
        set->n_overlapped += object->left < object->area;
        set->n_hidden += !object->left;
        if (object->left && object->value && !object->is_crowd)
            object->number = ++self->map.n_objects;
    }
    for (size_t p = 0; p < n; p++) {
        const struct import_object *object = self->map.objects[p] ? &self->objects[self->map.objects[p] - 1] : NULL;
        self->mask[p] = object ? object->value : set->options->outside ? 255 : 0;
        self->map.objects[p] = object ? object->number : 0;
    }
    MUST(import_write_mask(set, self->map.width, self->map.height, self->mask, err));
    return set->options->outside ? CLV_OK : import_write_objects(set, &self->map, err);
}
