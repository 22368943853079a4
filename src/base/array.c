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
#ifdef CLV_TEST_FAULTS
#include <execinfo.h>
#include <inttypes.h>
#include <pthread.h>

extern char __executable_start, etext;
#endif

#define LARGE     ((size_t)4 << 20) /* bytes of an array that requests huge pages */
#define HUGE_PAGE ((size_t)2 << 20) /* one page fault clears it */

static atomic_size_t requests;

size_t array_request_count(void)
{
    return atomic_load(&requests);
}

#ifdef CLV_TEST_FAULTS
#define CALLERS     3       /* functions above array_alloc that tell two places apart */
#define MOST_PLACES 0x10000 /* a power of two, more than any command has */

static struct {
    pthread_mutex_t lock;
    uint64_t place[MOST_PLACES]; /* a hash table; 0: empty */
    size_t request[MOST_PLACES]; /* the first one at this place */
    bool counts;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void tell_requests(void)
{
    FILE *stream = fopen(getenv("CLV_COUNT_ALLOCS"), "w");
    if (!stream)
        return;
    fprintf(stream, "%zu\n", array_request_count());
    for (size_t k = 0; k < MOST_PLACES; k++)
        if (told.place[k])
            fprintf(stream, "%zu\t%016" PRIx64 "\n", told.request[k], told.place[k]);
    fclose(stream);
}

/* Keeps the request if no earlier one has the same callers. */
static __attribute__((noinline)) void note_place(size_t request)
{
    void *callers[CALLERS + 2] = {NULL};
    uint64_t place = 0;
    backtrace(callers, CALLERS + 2);
    for (int i = 1; i < CALLERS + 2; i++)
        if ((char *)callers[i] >= &__executable_start && (char *)callers[i] < &etext) /* a library's are anywhere */
            place = (place ^ (uint64_t)((char *)callers[i] - &__executable_start)) * 0x9e3779b97f4a7c15 + 1;
    pthread_mutex_lock(&told.lock);
    size_t k = place >> 48;
    while (told.place[k] && told.place[k] != place)
        k = (k + 1) % MOST_PLACES;
    if (!told.place[k]) {
        told.place[k] = place;
        told.request[k] = request;
    }
    pthread_mutex_unlock(&told.lock);
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
        told.counts = getenv("CLV_COUNT_ALLOCS");
        if (told.counts)
            atexit(tell_requests);
        atomic_store(&chosen, target);
    }
    const size_t request = atomic_fetch_add(&requests, 1) + 1;
    if (told.counts)
        note_place(request);
    return (long)request == target;
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
