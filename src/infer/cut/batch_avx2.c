/* The batch solver for machines with AVX2: two vectors hold the sixteen lanes. A version for AVX-512 was not faster on
 * a machine that splits such vectors (Zen 4). */
#include "infer/cut/batch_solve.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define KERNEL AVX2 __attribute__((always_inline)) static inline

typedef struct {
    __m256i a, b;
} wide;
typedef wide mask; /* -1 or 0 */
typedef __m256i shorts;

KERNEL wide wide_load(const int32_t *from)
{
    return (wide){_mm256_load_si256((const __m256i *)from), _mm256_load_si256((const __m256i *)&from[8])};
}

KERNEL void wide_store(int32_t *to, wide v)
{
    _mm256_store_si256((__m256i *)to, v.a);
    _mm256_store_si256((__m256i *)&to[8], v.b);
}

KERNEL wide wide_of(int32_t value)
{
    return (wide){_mm256_set1_epi32(value), _mm256_set1_epi32(value)};
}

KERNEL wide wide_add(wide v, wide w)
{
    return (wide){_mm256_add_epi32(v.a, w.a), _mm256_add_epi32(v.b, w.b)};
}

KERNEL wide wide_sub(wide v, wide w)
{
    return (wide){_mm256_sub_epi32(v.a, w.a), _mm256_sub_epi32(v.b, w.b)};
}

KERNEL wide wide_min(wide v, wide w)
{
    return (wide){_mm256_min_epi32(v.a, w.a), _mm256_min_epi32(v.b, w.b)};
}

/* Returns -v if sign is -1, v if it is 0. */
KERNEL wide wide_minus(wide v, int32_t sign)
{
    __m256i s = _mm256_set1_epi32(sign);
    return (wide){_mm256_sub_epi32(_mm256_xor_si256(v.a, s), s), _mm256_sub_epi32(_mm256_xor_si256(v.b, s), s)};
}

KERNEL mask wide_less(wide v, wide w)
{
    return (mask){_mm256_cmpgt_epi32(w.a, v.a), _mm256_cmpgt_epi32(w.b, v.b)};
}

KERNEL mask wide_equal(wide v, wide w)
{
    return (mask){_mm256_cmpeq_epi32(v.a, w.a), _mm256_cmpeq_epi32(v.b, w.b)};
}

KERNEL wide wide_keep(mask where, wide v)
{
    return (wide){_mm256_and_si256(where.a, v.a), _mm256_and_si256(where.b, v.b)};
}

KERNEL wide wide_choose(mask where, wide yes, wide no)
{
    return (wide){_mm256_blendv_epi8(no.a, yes.a, where.a), _mm256_blendv_epi8(no.b, yes.b, where.b)};
}

KERNEL wide wide_min_where(wide v, mask where, wide w)
{
    return wide_choose(where, wide_min(v, w), v);
}

KERNEL mask mask_and(mask v, mask w)
{
    return wide_keep(v, w);
}

KERNEL mask mask_or(mask v, mask w)
{
    return (mask){_mm256_or_si256(v.a, w.a), _mm256_or_si256(v.b, w.b)};
}

KERNEL int mask_any(mask m)
{
    __m256i either = _mm256_or_si256(m.a, m.b);
    return !_mm256_testz_si256(either, either);
}

KERNEL shorts shorts_load(const int16_t *from)
{
    return _mm256_load_si256((const __m256i *)from);
}

KERNEL void shorts_store(int16_t *to, shorts v)
{
    _mm256_store_si256((__m256i *)to, v);
}

KERNEL shorts shorts_of(int16_t value)
{
    return _mm256_set1_epi16(value);
}

KERNEL shorts shorts_add(shorts v, shorts w)
{
    return _mm256_add_epi16(v, w);
}

KERNEL shorts shorts_min(shorts v, shorts w)
{
    return _mm256_min_epi16(v, w);
}

KERNEL shorts shorts_and(shorts v, shorts w)
{
    return _mm256_and_si256(v, w);
}

KERNEL shorts shorts_or(shorts v, shorts w)
{
    return _mm256_or_si256(v, w);
}

KERNEL int shorts_differ(shorts v, shorts w)
{
    shorts difference = _mm256_xor_si256(v, w);
    return !_mm256_testz_si256(difference, difference);
}

KERNEL shorts shorts_where(mask where, int16_t yes, int16_t no)
{
    /* Packing works within halves of a vector: 0-3 8-11 4-7 12-15. The permutation restores the order. */
    __m256i m = _mm256_permute4x64_epi64(_mm256_packs_epi32(where.a, where.b), 0xd8);
    return _mm256_blendv_epi8(_mm256_set1_epi16(no), _mm256_set1_epi16(yes), m);
}

KERNEL wide shorts_widen(shorts v)
{
    return (wide){_mm256_cvtepi16_epi32(_mm256_castsi256_si128(v)),
                  _mm256_cvtepi16_epi32(_mm256_extracti128_si256(v, 1))};
}

#include "infer/cut/batch_kernel.h"

AVX2 bool batch_solve_avx2(struct batch *batch, const int32_t *capacity)
{
    return solve(batch, capacity);
}
#endif
