/* Paints the mask of an image and the label image of its objects. Each shape is painted on a layer and copied from
 * there; if two overlap, the one with fewer pixels is in front. Void shapes are treated like the others. Start at
 * import_objects_paint. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/import/import.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

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
    *self = (struct import_objects){0};
}

enum clv_status import_objects_add(struct import_objects *self, uint8_t value, bool is_crowd,
                                   const struct clv_pixel_box *within, struct clv_error *err)
{
    if (array_reserve((void **)&self->objects, &self->capacity, self->n + 1, sizeof *self->objects))
        return fail_memory(err);
    struct import_object *object = &self->objects[self->n++];
    *object = (struct import_object){.value = value, .is_crowd = is_crowd};
    size_t stride = (size_t)self->map.width;
    for (int32_t y = within->first_y; y < within->end_y; y++)
        for (int32_t x = within->first_x; x < within->end_x; x++)
            object->area += self->layer[(size_t)y * stride + (size_t)x];
    object->left = object->area;
    for (int32_t y = within->first_y; y < within->end_y; y++)
        for (int32_t x = within->first_x; x < within->end_x; x++) {
            size_t at = (size_t)y * stride + (size_t)x;
            struct import_object *other = self->map.objects[at] ? &self->objects[self->map.objects[at] - 1] : NULL;
            if (!self->layer[at])
                continue;
            self->layer[at] = 0;
            if (!other || object->area <= other->area)
                self->map.objects[at] = (int32_t)self->n;
            if (other)
                (object->area <= other->area ? other : object)->left--;
        }
    return CLV_OK;
}

/* Returns whether two outlines belong to one object. */
static bool is_same_object(const struct clv_box *box, const struct clv_box *other)
{
    return box->outline->group && box->outline->group == other->outline->group && box->label == other->label;
}

static void include_pixels(struct clv_pixel_box *all, const struct clv_pixel_box *part)
{
    all->first_x = part->first_x < all->first_x ? part->first_x : all->first_x;
    all->first_y = part->first_y < all->first_y ? part->first_y : all->first_y;
    all->end_x = part->end_x > all->end_x ? part->end_x : all->end_x;
    all->end_y = part->end_y > all->end_y ? part->end_y : all->end_y;
}

static void fill_box(const struct canvas *canvas, const struct clv_pixel_box *box)
{
    for (int32_t y = box->first_y; y < box->end_y; y++)
        memset(canvas->pixels + (size_t)y * (size_t)canvas->width + (size_t)box->first_x, canvas->value,
               (size_t)(box->end_x - box->first_x));
}

/* Paints the object of the i-th shape with its later shapes; does nothing if an earlier shape belongs to the same
 * object. */
static enum clv_status paint_object(struct import_objects *self, const struct clv_image_boxes *entry, size_t i,
                                    const struct clv_box *placed, const uint8_t *values, struct clv_error *err)
{
    const struct canvas canvas = {self->layer, self->map.width, self->map.height, 1};
    const struct clv_box *box = &entry->boxes[i];
    struct clv_pixel_box all = clv_box_pixels(&placed[i], canvas.width, canvas.height);
    for (size_t k = 0; k < i && box->outline->group; k++)
        if (is_same_object(box, &entry->boxes[k]))
            return CLV_OK;
    MUST(outline_fill(&canvas, box->outline, entry->is_relative, err));
    for (size_t k = i + 1; k < entry->n_boxes && box->outline->group; k++)
        if (is_same_object(box, &entry->boxes[k])) {
            const struct clv_pixel_box part = clv_box_pixels(&placed[k], canvas.width, canvas.height);
            include_pixels(&all, &part);
            MUST(outline_fill(&canvas, entry->boxes[k].outline, entry->is_relative, err));
        }
    return import_objects_add(self, values[box->label], box->outline->is_crowd, &all, err);
}

/* Handles a mask of another size than the image: its box becomes void or, without a box, all pixels without an
 * object. */
static enum clv_status paint_unsuited(struct import_objects *self, const struct clv_image_boxes *entry,
                                      const struct clv_box *box, const struct clv_box *placed, struct clv_error *err)
{
    const struct canvas canvas = {self->layer, self->map.width, self->map.height, 1};
    const struct clv_pixel_box pixels = clv_box_pixels(placed, canvas.width, canvas.height);
    if (!self->n_unsuited++)
        snprintf(self->why, sizeof self->why, "%s: annotation %zu: runs of a mask of %dx%d pixels, %s is %dx%d",
                 entry->source, box->index, box->outline->frame.width, box->outline->frame.height, entry->image,
                 canvas.width, canvas.height);
    if (!(box->outline->stated.width > 0 && box->outline->stated.height > 0)) {
        self->is_unsure = true;
        return CLV_OK;
    }
    fill_box(&canvas, &pixels);
    return import_objects_add(self, CLV_VOID, true, &pixels, err);
}

static enum clv_status paint_void(struct import_objects *self, const struct clv_image_boxes *entry,
                                  const struct clv_box *box, struct clv_error *err)
{
    const struct canvas canvas = {self->layer, self->map.width, self->map.height, 1};
    struct clv_pixel_box pixels = {0, 0, canvas.width, canvas.height};
    bool is_suited = box->outline && outline_suits(box->outline, canvas.width, canvas.height);
    if (!boxes_place_void(&pixels, box, entry, canvas.width, canvas.height))
        return CLV_OK;
    if (is_suited)
        MUST(outline_fill(&canvas, box->outline, entry->is_relative, err));
    else
        fill_box(&canvas, &pixels);
    return import_objects_add(self, CLV_VOID, true, &pixels, err);
}

/* Paints outlines, then void shapes. Messages do not name the image. */
static enum clv_status paint_all(struct import_objects *self, const struct clv_image_boxes *entry,
                                 const struct clv_box *placed, const uint8_t *values, struct clv_error *err)
{
    for (size_t i = 0; i < entry->n_boxes; i++)
        MUST(outline_suits(entry->boxes[i].outline, self->map.width, self->map.height)
                 ? paint_object(self, entry, i, placed, values, err)
                 : paint_unsuited(self, entry, &entry->boxes[i], &placed[i], err));
    for (size_t i = 0; i < entry->n_voids; i++)
        MUST(paint_void(self, entry, &entry->voids[i], err));
    return CLV_OK;
}

enum clv_status import_objects_paint(struct import_objects *self, const struct clv_image_boxes *entry,
                                     const struct clv_box *placed, const uint8_t *values, struct clv_error *err)
{
    self->is_unsure = entry->is_unsure;
    enum clv_status status = paint_all(self, entry, placed, values, err);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, entry->image);
}

/* Returns whether any of bytes[n] differs from the value. */
static bool has_other(const uint8_t *bytes, uint8_t value, size_t n)
{
    while (n && bytes[n - 1] == value)
        n--;
    return n > 0;
}

enum clv_status import_objects_end(struct import_objects *self, struct import_set *set, struct clv_error *err)
{
    size_t n = (size_t)self->map.width * (size_t)self->map.height;
    NEED(self->mask = array_alloc(n, 1));
    for (size_t k = 0; k < self->n; k++) {
        struct import_object *object = &self->objects[k];
        set->n_overlapped += object->left < object->area;
        set->n_hidden += !object->left;
        if (object->left && object->value && object->value != CLV_VOID && !object->is_crowd)
            object->number = ++self->map.n_objects;
    }
    for (size_t p = 0; p < n; p++) {
        const struct import_object *object = self->map.objects[p] ? &self->objects[self->map.objects[p] - 1] : NULL;
        self->mask[p] = object ? object->value : set->options->outside || self->is_unsure ? CLV_VOID : 0;
        self->map.objects[p] = object ? object->number : 0;
    }
    set->n_faults[CLV_ANNOTATION_SIZE] += self->n_unsuited;
    FAIL_IF(!set->options->outside && !has_other(self->mask, CLV_VOID, n), CLV_ERR_DATA, "%s: %s",
            set->items[set->n - 1].name, self->n_unsuited ? self->why : "nothing of what is marked can be used");
    MUST(import_write_mask(set, self->map.width, self->map.height, self->mask, err));
    return set->options->outside || !self->map.n_objects ? CLV_OK : import_write_objects(set, &self->map, err);
}
