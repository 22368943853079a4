/* Seeds k-means: finds the distinct samples, since small datasets draw most descriptors several times, and chooses
 * centres by k-means++ (Arthur & Vassilvitskii 2007). Distances are integers, so every instruction set gives the same
 * centres. A descriptor that was drawn several times is measured once. Start at centres_seed_at. */
#include <string.h>

#include "base/base.h"
#include "base/machine.h"
#include "feature/words/words.h"

#if defined(__x86_64__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

enum { SIZE = CLV_DESCRIPTOR_SIZE, LANES = VNNI_LANES };

void codebook_samples_release(struct codebook_samples *samples)
{
    arrays_free(samples->descriptors, samples->weight, samples->which);
    *samples = (struct codebook_samples){0};
}

/* Returns the slot in a hash table of 2^bits: the upper bits of the hash, which depend on all bytes. */
static size_t slot_of(const uint8_t *descriptor, int bits)
{
    uint64_t hash = HASH_START;
    for (int k = 0; k < SIZE; k += 8) {
        uint64_t word;
        memcpy(&word, descriptor + k, sizeof word);
        hash = (hash ^ word ^ word >> 32) * HASH_PRIME;
    }
    return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

enum clv_status codebook_samples_init(struct codebook_samples *samples, const uint8_t *descriptors, size_t n,
                                      struct clv_error *err)
{
    *samples = (struct codebook_samples){.n_drawn = n};
    int bits = 1;
    while ((size_t)1 << bits < 2 * n)
        bits++;
    OWNED_ARRAY uint32_t *table = array_zalloc((size_t)1 << bits, sizeof *table); /* 0: free, else 1 + its index */
    samples->descriptors = array_alloc(n, SIZE);
    samples->weight = array_alloc(n, sizeof *samples->weight);
    samples->which = array_alloc(n, sizeof *samples->which);
    NEED(table && samples->descriptors && samples->weight && samples->which);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *descriptor = descriptors + i * SIZE;
        size_t at = slot_of(descriptor, bits), mask = ((size_t)1 << bits) - 1;
        while (table[at] && memcmp(samples->descriptors + (table[at] - 1) * (size_t)SIZE, descriptor, SIZE) != 0)
            at = (at + 1) & mask;
        if (!table[at]) {
            memcpy(samples->descriptors + samples->n * SIZE, descriptor, SIZE);
            samples->weight[samples->n] = 0;
            table[at] = (uint32_t)++samples->n;
        }
        samples->which[i] = table[at] - 1;
        samples->weight[table[at] - 1]++;
    }
    return CLV_OK;
}

/* Lowers distance[i], the squared distance of descriptor i to its nearest centre, if the new `centre` is nearer. */
FOR_EACH_MACHINE static void lower_distances(int32_t *distance, const struct codebook_samples *samples,
                                             const uint8_t *centre)
{
    for (size_t i = 0; i < samples->n; i++) {
        int32_t d = descriptor_distance(samples->descriptors + i * SIZE, centre);
        distance[i] = d < distance[i] ? d : distance[i];
    }
}

#ifdef HAVE_X86
/* Packs the samples in blocks of LANES, and sets norm[i] to |x|^2 - 256 sum(x) of sample i. */
static void pack_samples(uint8_t *packed, int32_t *norm, const struct codebook_samples *samples)
{
    for (size_t i = 0; i < samples->n; i++)
        norm[i] = -vnni_pack(packed + i / LANES * LANES * SIZE, i % LANES, samples->descriptors + i * SIZE);
}

/* Does the same as lower_distances, by the instructions of tile_vnni in nearest_centre.c: |x - c|^2 = |x|^2 - 2<x,c> +
 * |c|^2. They multiply by signed bytes, so <x, c - 128> replaces <x,c>; norm removes the difference, 256 sum(x). */
__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void
lower_distances_vnni(int32_t *distance, const uint8_t *packed, const int32_t *norm, size_t n_blocks,
                     const uint8_t *centre)
{
    __m512i quads[SIZE / 4];
    int32_t centre_norm = 0;
    for (int k = 0; k < SIZE; k += 4) {
        int32_t quad = 0;
        for (int j = 0; j < 4; j++) {
            quad |= (int32_t)((uint32_t)(centre[k + j] ^ 128) << (8 * j));
            centre_norm += centre[k + j] * centre[k + j];
        }
        quads[k / 4] = _mm512_set1_epi32(quad);
    }
    for (size_t b = 0; b < n_blocks; b++) {
        const uint8_t *block = packed + b * LANES * SIZE;
        __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
        for (int k = 0; k < SIZE / 4; k += 2) {
            even = _mm512_dpbusd_epi32(even, _mm512_load_si512(block + (size_t)k * 64), quads[k]);
            odd = _mm512_dpbusd_epi32(odd, _mm512_load_si512(block + (size_t)(k + 1) * 64), quads[k + 1]);
        }
        __m512i product = _mm512_add_epi32(even, odd);
        __m512i norms = _mm512_add_epi32(_mm512_load_si512(norm + b * LANES), _mm512_set1_epi32(centre_norm));
        __m512i d = _mm512_sub_epi32(norms, _mm512_slli_epi32(product, 1));
        __m512i *to = (__m512i *)(distance + b * LANES);
        _mm512_store_si512(to, _mm512_min_epi32(_mm512_load_si512(to), d));
    }
}
#endif

/* Returns the sample that becomes the next centre: the first one at which the running sum of distances exceeds
 * `target`. */
static size_t draw_sample(const struct codebook_samples *samples, const int32_t *distance, uint64_t target)
{
    uint64_t passed = 0;
    for (size_t i = 0; i + 1 < samples->n_drawn; i++) {
        passed += (uint64_t)distance[samples->which[i]];
        if (passed > target)
            return i;
    }
    return samples->n_drawn - 1;
}

enum clv_status centres_seed_at(enum words_level level, uint8_t *centres, const struct codebook_samples *samples,
                                const struct codebook_options *options, struct clv_error *err)
{
    uint64_t seed = options->seed, stream = options->stream;
    size_t n_padded = (samples->n + LANES - 1) / LANES * LANES, n_packed = level == WORDS_AVX512_VNNI ? n_padded : 0;
    OWNED_ARRAY int32_t *distance = array_zalloc_aligned(n_padded, sizeof *distance);
    OWNED_ARRAY int32_t *norm = array_zalloc_aligned(n_packed, sizeof *norm);
    OWNED_ARRAY uint8_t *packed = array_zalloc_aligned(n_packed, SIZE);
    NEED(distance && norm && packed);
    for (size_t i = 0; i < samples->n; i++)
        distance[i] = INT32_MAX;
#ifdef HAVE_X86
    if (n_packed)
        pack_samples(packed, norm, samples);
#endif
    size_t chosen = (size_t)(rng_uniform(seed, stream, 0) * (double)samples->n_drawn);
    for (int32_t w = 0;; w++) {
        uint8_t *centre = centres + (size_t)w * SIZE;
        memcpy(centre, samples->descriptors + (size_t)samples->which[chosen] * SIZE, SIZE);
        if (w + 1 == options->n_words)
            return CLV_OK;
#ifdef HAVE_X86
        if (n_packed)
            lower_distances_vnni(distance, packed, norm, n_packed / LANES, centre);
#endif
        if (!n_packed)
            lower_distances(distance, samples, centre);
        uint64_t total = 0;
        for (size_t i = 0; i < samples->n; i++)
            total += (uint64_t)distance[i] * samples->weight[i];
        chosen = draw_sample(samples, distance, (uint64_t)(rng_uniform(seed, stream, (uint64_t)w + 1) * (double)total));
    }
}
