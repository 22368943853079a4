/* Counter-based random numbers (Random123's Philox4x32-10, Salmon et al. 2011): every value is a pure function of
 * (seed, stream, index), so results do not depend on the order of calls or on threads. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* Streams keep independent uses apart. One per purpose, here, so that no two collide; the low 32 bits of a stream are
 * free for an example or epoch number: RNG_STREAM(RNG_GUMBEL, draw). */
enum rng_purpose {
    RNG_TEST,
    RNG_SYNTH,
    RNG_CODEBOOK,
    RNG_ORDER,
    RNG_GUMBEL,
    RNG_FOLD,
    RNG_INIT,
    RNG_SIMULATE,
    RNG_MISSING,
    RNG_MIXTURE,
};
#define RNG_STREAM(purpose, number) (((uint64_t)(purpose) << 32) | (uint32_t)(number))

struct rng_block {
    uint32_t word[4];
};

struct rng_block rng_at(uint64_t seed, uint64_t stream, uint64_t index);

double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index); /* in (0, 1), never 0 or 1; 53 bits */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index);  /* N(0, 1), Box-Muller */
double rng_gumbel(uint64_t seed, uint64_t stream, uint64_t index);  /* zero mean: -log(-log u) - 0.5772.. */
/* In 0..n-1, n >= 1, unbiased to 2^-32. */
uint32_t rng_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t n);

/* Fills perm[n] with a uniform permutation of 0..n-1 (Fisher-Yates). */
void rng_permutation(int32_t *perm, size_t n, uint64_t seed, uint64_t stream);

#endif
