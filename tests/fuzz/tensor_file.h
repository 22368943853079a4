/* What the targets of tensor files share: bytes as they come and with their lengths repaired, where readers want them.
 * */
#ifndef TESTS_TENSOR_FILE_H
#define TESTS_TENSOR_FILE_H

#include "fuzz/repair.h"

/* Calls check for the bytes and, if there is something to repair, for the repaired ones. */
static inline void check_as_is_and_repaired(const uint8_t *data, size_t size,
                                            void (*check)(const uint8_t *data, size_t size))
{
    size_t repaired_size;
    OWNED_ARRAY uint8_t *repaired = repaired_tensors(&repaired_size, data, size);
    check(data, size);
    if (repaired)
        check(repaired, repaired_size);
}

/* A copy aligned as clv_tensors_parse wants it, or NULL; free() it. */
static inline uint8_t *aligned_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

#endif
