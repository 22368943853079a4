/* Overflow-checked allocation: the only place where cleave asks for memory, so the only place where tests make it fail.
 *
 * In test builds (-DCLV_TEST_FAULTS) the environment variable CLV_FAIL_ALLOC=N makes the N-th request (1-based) and only
 * that one return NULL; N = 0 counts only. array_request_count() tells how many were made; so does the
 * file that CLV_COUNT_ALLOCS names, when the process exits. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

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

/* Makes room for `needed` elements in a growing array: doubles *capacity, reallocates *array. Returns 0, or -1 with both
 * unchanged. */
int array_reserve(void **array, size_t *capacity, size_t needed, size_t size);

size_t array_request_count(void);

/* Test builds only: the request-th request from now on fails (1: the next one); 0: none does. */
void array_fail_request(size_t request);

#endif
