/* Loops compiled for several vector widths, the machine's own chosen when the program starts. Results do not depend on the
 * choice: no fused operations, no reassociation. */
#ifndef SUPERPIXEL_WIDTH_H
#define SUPERPIXEL_WIDTH_H

/* Sanitizers do not get along with run-time dispatch. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#define EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_WIDTH
#endif

/* A part of such a loop. */
#define INLINED static inline __attribute__((always_inline))

#endif
