/* What a fuzz target is made of: a file fuzz_<name>.c with
 *
 *     FUZZ_TARGET(name)
 *     {
 *         ... data, size ...
 *         return 0;
 *     }
 *
 * a line in targets.h, and seeds in corpus/<name>/. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#ifdef CLV_LIBFUZZER
#define FUZZ_ENTRY(name)                                                                                               \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                                       \
    {                                                                                                                  \
        return fuzz_##name(data, size);                                                                                \
    }
#else
#define FUZZ_ENTRY(name)
#endif

#define FUZZ_TARGET(name)                                                                                              \
    int fuzz_##name(const uint8_t *data, size_t size);                                                                 \
    FUZZ_ENTRY(name)                                                                                                   \
    int fuzz_##name(const uint8_t *data, size_t size)

/* A property that must hold for every input. */
#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            __builtin_trap();                                                                                          \
    } while (0)

#endif
