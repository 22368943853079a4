/* Sorts items into sequences, and finds the chains of frames along which masks are propagated, each from the nearest
 * given mask. Start at chains_find. */
#include "sequence/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"

/* Sort key of an item: its sequence, then its row, or its name in a bare folder. */
struct frame_key {
    const char *sequence;
    size_t length; /* of the sequence's name */
    uint32_t time; /* from 1, in a file of slices at several times, each of which is a sequence; 0 in other files */
    const char *name;
    size_t item;
    bool is_by_name;
    bool is_in_memory; /* its name does not show whether a slice is missing before it */
};

void chains_release(struct chains *self)
{
    array_free(self->frames);
    array_free(self->is_wanted);
    array_free(self->is_given);
    array_free(self->items);
    *self = (struct chains){.n = 0};
}

static int compare_sequences(const struct frame_key *a, const struct frame_key *b)
{
    size_t n = a->length < b->length ? a->length : b->length;
    int order = strncmp(a->sequence, b->sequence, n);
    order = order ? order : a->length < b->length ? -1 : a->length > b->length;
    return order ? order : a->time < b->time ? -1 : a->time > b->time;
}

static int compare_keys(const void *a, const void *b)
{
    const struct frame_key *one = a, *other = b;
    int order = compare_sequences(one, other);
    if (!order && one->is_by_name)
        order = path_compare(one->name, other->name);
    return order ? order : one->item < other->item ? -1 : one->item > other->item;
}

/* Returns the last number in a file's name without its extension; -1 without a number. */
static int64_t number_of(const char *name)
{
    const char *file = strrchr(name, '/'), *start = file ? file + 1 : name, *dot = strrchr(start, '.');
    const char *end = dot ? dot : start + strlen(start);
    while (end > start && !is_digit(end[-1]))
        end--;
    int64_t value = end > start ? 0 : -1, unit = 1;
    for (; end > start && is_digit(end[-1]) && unit < (int64_t)1 << 50; unit *= 10)
        value += unit * (*--end - '0');
    return value;
}

/* Whether a slice is missing before an item: its number exceeds that of the item before by more than the usual step,
 * which is the shortest step of the sequence. */
static bool is_gap(const struct frame_key *frame_key, int64_t usual)
{
    int64_t from = number_of(frame_key[-1].name), to = number_of(frame_key->name);
    return !frame_key->is_in_memory && from >= 0 && to - from > usual;
}

static int64_t shortest_step(const struct frame_key *keys, size_t n)
{
    int64_t shortest = INT64_MAX;
    for (size_t i = 1; i < n; i++) {
        int64_t from = number_of(keys[i - 1].name), step = number_of(keys[i].name) - from;
        if (from >= 0 && step > 0 && step < shortest)
            shortest = step;
    }
    return shortest;
}

static bool is_in_list(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *part = list; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL)
        if (strcspn(part, ",") == n && memcmp(part, name, n) == 0)
            return true;
    return !list;
}

/* Adds chains from every given frame of [start, end) to the frames that are nearer to it than to other given frames, up
 * to the last wanted frame. */
static enum clv_status add_chains(struct chains *self, const uint8_t *is_given, size_t start, size_t end,
                                  const struct frame_key *frame_key, struct clv_error *err)
{
    size_t n_given = 0, n_wanted = 0;
    for (size_t i = start; i < end; i++) {
        n_given += is_given[self->frames[i]];
        n_wanted += self->is_wanted[self->frames[i]];
    }
    self->n_wanted += n_wanted;
    self->n_sequences++;
    if (n_wanted && !n_given)
        return fail(err, CLV_ERR_DATA,
                    "%s: none of the %zu frames from here on has a mask that is given; a mask of images/1.jpg is "
                    "masks/1.png",
                    frame_key->name, end - start);
    for (size_t i = start; i < end && n_wanted; i++)
        for (int32_t step = 1; step >= -1 && is_given[self->frames[i]]; step -= 2) {
            size_t free = 0, n = 0;
            int64_t last = (int64_t)i;
            while (last + step >= (int64_t)start && last + step < (int64_t)end &&
                   !is_given[self->frames[last + step]]) {
                last += step;
                free++;
            }
            bool is_open = last + step < (int64_t)start || last + step == (int64_t)end;
            size_t share = is_open ? free : step > 0 ? (free + 1) / 2 : free / 2;
            for (size_t k = 1; k <= share; k++)
                if (self->is_wanted[self->frames[(int64_t)i + step * (int64_t)k]])
                    n = k;
            if (n)
                self->items[self->n++] = (struct chain){i, n, step};
        }
    return CLV_OK;
}

bool sequences_are_of_one_file(const struct clv_item *items, size_t n)
{
    size_t length, other;
    uint32_t page;
    for (size_t i = 0; i < n; i++)
        if (!items[i].image || !path_page(i ? &other : &length, &page, items[i].image) ||
            (i && (other != length || strncmp(items[i].image, items[0].image, length) != 0)))
            return false;
    return n > 0;
}

/* Returns the time of a page, from 1, if its file has slices at several times, else 0. *file and *axes keep the file of
 * the last call and its axes, so that each file is read once. */
static uint32_t time_of(const char **file, struct stack_axes *axes, const struct clv_item *item)
{
    size_t length, length_before;
    uint32_t page, ignored;
    if (!path_page(&length, &page, item->image))
        return 0;
    if (!*file || !path_page(&length_before, &ignored, *file) || length_before != length ||
        strncmp(*file, item->image, length) != 0)
        image_find_axes(axes, item->image);
    *file = item->image;
    return axes->n_slices > 1 && axes->n_frames > 1 ? (page - 1) / axes->n_slices + 1 : 0;
}

/* Lists the keys of all items, sorted: one sequence after the other. The caller frees keys[set->n_items] with
 * array_free. */
static enum clv_status list_keys(struct frame_key **keys, const struct clv_set *set, struct clv_error *err)
{
    size_t n = set->n_items;
    struct frame_key *list = *keys = array_alloc(n, sizeof *list);
    const char *file = NULL;
    struct stack_axes axes;
    NEED(list);
    for (size_t i = 0; i < n; i++) {
        const struct clv_item *item = &set->items[i];
        const char *slash = strrchr(item->name, '/');
        const bool has_rows = set->manifest || item_is_in_memory(item); /* rows have an order and a `sequence` */
        size_t length;
        uint32_t page;
        list[i] = (struct frame_key){.sequence = item->sequence ? item->sequence : "",
                                     .name = item->name,
                                     .item = i,
                                     .is_by_name = !has_rows,
                                     .is_in_memory = item_is_in_memory(item),
                                     .time = has_rows ? 0 : time_of(&file, &axes, item)};
        if (!has_rows)
            list[i].sequence = item->name;
        list[i].length = has_rows                                ? strlen(list[i].sequence)
                         : path_page(&length, &page, item->name) ? length
                         : slash                                 ? (size_t)(slash - item->name)
                                                                 : 0;
    }
    if (n)
        qsort(list, n, sizeof *list, compare_keys);
    for (size_t i = 1; i < n; i++)
        if (!compare_sequences(&list[i - 1], &list[i]) && !strcmp(list[i - 1].name, list[i].name))
            return fail(err, CLV_ERR_DATA, "%s: is there twice in its sequence", list[i].name);
    return CLV_OK;
}

/* Returns the end of the sequence that begins at keys[start]. Counts its gaps; unless is_apart is NULL, marks items
 * before which a slice is missing. */
static size_t end_of(struct sequence_gaps *gaps, bool *is_apart, const struct frame_key *keys, size_t start, size_t n)
{
    size_t end = start + 1;
    while (end < n && !compare_sequences(&keys[start], &keys[end]))
        end++;
    int64_t usual = shortest_step(keys + start, end - start);
    for (size_t i = start + 1; i < end; i++) {
        bool is_missing = is_gap(&keys[i], usual);
        if (is_missing && !gaps->n++)
            gaps->before[0] = keys[i - 1].name, gaps->before[1] = keys[i].name;
        if (is_apart)
            is_apart[i] = is_missing;
    }
    return end;
}

/* Names the sequence of an image of a bare folder after the folder, or the file, that it is in. */
static enum clv_status name_sequence(struct clv_item *item, const struct frame_key *frame_key, struct clv_error *err)
{
    if (item->sequence || !frame_key->length)
        return CLV_OK;
    size_t size = frame_key->length + sizeof SEQUENCE_TIME + 10;
    item->sequence = array_zalloc(size, 1);
    NEED(item->sequence);
    if (frame_key->time)
        snprintf(item->sequence, size, "%.*s" SEQUENCE_TIME "%u", (int)frame_key->length, frame_key->sequence,
                 frame_key->time);
    else
        memcpy(item->sequence, frame_key->sequence, frame_key->length);
    return CLV_OK;
}

enum clv_status sequences_sort(struct sequence_gaps *gaps, struct clv_set *set, struct clv_error *err)
{
    size_t n = set->n_items;
    OWNED_ARRAY struct frame_key *keys = NULL;
    OWNED_ARRAY struct clv_item *sorted = array_alloc(n, sizeof *sorted);
    OWNED_ARRAY bool *is_apart = array_zalloc(n, sizeof *is_apart);
    *gaps = (struct sequence_gaps){0};
    NEED(sorted && is_apart);
    MUST(list_keys(&keys, set, err));
    for (size_t i = 0; i < n; i = end_of(gaps, is_apart, keys, i, n))
        ;
    for (size_t i = 0; i < n; i++)
        MUST(name_sequence(&set->items[keys[i].item], &keys[i], err));
    for (size_t i = 0; i < n; i++) {
        sorted[i] = set->items[keys[i].item];
        sorted[i].is_apart = is_apart[i];
    }
    if (n)
        memcpy(set->items, sorted, n * sizeof *sorted);
    return CLV_OK;
}

static enum clv_status chains_init(struct chains *self, size_t n, struct clv_error *err)
{
    *self = (struct chains){.frames = array_alloc(n, sizeof *self->frames),
                            .is_wanted = array_zalloc(n, 1),
                            .items = array_alloc(n, 2 * sizeof *self->items)};
    return self->frames && self->is_wanted && self->items ? CLV_OK : fail_memory(err);
}

enum clv_status chains_between(struct chains *self, const uint8_t *is_given, const uint8_t *is_wanted, size_t n,
                               struct clv_error *err)
{
    OWNED(chains_release) struct chains result = {0};
    const struct frame_key all = {.sequence = "", .name = ""};
    MUST(chains_init(&result, n, err));
    for (size_t i = 0; i < n; i++) {
        result.frames[i] = i;
        result.is_wanted[i] = is_wanted[i] && !is_given[i];
    }
    MUST(add_chains(&result, is_given, 0, n, &all, err));
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err)
{
    size_t n = set->n_items;
    OWNED_ARRAY struct frame_key *keys = NULL;
    OWNED(chains_release) struct chains result = {0};
    MUST(chains_init(&result, n, err));
    uint8_t *is_given = result.is_given = array_zalloc(n, 1);
    NEED(is_given);
    MUST(list_keys(&keys, set, err));
    for (size_t i = 0; i < n; i++) {
        const struct clv_item *item = &set->items[i];
        is_given[i] = item->mask && is_in_list(given, item->split);
        result.is_wanted[i] = !is_given[i] && is_in_list(split, item->split);
        result.frames[i] = keys[i].item;
    }
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of(&result.gaps, NULL, keys, i, n);
        MUST(add_chains(&result, is_given, i, end, &keys[i], err));
    }
    *self = TAKE(result);
    return CLV_OK;
}

enum clv_status sequence_after(size_t next[2], size_t *n_next, const struct clv_set *set, size_t item,
                               struct clv_error *err)
{
    OWNED_ARRAY struct frame_key *keys = NULL;
    size_t at = 0;
    *n_next = 0;
    MUST(list_keys(&keys, set, err));
    while (keys[at].item != item)
        at++;
    for (size_t i = at + 1; i < set->n_items && *n_next < 2; i++)
        if (!compare_sequences(&keys[at], &keys[i]))
            next[(*n_next)++] = keys[i].item;
    return CLV_OK;
}
