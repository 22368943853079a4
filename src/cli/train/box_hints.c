#include "cli/train/box_hints.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/common/console.h"

void box_hints_free(struct clv_item_boxes *boxes, size_t n_items)
{
    for (size_t i = 0; boxes && i < n_items; i++)
        array_free(boxes[i].boxes);
    array_free(boxes);
}

struct reading {
    struct clv_boxes file;
    const char *path; /* of the file that is open, or NULL */
    const struct clv_image_limits *limits;
    size_t n_cut;
};

static enum clv_status open_file(struct reading *self, const char *path, struct clv_error *err)
{
    if (self->path && strcmp(self->path, path) == 0)
        return CLV_OK;
    clv_boxes_release(&self->file);
    self->path = NULL;
    enum clv_status status = clv_boxes_read(&self->file, path, err);
    if (status != CLV_OK)
        return status;
    self->path = path;
    if (self->file.n_skipped)
        console_note("%s: %zu annotations are no boxes and were skipped (the first: %s)", path, self->file.n_skipped,
                     self->file.first_skipped);
    return CLV_OK;
}

static enum clv_status place(struct clv_item_boxes *boxes, struct reading *self, const struct clv_image_boxes *entry,
                             const struct clv_item *item, struct clv_error *err)
{
    int32_t width, height;
    size_t n_cut = 0, n = entry->n_boxes;
    enum clv_status status = clv_image_read_size(&width, &height, item->image, self->limits, err);
    if (status != CLV_OK)
        return status;
    struct clv_box *placed = array_alloc(n, sizeof *placed);
    struct clv_pixel_box *pixels = array_alloc(n, sizeof *pixels);
    status =
        placed && pixels ? clv_boxes_place(placed, &n_cut, &self->file, entry, width, height, err) : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        pixels[i] = clv_box_pixels(&placed[i], width, height);
    array_free(placed);
    if (status != CLV_OK) {
        array_free(pixels);
        return status;
    }
    self->n_cut += n_cut;
    *boxes = (struct clv_item_boxes){pixels, n};
    return CLV_OK;
}

/* *boxes stays as it is if the item has none. */
static enum clv_status read_item(struct clv_item_boxes *boxes, struct reading *self, const struct clv_item *item,
                                 const char *path, struct clv_error *err)
{
    const struct clv_image_boxes *entry = NULL;
    if (!path)
        path = item->boxes;
    if (!path)
        return CLV_OK;
    enum clv_status status = open_file(self, path, err);
    if (status == CLV_OK)
        status = clv_boxes_find(&entry, &self->file, item->name, err);
    return status == CLV_OK && entry ? place(boxes, self, entry, item, err) : status;
}

static enum clv_status fail_no_boxes(const struct clv_set *set, const char *path, const struct reading *self,
                                     struct clv_error *err)
{
    if (path && self->file.n_images)
        return fail(err, CLV_ERR_DATA,
                    "%s: has boxes for none of the %zu images, neither \"%s\" nor another; it has \"%s\"", path,
                    set->n_items, set->items[0].name, self->file.images[0].image);
    return fail(err, CLV_ERR_DATA, "%s: none of the %zu images has boxes; --boxes names a file of them", set->root,
                set->n_items);
}

enum clv_status box_hints_read(struct clv_item_boxes **boxes, struct clv_set *set, const char *path,
                               const struct clv_image_limits *limits, struct clv_error *err)
{
    struct reading reading = {.limits = limits};
    size_t n = set->n_items, kept = 0;
    struct clv_item_boxes *found = array_zalloc(n, sizeof *found);
    enum clv_status status = found ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        status = read_item(&found[i], &reading, &set->items[i], path, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        kept += found[i].boxes != NULL;
    if (status == CLV_OK && n && !kept)
        status = fail_no_boxes(set, path, &reading, err);
    clv_boxes_release(&reading.file);
    if (status != CLV_OK) {
        box_hints_free(found, n);
        return status;
    }
    if (kept < n)
        console_note("%s: %zu of %zu images have no boxes and were left out", path ? path : set->root, n - kept, n);
    if (reading.n_cut)
        console_note("%zu boxes reach out of their image and were cut", reading.n_cut);
    kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!found[i].boxes) {
            clv_item_release(&set->items[i]);
            continue;
        }
        found[kept] = found[i];
        set->items[kept++] = set->items[i];
    }
    set->n_items = kept;
    *boxes = found;
    return CLV_OK;
}
