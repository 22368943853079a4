/* Scans of a node's row: 8 slots at a time in vector instructions where the machine has them, one at a time elsewhere.
 * Both give the same answers. Callers pass graph->has_avx2 on, as a constant where the scan is to be inlined. */
#ifndef INFER_ROWS_H
#define INFER_ROWS_H

#include "infer/cut/maxflow.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define ROWS_AVX2 1
/* A function that is only called where graph->has_avx2, with everything it calls compiled into it. */
#define ROWS_CLONE __attribute__((target("avx2"), flatten))
#define ROWS_SCAN  __attribute__((target("avx2"))) static inline
#else
#define ROWS_AVX2 0
#define ROWS_CLONE
#endif

/* How much more an arc carries, in its own direction (direction 1) or against it (-1). */
static inline int32_t row_carries(const struct maxflow *graph, int32_t slot, int direction)
{
    return direction > 0 ? graph->residual[slot] : graph->sum[slot] - graph->residual[slot];
}

/* The nearest heads of a node's arcs with residual capacity: their distance, and as bits of `which` the arcs from
 * `slot` on. */
struct row_nearest {
    int32_t distance, slot;
    uint32_t which;
};

#if ROWS_AVX2
ROWS_SCAN __m256i row_load(const int32_t *array, int32_t slot)
{
    return _mm256_load_si256((const __m256i *)&array[slot]);
}

/* value[head] of 8 slots. */
ROWS_SCAN __m256i row_of_heads(const struct maxflow *graph, const int32_t *value, int32_t slot)
{
    return _mm256_i32gather_epi32(value, row_load(graph->head, slot), 4);
}

ROWS_SCAN uint32_t row_bits(__m256i mask)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

ROWS_SCAN __m256i row_carrying(const struct maxflow *graph, int32_t slot, int direction)
{
    __m256i residual = row_load(graph->residual, slot);
    return direction > 0 ? _mm256_cmpgt_epi32(residual, _mm256_setzero_si256())
                         : _mm256_cmpgt_epi32(row_load(graph->sum, slot), residual);
}

ROWS_SCAN int row_leads_to_avx2(const struct maxflow *graph, int32_t i, int32_t distance)
{
    __m256i leads = _mm256_setzero_si256();
    for (int32_t k = graph->first[i], end = graph->first[i + 1]; k < end; k += 8) {
        __m256i is_there = _mm256_cmpeq_epi32(row_of_heads(graph, graph->distance, k), _mm256_set1_epi32(distance));
        leads = _mm256_or_si256(leads, _mm256_and_si256(is_there, row_carrying(graph, k, 1)));
    }
    return !_mm256_testz_si256(leads, leads);
}

ROWS_SCAN int32_t row_least(__m256i values)
{
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_min_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

ROWS_SCAN struct row_nearest row_find_nearest_avx2(const struct maxflow *graph, int32_t i)
{
    struct row_nearest best = {.distance = INT32_MAX, .slot = graph->first[i], .which = 1};
    for (int32_t k = graph->first[i], end = graph->first[i + 1]; k < end; k += 8) {
        __m256i is_full = _mm256_cmpeq_epi32(row_load(graph->residual, k), _mm256_setzero_si256());
        __m256i distance = row_of_heads(graph, graph->distance, k);
        distance = _mm256_blendv_epi8(distance, _mm256_set1_epi32(INT32_MAX), is_full);
        int32_t least = row_least(distance);
        if (least < best.distance)
            best = (struct row_nearest){least, k, row_bits(_mm256_cmpeq_epi32(distance, _mm256_set1_epi32(least)))};
    }
    return best;
}

ROWS_SCAN uint32_t row_fresh_avx2(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t pass,
                                  int direction)
{
    __m256i is_fresh = _mm256_cmpgt_epi32(_mm256_set1_epi32(pass), row_of_heads(graph, mark, slot));
    return row_bits(_mm256_and_si256(is_fresh, row_carrying(graph, slot, direction)));
}

ROWS_SCAN uint32_t row_reached_avx2(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t pass,
                                    int direction)
{
    __m256i is_reached = _mm256_cmpeq_epi32(_mm256_set1_epi32(pass), row_of_heads(graph, mark, slot));
    return row_bits(_mm256_and_si256(is_reached, row_carrying(graph, slot, -direction)));
}

/* Settles the arcs of a row with equal capacities both ways. Returns what comes in by it less what leaves. */
ROWS_SCAN int64_t row_settle_avx2(struct maxflow *graph, const int32_t *height, int32_t i)
{
    __m256i own = _mm256_set1_epi32(height[i]), total = _mm256_setzero_si256();
    for (int32_t k = graph->first[i], end = graph->first[i + 1]; k < end; k += 8) {
        __m256i other = row_of_heads(graph, height, k), sum = row_load(graph->sum, k);
        __m256i is_in = _mm256_cmpgt_epi32(other, own), is_kept = _mm256_cmpeq_epi32(other, own);
        __m256i residual = _mm256_blendv_epi8(_mm256_and_si256(is_in, sum), row_load(graph->residual, k), is_kept);
        __m256i change = _mm256_sub_epi32(residual, _mm256_srai_epi32(sum, 1)); /* half in, -half out */
        _mm256_store_si256((__m256i *)&graph->residual[k], residual);
        total = _mm256_add_epi64(total, _mm256_cvtepi32_epi64(_mm256_castsi256_si128(change)));
        total = _mm256_add_epi64(total, _mm256_cvtepi32_epi64(_mm256_extracti128_si256(change, 1)));
    }
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    return _mm_extract_epi64(two, 0) + _mm_extract_epi64(two, 1);
}
#endif

/* Whether an arc of node i that has residual capacity leads to a node at that distance. */
static inline int row_leads_to(const struct maxflow *graph, int32_t i, int32_t distance, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_leads_to_avx2(graph, i, distance);
#endif
    (void)has_avx2;
    int leads = 0;
    for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++)
        leads |= (graph->residual[k] > 0) & (graph->distance[graph->head[k]] == distance);
    return leads;
}

static inline struct row_nearest row_find_nearest(const struct maxflow *graph, int32_t i, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_find_nearest_avx2(graph, i);
#endif
    (void)has_avx2;
    int64_t best = INT64_MAX; /* distance and slot in one number */
    for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++) {
        int64_t candidate = (int64_t)graph->distance[graph->head[k]] << 32 | k;
        candidate = graph->residual[k] ? candidate : INT64_MAX;
        best = candidate < best ? candidate : best;
    }
    return (struct row_nearest){.distance = (int32_t)(best >> 32), .slot = (int32_t)best, .which = 1};
}

/* Those of 8 slots, as bits, that carry flow to nodes with mark[] below `pass`. */
static inline uint32_t row_fresh(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t pass,
                                 int direction, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_fresh_avx2(graph, mark, slot, pass, direction);
#endif
    (void)has_avx2;
    uint32_t fresh = 0;
    for (int32_t k = 0; k < 8; k++)
        fresh |= (uint32_t)((mark[graph->head[slot + k]] < pass) & (row_carries(graph, slot + k, direction) > 0)) << k;
    return fresh;
}

/* Those of 8 slots, as bits, against which flow can come from nodes with that mark[]. */
static inline uint32_t row_reached(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t pass,
                                   int direction, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_reached_avx2(graph, mark, slot, pass, direction);
#endif
    (void)has_avx2;
    uint32_t reached = 0;
    for (int32_t k = 0; k < 8; k++)
        reached |= (uint32_t)((mark[graph->head[slot + k]] == pass) & (row_carries(graph, slot + k, -direction) > 0))
                   << k;
    return reached;
}

/* Gives the arcs of node i the flow that height[n_nodes + 1] stands for: all that an arc can carry goes downhill, arcs
 * on the level keep theirs. Returns what comes in by arcs that are not level, less what leaves. */
static inline int64_t row_settle(struct maxflow *graph, const int32_t *height, int32_t i)
{
#if ROWS_AVX2
    if (graph->has_avx2 && graph->is_symmetric)
        return row_settle_avx2(graph, height, i);
#endif
    int64_t in = 0;
    for (int32_t k = graph->first[i]; k < graph->last[i]; k++) {
        int32_t other = height[graph->head[k]], residual = graph->residual[k], sum = graph->sum[k];
        if (other == height[i])
            continue;
        in += other > height[i] ? sum - residual : -residual;
        graph->residual[k] = other > height[i] ? sum : 0;
    }
    return in;
}
#endif
