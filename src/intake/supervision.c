/* Selects the training images of a dataset: first those with masks, then those with boxes, then unlabelled ones, by
 * --split, --only, --include-drafts, --weak-split and --unlabelled-split. Start at supervision_read. */
#include "intake/intake.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"

#define NAMES_MAX_SIZE ((size_t)1 << 28) /* bytes of a list of names */

void supervision_release(struct supervision *self)
{
    bad_images_release(&self->bad);
    if (self->boxes)
        box_hints_free(self->boxes, self->set.n_items);
    clv_set_release(&self->set);
    *self = (struct supervision){0};
}

struct name {
    const char *text;
    size_t line;
    bool found;
};

/* Names sorted by text. `bytes` owns the texts; NULL: they belong to a set. */
struct names {
    struct name *list;
    size_t n, capacity;
    char *bytes;
};

static void names_release(struct names *self)
{
    arrays_free(self->list, self->bytes);
    *self = (struct names){0};
}

static enum clv_status names_add(struct names *self, const char *text, size_t line, struct clv_error *err)
{
    NEED(!array_reserve((void **)&self->list, &self->capacity, self->n + 1, sizeof *self->list));
    self->list[self->n++] = (struct name){text, line, false};
    return CLV_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *s = a, *t = b;
    int order = strcmp(s->text, t->text);
    return order ? order : (s->line > t->line) - (s->line < t->line);
}

static void names_sort(struct names *self)
{
    if (self->n)
        qsort(self->list, self->n, sizeof *self->list, compare_names);
}

static int compare_text(const void *text, const void *name)
{
    return strcmp(text, ((const struct name *)name)->text);
}

static struct name *names_find(const struct names *self, const char *text)
{
    return self->n ? bsearch(text, self->list, self->n, sizeof *self->list, compare_text) : NULL;
}

/* Reads one name per line. Skips blank lines, a BOM and repeated names; lines may end with CRLF. */
static enum clv_status names_read(struct names *self, const char *path, struct clv_error *err)
{
    size_t size, line = 0, kept = 0;
    MUST(file_read(&self->bytes, &size, path, NAMES_MAX_SIZE, err));
    char *end = self->bytes + size, *cursor = text_skip_mark(self->bytes, &size), *text;
    while ((text = line_next(&cursor, end))) {
        line++;
        if (strncmp(text, "./", 2) == 0)
            text += 2;
        if (*text)
            MUST(names_add(self, text, line, err));
    }
    FAIL_IF(!self->n, CLV_ERR_DATA,
            "%s: names no image: list those whose masks are to be read, one a line, as the set calls "
            "them; for no mask at all leave out --only",
            path);
    names_sort(self);
    for (size_t i = 0; i < self->n; i++)
        if (i == 0 || strcmp(self->list[i].text, self->list[kept - 1].text) != 0)
            self->list[kept++] = self->list[i];
    self->n = kept;
    return CLV_OK;
}

/* Appends the items of `other` to those of `set`. */
static enum clv_status append_items(struct clv_set *set, struct clv_set *other, struct clv_error *err)
{
    size_t n = set->n_items + other->n_items;
    struct clv_item *items = array_realloc(set->items, n, sizeof *items);
    NEED(items);
    set->items = items;
    array_put(items + set->n_items, other->items, other->n_items, sizeof *items);
    set->n_items = n;
    other->n_items = 0;
    return CLV_OK;
}

/* Lists the names of all images of the set, sorted. */
static enum clv_status names_of_set(struct names *self, const struct clv_set *set, struct clv_error *err)
{
    for (size_t i = 0; i < set->n_items; i++)
        MUST(names_add(self, set->items[i].name, 0, err));
    names_sort(self);
    return CLV_OK;
}

static bool is_named(void *names, struct clv_item *item)
{
    struct name *name = names_find(names, item->name);
    if (name)
        name->found = true;
    return name != NULL;
}

static enum clv_status keep_only(struct clv_set *set, const char *path, const struct clv_train_options *options,
                                 struct clv_error *err)
{
    OWNED(names_release) struct names names = {0};
    MUST(names_read(&names, options->only, err));
    set_keep(set, is_named, &names);
    const struct name *missing = NULL;
    for (size_t i = 0; i < names.n; i++)
        if (!names.list[i].found && (!missing || names.list[i].line < missing->line))
            missing = &names.list[i];
    FAIL_IF(missing, CLV_ERR_DATA, "%s: line %zu: %s has no image \"%s\"%s%s", options->only, missing->line, path,
            missing->text, options->split ? " in split " : " to learn from", options->split ? options->split : "");
    for (size_t i = 0; i < set->n_items; i++)
        FAIL_IF(!set->items[i].mask, CLV_ERR_DATA, "%s: \"%s\" has no mask in %s", options->only, set->items[i].name,
                path);
    return CLV_OK;
}

static bool is_not_weak(void *context, struct clv_item *item)
{
    const struct clv_train_options *options = context;
    return !split_is_listed(options->weak_split, item->split) &&
           !split_is_listed(options->unlabelled_split, item->split);
}

/* Returns the split of all items, or NULL if they differ. */
static const char *common_split(const struct clv_set *set)
{
    static const char train[] = "train"; /* the split that training_set_read prefers */
    for (size_t i = 0; i < set->n_items; i++)
        if (strcmp(set->items[i].split, train) != 0)
            return NULL;
    return train;
}

/* Reads the images with masks. *splits receives the chosen splits; NULL: all. If boxes are also used, images without
 * masks are not reported yet. */
static enum clv_status read_masks(struct supervision *self, const char **splits, const char *path,
                                  const struct clv_train_options *options, struct clv_error *err)
{
    MUST(training_set_read(&self->set, path, options->split, true,
                           &(struct set_check){options->check, options->check_context}, options->progress, err));
    *splits = options->split ? options->split : common_split(&self->set);
    if (options->limits.band_files)
        MUST(band_images_join(&self->set, &options->limits, err));
    MUST(training_set_hide(&self->set, options->voids, err));
    if (!options->drafts && !options->only)
        training_set_drop_drafts(&self->set, path, DRAFTS_HINT, options->progress);
    if (options->only)
        MUST(keep_only(&self->set, path, options, err));
    else if (!options->split)
        set_keep(&self->set, is_not_weak, (void *)(uintptr_t)options);
    if (options->boxes || options->weak_split)
        set_keep_masked(&self->set);
    else if (self->set.n_items && !(options->recipe.window && set_has_mask(&self->set)))
        MUST(training_set_require_masks(&self->set, path, options->progress, err));
    self->n_masks = self->set.n_items;
    return CLV_OK;
}

struct marks {
    const struct clv_item *items;
    const bool *is_new; /* of each item */
};

static bool is_marked(void *context, struct clv_item *item)
{
    const struct marks *marks = context;
    return marks->is_new[item - marks->items];
}

/* Removes the masks of all items, and every item whose image is in self->set or in an earlier item. */
static enum clv_status keep_new(struct clv_set *set, const struct supervision *self, struct clv_error *err)
{
    OWNED(names_release) struct names known_names = {0};
    OWNED(names_release) struct names set_names = {0};
    OWNED_ARRAY bool *is_new = array_alloc(set->n_items, sizeof *is_new);
    NEED(is_new);
    MUST(names_of_set(&known_names, &self->set, err));
    MUST(names_of_set(&set_names, set, err));
    for (size_t i = 0; i < set->n_items; i++) {
        struct name *name = names_find(&set_names, set->items[i].name); /* one entry for all items of an image */
        is_new[i] = !name->found && !names_find(&known_names, name->text);
        name->found = true;
    }
    for (size_t i = 0; i < set->n_items; i++) {
        array_free(set->items[i].mask);
        set->items[i].mask = NULL;
    }
    set_keep(set, is_marked, &(struct marks){set->items, is_new});
    return CLV_OK;
}

/* Extends self->boxes by n items without boxes. */
static enum clv_status extend_boxes(struct supervision *self, size_t n, struct clv_error *err)
{
    size_t n_before = self->boxes ? self->set.n_items : 0, n_after = self->set.n_items + n;
    struct item_boxes *grown = array_realloc(self->boxes, n_after, sizeof *grown);
    NEED(grown);
    for (size_t i = n_before; i < n_after; i++)
        grown[i] = (struct item_boxes){0};
    self->boxes = grown;
    return CLV_OK;
}

/* Adds the images with boxes. `splits` are the splits of the images with masks. */
static enum clv_status add_boxed(struct supervision *self, const char *splits, const char *path,
                                 const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(supervision_release) struct supervision boxed = {0};
    struct clv_set *set = &boxed.set;
    MUST(training_set_read_more(set, path, options->weak_split ? options->weak_split : splits, err));
    if (options->limits.band_files)
        MUST(band_images_join(set, &options->limits, err));
    if (!options->weak_split && !options->split)
        set_keep(set, is_not_weak, (void *)(uintptr_t)options);
    MUST(keep_new(set, self, err));
    if (!set->n_items)
        report_message(options->progress, CLV_NOTE, "%s: all %zu images have masks, which teach more than boxes", path,
                       self->n_masks);
    MUST(box_hints_read(&boxed.boxes, set, &self->bad, &self->set, options, err));
    size_t first = self->set.n_items, n = set->n_items;
    MUST(extend_boxes(self, n, err));
    MUST(append_items(&self->set, set, err));
    for (size_t i = 0; i < n; i++)
        self->boxes[first + i] = TAKE(boxed.boxes[i]);
    self->n_boxed = n;
    return CLV_OK;
}

static enum clv_status add_unlabelled(struct supervision *self, const char *path,
                                      const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    MUST(training_set_read_more(&set, path, options->unlabelled_split, err));
    if (options->limits.band_files)
        MUST(band_images_join(&set, &options->limits, err));
    MUST(keep_new(&set, self, err));
    self->n_unlabelled = set.n_items;
    MUST(extend_boxes(self, set.n_items, err));
    return append_items(&self->set, &set, err);
}

enum clv_status supervision_read(struct supervision *self, const struct clv_train_options *options,
                                 struct clv_error *err)
{
    const char *path = options->data;
    OWNED(supervision_release) struct supervision result = {0};
    const char *splits;
    MUST(read_masks(&result, &splits, path, options, err));
    if (options->weak_split || options->boxes)
        MUST(add_boxed(&result, splits, path, options, err));
    if (options->unlabelled_split)
        MUST(add_unlabelled(&result, path, options, err));
    FAIL_IF(!result.n_masks && !result.n_boxed && !result.bad.n, CLV_ERR_DATA,
            "%s: %zu images without labels teach nothing unless some have masks or boxes", path, result.n_unlabelled);
    *self = TAKE(result);
    return CLV_OK;
}
