/* Kernels that are compiled once for every x86-64 machine and once for those with AVX2, and chosen between as the program is loaded.
 * Their sums must have a fixed order, so that both give the same bytes. The address sanitizer starts too late for that choice, and
 * clang 14 has none. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__) || !defined(__x86_64__)
#define FOR_EACH_MACHINE
#else
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#endif

/* Tells the processor that this thread only looks whether something has changed. */
static inline void machine_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
