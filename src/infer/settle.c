/* Elimination leaves the arcs of decided nodes as they were. Here they get the flow that decisions stand for: a decided node has
 * sent everything to (label 1) or drawn everything from (label 0) the neighbours that were not decided like it before it was.
 * A row needs only the ranks of its heads, so it waits until a search gets there: few searches see the whole graph. */
#include "infer/settle.h"

#include <immintrin.h>
#include <string.h>

#include "infer/clamp.h"

static void rank_decided(const struct maxflow *graph, int32_t *restrict rank)
{
    memset(rank, 0, ((size_t)graph->n_nodes + 1) * sizeof *rank);
    for (int32_t at = 0; at < graph->n_decided; at++) {
        int32_t i = graph->queue[at] >> 1;
        rank[i] = graph->queue[at] & 1 ? at + 1 : -at - 1;
    }
}

/* Whether an arc's flow fills it (1), fills its opposite arc (0) or is what the search has left there (-1). */
static inline int flow_of(int32_t from, int32_t to)
{
    if (from > 0)
        return !(to > 0 && to < from);
    if (from < 0)
        return to < 0 && to > from;
    return to > 0 ? 0 : to < 0 ? 1 : -1;
}

static void settle_any(struct maxflow *graph, int32_t i)
{
    const int32_t *rank = graph->clamps->rank;
    int64_t excess = graph->terminal[i];
    for (int32_t k = graph->first[i]; k < graph->last[i]; k++) {
        int flow = flow_of(rank[i], rank[graph->head[k]]);
        int32_t out = graph->residual[k], in = graph->sum[k] - out;
        excess += flow == 1 ? -out : flow == 0 ? in : 0;
        graph->residual[k] = flow == 1 ? 0 : flow == 0 ? graph->sum[k] : out;
    }
    if (rank[i])
        graph->excess[i] = excess;
}

/* The sum of 8 numbers, in 64 bits. */
__attribute__((target("avx2"))) static inline int64_t total_of_8(__m256i v)
{
    __m256i four = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)),
                                    _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)));
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return _mm_extract_epi64(two, 0) + _mm_extract_epi64(two, 1);
}

/* Equal capacities both ways, half the sum each. */
__attribute__((target("avx2"))) static void settle_symmetric(struct maxflow *graph, int32_t i)
{
    const int32_t *rank = graph->clamps->rank;
    __m256i zero = _mm256_setzero_si256(), own = _mm256_set1_epi32(rank[i]);
    int64_t excess = graph->terminal[i];
    for (int32_t k = graph->first[i]; k < graph->first[i + 1]; k += 8) {
        __m256i *residual = (__m256i *)&graph->residual[k];
        __m256i sum = _mm256_load_si256((const __m256i *)&graph->sum[k]), half = _mm256_srai_epi32(sum, 1);
        __m256i other = _mm256_i32gather_epi32(rank, _mm256_load_si256((const __m256i *)&graph->head[k]), 4);
        if (!rank[i]) {
            __m256i kept = _mm256_blendv_epi8(_mm256_load_si256(residual), sum, _mm256_cmpgt_epi32(other, zero));
            _mm256_store_si256(residual, _mm256_andnot_si256(_mm256_cmpgt_epi32(zero, other), kept));
            continue;
        }
        __m256i is_earlier = rank[i] > 0
                                 ? _mm256_and_si256(_mm256_cmpgt_epi32(other, zero), _mm256_cmpgt_epi32(own, other))
                                 : _mm256_and_si256(_mm256_cmpgt_epi32(zero, other), _mm256_cmpgt_epi32(other, own));
        __m256i is_in = rank[i] > 0 ? is_earlier : _mm256_xor_si256(is_earlier, _mm256_set1_epi32(-1));
        _mm256_store_si256(residual, _mm256_and_si256(is_in, sum));
        /* half where flow comes in, -half where it leaves */
        excess += total_of_8(_mm256_sub_epi32(_mm256_and_si256(is_in, sum), half));
    }
    if (rank[i])
        graph->excess[i] = excess;
}

void settle_start(struct maxflow *graph)
{
    if (graph->is_settled)
        return;
    graph->is_settled = 1;
    rank_decided(graph, graph->clamps->rank);
    memset(graph->clamps->is_settled, 0, (size_t)graph->n_nodes + 1);
}

void settle_row(struct maxflow *graph, int32_t i)
{
    graph->clamps->is_settled[i] = 1;
    if (graph->is_symmetric && __builtin_cpu_supports("avx2"))
        settle_symmetric(graph, i);
    else
        settle_any(graph, i);
}
