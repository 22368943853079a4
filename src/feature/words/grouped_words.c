/* Finds an approximate nearest centre in a codebook whose centres are sorted into groups of 16 similar ones. A
 * descriptor is compared with the means of all groups, then with the centres of the nearest four groups: a tree of two
 * levels (Nister & Stewenius 2006) with a fifth of the comparisons of nearest_centre.c. Scores are 2<x,c> - |c|^2 in
 * integers, as in nearest_centre.c, so every instruction set finds the same words.
 *
 * Descriptors are sorted by group, so that both steps are small matrix products: a tile of descriptors against a block
 * of 16 centres. Start at grouped_search_find, then search_chunk. */
#include "feature/words/words.h"

#include <string.h>

#include "base/base.h"
#include "base/machine.h"

#if defined(__x86_64__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

enum {
    SIZE = CLV_DESCRIPTOR_SIZE,
    GROUP = WORDS_GROUP,
    MAX_GROUPS = WORDS_MAX_GROUPED / GROUP,
    N_SEARCHED = 4, /* groups whose centres a descriptor is compared with */
    TILE = 8,       /* descriptors that share one pass over a block */
    CHUNK = 2048,   /* descriptors that are sorted by group at a time */
    /* Score of lanes without a centre. All others are above -2^23; 32 times this one still fits into 32 bits. */
    NO_SCORE = -(1 << 26)
};

/* Descriptors of a tile, as the kernels read them. */
union tile {
    int16_t shorts[TILE][SIZE];
    uint8_t bytes[TILE][SIZE]; /* for the VNNI kernel: minus 128, as signed bytes */
};

/* Centres in blocks of 16: one block for each group, then blocks of the groups' means. */
struct packed {
    enum words_level level;
    int n_groups, n_mean_blocks;
    size_t block_size;
    uint8_t *blocks; /* [n_groups + n_mean_blocks][block_size] */
    int32_t (*bias)[GROUP];
};

struct grouped_search {
    struct packed packed;
    int32_t (*group)[N_SEARCHED]; /* [CHUNK] */
    int32_t *sorted;              /* [CHUNK * N_SEARCHED] descriptors sorted by group */
    int32_t *score;               /* [CHUNK] the best so far */
};

/* Writes a centre to lane `lane` of a block. Layouts: vnni_pack, int16 [SIZE/2][16][2] for AVX2, otherwise int16
 * [16][SIZE]. */
static void pack_centre(const struct packed *packed, int block, int lane, const uint8_t *centre)
{
    uint8_t *bytes = packed->blocks + (size_t)block * packed->block_size;
    int16_t *shorts = (int16_t *)(void *)bytes;
    int32_t *bias = &packed->bias[block][lane];
    *bias = 0;
    if (packed->level == WORDS_AVX512_VNNI) {
        *bias = vnni_pack(bytes, (size_t)lane, centre);
        return;
    }
    for (int k = 0; k < SIZE; k++) {
        *bias -= centre[k] * centre[k];
        if (packed->level == WORDS_AVX2)
            shorts[(k / 2 * GROUP + lane) * 2 + k % 2] = centre[k];
        else
            shorts[lane * SIZE + k] = centre[k];
    }
}

static void pack_group(const struct packed *packed, int group, const struct clv_codebook *codebook)
{
    int32_t first = group * GROUP, n = codebook->n_words - first < GROUP ? codebook->n_words - first : GROUP;
    const uint8_t *centres = codebook->centres + (size_t)first * SIZE;
    uint8_t mean[SIZE];
    for (int k = 0; k < SIZE; k++) {
        int32_t sum = 0;
        for (int32_t lane = 0; lane < n; lane++)
            sum += centres[lane * SIZE + k];
        mean[k] = (uint8_t)((2 * sum + n) / (2 * n));
    }
    for (int32_t lane = 0; lane < n; lane++)
        pack_centre(packed, group, lane, centres + (size_t)lane * SIZE);
    pack_centre(packed, packed->n_groups + group / GROUP, group % GROUP, mean);
}

static enum clv_status pack_codebook(struct packed *packed, enum words_level level, const struct clv_codebook *codebook,
                                     struct clv_error *err)
{
    packed->level = level;
    packed->n_groups = (codebook->n_words + GROUP - 1) / GROUP;
    packed->n_mean_blocks = (packed->n_groups + GROUP - 1) / GROUP;
    packed->block_size = (size_t)GROUP * SIZE * (level == WORDS_AVX512_VNNI ? 1 : 2);
    size_t n_blocks = (size_t)(packed->n_groups + packed->n_mean_blocks);
    packed->blocks = array_zalloc_aligned(n_blocks, packed->block_size);
    packed->bias = array_zalloc_aligned(n_blocks, sizeof *packed->bias);
    NEED(packed->blocks && packed->bias);
    for (size_t b = 0; b < n_blocks; b++)
        for (int lane = 0; lane < GROUP; lane++)
            packed->bias[b][lane] = NO_SCORE;
    for (int g = 0; g < packed->n_groups; g++)
        pack_group(packed, g, codebook);
    return CLV_OK;
}

/* Kernels that score a tile's descriptors against the centres of one block: score[t][lane] in rows of `stride`. */

static void score_plain(int32_t *score, int stride, const int16_t *block, const int32_t *bias, const union tile *tile)
{
    for (int t = 0; t < TILE; t++)
        for (int lane = 0; lane < GROUP; lane++) {
            int32_t product = 0;
            for (int k = 0; k < SIZE; k++)
                product += block[lane * SIZE + k] * tile->shorts[t][k];
            score[t * stride + lane] = 2 * product + bias[lane];
        }
}

#ifdef HAVE_X86
enum { HALF_TILE = TILE / 2 };

__attribute__((target("avx2"))) static void score_avx2(int32_t *score, int stride, const int16_t *block,
                                                       const int32_t *bias, const union tile *tile)
{
    for (int first = 0; first < TILE; first += HALF_TILE) {
        __m256i low[HALF_TILE], high[HALF_TILE];
        for (int t = 0; t < HALF_TILE; t++)
            low[t] = high[t] = _mm256_setzero_si256();
        for (int k = 0; k < SIZE / 2; k++) {
            const __m256i *centres = (const __m256i *)(const void *)(block + (size_t)k * 2 * GROUP);
            __m256i c_low = _mm256_load_si256(centres), c_high = _mm256_load_si256(centres + 1);
#pragma GCC unroll 4
            for (int t = 0; t < HALF_TILE; t++) {
                int32_t pair;
                memcpy(&pair, &tile->shorts[first + t][2 * k], sizeof pair);
                __m256i x = _mm256_set1_epi32(pair);
                low[t] = _mm256_add_epi32(low[t], _mm256_madd_epi16(c_low, x));
                high[t] = _mm256_add_epi32(high[t], _mm256_madd_epi16(c_high, x));
            }
        }
        const __m256i *offset = (const __m256i *)(const void *)bias;
        for (int t = 0; t < HALF_TILE; t++) {
            __m256i *row = (__m256i *)(void *)(score + (first + t) * stride);
            _mm256_storeu_si256(row, _mm256_add_epi32(_mm256_slli_epi32(low[t], 1), offset[0]));
            _mm256_storeu_si256(row + 1, _mm256_add_epi32(_mm256_slli_epi32(high[t], 1), offset[1]));
        }
    }
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void
score_vnni(int32_t *score, int stride, const uint8_t *block, const int32_t *bias, const union tile *tile)
{
    __m512i sum[TILE];
    for (int t = 0; t < TILE; t++)
        sum[t] = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int k = 0; k < SIZE / 4; k++) {
        __m512i c = _mm512_load_si512(block + (size_t)k * 4 * GROUP);
#pragma GCC unroll 8
        for (int t = 0; t < TILE; t++) {
            int32_t four;
            memcpy(&four, &tile->bytes[t][4 * k], sizeof four);
            sum[t] = _mm512_dpbusd_epi32(sum[t], c, _mm512_set1_epi32(four));
        }
    }
    __m512i offset = _mm512_load_si512(bias);
    for (int t = 0; t < TILE; t++)
        _mm512_storeu_si512(score + t * stride, _mm512_add_epi32(_mm512_slli_epi32(sum[t], 1), offset));
}
#endif

static void score_block(int32_t *score, int stride, const struct packed *packed, int block, const union tile *tile)
{
    const uint8_t *at = packed->blocks + (size_t)block * packed->block_size;
    const int32_t *bias = packed->bias[block];
#ifdef HAVE_X86
    if (packed->level == WORDS_AVX512_VNNI) {
        score_vnni(score, stride, at, bias, tile);
        return;
    }
    if (packed->level == WORDS_AVX2) {
        score_avx2(score, stride, (const int16_t *)(const void *)at, bias, tile);
        return;
    }
#endif
    score_plain(score, stride, (const int16_t *)(const void *)at, bias, tile);
}

FOR_EACH_MACHINE static void load_descriptor(union tile *tile, int t, enum words_level level, const uint8_t *descriptor)
{
    if (level == WORDS_AVX512_VNNI)
        for (int k = 0; k < SIZE; k++)
            tile->bytes[t][k] = descriptor[k] ^ 128;
    else
        for (int k = 0; k < SIZE; k++)
            tile->shorts[t][k] = descriptor[k];
}

/* Chooses the groups whose means score best, the lowest on ties. Score and group are packed into one number, 32 score +
 * 31 - group. */
FOR_EACH_MACHINE static void choose_groups(int32_t *group, const int32_t *score)
{
    int32_t key[MAX_GROUPS];
    for (int g = 0; g < MAX_GROUPS; g++)
        key[g] = score[g] * MAX_GROUPS + (MAX_GROUPS - 1 - g);
    for (int s = 0; s < N_SEARCHED; s++) {
        int32_t best = INT32_MIN;
        for (int g = 0; g < MAX_GROUPS; g++)
            best = key[g] > best ? key[g] : best;
        group[s] = MAX_GROUPS - 1 - (best & (MAX_GROUPS - 1));
        for (int g = 0; g < MAX_GROUPS; g++)
            key[g] = key[g] == best ? INT32_MIN : key[g];
    }
}

/* Returns the best of a block's 16 scores and its lane as 16 score + 15 - lane. */
FOR_EACH_MACHINE static int32_t key_of_best_lane(const int32_t *score)
{
    int32_t best = INT32_MIN;
    for (int lane = 0; lane < GROUP; lane++) {
        int32_t key = score[lane] * GROUP + (GROUP - 1 - lane);
        best = key > best ? key : best;
    }
    return best;
}

static void find_groups(struct grouped_search *self, const uint8_t *descriptors, int n)
{
    const struct packed *packed = &self->packed;
    _Alignas(64) union tile tile = {0};
    int32_t score[TILE][MAX_GROUPS];
    for (int t = 0; t < TILE; t++)
        for (int g = 0; g < MAX_GROUPS; g++)
            score[t][g] = NO_SCORE;
    for (int first = 0; first < n; first += TILE) {
        int size = n - first < TILE ? n - first : TILE;
        for (int t = 0; t < size; t++)
            load_descriptor(&tile, t, packed->level, descriptors + (size_t)(first + t) * SIZE);
        for (int b = 0; b < packed->n_mean_blocks; b++)
            score_block(&score[0][b * GROUP], MAX_GROUPS, packed, packed->n_groups + b, &tile);
        for (int t = 0; t < size; t++)
            choose_groups(self->group[first + t], score[t]);
    }
}

/* Compares the listed descriptors with the centres of one group and keeps better words. */
static void search_group(struct grouped_search *self, int32_t *word, const uint8_t *descriptors, int group,
                         const int32_t *listed, int n)
{
    _Alignas(64) union tile tile = {0};
    int32_t score[TILE][GROUP];
    for (int first = 0; first < n; first += TILE) {
        int size = n - first < TILE ? n - first : TILE;
        for (int t = 0; t < size; t++)
            load_descriptor(&tile, t, self->packed.level, descriptors + (size_t)listed[first + t] * SIZE);
        score_block(&score[0][0], GROUP, &self->packed, group, &tile);
        for (int t = 0; t < size; t++) {
            int32_t i = listed[first + t], key = key_of_best_lane(score[t]), lane = GROUP - 1 - (key & (GROUP - 1));
            int32_t best = (key - (GROUP - 1 - lane)) / GROUP, found = group * GROUP + lane;
            if (best > self->score[i] || (best == self->score[i] && found < word[i])) {
                self->score[i] = best;
                word[i] = found;
            }
        }
    }
}

static void search_chunk(struct grouped_search *self, int32_t *word, const uint8_t *descriptors, int n)
{
    int searched = self->packed.n_groups < N_SEARCHED ? self->packed.n_groups : N_SEARCHED;
    int32_t start[MAX_GROUPS + 1] = {0}, filled[MAX_GROUPS];
    find_groups(self, descriptors, n);
    for (int i = 0; i < n; i++)
        for (int s = 0; s < searched; s++)
            start[self->group[i][s] + 1]++;
    for (int g = 0; g < MAX_GROUPS; g++) {
        start[g + 1] += start[g];
        filled[g] = start[g];
    }
    for (int i = 0; i < n; i++) {
        self->score[i] = INT32_MIN;
        for (int s = 0; s < searched; s++)
            self->sorted[filled[self->group[i][s]]++] = i;
    }
    for (int g = 0; g < self->packed.n_groups; g++)
        search_group(self, word, descriptors, g, self->sorted + start[g], start[g + 1] - start[g]);
}

void grouped_search_free(struct grouped_search *search)
{
    if (search)
        arrays_free(search->packed.blocks, search->packed.bias, search->group, search->sorted, search->score, search);
}

static void drop_search(struct grouped_search **search)
{
    grouped_search_free(*search);
}

enum clv_status grouped_search_new(struct grouped_search **search, const struct clv_codebook *codebook,
                                   enum words_level level, struct clv_error *err)
{
    FAIL_IF(codebook->n_words > WORDS_MAX_GROUPED, CLV_ERR_USAGE,
            "codebook of %d words: 1 to %d can be searched by groups", codebook->n_words, WORDS_MAX_GROUPED);
    OWNED(drop_search) struct grouped_search *self = array_zalloc(1, sizeof *self);
    NEED(self);
    MUST(pack_codebook(&self->packed, level, codebook, err));
    self->group = array_alloc(CHUNK, sizeof *self->group);
    self->sorted = array_alloc((size_t)CHUNK * N_SEARCHED, sizeof *self->sorted);
    self->score = array_alloc(CHUNK, sizeof *self->score);
    NEED(self->group && self->sorted && self->score);
    *search = TAKE(self);
    return CLV_OK;
}

void grouped_search_find(struct grouped_search *search, int32_t *word, const uint8_t *descriptors, size_t n)
{
    for (size_t first = 0; first < n; first += CHUNK) {
        int size = n - first < CHUNK ? (int)(n - first) : CHUNK;
        search_chunk(search, word + first, descriptors + first * SIZE, size);
    }
}
