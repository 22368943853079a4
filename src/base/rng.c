/* Counter-based random numbers (Philox4x32-10 of Random123, Salmon et al. 2011): a number depends only on seed, stream
 * and index. All distributions and permutations are functions of rng_at. */
#include "base/base.h"

#include <Random123/philox.h>
#include <math.h>

#define EULER_GAMMA 0.57721566490153286061
#define TWO_PI      6.28318530717958647693

struct rng_block rng_at(uint64_t seed, uint64_t stream, uint64_t index)
{
    philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t r = philox4x32(counter, key);
    return (struct rng_block){{r.v[0], r.v[1], r.v[2], r.v[3]}};
}

/* Returns the middle of one of 2^53 equal cells of (0, 1). */
static double unit_interval(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return ((double)bits + 0.5) * 0x1p-53;
}

double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    struct rng_block b = rng_at(seed, stream, index);
    double u = unit_interval(b.word[0], b.word[1]);
    return u < 1 ? u : 1 - 0x1p-53;
}

double rng_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    struct rng_block b = rng_at(seed, stream, index);
    double radius = sqrt(-2 * portable_log(unit_interval(b.word[0], b.word[1])));
    return radius * portable_cos(TWO_PI * unit_interval(b.word[2], b.word[3]));
}

double rng_gumbel(uint64_t seed, uint64_t stream, uint64_t index)
{
    return -portable_log(-portable_log(rng_uniform(seed, stream, index))) - EULER_GAMMA;
}

uint32_t rng_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t n)
{
    struct rng_block b = rng_at(seed, stream, index);
    uint64_t bits = (uint64_t)b.word[0] << 32 | b.word[1];
    return (uint32_t)((unsigned __int128)bits * n >> 64);
}

void rng_permutation(int32_t *perm, size_t n, uint64_t seed, uint64_t stream)
{
    for (size_t i = 0; i < n; i++)
        perm[i] = (int32_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(seed, stream, i, (uint32_t)i);
        int32_t swap = perm[i - 1];
        perm[i - 1] = perm[j];
        perm[j] = swap;
    }
}
