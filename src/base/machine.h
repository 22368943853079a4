/* Loops that are compiled for several kinds of machine, the best of which is chosen as the program is loaded. Their
 * sums must have a fixed order, so that every choice gives the same bytes. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

/* The sanitizers start too late for that choice, and clang 14 has none. Such builds may name one machine instead:
 * -DCLV_MACHINE='"avx2"' compiles the loops for that one alone. */
#if defined(CLV_MACHINE)
#define FOR_EACH_MACHINE __attribute__((target(CLV_MACHINE)))
#define FOR_EVERY_WIDTH  __attribute__((target(CLV_MACHINE)))
#elif defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&        \
    !defined(__SANITIZE_THREAD__)
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
/* Where 16 lanes of floats pay off. */
#define FOR_EVERY_WIDTH  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_MACHINE
#define FOR_EVERY_WIDTH
#endif

/* A part of such a loop: compiled into each of its versions. */
#define INLINE static inline __attribute__((always_inline))

/* A hint to the processor that this thread only looks whether something has changed. */
static inline void machine_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
