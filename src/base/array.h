/* Overflow-checked allocation: the only place where cleave asks for memory, so the only place where tests make it fail.
 *
 * In test builds (-DCLV_TEST_FAULTS) the environment variable CLV_FAIL_ALLOC=N makes the N-th request (1-based) and
 * only that one return NULL; N = 0 counts only. array_request_count() returns how many were made; so does the
 * file that CLV_COUNT_ALLOCS names, when the process exits. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* count x size bytes, uninitialised / zeroed; NULL when the product overflows or memory is out. A request of zero bytes
 * yields a valid pointer. Free with array_free (NULL is fine). */
void *array_alloc(size_t count, size_t size);
void *array_zalloc(size_t count, size_t size);

/* Resizes to count x size bytes; on NULL the old block is untouched. */
void *array_realloc(void *array, size_t count, size_t size);

/* 64-byte aligned, zeroed; for SIMD rows. Free with array_free. */
void *array_zalloc_aligned(size_t count, size_t size);

/* A copy of count x size bytes, or NULL. */
void *array_copy(const void *array, size_t count, size_t size);
char *string_copy(const char *text);

void array_free(void *array);

/* Gives a growing array a capacity of at least `needed` elements. The capacity doubles, so that adding one at a time
 * takes linear time. Returns 0, or -1 with both unchanged. */
int array_reserve(void **array, size_t *capacity, size_t needed, size_t size);

/* Arrays that grow together: they have one capacity between them.
 *
 *     const struct array_part by_node[] = {{&self->first, sizeof *self->first}, {&self->label, sizeof *self->label}};
 *     if (array_reserve_all(by_node, 2, &self->node_capacity, n_nodes + 1))
 *         return fail_memory(err);
 */
struct array_part {
    void *array; /* address of the pointer to the array; that pointer is NULL before the first call */
    size_t size; /* bytes of an element */
};

/* Gives each array at least `needed` elements: exactly so many at first, later at least half as many again as before.
 * What the arrays hold is kept; elements past the old capacity are 0; every array is 64-byte aligned, for SIMD rows.
 * Returns 0, or -1 with the capacity and what the arrays hold unchanged. Free each with array_free. O(bytes) where
 * they grow, else O(1). */
int array_reserve_all(const struct array_part *parts, size_t n_parts, size_t *capacity, size_t needed);

/* Arrays of one owner, that end together: each may be asked for without a look at what came of the one before.
 *
 *     self->w = arena_zalloc(&self->arena, size, sizeof *self->w);
 *     self->order = arena_alloc(&self->arena, n, sizeof *self->order);
 *     if (self->arena.failed)
 *         return fail_memory(err);
 */
struct arena {
    struct arena_link *last;
    bool failed; /* some array could not be had: what was asked for since is NULL */
};               /* zeros: empty */

void *arena_alloc(struct arena *arena, size_t count, size_t size);
void *arena_zalloc(struct arena *arena, size_t count, size_t size);
void arena_release(struct arena *arena); /* leaves it empty */

size_t array_request_count(void);

/* Test builds only: the request-th request from now on fails (1: the next one); 0: none does. */
void array_fail_request(size_t request);

#endif
