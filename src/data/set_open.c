/* Opens a dataset by its path, which is a folder, a manifest or a TIFF with pages, and selects items by their splits.
 * Start at clv_set_read. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/data.h"
#include "data/data.h"
#include "image/image.h"

/* Reads the pages of a TIFF as a dataset without masks. */
static enum clv_status read_pages(struct clv_set *set, const char *path, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set result = {.root = path_folder(path)};
    OWNED(path_list_release) struct path_list pages = {0};
    size_t capacity = 0;
    uint32_t n;
    MUST(clv_image_count(&n, path, err));
    NEED(result.root);
    MUST(path_list_add_pages(&pages, result.root, path_name(path), err));
    for (size_t i = 0; i < pages.n; i++)
        MUST(set_add(&result, &capacity, &(struct item_fields){.name = pages.paths[i], .split = ""}, err));
    MUST(set_read_labels(&result, err));
    *set = TAKE(result);
    return CLV_OK;
}

enum clv_status clv_set_read(struct clv_set *set, const char *path, struct clv_error *err)
{
    if (!path_is_folder(path))
        return text_ends_with(path, ".tif") || text_ends_with(path, ".tiff") ? read_pages(set, path, err)
                                                                             : clv_set_read_manifest(set, path, err);
    enum path_kind kind = PATH_ABSENT;
    OWNED_ARRAY char *manifest = path_join(path, "manifest.tsv");
    NEED(manifest);
    MUST(path_find_kind(&kind, manifest, err));
    return kind == PATH_ABSENT ? clv_set_read_folder(set, path, err) : clv_set_read_manifest(set, manifest, err);
}

bool split_is_listed(const char *names, const char *split)
{
    size_t length = strlen(split);
    for (const char *name = names; name; name = *name ? name + 1 : NULL) {
        const char *end = strchrnul(name, ',');
        if ((size_t)(end - name) == length && memcmp(name, split, length) == 0)
            return true;
        name = end;
    }
    return false;
}

static bool has_split(const struct clv_set *set, const char *split, size_t length)
{
    for (size_t i = 0; i < set->n_items; i++)
        if (strlen(set->items[i].split) == length && memcmp(set->items[i].split, split, length) == 0)
            return true;
    return false;
}

/* Fails with a message that lists the splits of the dataset. */
static enum clv_status fail_no_split(const struct clv_set *set, const char *wanted, size_t length,
                                     struct clv_error *err)
{
    OWNED(text_release) struct text list = {0};
    OWNED_ARRAY const char **splits = array_alloc(set->n_items, sizeof *splits);
    text_init(&list, CLV_ERROR_MESSAGE_MAX);
    NEED(splits);
    for (size_t i = 0; i < set->n_items; i++)
        splits[i] = set->items[i].split;
    qsort(splits, set->n_items, sizeof *splits, compare_strings);
    for (size_t i = 0; i < set->n_items; i++)
        if (*splits[i] && (i == 0 || strcmp(splits[i - 1], splits[i]) != 0))
            text_printf(&list, "%s%s", list.size ? ", " : "", splits[i]);
    FAIL_IF(list.size, CLV_ERR_DATA, "%s: no image has split \"%.*s\"; there are: %s", set->root, (int)length, wanted,
            list.bytes);
    return fail(err, CLV_ERR_DATA, "%s: no image has split \"%.*s\"; there are no splits", set->root, (int)length,
                wanted);
}

enum clv_status set_select_training(struct clv_set *set, const char *splits, struct clv_error *err)
{
    static const char train[] = "train";
    return clv_set_select(set, splits || !has_split(set, train, strlen(train)) ? splits : train, err);
}

size_t set_drop_drafts(struct clv_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        struct clv_item *item = &set->items[i];
        if (!item->is_draft || !item->mask)
            continue;
        array_free(item->mask);
        item->mask = NULL;
        n++;
    }
    return n;
}

void set_keep(struct clv_set *set, item_test *is_kept, void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        if (is_kept(context, &set->items[i]))
            set->items[kept++] = set->items[i];
        else
            item_release(&set->items[i]);
    }
    set->n_items = kept;
}

static bool has_mask(void *context, struct clv_item *item)
{
    (void)context;
    return item->mask != NULL;
}

void set_keep_masked(struct clv_set *set)
{
    set_keep(set, has_mask, NULL);
}

bool set_has_mask(const struct clv_set *set)
{
    bool has_some = false;
    for (size_t i = 0; i < set->n_items; i++)
        has_some |= set->items[i].mask != NULL;
    return has_some;
}

static bool is_in_splits(void *splits, struct clv_item *item)
{
    return split_is_listed(splits, item->split);
}

enum clv_status clv_set_select(struct clv_set *set, const char *splits, struct clv_error *err)
{
    if (!splits)
        return CLV_OK;
    for (const char *name = splits;; name++) { /* every name must exist, so that a misspelt one is reported */
        const char *end = strchrnul(name, ',');
        if (!has_split(set, name, (size_t)(end - name)))
            return fail_no_split(set, name, (size_t)(end - name), err);
        if (!*end)
            break;
        name = end;
    }
    set_keep(set, is_in_splits, (void *)(uintptr_t)splits);
    return CLV_OK;
}
