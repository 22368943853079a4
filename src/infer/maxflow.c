/* Push-relabel (Goldberg & Tarjan 1988), first phase only: a minimum cut needs the preflow, not the flow. Terminals are no
 * nodes: what the source can send is a node's excess from the start, what the sink can take is excess below zero, and
 * distances count arcs to the nearest node that can still take flow. First-in first-out, with exact distances recomputed by
 * breadth-first search whenever relabelling has cost as much as that search does. */
#include "infer/maxflow.h"

#include <string.h>

#include "base/array.h"

void maxflow_init(struct maxflow *graph)
{
    memset(graph, 0, sizeof *graph);
}

void maxflow_release(struct maxflow *graph)
{
    array_free(graph->nodes);
    array_free(graph->arcs);
    array_free(graph->forward);
    array_free(graph->queue);
    array_free(graph->label);
    maxflow_init(graph);
}

static int grow(struct maxflow *graph, size_t n_nodes, size_t n_edges)
{
    if (n_nodes > graph->node_capacity || !graph->nodes) {
        maxflow_release(graph);
        graph->nodes = array_alloc(n_nodes + 1, sizeof *graph->nodes);
        graph->queue = array_alloc(n_nodes, sizeof *graph->queue);
        graph->label = array_alloc(n_nodes, sizeof *graph->label);
        graph->node_capacity = n_nodes;
    }
    if (n_edges > graph->edge_capacity || !graph->arcs) {
        array_free(graph->arcs);
        array_free(graph->forward);
        graph->arcs = array_alloc(n_edges, 2 * sizeof *graph->arcs);
        graph->forward = array_alloc(n_edges, sizeof *graph->forward);
        graph->edge_capacity = n_edges;
    }
    if (graph->nodes && graph->queue && graph->label && graph->arcs && graph->forward)
        return 0;
    maxflow_release(graph);
    return -1;
}

int maxflow_build(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2])
{
    if (grow(graph, (size_t)n_nodes, (size_t)n_edges))
        return -1;
    graph->n_nodes = n_nodes;
    graph->n_edges = n_edges;
    struct maxflow_node *nodes = graph->nodes;
    for (int32_t i = 0; i <= n_nodes; i++)
        nodes[i].first = 0;
    for (int32_t e = 0; e < n_edges; e++) {
        nodes[edges[e][0]].first++;
        nodes[edges[e][1]].first++;
    }
    /* Running ends, from which the placement below counts down to the beginnings. */
    for (int32_t i = 1; i <= n_nodes; i++)
        nodes[i].first += nodes[i - 1].first;
    for (int32_t e = n_edges - 1; e >= 0; e--) {
        int32_t a = edges[e][0], b = edges[e][1];
        int32_t there = --nodes[a].first, back = --nodes[b].first;
        graph->arcs[there] = (struct maxflow_arc){.head = b, .reverse = back};
        graph->arcs[back] = (struct maxflow_arc){.head = a, .reverse = there};
        graph->forward[e] = there;
    }
    return 0;
}

void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward)
{
    for (int32_t i = 0; i < graph->n_nodes; i++)
        graph->nodes[i].excess = terminal[i];
    struct maxflow_arc *arcs = graph->arcs;
    for (int32_t e = 0; e < graph->n_edges; e++) {
        struct maxflow_arc *arc = &arcs[graph->forward[e]], *reverse = &arcs[arc->reverse];
        arc->residual = forward[e];
        reverse->residual = backward[e];
        arc->sum = reverse->sum = forward[e] + backward[e];
    }
}

/* Distance of every node to the nearest deficit along residual arcs; n_nodes where there is none. */
static void measure_distances(struct maxflow *graph)
{
    struct maxflow_node *nodes = graph->nodes;
    int32_t n = graph->n_nodes, head = 0, tail = 0, *queue = graph->queue;
    for (int32_t i = 0; i < n; i++)
        if (nodes[i].excess < 0) {
            nodes[i].distance = 0;
            queue[tail++] = i;
        } else {
            nodes[i].distance = n;
        }
    while (head < tail) {
        int32_t i = queue[head++];
        for (int32_t k = nodes[i].first; k < nodes[i + 1].first; k++) {
            const struct maxflow_arc *arc = &graph->arcs[k];
            struct maxflow_node *from = &nodes[arc->head];
            if (arc->sum > arc->residual && from->distance == n && from->excess >= 0) {
                from->distance = nodes[i].distance + 1;
                queue[tail++] = arc->head;
            }
        }
    }
}

/* First-in first-out queue of active nodes in a ring; a node is in it at most once. */
struct ring {
    int32_t *slots, size, head, count;
};

static void ring_put(struct ring *ring, int32_t i)
{
    int32_t at = ring->head + ring->count++;
    ring->slots[at >= ring->size ? at - ring->size : at] = i;
}

static int32_t ring_take(struct ring *ring)
{
    int32_t i = ring->slots[ring->head];
    ring->head = ring->head + 1 == ring->size ? 0 : ring->head + 1;
    ring->count--;
    return i;
}

/* Pushes node i's excess towards the sink, raising i as long as it must; returns the arcs looked at. */
static int64_t discharge(struct maxflow *graph, struct ring *active, int32_t i)
{
    struct maxflow_node *nodes = graph->nodes, *node = &nodes[i];
    int32_t begin = node->first, end = nodes[i + 1].first, n = graph->n_nodes;
    int64_t work = 0;
    while (node->distance < n) {
        int32_t lowest = n;
        for (int32_t k = begin; k < end; k++) {
            struct maxflow_arc *arc = &graph->arcs[k];
            if (!arc->residual)
                continue;
            struct maxflow_node *to = &nodes[arc->head];
            if (to->distance + 1 == node->distance) {
                int32_t amount = node->excess < arc->residual ? (int32_t)node->excess : arc->residual;
                int64_t before = to->excess;
                arc->residual -= amount;
                graph->arcs[arc->reverse].residual += amount;
                node->excess -= amount;
                to->excess += amount;
                if (before <= 0 && to->excess > 0)
                    ring_put(active, arc->head);
                if (!node->excess)
                    return work + k - begin + 1;
                if (!arc->residual)
                    continue;
            }
            lowest = to->distance < lowest ? to->distance : lowest;
        }
        work += end - begin;
        node->distance = lowest < n ? lowest + 1 : n;
    }
    return work;
}

/* The minimal source set: what is reachable from excess that is left over. */
static void read_labels(struct maxflow *graph)
{
    struct maxflow_node *nodes = graph->nodes;
    int32_t head = 0, tail = 0, *queue = graph->queue;
    for (int32_t i = 0; i < graph->n_nodes; i++) {
        graph->label[i] = nodes[i].excess > 0;
        if (graph->label[i])
            queue[tail++] = i;
    }
    while (head < tail) {
        int32_t i = queue[head++];
        for (int32_t k = nodes[i].first; k < nodes[i + 1].first; k++) {
            int32_t to = graph->arcs[k].head;
            if (graph->arcs[k].residual && !graph->label[to]) {
                graph->label[to] = 1;
                queue[tail++] = to;
            }
        }
    }
}

void maxflow_solve(struct maxflow *graph)
{
    int64_t budget = 4 * (int64_t)graph->n_nodes + 2 * (int64_t)graph->n_edges;
    int32_t n = graph->n_nodes;
    struct ring active = {.slots = graph->queue, .size = n};
    do {
        measure_distances(graph);
        active.head = active.count = 0;
        for (int32_t i = 0; i < n; i++)
            if (graph->nodes[i].excess > 0 && graph->nodes[i].distance < n)
                ring_put(&active, i);
        for (int64_t work = 0; active.count && work < budget;)
            work += discharge(graph, &active, ring_take(&active));
    } while (active.count);
    read_labels(graph);
}
