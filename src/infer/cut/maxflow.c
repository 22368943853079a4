/* The graph, its capacities, and the solver's outline. */
#include "infer/cut/maxflow.h"

#include <string.h>

#include "base/array.h"
#include "infer/cut/clamp.h"
#include "infer/cut/maxflow_core.h"

void maxflow_init(struct maxflow *graph)
{
    memset(graph, 0, sizeof *graph);
}

void maxflow_release(struct maxflow *graph)
{
    void *arrays[] = {graph->first,    graph->last,   graph->head,   graph->reverse,  graph->residual, graph->sum,
                      graph->origin,   graph->excess, graph->slack,  graph->terminal, graph->queue,    graph->core,
                      graph->distance, graph->next,   graph->active, graph->count,    graph->label};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    clamps_free(graph->clamps);
    maxflow_init(graph);
}

static int reserve(struct maxflow *graph, size_t nodes, size_t slots)
{
    const struct array_part by_node[] = {
        {&graph->first, sizeof *graph->first},       {&graph->last, sizeof *graph->last},
        {&graph->excess, sizeof *graph->excess},     {&graph->slack, 2 * sizeof *graph->slack},
        {&graph->terminal, sizeof *graph->terminal}, {&graph->queue, 2 * sizeof *graph->queue},
        {&graph->core, sizeof *graph->core},         {&graph->distance, sizeof *graph->distance},
        {&graph->next, sizeof *graph->next},         {&graph->active, sizeof *graph->active},
        {&graph->count, sizeof *graph->count},       {&graph->label, sizeof *graph->label}};
    const struct array_part by_slot[] = {{&graph->head, sizeof *graph->head},
                                         {&graph->reverse, sizeof *graph->reverse},
                                         {&graph->residual, sizeof *graph->residual},
                                         {&graph->sum, sizeof *graph->sum},
                                         {&graph->origin, sizeof *graph->origin}};
    return array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &graph->node_capacity, nodes + 2) ||
           array_reserve_all(by_slot, sizeof by_slot / sizeof *by_slot, &graph->slot_capacity, slots + 1);
}

/* Slots that the graph takes, from the degrees. */
static size_t count_slots(const int32_t *degree, int32_t n_nodes)
{
    size_t slots = 0;
    for (int32_t i = 0; i < n_nodes; i++)
        slots += ((size_t)degree[i] + 7) / 8 * 8;
    return slots;
}

int maxflow_build(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2])
{
    int32_t *degree = array_zalloc((size_t)n_nodes, sizeof *degree);
    if (!degree)
        return -1;
    for (int32_t e = 0; e < n_edges; e++) {
        degree[edges[e][0]]++;
        degree[edges[e][1]]++;
    }
    size_t slots = count_slots(degree, n_nodes);
    if (slots > INT32_MAX || reserve(graph, (size_t)n_nodes, slots)) {
        array_free(degree);
        maxflow_release(graph);
        return -1;
    }
    graph->n_nodes = n_nodes;
    graph->n_edges = n_edges;
    graph->n_slots = (int32_t)slots;
#if defined(__x86_64__)
    graph->has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
    for (int32_t i = 0, at = 0; i < n_nodes; i++) {
        graph->first[i] = graph->last[i] = at;
        at += (degree[i] + 7) / 8 * 8;
        graph->first[i + 1] = at;
    }
    graph->first[0] = 0;
    array_free(degree);
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t a = edges[e][0], b = edges[e][1], there = graph->last[a]++, back = graph->last[b]++;
        graph->head[there] = b;
        graph->head[back] = a;
        graph->reverse[there] = back;
        graph->reverse[back] = there;
        graph->origin[there] = 2 * (uint32_t)e;
        graph->origin[back] = 2 * (uint32_t)e + 1;
    }
    for (int32_t i = 0; i < n_nodes; i++)
        for (int32_t k = graph->last[i]; k < graph->first[i + 1]; k++) {
            graph->head[k] = n_nodes;
            graph->residual[k] = graph->sum[k] = 0;
        }
    return 0;
}

/* One row; returns the capacity away from the node, *into gets the one towards it. */
static inline int64_t set_row(struct maxflow *graph, int64_t *into, int32_t i, const int32_t *forward,
                              const int32_t *backward)
{
    int32_t *restrict residual = graph->residual, *restrict sum = graph->sum;
    const uint32_t *restrict origin = graph->origin;
    int64_t out = 0, in = 0;
    for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++) {
        uint32_t at = origin[k];
        int32_t away = forward[at >> 1], back = away;
        if (forward != backward) {
            away = at & 1 ? backward[at >> 1] : away;
            back = at & 1 ? back : backward[at >> 1];
        }
        residual[k] = away;
        sum[k] = away + back;
        out += away;
        in += back;
    }
    *into = in;
    return out;
}

void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward)
{
    int64_t *slack = graph->slack;
    int32_t tail = 0, *queue = graph->queue;
    graph->is_symmetric = forward == backward;
    graph->is_settled = 0;
    for (int32_t i = 0; i < graph->n_nodes; i++) {
        int64_t in, out = graph->is_symmetric ? set_row(graph, &in, i, forward, forward)
                                              : set_row(graph, &in, i, forward, backward);
        graph->terminal[i] = terminal[i];
        slack[2 * i] = 1 - terminal[i] - in;
        slack[2 * i + 1] = terminal[i] - out;
        int is_one = slack[2 * i + 1] > 0, is_zero = slack[2 * i] > 0;
        queue[tail] = 2 * i + is_one;
        tail += is_one | is_zero;
    }
    graph->n_decided = tail;
}

/* What is reachable from excess that is left over; decided nodes have their labels. */
static void read_labels(struct maxflow *graph)
{
    const int32_t *restrict head = graph->head, *restrict residual = graph->residual,
                            *restrict distance = graph->distance;
    int32_t *restrict queue = graph->queue + graph->n_decided, tail = 0;
    uint8_t *restrict label = graph->label;
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c];
        label[i] = graph->excess[i] > 0;
        queue[tail] = i;
        tail += label[i];
    }
    for (int32_t at = 0; at < tail; at++) {
        int32_t i = queue[at];
        for (int32_t k = graph->first[i], last = graph->last[i]; k < last; k++) {
            int32_t to = head[k];
            int fresh = (residual[k] > 0) & !label[to] & (distance[to] != MAXFLOW_DECIDED);
            label[to] |= (uint8_t)fresh;
            queue[tail] = to;
            tail += fresh;
        }
    }
}

void maxflow_solve(struct maxflow *graph)
{
    maxflow_eliminate(graph);
    maxflow_push(graph);
    read_labels(graph);
}
