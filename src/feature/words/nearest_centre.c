/* Finds the nearest centre of a codebook for each descriptor. |x - c|^2 = |x|^2 - (2<x,c> - |c|^2), so the nearest
 * centre is the one with the largest score 2<x,c> - |c|^2. Descriptors and centres are bytes: a score is an integer
 * below 2^25 in magnitude, and sums are exact in 32 bits in any order, so every instruction set finds the same word.
 *
 * The vector kernels are small matrix products: a tile of descriptors against a block of centres whose coordinates are
 * interleaved, so that each lane of a vector accumulates one centre's score and a descriptor's coordinates are
 * broadcast. Start at word_search_init and word_search_find. */
#include "feature/words/words.h"

#include <string.h>

#include "base/base.h"

#if defined(__x86_64__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

enum {
    SIZE = CLV_DESCRIPTOR_SIZE,
    TILE = 8 /* descriptors that share one pass over the packed centres */
};

static int32_t square_norm(const uint8_t *x)
{
    int32_t sum = 0;
    for (int k = 0; k < SIZE; k++)
        sum += x[k] * x[k];
    return sum;
}

static void assign_plain(int32_t *word, const struct clv_codebook *codebook, const int32_t *bias,
                         const uint8_t *descriptors, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int16_t x[SIZE];
        for (int k = 0; k < SIZE; k++)
            x[k] = descriptors[i * SIZE + k];
        int32_t best = INT32_MIN;
        for (int32_t w = 0; w < codebook->n_words; w++) {
            const uint8_t *c = codebook->centres + (size_t)w * SIZE;
            int32_t product = 0;
            for (int k = 0; k < SIZE; k++)
                product += x[k] * (int16_t)c[k];
            int32_t score = 2 * product + bias[w];
            if (score > best) {
                best = score;
                word[i] = w;
            }
        }
    }
}

#ifdef HAVE_X86
/* Returns the word with the largest score, the lowest one on ties. */
static int32_t word_of_best_lane(const int32_t *score, const int32_t *word, int lanes)
{
    int best = 0;
    for (int k = 1; k < lanes; k++)
        if (score[k] > score[best] || (score[k] == score[best] && word[k] < word[best]))
            best = k;
    return word[best];
}

/* packed[block][SIZE/2][8 centres][2 coordinates] of int16. */
static void pack_avx2(int16_t *packed, int32_t *bias, const struct clv_codebook *codebook)
{
    for (int32_t w = 0; w < codebook->n_words; w++) {
        const uint8_t *c = codebook->centres + (size_t)w * SIZE;
        int16_t *lane = packed + (size_t)(w / 8) * 8 * SIZE + (size_t)(w % 8) * 2;
        for (int k = 0; k < SIZE; k += 2, lane += 16) {
            lane[0] = c[k];
            lane[1] = c[k + 1];
        }
        bias[w] = -square_norm(c);
    }
}

enum { TILE_AVX2 = 6 };

/* Assigns one tile of n <= TILE_AVX2 descriptors. x[SIZE/2][TILE_AVX2] holds pairs of coordinates, two int16 in an
 * int32. */
__attribute__((target("avx2"))) static void tile_avx2(int32_t *word, const int16_t *packed, const int32_t *bias,
                                                      int n_blocks, const int32_t *x, int n)
{
    __m256i best[TILE_AVX2], best_word[TILE_AVX2];
    for (int t = 0; t < TILE_AVX2; t++) {
        best[t] = _mm256_set1_epi32(INT32_MIN);
        best_word[t] = _mm256_setzero_si256();
    }
    __m256i name = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (int b = 0; b < n_blocks; b++) {
        __m256i sum[TILE_AVX2];
        for (int t = 0; t < TILE_AVX2; t++)
            sum[t] = _mm256_setzero_si256();
        const int16_t *block = packed + (size_t)b * 8 * SIZE;
        for (int k = 0; k < SIZE / 2; k++) {
            __m256i c = _mm256_load_si256((const __m256i *)(block + (size_t)k * 16));
#pragma GCC unroll 6
            for (int t = 0; t < TILE_AVX2; t++)
                sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(c, _mm256_set1_epi32(x[k * TILE_AVX2 + t])));
        }
        __m256i offset = _mm256_load_si256((const __m256i *)(bias + (size_t)b * 8));
        for (int t = 0; t < TILE_AVX2; t++) {
            __m256i score = _mm256_add_epi32(_mm256_slli_epi32(sum[t], 1), offset);
            __m256i better = _mm256_cmpgt_epi32(score, best[t]);
            best[t] = _mm256_max_epi32(best[t], score);
            best_word[t] = _mm256_blendv_epi8(best_word[t], name, better);
        }
        name = _mm256_add_epi32(name, _mm256_set1_epi32(8));
    }
    for (int t = 0; t < n; t++) {
        int32_t score[8], lane_word[8];
        _mm256_storeu_si256((__m256i *)score, best[t]);
        _mm256_storeu_si256((__m256i *)lane_word, best_word[t]);
        word[t] = word_of_best_lane(score, lane_word, 8);
    }
}

static void assign_avx2(int32_t *word, const int16_t *packed, const int32_t *bias, int n_blocks,
                        const uint8_t *descriptors, size_t n)
{
    int32_t x[SIZE / 2 * TILE_AVX2];
    for (size_t i = 0; i < n; i += TILE_AVX2) {
        int tile = n - i < TILE_AVX2 ? (int)(n - i) : TILE_AVX2;
        memset(x, 0, sizeof x);
        for (int t = 0; t < tile; t++)
            for (int k = 0; k < SIZE / 2; k++) {
                const uint8_t *pair = descriptors + (i + (size_t)t) * SIZE + (size_t)k * 2;
                x[k * TILE_AVX2 + t] = pair[0] | pair[1] << 16;
            }
        tile_avx2(word + i, packed, bias, n_blocks, x, tile);
    }
}

static void pack_vnni(uint8_t *packed, int32_t *bias, const struct clv_codebook *codebook)
{
    for (size_t w = 0; w < (size_t)codebook->n_words; w++)
        bias[w] = vnni_pack(packed + w / VNNI_LANES * VNNI_LANES * SIZE, w % VNNI_LANES, codebook->centres + w * SIZE);
}

/* A pass takes two blocks (n_blocks is even), so that each broadcast serves two products; it is unrolled, because gcc
 * copies all sums between registers once per loop. */
__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void
tile_vnni(int32_t *word, const uint8_t *packed, const int32_t *bias, int n_blocks, const uint8_t *x, int n)
{
    __m512i best[TILE], best_word[TILE];
    for (int t = 0; t < TILE; t++) {
        best[t] = _mm512_set1_epi32(INT32_MIN);
        best_word[t] = _mm512_setzero_si512();
    }
    __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int b = 0; b < n_blocks; b += 2) {
        __m512i sum[TILE], next_sum[TILE];
        for (int t = 0; t < TILE; t++)
            sum[t] = next_sum[t] = _mm512_setzero_si512();
        const uint8_t *block = packed + (size_t)b * 16 * SIZE, *next = block + (size_t)16 * SIZE;
#pragma GCC unroll 32
        for (int k = 0; k < SIZE / 4; k++) {
            __m512i c = _mm512_load_si512(block + (size_t)k * 64), d = _mm512_load_si512(next + (size_t)k * 64);
#pragma GCC unroll 8
            for (int t = 0; t < TILE; t++) {
                int32_t four;
                memcpy(&four, x + t * SIZE + k * 4, 4);
                __m512i coordinates = _mm512_set1_epi32(four);
                sum[t] = _mm512_dpbusd_epi32(sum[t], c, coordinates);
                next_sum[t] = _mm512_dpbusd_epi32(next_sum[t], d, coordinates);
            }
        }
        __m512i offset = _mm512_load_si512(bias + (size_t)b * 16);
        __m512i next_offset = _mm512_load_si512(bias + (size_t)b * 16 + 16);
        __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(16));
        for (int t = 0; t < TILE; t++) {
            __m512i score = _mm512_add_epi32(_mm512_slli_epi32(sum[t], 1), offset);
            __m512i next_score = _mm512_add_epi32(_mm512_slli_epi32(next_sum[t], 1), next_offset);
            __m512i name = _mm512_mask_mov_epi32(first, _mm512_cmpgt_epi32_mask(next_score, score), second);
            score = _mm512_max_epi32(score, next_score);
            __mmask16 better = _mm512_cmpgt_epi32_mask(score, best[t]);
            best[t] = _mm512_max_epi32(best[t], score);
            best_word[t] = _mm512_mask_mov_epi32(best_word[t], better, name);
        }
        first = _mm512_add_epi32(second, _mm512_set1_epi32(16));
    }
    for (int t = 0; t < n; t++) {
        int32_t score[16], lane_word[16];
        _mm512_storeu_si512(score, best[t]);
        _mm512_storeu_si512(lane_word, best_word[t]);
        word[t] = word_of_best_lane(score, lane_word, 16);
    }
}

static void assign_vnni(int32_t *word, const uint8_t *packed, const int32_t *bias, int n_blocks,
                        const uint8_t *descriptors, size_t n)
{
    uint8_t x[TILE * SIZE];
    for (size_t i = 0; i < n; i += TILE) {
        int tile = n - i < TILE ? (int)(n - i) : TILE;
        memset(x, 0, sizeof x);
        for (int k = 0; k < tile * SIZE; k++)
            x[k] = descriptors[i * SIZE + (size_t)k] ^ 128; /* minus 128, as a signed byte */
        tile_vnni(word + i, packed, bias, n_blocks, x, tile);
    }
}
#endif

enum words_level words_best_level(void)
{
#ifdef HAVE_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"))
        return WORDS_AVX512_VNNI;
    if (__builtin_cpu_supports("avx2"))
        return WORDS_AVX2;
#endif
    return WORDS_PLAIN;
}

void word_search_release(struct word_search *search)
{
    arrays_free(search->packed, search->bias);
    grouped_search_free(search->groups);
    *search = (struct word_search){0};
}

/* Packs the codebook for the exact search. */
static enum clv_status pack_exact(struct word_search *self, struct clv_error *err)
{
    enum { LANES = 32 }; /* the two blocks of the widest pass; every level pads to them */
    const struct clv_codebook *codebook = self->codebook;
    self->n_padded = (codebook->n_words + LANES - 1) / LANES * LANES;
    self->bias = array_zalloc_aligned((size_t)self->n_padded, sizeof *self->bias);
    NEED(self->bias);
    for (int32_t w = codebook->n_words; w < self->n_padded; w++)
        self->bias[w] = INT32_MIN / 2; /* below every real score, so padding is never chosen */
    if (self->level == WORDS_PLAIN) {
        for (int32_t w = 0; w < codebook->n_words; w++)
            self->bias[w] = -square_norm(codebook->centres + (size_t)w * SIZE);
        return CLV_OK;
    }
    self->packed = array_zalloc_aligned((size_t)self->n_padded * SIZE, self->level == WORDS_AVX2 ? 2 : 1);
    NEED(self->packed);
#ifdef HAVE_X86
    if (self->level == WORDS_AVX512_VNNI)
        pack_vnni(self->packed, self->bias, codebook);
    else
        pack_avx2(self->packed, self->bias, codebook);
#endif
    return CLV_OK;
}

enum clv_status word_search_init(struct word_search *search, const struct clv_codebook *codebook, int32_t by,
                                 enum words_level level, struct clv_error *err)
{
    *search = (struct word_search){.codebook = codebook, .level = level};
    FAIL_IF(codebook->n_words < 1 || !codebook->centres, CLV_ERR_USAGE, "codebook is empty");
    enum clv_status status = by == CLV_WORD_SEARCH_GROUPS ? grouped_search_new(&search->groups, codebook, level, err)
                                                          : pack_exact(search, err);
    if (status)
        word_search_release(search);
    return status;
}

void word_search_find(struct word_search *search, int32_t *word, const uint8_t *descriptors, size_t n)
{
    if (search->groups) {
        grouped_search_find(search->groups, word, descriptors, n);
        return;
    }
#ifdef HAVE_X86
    if (search->level == WORDS_AVX512_VNNI) {
        assign_vnni(word, search->packed, search->bias, search->n_padded / 16, descriptors, n);
        return;
    }
    if (search->level == WORDS_AVX2) {
        assign_avx2(word, search->packed, search->bias, search->n_padded / 8, descriptors, n);
        return;
    }
#endif
    assign_plain(word, search->codebook, search->bias, descriptors, n);
}

enum clv_status words_find(int32_t *word, const struct clv_codebook *codebook, int32_t by, const uint8_t *descriptors,
                           size_t n, struct clv_error *err)
{
    OWNED(word_search_release) struct word_search search = {0};
    MUST(word_search_init(&search, codebook, by, words_best_level(), err));
    word_search_find(&search, word, descriptors, n);
    return CLV_OK;
}
