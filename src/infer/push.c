/* Push-relabel (Goldberg & Tarjan 1988), highest label first (Cheriyan & Maheshwari 1989), first phase only: a minimum cut
 * needs the preflow, not the flow. Terminals are no nodes: distances count the arcs to the nearest node with room.
 * Gap rule (Cherkassky & Goldberg 1997): once no node is left at a distance, no node farther than that can reach room. */
#include <immintrin.h>

#include "infer/maxflow_core.h"

/* Exact distances again after this many scans a core node, for the long-lived cases. */
#define SCANS_A_NODE 6

struct levels {
    int32_t highest; /* the highest list that may hold an active node */
    int32_t open;    /* lists and counts are valid up to here */
    int64_t work;    /* scans, or as much */
};

/* Exact distances by breadth-first search from the nodes with room; counts a level. */
static void measure(struct maxflow *graph, struct levels *levels)
{
    const int32_t *restrict head = graph->head, *restrict residual = graph->residual, *restrict sum = graph->sum;
    int32_t *restrict queue = graph->queue + graph->n_decided, *restrict distance = graph->distance, tail = 0;
    *levels = (struct levels){.highest = -1};
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c], room = graph->excess[i] < 0;
        distance[i] = room ? 0 : MAXFLOW_FAR;
        queue[tail] = i;
        tail += room;
    }
    graph->count[0] = tail;
    graph->active[0] = -1;
    for (int32_t at = 0, end = tail; at < end; end = tail) {
        int32_t farther = levels->open + 1;
        for (; at < end; at++) {
            int32_t i = queue[at];
            for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++) {
                int32_t from = head[k];
                int fresh = (sum[k] > residual[k]) & (distance[from] == MAXFLOW_FAR);
                distance[from] = fresh ? farther : distance[from];
                queue[tail] = from;
                tail += fresh;
            }
        }
        graph->count[farther] = tail - end;
        graph->active[farther] = -1;
        levels->open += tail > end;
    }
}

static inline void activate(struct maxflow *graph, int32_t i)
{
    int32_t distance = graph->distance[i];
    graph->next[i] = graph->active[distance];
    graph->active[distance] = i;
}

/* Everything farther than `limit` is cut off. */
static void close_gap(struct maxflow *graph, struct levels *levels, int32_t limit)
{
    int32_t *restrict distance = graph->distance, n = graph->n_nodes;
    for (int32_t i = 0; i < n; i++)
        distance[i] |= distance[i] > limit ? MAXFLOW_FAR : 0;
    levels->open = levels->highest = limit;
    levels->work += n / 32;
}

/* Moves node i from one distance to a greater one. Returns 0 when it is cut off. */
static inline int relabel(struct maxflow *graph, struct levels *levels, int32_t i, int32_t from, int32_t to)
{
    graph->distance[i] = to;
    int is_gap = --graph->count[from] == 0;
    if (is_gap)
        close_gap(graph, levels, from);
    if (is_gap || to == MAXFLOW_FAR)
        return 0;
    if (to > levels->open) {
        graph->active[to] = -1;
        graph->count[to] = 0;
        levels->open = to;
    }
    graph->count[to]++;
    return 1;
}

/* The nearest heads of a row's residual arcs: their distance, and as bits of `which` the arcs from `slot` on. */
struct nearest {
    int32_t distance, slot;
    uint32_t which;
};

static inline struct nearest find_nearest(const struct maxflow *graph, int32_t i)
{
    const int32_t *restrict head = graph->head, *restrict residual = graph->residual,
                            *restrict distance = graph->distance;
    int64_t best = INT64_MAX; /* distance and slot in one number */
    for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++) {
        int64_t candidate = (int64_t)distance[head[k]] << 32 | k;
        candidate = residual[k] ? candidate : INT64_MAX;
        best = candidate < best ? candidate : best;
    }
    return (struct nearest){.distance = (int32_t)(best >> 32), .slot = (int32_t)best, .which = 1};
}

__attribute__((target("avx2"))) static inline int32_t least_of_8(__m256i values)
{
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_min_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

__attribute__((target("avx2"))) static inline struct nearest find_nearest_avx2(const struct maxflow *graph, int32_t i)
{
    struct nearest best = {.distance = INT32_MAX, .slot = graph->first[i], .which = 1};
    for (int32_t k = graph->first[i], end = graph->first[i + 1]; k < end; k += 8) {
        __m256i heads = _mm256_load_si256((const __m256i *)&graph->head[k]);
        __m256i residual = _mm256_load_si256((const __m256i *)&graph->residual[k]);
        __m256i distance = _mm256_i32gather_epi32(graph->distance, heads, 4);
        __m256i is_full = _mm256_cmpeq_epi32(residual, _mm256_setzero_si256());
        distance = _mm256_blendv_epi8(distance, _mm256_set1_epi32(INT32_MAX), is_full);
        int32_t least = least_of_8(distance);
        if (least < best.distance) {
            __m256i is_least = _mm256_cmpeq_epi32(distance, _mm256_set1_epi32(least));
            best = (struct nearest){least, k, (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_least))};
        }
    }
    return best;
}

/* Pushes node i's excess along its nearest neighbours until it is used up or i is cut off; i rises as it must. In a strongly
 * coupled graph a neighbour with room gets no more than that, and rises when it is full, so that less is pushed that has to come
 * back, and less flow is left in loops for clamps to find. */
static inline void discharge(struct maxflow *graph, struct levels *levels, int32_t i, int is_strong, int has_avx2)
{
    int32_t distance = graph->distance[i];
    int64_t excess = graph->excess[i];
    while (excess) {
        struct nearest to = has_avx2 ? find_nearest_avx2(graph, i) : find_nearest(graph, i);
        int32_t above = to.distance < MAXFLOW_FAR ? to.distance + 1 : MAXFLOW_FAR;
        levels->work++;
        if (above != distance) {
            if (!relabel(graph, levels, i, distance, above))
                break;
            distance = levels->highest = above;
        }
        do {
            int32_t k = to.slot + __builtin_ctz(to.which), j = graph->head[k], residual = graph->residual[k];
            int64_t before = graph->excess[j], most = excess;
            to.which &= to.which - 1;
            if (is_strong & (graph->distance[j] != to.distance))
                continue; /* a parallel arc has filled it */
            if (is_strong & (before < 0))
                most = excess < -before ? excess : -before;
            int32_t amount = most < residual ? (int32_t)most : residual;
            int64_t after = before + amount;
            graph->residual[k] = residual - amount;
            graph->residual[graph->reverse[k]] += amount;
            graph->excess[j] = after;
            excess -= amount;
            if ((before <= 0) & (after > 0))
                activate(graph, j);
            else if (is_strong & (before < 0) & (after == 0))
                relabel(graph, levels, j, 0, 1);
        } while (to.which && excess);
        if (graph->distance[i] >= MAXFLOW_FAR)
            break; /* that was the last room */
    }
    graph->excess[i] = excess;
}

/* One round from exact distances. Returns 1 when it ended for having taken long. */
static inline int push_round(struct maxflow *graph, int64_t budget, int is_strong, int has_avx2)
{
    struct levels levels;
    measure(graph, &levels);
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c];
        if ((graph->excess[i] > 0) & (graph->distance[i] < MAXFLOW_FAR)) {
            activate(graph, i);
            levels.highest = graph->distance[i] > levels.highest ? graph->distance[i] : levels.highest;
        }
    }
    while (levels.work <= budget) {
        while (levels.highest >= 0 && graph->active[levels.highest] < 0)
            levels.highest--;
        if (levels.highest < 0)
            return 0;
        int32_t i = graph->active[levels.highest];
        graph->active[levels.highest] = graph->next[i];
        discharge(graph, &levels, i, is_strong, has_avx2);
    }
    return 1;
}

__attribute__((target("avx2"), flatten)) static int push_round_avx2(struct maxflow *graph, int64_t budget,
                                                                    int is_strong)
{
    return push_round(graph, budget, is_strong, 1);
}

void maxflow_push(struct maxflow *graph)
{
    int64_t budget = SCANS_A_NODE * (int64_t)graph->n_core;
    /* How much elimination has left is the measure of how strongly neighbours bind each other. */
    int is_unfinished = graph->n_core > 0, is_strong = graph->n_core > graph->n_nodes - graph->n_nodes / 4;
    if (__builtin_cpu_supports("avx2"))
        while (is_unfinished)
            is_unfinished = push_round_avx2(graph, budget, is_strong);
    while (is_unfinished)
        is_unfinished = push_round(graph, budget, is_strong, 0);
}
