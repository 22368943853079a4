#include "sequence/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Where an item stands: in which sequence, and there by its row, or of a bare folder by its name. */
struct place {
    const char *sequence;
    size_t length; /* of the sequence's name */
    const char *name;
    size_t item;
    bool is_by_name;
};

void chains_release(struct chains *self)
{
    array_free(self->frames);
    array_free(self->is_wanted);
    array_free(self->items);
    *self = (struct chains){.n = 0};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* By characters, but runs of digits by their values. */
static int compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++, b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        size_t m = strspn(a, "0123456789"), n = strspn(b, "0123456789");
        int order = m != n ? (m < n ? -1 : 1) : strncmp(a, b, m);
        if (order)
            return order;
        a += m, b += n;
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_sequences(const struct place *a, const struct place *b)
{
    size_t n = a->length < b->length ? a->length : b->length;
    int order = strncmp(a->sequence, b->sequence, n);
    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    int order = compare_sequences(one, other);
    if (!order && one->is_by_name)
        order = compare_names(one->name, other->name);
    return order ? order : one->item < other->item ? -1 : one->item > other->item;
}

/* The last number in a file's name without its ending, -1 if there is none. */
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

/* A step that is longer than the shortest of its sequence: frames [start, end). */
static void find_gaps(struct chains *self, const struct clv_set *set, size_t start, size_t end)
{
    int64_t shortest = INT64_MAX;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = start + 1; i < end; i++) {
            size_t a = self->frames[i - 1], b = self->frames[i];
            int64_t from = number_of(set->items[a].name), to = number_of(set->items[b].name), step = to - from;
            if (from < 0 || to < 0 || step <= 0)
                continue;
            if (!pass && step < shortest)
                shortest = step;
            if (pass && step > shortest && !self->n_gaps++)
                self->before[0] = a, self->before[1] = b;
        }
}

static bool is_in_list(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *part = list; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL)
        if (strcspn(part, ",") == n && memcmp(part, name, n) == 0)
            return true;
    return !list;
}

/* From every given frame of [start, end) to those nearer to it than to others, up to the last one wanted. */
static enum clv_status add_chains(struct chains *self, const uint8_t *is_given, size_t start, size_t end,
                                  const struct place *place, struct clv_error *err)
{
    size_t n_given = 0, n_wanted = 0;
    for (size_t i = start; i < end; i++) {
        n_given += is_given[self->frames[i]];
        n_wanted += self->is_wanted[self->frames[i]];
    }
    self->n_wanted += n_wanted;
    self->n_sequences++;
    if (n_wanted && !n_given)
        return fail(err, CLV_ERR_DATA, "sequence \"%.*s\": none of its %zu frames has a mask that is given",
                    (int)place->length, place->sequence, end - start);
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

enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err)
{
    size_t n = set->n_items;
    struct place *places = array_alloc(n, sizeof *places);
    uint8_t *is_given = array_zalloc(n, 1);
    struct chains made = {.frames = array_alloc(n, sizeof *made.frames),
                          .is_wanted = array_zalloc(n, 1),
                          .items = array_alloc(n, 2 * sizeof *made.items)};
    enum clv_status status =
        places && is_given && made.frames && made.is_wanted && made.items ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        const struct clv_item *item = &set->items[i];
        const char *slash = strrchr(item->name, '/');
        places[i] = (struct place){item->sequence ? item->sequence : "", 0, item->name, i, !set->manifest};
        if (!set->manifest)
            places[i].sequence = item->name;
        places[i].length = set->manifest ? strlen(places[i].sequence) : slash ? (size_t)(slash - item->name) : 0;
        is_given[i] = item->mask && is_in_list(given, item->split);
        made.is_wanted[i] = !is_given[i] && is_in_list(split, item->split);
    }
    if (status == CLV_OK)
        qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        made.frames[i] = places[i].item;
        TRY_IF(i && !compare_sequences(&places[i - 1], &places[i]) && !strcmp(places[i - 1].name, places[i].name),
               fail(err, CLV_ERR_DATA, "%s: is there twice in its sequence", places[i].name));
    }
    for (size_t i = 0, end; i < n && status == CLV_OK; i = end) {
        for (end = i + 1; end < n && !compare_sequences(&places[i], &places[end]);)
            end++;
        find_gaps(&made, set, i, end);
        status = add_chains(&made, is_given, i, end, &places[i], err);
    }
    array_free(places);
    array_free(is_given);
    if (status == CLV_OK)
        *self = made;
    else
        chains_release(&made);
    return status;
}
