/* Allocates all memory of cleave, with products checked for overflow, and can fail on purpose in tests. Large arrays
 * request huge pages. Arrays that grow together and arenas build on array_alloc; start there. */
#include "base/base.h"
#include "base/pages.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define LARGE     ((size_t)4 << 20) /* bytes of an array that requests huge pages */
#define HUGE_PAGE ((size_t)2 << 20) /* one page fault clears it */

static atomic_size_t requests;

size_t array_request_count(void)
{
    return atomic_load(&requests);
}

#ifdef CLV_TEST_FAULTS
static void tell_count(void)
{
    FILE *stream = fopen(getenv("CLV_COUNT_ALLOCS"), "w");
    if (stream) {
        fprintf(stream, "%zu\n", array_request_count());
        fclose(stream);
    }
}

static atomic_long chosen = -1; /* number of the request that fails; 0: none; -1: the environment was not read yet */

void array_fail_request(size_t request)
{
    atomic_store(&chosen, request ? (long)(array_request_count() + request) : 0);
}

static int fails(void)
{
    long target = atomic_load(&chosen);
    if (target < 0) {
        const char *text = getenv("CLV_FAIL_ALLOC");
        target = text ? strtol(text, NULL, 10) : 0;
        if (getenv("CLV_COUNT_ALLOCS"))
            atexit(tell_count);
        atomic_store(&chosen, target);
    }
    return (long)(atomic_fetch_add(&requests, 1) + 1) == target;
}
#else
static int fails(void)
{
    return 0;
}
#endif

/* count x size, at least 1; 0 on overflow or close to PTRDIFF_MAX. */
static size_t byte_count(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - HUGE_PAGE)
        return 0;
    return bytes ? bytes : 1;
}

/* Allocates a large array that begins with a huge page. */
static void *alloc_large(size_t bytes)
{
    void *array = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (array)
        pages_request_huge(array, bytes);
    return array;
}

/* Allocates a large array of zeros. MADV_DONTNEED is cheaper than writing them: pages are zeroed at first use, if ever.
 */
static void *zalloc_large(size_t bytes)
{
    void *array = alloc_large(bytes);
#if defined(__linux__)
    if (array && madvise(array, bytes, MADV_DONTNEED) == 0)
        return array;
#endif
    return array ? memset(array, 0, bytes) : NULL;
}

void *array_alloc(size_t count, size_t size)
{
    size_t bytes = byte_count(count, size);
    if (!bytes || fails())
        return NULL;
    return bytes < LARGE ? malloc(bytes) : alloc_large(bytes);
}

void *array_zalloc(size_t count, size_t size)
{
    size_t bytes = byte_count(count, size);
    if (!bytes || fails())
        return NULL;
    return bytes < LARGE ? calloc(1, bytes) : zalloc_large(bytes);
}

void *array_realloc(void *array, size_t count, size_t size)
{
    size_t bytes = byte_count(count, size);
    if (!bytes || fails())
        return NULL;
    void *result = realloc(array, bytes);
    if (result && bytes >= LARGE)
        pages_request_huge(result, bytes);
    return result;
}

void *array_zalloc_aligned(size_t count, size_t size)
{
    enum { ALIGNMENT = 64 };
    size_t bytes = byte_count(count, size);
    if (!bytes || fails())
        return NULL;
    if (bytes >= LARGE)
        return zalloc_large(bytes);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *array = aligned_alloc(ALIGNMENT, bytes);
    return array ? memset(array, 0, bytes) : NULL;
}

void *array_copy(const void *array, size_t count, size_t size)
{
    void *copy = array_alloc(count, size);
    if (copy)
        array_put(copy, array, count, size);
    return copy;
}

char *string_copy(const char *text)
{
    return array_copy(text, strlen(text) + 1, 1);
}

void array_free(void *array)
{
    free(array);
}

void arrays_free_all(void *const *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        array_free(arrays[i]);
}

int array_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return 0;
    size_t grown = *capacity ? *capacity : 8;
    while (grown < needed) {
        if (grown > SIZE_MAX / 2)
            return -1;
        grown *= 2;
    }
    void *moved = array_realloc(*array, grown, size);
    if (!moved)
        return -1;
    *array = moved;
    *capacity = grown;
    return 0;
}

/* If one part cannot grow, the parts before it are longer than the capacity, which is harmless. */
int array_reserve_all(const struct array_part *parts, size_t n_parts, size_t *capacity, size_t needed)
{
    if (needed <= *capacity)
        return 0;
    size_t grown = *capacity > SIZE_MAX / 2 ? needed : *capacity + *capacity / 2;
    grown = grown < needed ? needed : grown;
    for (size_t k = 0; k < n_parts; k++) {
        void **array = parts[k].array, *moved = array_zalloc_aligned(grown, parts[k].size);
        if (!moved)
            return -1;
        array_put(moved, *array, *capacity, parts[k].size);
        array_free(*array);
        *array = moved;
    }
    *capacity = grown;
    return 0;
}

/* Header of each array of an arena: links to the array that was allocated before it. */
struct arena_link {
    _Alignas(max_align_t) struct arena_link *before;
};

static void *link_in(struct arena *arena, size_t count, size_t size, void *(*request)(size_t, size_t))
{
    size_t bytes = byte_count(count, size);
    struct arena_link *link =
        !bytes || bytes > PTRDIFF_MAX - sizeof *link || arena->failed ? NULL : request(sizeof *link + bytes, 1);
    if (!link) {
        arena->failed = true;
        return NULL;
    }
    link->before = arena->last;
    arena->last = link;
    return link + 1;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    return link_in(arena, count, size, array_alloc);
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size)
{
    return link_in(arena, count, size, array_zalloc);
}

void arena_release(struct arena *arena)
{
    while (arena->last) {
        struct arena_link *before = arena->last->before;
        array_free(arena->last);
        arena->last = before;
    }
    arena->failed = false;
}
