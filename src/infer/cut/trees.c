/* Maximum flow by incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan & Werneck, ESA 2011; Goldberg et al.,
 * ESA 2015): trees grow level by level from the nodes that have excess and from those that have a deficit; where they
 * meet, flow is pushed along the path from root to root; nodes that a full arc or an empty root cuts off, the orphans,
 * look for another parent, lowest level first.
 *
 * In a source tree arcs lead from parent to child, in a sink tree from child to parent. Side 0 are the source trees. */
#include <limits.h>

#include "infer/cut/cut.h"

/* With fewer roots than this part of the nodes, ways are long from the start. */
#define FEW_ROOTS 16

struct list {
    int32_t *items, n;
};

struct trees {
    struct maxflow *graph;
    struct list list[2][2]; /* [side]: nodes of the deepest level, still to be scanned, and of the next */
    int32_t depth[2];       /* level that is scanned next */
    int32_t limit[2];       /* deepest level there may be now */
    int32_t lowest, highest;
    int64_t budget; /* of sinks */
};

INLINE void enlist(struct trees *self, int32_t i, int side, int is_next)
{
    struct list *list = &self->list[side][is_next];
    uint8_t *is_listed = &self->graph->label[i];
    list->items[list->n] = i;
    list->n += !(*is_listed >> side & 1);
    *is_listed |= (uint8_t)(1 << side);
}

INLINE void add_orphan(struct trees *self, int32_t i, int32_t level)
{
    struct maxflow *graph = self->graph;
    graph->node[i].parent = TREES_NONE;
    while (self->highest < level)
        graph->bucket[++self->highest] = -1;
    graph->node[i].next = graph->bucket[level];
    graph->bucket[level] = i;
    self->lowest = level < self->lowest ? level : self->lowest;
}

/* No parent on the level above is left for i: it sinks to below its nearest neighbour in the trees, which may be an
 * orphan itself, or leaves them. */
INLINE void sink(struct trees *self, int32_t i, int side)
{
    struct maxflow *graph = self->graph;
    int32_t nearest = TREES_FAR, arc = 0;
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
        int32_t j = graph->arc[k].head, above = level_of(graph, j, side);
        if (above <= 0)
            continue;
        if (graph->node[j].parent == graph->arc[k].reverse)
            add_orphan(self, j, above);
        if (above < nearest && toward_parent(graph, k, side) > 0) {
            nearest = above;
            arc = k;
        }
    }
    self->budget--;
    if (nearest >= self->limit[side]) {
        graph->node[i].level = 0;
        return;
    }
    graph->node[i].level = side ? -(nearest + 1) : nearest + 1;
    graph->node[i].current = arc;
    add_orphan(self, i, nearest + 1);
    if (nearest + 1 >= self->depth[side])
        enlist(self, i, side, nearest + 1 > self->depth[side]);
}

/* Finds parents for all orphans of a side. Lowest level first: whoever stands higher has a parent for good. */
INLINE void adopt(struct trees *self, int side)
{
    struct maxflow *graph = self->graph;
    while (self->lowest <= self->highest) {
        int32_t level = self->lowest, i = graph->bucket[level];
        if (i < 0) {
            self->lowest++;
            continue;
        }
        graph->bucket[level] = graph->node[i].next;
        int32_t k = graph->node[i].current, last = graph->first[i + 1];
        while (k < last &&
               !(level_of(graph, graph->arc[k].head, side) == level - 1 && toward_parent(graph, k, side) > 0))
            k++;
        graph->node[i].current = k;
        if (k < last && level > 1)
            graph->node[i].parent = k;
        else
            sink(self, i, side);
    }
    self->lowest = INT_MAX;
    self->highest = 0;
}

/* Takes the amount off i's path to its root; who loses its parent is an orphan. */
INLINE void push_path(struct trees *self, int32_t i, int64_t amount, int side)
{
    struct maxflow *graph = self->graph;
    while (graph->node[i].parent != TREES_ROOT) {
        int32_t k = graph->node[i].parent;
        push_slot(graph, k, side ? amount : -amount);
        if (!toward_parent(graph, k, side))
            add_orphan(self, i, level_of(graph, i, side));
        i = graph->arc[k].head;
    }
    graph->excess[i] += side ? amount : -amount;
    if (!graph->excess[i])
        add_orphan(self, i, level_of(graph, i, side));
}

/* From the root of s in a source tree along slot k of s to the root of its head in a sink tree. */
INLINE void augment(struct trees *self, int32_t s, int32_t k)
{
    struct maxflow *graph = self->graph;
    int32_t t = graph->arc[k].head;
    int64_t amount = graph->arc[k].residual;
    amount = path_bottleneck(graph, s, amount, 0);
    amount = path_bottleneck(graph, t, amount, 1);
    push_slot(graph, k, amount);
    push_path(self, s, amount, 0);
    adopt(self, 0);
    push_path(self, t, amount, 1);
    adopt(self, 1);
}

/* Scans a node of the deepest level. */
INLINE void scan(struct trees *self, int32_t i, int side)
{
    struct maxflow *graph = self->graph;
    int32_t depth = self->depth[side];
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
        int32_t j = graph->arc[k].head;
        if (toward_child(graph, k, side) == 0)
            continue;
        int32_t level = level_of(graph, j, !side);
        while (level > 0 && level < TREES_FAR && toward_child(graph, k, side)) {
            augment(self, side ? j : i, side ? graph->arc[k].reverse : k);
            if (level_of(graph, i, side) != depth)
                return;
            level = level_of(graph, j, !side);
        }
        if (!level && toward_child(graph, k, side)) {
            graph->node[j].level = side ? -(depth + 1) : depth + 1;
            graph->node[j].parent = graph->arc[k].reverse;
            graph->node[j].current = graph->arc[k].reverse;
            enlist(self, j, side, 1);
        }
    }
}

/* Grows the trees of a side by a level. */
INLINE void grow(struct trees *self, int side)
{
    struct maxflow *graph = self->graph;
    struct list *list = self->list[side], scanned;
    int32_t at = 0;
    self->limit[side] = self->depth[side] + 1;
    for (; at < list[0].n; at++) {
        int32_t i = list[0].items[at];
        graph->label[i] &= (uint8_t) ~(1 << side);
        if (level_of(graph, i, side) == self->depth[side])
            scan(self, i, side);
        else if (level_of(graph, i, side) > self->depth[side])
            enlist(self, i, side, 1);
    }
    self->depth[side]++;
    scanned = list[0];
    list[0] = list[1];
    list[1] = scanned;
    list[1].n = 0;
}

/* What has excess gives it to neighbours with a deficit: most ways are that short, and need no trees. */
static void push_to_neighbours(struct maxflow *graph)
{
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c];
        int64_t excess = graph->excess[i];
        if (excess <= 0)
            continue;
        for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last && excess > 0; k++) {
            int32_t j = graph->arc[k].head, residual = graph->arc[k].residual;
            int64_t deficit = -graph->excess[j];
            if (deficit <= 0 || residual == 0 || graph->distance[j] >= MAXFLOW_LEAF)
                continue;
            int64_t amount = deficit < excess ? deficit : excess;
            amount = residual < amount ? residual : amount;
            graph->arc[k].residual = residual - (int32_t)amount;
            graph->arc[graph->arc[k].reverse].residual += (int32_t)amount;
            graph->excess[j] += amount;
            excess -= amount;
        }
        graph->excess[i] = excess;
    }
}

/* Every node with excess or a deficit is a root. */
static void start(struct trees *self)
{
    struct maxflow *graph = self->graph;
    int32_t n = graph->n_nodes;
    for (int32_t i = 0; i <= n; i++)
        hang(graph, i, TREES_CLOSED, TREES_NONE, 0);
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c], side = graph->excess[i] < 0;
        bool is_root = graph->excess[i] != 0;
        hang(graph, i, is_root, is_root ? TREES_ROOT : TREES_NONE, side);
        graph->node[i].current = graph->first[i];
        graph->label[i] = 0;
        if (is_root)
            enlist(self, i, side, 0);
    }
}

/* Both sides grow alike; when one has no node left to scan, nothing of it reaches the other. Then the source trees go
 * on to all that they reach, which is the minimal source set. */
void maxflow_grow_trees(struct maxflow *graph, int64_t most_sinks)
{
    int32_t *queue = graph->queue + graph->n_decided;
    struct trees self = {
        .graph = graph,
        .list = {{{queue, 0}, {queue + graph->n_core + 1, 0}}, {{graph->active, 0}, {graph->count, 0}}},
        .depth = {1, 1},
        .limit = {2, 2},
        .lowest = INT_MAX,
        .budget = most_sinks};
    push_to_neighbours(graph);
    start(&self);
    if (self.list[0][0].n + self.list[1][0].n < graph->n_core / FEW_ROOTS)
        self.budget = 0;
    while (self.list[0][0].n && self.list[1][0].n && self.budget > 0)
        if (self.depth[0] <= self.depth[1])
            grow(&self, 0);
        else
            grow(&self, 1);
    if (self.list[0][0].n && self.list[1][0].n)
        maxflow_search(graph);
    else
        while (self.list[0][0].n)
            grow(&self, 0);
    for (int32_t c = 0; c < graph->n_core; c++)
        graph->label[graph->core[c]] = graph->node[graph->core[c]].level > 0;
}
