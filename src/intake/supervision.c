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

/* Sorted by text; `bytes` is what they point into, if it is theirs. */
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
    MUST_IF(array_reserve((void **)&self->list, &self->capacity, self->n + 1, sizeof *self->list), fail_memory(err));
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

/* One name a line; blank lines, CRLF and a BOM are fine, and so is a name that is there twice. */
static enum clv_status names_read(struct names *self, const char *path, struct clv_error *err)
{
    size_t size, line = 0, kept = 0;
    MUST(file_read(&self->bytes, &size, path, NAMES_MAX_SIZE, err));
    enum clv_status status = CLV_OK;
    char *cursor = self->bytes, *end = self->bytes + size, *text;
    if (size >= 3 && memcmp(cursor, "\xEF\xBB\xBF", 3) == 0)
        cursor += 3;
    while (status == CLV_OK && (text = line_next(&cursor, end))) {
        line++;
        if (strncmp(text, "./", 2) == 0)
            text += 2;
        if (*text)
            status = names_add(self, text, line, err);
    }
    if (status == CLV_OK && !self->n)
        return fail(err, CLV_ERR_DATA,
                    "%s: names no image: list those whose masks are to be read, one a line, as the set calls "
                    "them; for no mask at all leave out --only",
                    path);
    names_sort(self);
    for (size_t i = 0; i < self->n; i++)
        if (i == 0 || strcmp(self->list[i].text, self->list[kept - 1].text) != 0)
            self->list[kept++] = self->list[i];
    self->n = kept;
    return status;
}

static bool is_listed(const char *splits, const char *split)
{
    size_t length = strlen(split);
    for (const char *name = splits; name; name = *name ? name + 1 : NULL) {
        const char *end = strchrnul(name, ',');
        if ((size_t)(end - name) == length && memcmp(name, split, length) == 0)
            return true;
        name = end;
    }
    return false;
}

typedef bool item_test(void *context, struct clv_item *item);

static void keep_items(struct clv_set *set, item_test *is_wanted, void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        if (is_wanted(context, &set->items[i]))
            set->items[kept++] = set->items[i];
        else
            item_release(&set->items[i]);
    }
    set->n_items = kept;
}

/* Moves the items of `other` behind those of `set`. */
static enum clv_status append_items(struct clv_set *set, struct clv_set *other, struct clv_error *err)
{
    size_t n = set->n_items + other->n_items;
    struct clv_item *items = array_realloc(set->items, n, sizeof *items);
    MUST_IF(!items, fail_memory(err));
    set->items = items;
    if (other->n_items)
        memcpy(items + set->n_items, other->items, other->n_items * sizeof *items);
    set->n_items = n;
    other->n_items = 0;
    return CLV_OK;
}

/* Every image that the set has so far. */
static enum clv_status names_of_set(struct names *self, const struct clv_set *set, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t i = 0; i < set->n_items && status == CLV_OK; i++)
        status = names_add(self, set->items[i].name, 0, err);
    names_sort(self);
    return status;
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
    struct names names = {0};
    enum clv_status status = names_read(&names, options->only, err);
    if (status == CLV_OK)
        keep_items(set, is_named, &names);
    const struct name *missing = NULL;
    for (size_t i = 0; i < names.n && status == CLV_OK; i++)
        if (!names.list[i].found && (!missing || names.list[i].line < missing->line))
            missing = &names.list[i];
    if (missing)
        status =
            fail(err, CLV_ERR_DATA, "%s: line %zu: %s has no image \"%s\"%s%s", options->only, missing->line, path,
                 missing->text, options->split ? " in split " : " to learn from", options->split ? options->split : "");
    for (size_t i = 0; i < set->n_items && status == CLV_OK; i++)
        if (!set->items[i].mask)
            status = fail(err, CLV_ERR_DATA, "%s: \"%s\" has no mask in %s", options->only, set->items[i].name, path);
    names_release(&names);
    return status;
}

static bool is_not_weak(void *context, struct clv_item *item)
{
    const struct clv_train_options *options = context;
    return !is_listed(options->weak_split, item->split) && !is_listed(options->unlabelled_split, item->split);
}

static bool has_mask(void *context, struct clv_item *item)
{
    (void)context;
    return item->mask != NULL;
}

/* The split that all items are of, or NULL. */
static const char *common_split(const struct clv_set *set)
{
    static const char train[] = "train"; /* what training_set_read prefers */
    for (size_t i = 0; i < set->n_items; i++)
        if (strcmp(set->items[i].split, train) != 0)
            return NULL;
    return train;
}

static bool has_some_mask(const struct clv_set *set)
{
    bool has_some = false;
    for (size_t i = 0; i < set->n_items; i++)
        has_some |= set->items[i].mask != NULL;
    return has_some;
}

/* *splits are those chosen; NULL: all. With boxes to learn from, images without masks are nothing to talk about yet. */
static enum clv_status read_masks(struct supervision *self, const char **splits, const char *path,
                                  const struct clv_train_options *options, struct clv_error *err)
{
    MUST(training_set_read(&self->set, path, options->split, true,
                           &(struct set_check){options->check, options->check_context}, options->progress, err));
    enum clv_status status = CLV_OK;
    *splits = options->split ? options->split : common_split(&self->set);
    if (options->limits.band_files)
        status = band_images_join(&self->set, &options->limits, err);
    if (status != CLV_OK)
        return status;
    status = training_set_hide(&self->set, options->voids, err);
    if (!options->drafts && !options->only)
        training_set_drop_drafts(&self->set, path, DRAFTS_HINT, options->progress);
    if (status == CLV_OK && options->only)
        status = keep_only(&self->set, path, options, err);
    else if (status == CLV_OK && !options->split)
        keep_items(&self->set, is_not_weak, (void *)(uintptr_t)options);
    if (status == CLV_OK && (options->boxes || options->weak_split))
        keep_items(&self->set, has_mask, NULL);
    else if (status == CLV_OK && self->set.n_items && !(options->recipe.window && has_some_mask(&self->set)))
        status = training_set_require_masks(&self->set, path, options->progress, err);
    self->n_masks = self->set.n_items;
    return status;
}

/* Takes masks away, and leaves out images that self->set has or that came before. */
static enum clv_status keep_new(struct clv_set *set, const struct supervision *self, struct clv_error *err)
{
    struct names taken = {0}, own = {0};
    size_t kept = 0;
    bool *is_new = array_alloc(set->n_items, sizeof *is_new);
    enum clv_status status = is_new ? names_of_set(&taken, &self->set, err) : fail_memory(err);
    TRY(names_of_set(&own, set, err));
    if (status != CLV_OK)
        goto done;
    for (size_t i = 0; i < set->n_items; i++) {
        struct name *name = names_find(&own, set->items[i].name); /* the same for all items of one image */
        is_new[i] = !name->found && !names_find(&taken, name->text);
        name->found = true;
    }
    for (size_t i = 0; i < set->n_items; i++) {
        array_free(set->items[i].mask);
        set->items[i].mask = NULL;
        if (is_new[i])
            set->items[kept++] = set->items[i];
        else
            item_release(&set->items[i]);
    }
    set->n_items = kept;
done:
    names_release(&taken);
    names_release(&own);
    array_free(is_new);
    return status;
}

/* Extends self->boxes by n items, which have none. */
static enum clv_status extend_boxes(struct supervision *self, size_t n, struct clv_error *err)
{
    size_t n_before = self->boxes ? self->set.n_items : 0, n_after = self->set.n_items + n;
    struct item_boxes *grown = array_realloc(self->boxes, n_after, sizeof *grown);
    MUST_IF(!grown, fail_memory(err));
    for (size_t i = n_before; i < n_after; i++)
        grown[i] = (struct item_boxes){0};
    self->boxes = grown;
    return CLV_OK;
}

/* `splits` are the masks'. */
static enum clv_status add_boxed(struct supervision *self, const char *splits, const char *path,
                                 const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_set set = {0};
    struct item_boxes *boxes = NULL;
    MUST(training_set_read_more(&set, path, options->weak_split ? options->weak_split : splits, err));
    enum clv_status status = CLV_OK;
    if (options->limits.band_files)
        status = band_images_join(&set, &options->limits, err);
    if (!options->weak_split && !options->split)
        keep_items(&set, is_not_weak, (void *)(uintptr_t)options);
    TRY(keep_new(&set, self, err));
    if (status == CLV_OK && !set.n_items)
        report_message(options->progress, CLV_NOTE, "%s: all %zu images have masks, which teach more than boxes", path,
                       self->n_masks);
    TRY(box_hints_read(&boxes, &set, &self->bad, &self->set, options, err));
    size_t first = self->set.n_items, n = set.n_items;
    TRY(extend_boxes(self, n, err));
    TRY(append_items(&self->set, &set, err));
    if (status == CLV_OK) {
        for (size_t i = 0; i < n; i++)
            self->boxes[first + i] = boxes[i];
        self->n_boxed = n;
        array_free(boxes);
    } else {
        box_hints_free(boxes, n);
    }
    clv_set_release(&set);
    return status;
}

static enum clv_status add_unlabelled(struct supervision *self, const char *path,
                                      const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_set set = {0};
    MUST(training_set_read_more(&set, path, options->unlabelled_split, err));
    enum clv_status status = CLV_OK;
    if (options->limits.band_files)
        status = band_images_join(&set, &options->limits, err);
    TRY(keep_new(&set, self, err));
    self->n_unlabelled = set.n_items;
    TRY(extend_boxes(self, set.n_items, err));
    TRY(append_items(&self->set, &set, err));
    clv_set_release(&set);
    return status;
}

enum clv_status supervision_read(struct supervision *self, const struct clv_train_options *options,
                                 struct clv_error *err)
{
    const char *path = options->data;
    struct supervision fresh = {0};
    const char *splits;
    enum clv_status status = read_masks(&fresh, &splits, path, options, err);
    TRY_IF(options->weak_split || options->boxes, add_boxed(&fresh, splits, path, options, err));
    TRY_IF(options->unlabelled_split, add_unlabelled(&fresh, path, options, err));
    if (status == CLV_OK && !fresh.n_masks && !fresh.n_boxed && !fresh.bad.n)
        status = fail(err, CLV_ERR_DATA, "%s: %zu images without labels teach nothing unless some have masks or boxes",
                      path, fresh.n_unlabelled);
    DELIVER(self, fresh, supervision_release(&fresh));
    return status;
}
