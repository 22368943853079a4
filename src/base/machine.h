/* Compiles loops for several kinds of processors; the best version is chosen when the program is loaded. Sums in such
 * loops must have a fixed order, so that all versions give the same bytes. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

/* Sanitizers start too late for that choice, and clang 14 does not support it. Such builds may name one processor
 * instead: -DCLV_MACHINE='"avx2"' compiles the loops for it alone. */
#if defined(CLV_MACHINE)
#define FOR_EACH_MACHINE __attribute__((target(CLV_MACHINE)))
#define FOR_EVERY_WIDTH  __attribute__((target(CLV_MACHINE)))
#elif defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&        \
    !defined(__SANITIZE_THREAD__)
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
/* For loops that gain from 16 lanes of floats. */
#define FOR_EVERY_WIDTH  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_MACHINE
#define FOR_EVERY_WIDTH
#endif

/* A function that is inlined into every version of such a loop. */
#define INLINE static inline __attribute__((always_inline))

/* A hint to the processor that this thread is spinning. */
static inline void machine_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
