/* Scans of a node's row: 8 slots at a time by vector instructions if the machine has them, else one at a time. Both
 * give the same answers. Callers pass graph->has_avx2 on, as a constant where the scan is to be inlined. */
#ifndef INFER_ROWS_H
#define INFER_ROWS_H

#include "infer/cut/cut.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define ROWS_AVX2 1
/* For functions that are called only if graph->has_avx2 is set: everything that they call is inlined. */
#define ROWS_CLONE __attribute__((target("avx2"), flatten))
#define ROWS_SCAN  __attribute__((target("avx2"))) static inline
#else
#define ROWS_AVX2 0
#define ROWS_CLONE
#endif

/* Returns the residual capacity of an arc in its own direction (1) or against it (-1). */
static inline int32_t row_carries(const struct maxflow *graph, int32_t slot, int direction)
{
    return direction > 0 ? graph->arc[slot].residual : graph->arc[slot].sum - graph->arc[slot].residual;
}

/* The nearest heads of a node's arcs with residual capacity: their distance, and their arcs, bit l of `which` for arc
 * slot + l. */
struct row_nearest {
    int32_t distance, slot;
    uint32_t which;
};

#if ROWS_AVX2
/* 8 arcs; those from `last` on carry nothing. */
struct row_arcs {
    const struct maxflow_arc *arc;
    __m256i residual, sum, is_valid;
};

/* Loads an arc into the low half and the arc four slots later into the high half. */
ROWS_SCAN __m256i row_pair(const struct maxflow_arc *arc)
{
    __m256i low = _mm256_castsi128_si256(_mm_load_si128((const __m128i *)arc));
    return _mm256_inserti128_si256(low, _mm_load_si128((const __m128i *)(arc + 4)), 1);
}

ROWS_SCAN struct row_arcs row_load(const struct maxflow *graph, int32_t k, int32_t last)
{
    const struct maxflow_arc *arc = &graph->arc[k];
    __m256i a = row_pair(arc), b = row_pair(arc + 1), c = row_pair(arc + 2), d = row_pair(arc + 3);
    __m256i low = _mm256_unpacklo_epi32(a, b), high = _mm256_unpacklo_epi32(c, d);
    __m256i sums = _mm256_unpacklo_epi64(_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (struct row_arcs){.arc = arc,
                             .residual = _mm256_unpackhi_epi64(low, high),
                             .sum = sums,
                             .is_valid = _mm256_cmpgt_epi32(_mm256_set1_epi32(last - k), lane)};
}

ROWS_SCAN __m256i row_of_heads(const struct row_arcs *row, const int32_t *value)
{
    const struct maxflow_arc *a = row->arc;
    return _mm256_setr_epi32(value[a[0].head], value[a[1].head], value[a[2].head], value[a[3].head], value[a[4].head],
                             value[a[5].head], value[a[6].head], value[a[7].head]);
}

ROWS_SCAN uint32_t row_bits(__m256i mask)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

ROWS_SCAN __m256i row_carrying(const struct row_arcs *row, int direction)
{
    __m256i carries = direction > 0 ? _mm256_cmpgt_epi32(row->residual, _mm256_setzero_si256())
                                    : _mm256_cmpgt_epi32(row->sum, row->residual);
    return _mm256_and_si256(carries, row->is_valid);
}

ROWS_SCAN int row_leads_to_avx2(const struct maxflow *graph, int32_t i, int32_t distance)
{
    __m256i leads = _mm256_setzero_si256();
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k += 8) {
        struct row_arcs row = row_load(graph, k, last);
        __m256i is_near = _mm256_cmpeq_epi32(row_of_heads(&row, graph->distance), _mm256_set1_epi32(distance));
        leads = _mm256_or_si256(leads, _mm256_and_si256(is_near, row_carrying(&row, 1)));
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
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k += 8) {
        struct row_arcs row = row_load(graph, k, last);
        __m256i distance = _mm256_blendv_epi8(_mm256_set1_epi32(INT32_MAX), row_of_heads(&row, graph->distance),
                                              row_carrying(&row, 1));
        int32_t least = row_least(distance);
        if (least < best.distance)
            best = (struct row_nearest){least, k, row_bits(_mm256_cmpeq_epi32(distance, _mm256_set1_epi32(least)))};
    }
    return best;
}

ROWS_SCAN uint32_t row_unreached_avx2(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t last,
                                      int32_t pass, int direction)
{
    struct row_arcs row = row_load(graph, slot, last);
    __m256i is_unreached = _mm256_cmpgt_epi32(_mm256_set1_epi32(pass), row_of_heads(&row, mark));
    return row_bits(_mm256_and_si256(is_unreached, row_carrying(&row, direction)));
}

ROWS_SCAN uint32_t row_reached_avx2(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t last,
                                    int32_t pass, int direction)
{
    struct row_arcs row = row_load(graph, slot, last);
    __m256i is_reached = _mm256_cmpeq_epi32(_mm256_set1_epi32(pass), row_of_heads(&row, mark));
    return row_bits(_mm256_and_si256(is_reached, row_carrying(&row, -direction)));
}
#endif

/* Returns whether an arc of node i that has residual capacity leads to a node at that distance. */
static inline int row_leads_to(const struct maxflow *graph, int32_t i, int32_t distance, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_leads_to_avx2(graph, i, distance);
#endif
    (void)has_avx2;
    int leads = 0;
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++)
        leads |= (graph->arc[k].residual > 0) & (graph->distance[graph->arc[k].head] == distance);
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
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
        int64_t candidate = (int64_t)graph->distance[graph->arc[k].head] << 32 | k;
        candidate = graph->arc[k].residual ? candidate : INT64_MAX;
        best = candidate < best ? candidate : best;
    }
    return (struct row_nearest){.distance = (int32_t)(best >> 32), .slot = (int32_t)best, .which = 1};
}

/* Returns a mask of those of 8 arcs from `slot` on, before `last`, that can carry flow to a node with mark[] below
 * `pass`. */
static inline uint32_t row_unreached(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t last,
                                     int32_t pass, int direction, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_unreached_avx2(graph, mark, slot, last, pass, direction);
#endif
    (void)has_avx2;
    uint32_t unreached = 0;
    for (int32_t k = slot; k < last && k < slot + 8; k++)
        unreached |= (uint32_t)((mark[graph->arc[k].head] < pass) & (row_carries(graph, k, direction) > 0))
                     << (k - slot);
    return unreached;
}

/* Returns a mask of those of 8 arcs from `slot` on, before `last`, against which flow can come from a node with mark[]
 * == pass. */
static inline uint32_t row_reached(const struct maxflow *graph, const int32_t *mark, int32_t slot, int32_t last,
                                   int32_t pass, int direction, int has_avx2)
{
#if ROWS_AVX2
    if (has_avx2)
        return row_reached_avx2(graph, mark, slot, last, pass, direction);
#endif
    (void)has_avx2;
    uint32_t reached = 0;
    for (int32_t k = slot; k < last && k < slot + 8; k++)
        reached |= (uint32_t)((mark[graph->arc[k].head] == pass) & (row_carries(graph, k, -direction) > 0))
                   << (k - slot);
    return reached;
}
#endif
