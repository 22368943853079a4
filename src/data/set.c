#include "data/set.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

void clv_item_release(struct clv_item *item)
{
    array_free(item->name);
    array_free(item->image);
    array_free(item->mask);
    array_free(item->boxes);
    array_free(item->split);
    array_free(item->tags);
    *item = (struct clv_item){0};
}

void clv_set_release(struct clv_set *set)
{
    for (size_t i = 0; i < set->n_items; i++)
        clv_item_release(&set->items[i]);
    array_free(set->items);
    array_free(set->root);
    clv_labels_release(&set->labels);
    *set = (struct clv_set){0};
}

/* A path from the root as one that opens; the root "." is left out of it. */
static char *open_path(const struct clv_set *set, const char *relative)
{
    return path_join(strcmp(set->root, ".") == 0 ? "" : set->root, relative);
}

enum clv_status set_add(struct clv_set *set, size_t *capacity, const struct item_fields *fields, struct clv_error *err)
{
    struct clv_item item = {
        .name = string_copy(fields->name),
        .image = open_path(set, fields->name),
        .mask = fields->mask ? open_path(set, fields->mask) : NULL,
        .boxes = fields->boxes ? open_path(set, fields->boxes) : NULL,
        .split = string_copy(fields->split),
        .tags = fields->tags ? string_copy(fields->tags) : NULL,
    };
    if (!item.name || !item.image || !item.split || (fields->mask && !item.mask) || (fields->boxes && !item.boxes) ||
        (fields->tags && !item.tags) ||
        array_reserve((void **)&set->items, capacity, set->n_items + 1, sizeof *set->items)) {
        clv_item_release(&item);
        return fail_memory(err);
    }
    set->items[set->n_items++] = item;
    return CLV_OK;
}

enum clv_status set_read_labels(struct clv_set *set, struct clv_error *err)
{
    char *path = open_path(set, "labels.tsv");
    if (!path)
        return fail_memory(err);
    set->has_label_file = path_exists(path);
    enum clv_status status =
        set->has_label_file ? clv_labels_read(&set->labels, path, err) : clv_labels_binary(&set->labels, err);
    array_free(path);
    return status;
}

enum clv_status clv_set_read(struct clv_set *set, const char *path, struct clv_error *err)
{
    return path_is_folder(path) ? clv_set_read_folder(set, path, err) : clv_set_read_manifest(set, path, err);
}

/* Whether `split` is one of the comma-separated names. */
static bool is_listed(const char *names, const char *split, size_t length)
{
    for (const char *name = names;; name++) {
        const char *end = strchrnul(name, ',');
        if ((size_t)(end - name) == length && memcmp(name, split, length) == 0)
            return true;
        if (!*end)
            return false;
        name = end;
    }
}

static bool has_split(const struct clv_set *set, const char *split, size_t length)
{
    for (size_t i = 0; i < set->n_items; i++)
        if (strlen(set->items[i].split) == length && memcmp(set->items[i].split, split, length) == 0)
            return true;
    return false;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "there are: test, train" for a message. */
static enum clv_status fail_no_split(const struct clv_set *set, const char *wanted, size_t length,
                                     struct clv_error *err)
{
    struct text list;
    text_init(&list, CLV_ERROR_MESSAGE_MAX);
    const char **splits = array_alloc(set->n_items, sizeof *splits);
    if (!splits)
        return fail_memory(err);
    for (size_t i = 0; i < set->n_items; i++)
        splits[i] = set->items[i].split;
    qsort(splits, set->n_items, sizeof *splits, compare_strings);
    for (size_t i = 0; i < set->n_items; i++)
        if (*splits[i] && (i == 0 || strcmp(splits[i - 1], splits[i]) != 0))
            text_printf(&list, "%s%s", list.size ? ", " : "", splits[i]);
    array_free(splits);
    enum clv_status status = list.size ? fail(err, CLV_ERR_DATA, "%s: no image has split \"%.*s\"; there are: %s",
                                              set->root, (int)length, wanted, list.bytes)
                                       : fail(err, CLV_ERR_DATA, "%s: no image has split \"%.*s\"; there are no splits",
                                              set->root, (int)length, wanted);
    text_release(&list);
    return status;
}

enum clv_status clv_set_select(struct clv_set *set, const char *splits, struct clv_error *err)
{
    if (!splits)
        return CLV_OK;
    for (const char *name = splits;; name++) { /* a misspelt name must not go unnoticed beside a right one */
        const char *end = strchrnul(name, ',');
        if (!has_split(set, name, (size_t)(end - name)))
            return fail_no_split(set, name, (size_t)(end - name), err);
        if (!*end)
            break;
        name = end;
    }
    size_t kept = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        if (is_listed(splits, set->items[i].split, strlen(set->items[i].split)))
            set->items[kept++] = set->items[i];
        else
            clv_item_release(&set->items[i]);
    }
    set->n_items = kept;
    return CLV_OK;
}
