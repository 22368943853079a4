/* Finds the boxes of a set's images, in one file for all or in the files that the items name, and converts them to
 * pixels. Images without boxes are removed from the set; images with invalid boxes are reported as bad. Start at
 * box_hints_read. */
#include "intake/intake.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/boxes/boxes.h"
#include "data/data.h"

void box_hints_free(struct item_boxes *boxes, size_t n_items)
{
    for (size_t i = 0; boxes && i < n_items; i++)
        array_free(boxes[i].boxes);
    array_free(boxes);
}

struct hints_state {
    struct clv_boxes file; /* the last one that was read */
    const struct clv_train_options *options;
    size_t n_cut;
    struct bad_images *bad;   /* also receives unreadable files of boxes */
    struct item_boxes *found; /* [n_found] boxes of the set's items */
    size_t n_found;
};

static void reading_release(struct hints_state *self)
{
    clv_boxes_release(&self->file);
    box_hints_free(self->found, self->n_found);
}

static enum clv_status open_file(struct hints_state *self, const char *path, struct clv_error *err)
{
    clv_boxes_release(&self->file);
    MUST(clv_boxes_read(&self->file, path, err));
    for (size_t i = 0; i < self->file.n_bad_files; i++) {
        const struct clv_bad_file *bad = &self->file.bad_files[i];
        struct clv_error why = {0};
        const enum clv_status status = fail_told(&why, CLV_ERR_DATA, bad->message, bad->path_length, bad->kind);
        MUST(bad_images_add(self->bad, NO_ITEM, status, &why, err));
    }
    report_count(self->options->progress, path, self->file.n_skipped, NO_BOXES, self->file.first_skipped);
    return CLV_OK;
}

static enum clv_status place_boxes(struct item_boxes *boxes, size_t *n_cut_before, const struct clv_boxes *file,
                                   const struct clv_image_boxes *entry, const struct clv_item *item,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    int32_t width, height;
    size_t n_cut = 0, n = entry->n_boxes, n_voids = 0;
    MUST(item_image_size(&width, &height, item, limits, err));
    OWNED_ARRAY struct clv_box *placed = array_alloc(n, sizeof *placed);
    OWNED_ARRAY struct clv_pixel_box *pixels = array_alloc(n + entry->n_voids, sizeof *pixels);
    NEED(placed && pixels);
    MUST(clv_boxes_place(placed, &n_cut, file, entry, width, height, err));
    for (size_t i = 0; i < n; i++)
        pixels[i] = clv_box_pixels(&placed[i], width, height);
    for (size_t i = 0; i < entry->n_voids; i++)
        n_voids += boxes_place_void(&pixels[n + n_voids], &entry->voids[i], entry, width, height);
    *n_cut_before += n_cut;
    *boxes = (struct item_boxes){TAKE(pixels), n, n_voids};
    return CLV_OK;
}

enum clv_status box_hints_place(struct item_boxes *boxes, size_t *n_cut, const struct clv_image_boxes *given,
                                const struct clv_item *item, const struct clv_image_limits *limits,
                                struct clv_error *err)
{
    struct clv_image_boxes entry = *given;
    entry.image = entry.source = item->name;
    return place_boxes(boxes, n_cut, &(struct clv_boxes){.images = &entry, .n_images = 1}, &entry, item, limits, err);
}

void box_hints_note_cut(size_t n_cut, const struct clv_train_options *options)
{
    if (n_cut)
        report_message(options->progress, CLV_NOTE, "cut %s",
                       n_of(n_cut, "box at the border of its image", "boxes at the borders of their images").text);
}

/* An item of the set that names a file of boxes, and the first item that names the same file. */
struct naming_item {
    const char *path;
    size_t index, first;
};

static int compare_paths(const void *a, const void *b)
{
    const struct naming_item *s = a, *t = b;
    const int order = strcmp(s->path, t->path);
    return order ? order : (s->index > t->index) - (s->index < t->index);
}

static int compare_firsts(const void *a, const void *b)
{
    const struct naming_item *s = a, *t = b;
    return s->first != t->first ? (s->first > t->first) - (s->first < t->first)
                                : (s->index > t->index) - (s->index < t->index);
}

/* Lists the items that name files of boxes, in groups of one file, in the order of the files' first items. */
static enum clv_status list_naming(struct naming_item **list, size_t *n, const struct clv_set *set,
                                   struct clv_error *err)
{
    struct naming_item *items = array_alloc(set->n_items, sizeof *items);
    NEED(items);
    *n = 0;
    for (size_t i = 0; i < set->n_items; i++)
        if (set->items[i].boxes)
            items[(*n)++] = (struct naming_item){set->items[i].boxes, i, i};
    if (*n)
        qsort(items, *n, sizeof *items, compare_paths);
    for (size_t k = 1; k < *n; k++)
        if (strcmp(items[k].path, items[k - 1].path) == 0)
            items[k].first = items[k - 1].first;
    if (*n)
        qsort(items, *n, sizeof *items, compare_firsts);
    *list = items;
    return CLV_OK;
}

/* Reads the boxes of an item from the open file. *boxes stays unchanged if it has none of the item. */
static enum clv_status read_item_boxes(struct item_boxes *boxes, struct hints_state *self, const struct clv_item *item,
                                       struct clv_error *err)
{
    const struct clv_image_boxes *entry = NULL;
    MUST(clv_boxes_find(&entry, &self->file, item->name, err));
    return clv_boxes_are_known(entry)
               ? place_boxes(boxes, &self->n_cut, &self->file, entry, item, &self->options->limits, err)
               : CLV_OK;
}

/* Reads the boxes of all items from the files that they name, each file once. *n_bad = the number of items whose boxes
 * cannot be used. */
static enum clv_status read_named(struct hints_state *self, size_t *n_bad, const struct clv_set *set,
                                  struct clv_error *err)
{
    OWNED_ARRAY struct naming_item *list = NULL;
    struct clv_error why = {0};
    enum clv_status opened = CLV_OK;
    size_t n = 0;
    MUST(list_naming(&list, &n, set, err));
    for (size_t k = 0; k < n; k++) {
        const size_t i = list[k].index;
        if (i == list[k].first)
            opened = open_file(self, list[k].path, &why);
        struct clv_error error = why;
        const enum clv_status status = opened ? opened : read_item_boxes(&self->found[i], self, &set->items[i], &error);
        if (status)
            MUST(bad_images_add(self->bad, NO_ITEM, status, &error, err));
        *n_bad += status != CLV_OK;
    }
    return CLV_OK;
}

#define MAX_LISTED 5

/* Prints a note on the images without boxes, and on the first image in the file that is not in the set. entries[n] are
 * those of the set's items, followed by those of others. */
static void report_missing(const struct clv_set *set, const struct clv_train_options *options,
                           const struct clv_boxes *file, const struct clv_image_boxes *const *entries, size_t n)
{
    size_t n_unused, n_missing = 0;
    const char *unused = boxes_first_unused(&n_unused, file, entries, n);
    OWNED(text_release) struct text names = {0};
    text_init(&names, 1 << 12);
    for (size_t i = 0; i < set->n_items; i++)
        if (!clv_boxes_are_known(entries[i]) && n_missing++ < MAX_LISTED)
            text_printf(&names, "%s%s", n_missing > 1 ? ", " : "", set->items[i].name);
    if (n_missing)
        report_message(options->progress, CLV_NOTE, "%s: %zu of %zu images have no boxes and were skipped: %s%s%s%s",
                       options->boxes, n_missing, set->n_items, names.bytes ? names.bytes : "",
                       n_missing > MAX_LISTED ? ", .." : "", unused ? "; the file also has " : "",
                       unused ? unused : "");
}

/* Reads the boxes of all items from one file. */
static enum clv_status read_shared(struct hints_state *self, const struct clv_set *set, struct bad_images *bad,
                                   const char *path, const struct clv_set *others, struct clv_error *err)
{
    size_t n = set->n_items, n_all = n + others->n_items, n_known = 0;
    OWNED_ARRAY const char **names = array_alloc(n_all, sizeof *names);
    OWNED_ARRAY const struct clv_image_boxes **entries = array_zalloc(n_all, sizeof *entries);
    NEED(names && entries);
    MUST(open_file(self, path, err));
    for (size_t i = 0; i < n_all; i++)
        names[i] = i < n ? set->items[i].name : others->items[i - n].name;
    MUST(boxes_find_all(entries, &self->file, names, n_all, err));
    for (size_t i = 0; i < n; i++)
        n_known += clv_boxes_are_known(entries[i]);
    FAIL_IF(n && !n_known, CLV_ERR_DATA,
            "%s: has boxes for none of the %zu images, neither \"%s\" nor another; it has \"%s\"", path, n,
            set->items[0].name, self->file.images[0].image);
    report_missing(set, self->options, &self->file, entries, n_all);
    for (size_t i = 0; i < n; i++) {
        struct clv_error why = {0};
        if (!clv_boxes_are_known(entries[i]))
            continue;
        enum clv_status status = place_boxes(&self->found[i], &self->n_cut, &self->file, entries[i], &set->items[i],
                                             &self->options->limits, &why);
        if (status)
            MUST(bad_images_add(bad, NO_ITEM, status, &why, err));
    }
    return CLV_OK;
}

enum clv_status box_hints_read(struct item_boxes **boxes, struct clv_set *set, struct bad_images *bad,
                               const struct clv_set *others, const struct clv_train_options *options,
                               struct clv_error *err)
{
    size_t n = set->n_items, kept = 0, n_bad = 0, n_before = bad->n;
    OWNED(reading_release) struct hints_state reading = {.options = options, .bad = bad, .n_found = n};
    const char *path = options->boxes;
    reading.found = array_zalloc(n, sizeof *reading.found);
    NEED(reading.found);
    if (path)
        MUST(read_shared(&reading, set, bad, path, others, err));
    else
        MUST(read_named(&reading, &n_bad, set, err));
    for (size_t i = 0; i < n; i++)
        kept += reading.found[i].boxes != NULL;
    FAIL_IF(n && !path && !kept && bad->n == n_before, CLV_ERR_DATA,
            "%s: none of the %zu images has boxes; --boxes names a file of them", set->root, n);
    if (!path && kept + n_bad < n)
        report_message(options->progress, CLV_NOTE, "%s: %zu of %zu images have no boxes and were skipped", set->root,
                       n - kept - n_bad, n);
    box_hints_note_cut(reading.n_cut, options);
    kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!reading.found[i].boxes) {
            item_release(&set->items[i]);
            continue;
        }
        reading.found[kept] = reading.found[i];
        set->items[kept++] = set->items[i];
    }
    set->n_items = kept;
    *boxes = TAKE(reading.found);
    return CLV_OK;
}
