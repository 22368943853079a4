/* A binary heap of numbered things, the greatest value first; of equal ones that of the lower number. */
#ifndef OBJECT_HEAP_H
#define OBJECT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
    double value;
    int32_t id;
};
struct heap {
    struct heap_entry *entries; /* of a capacity that the caller knows to be enough */
    size_t n;
};

static inline bool heap_before(struct heap_entry a, struct heap_entry b)
{
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

static inline void heap_push(struct heap *self, double value, int32_t id)
{
    struct heap_entry entry = {value, id};
    size_t at = self->n++;
    for (; at > 0 && heap_before(entry, self->entries[(at - 1) / 2]); at = (at - 1) / 2)
        self->entries[at] = self->entries[(at - 1) / 2];
    self->entries[at] = entry;
}

static inline struct heap_entry heap_pop(struct heap *self)
{
    struct heap_entry top = self->entries[0], last = self->entries[--self->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < self->n; at = child) {
        child += child + 1 < self->n && heap_before(self->entries[child + 1], self->entries[child]);
        if (!heap_before(self->entries[child], last))
            break;
        self->entries[at] = self->entries[child];
    }
    self->entries[at] = last;
    return top;
}

#endif
