/* Maximum flow by the search of Boykov and Kolmogorov (PAMI 2004): trees whose paths need not be the shortest. An
 * orphan takes any neighbour of its side whose path ends at a root, the nearest of them; how far roots are is
 * remembered with the augmentation in which it was looked up. */

#include "infer/cut/cut.h"

struct search {
    struct maxflow *graph;
    int32_t *next_active;    /* [n_nodes] -1: the last one */
    int32_t first, last;     /* active nodes */
    int32_t orphans, newest; /* first and last orphan */
    int32_t now;             /* this augmentation; node[i].current is that in which `level` was exact */
};

static void activate(struct search *self, int32_t i)
{
    if (self->graph->label[i])
        return;
    self->graph->label[i] = 1;
    self->next_active[i] = -1;
    if (self->last < 0)
        self->first = i;
    else
        self->next_active[self->last] = i;
    self->last = i;
}

/* The next active node that is in a tree, or -1. */
static int32_t take_active(struct search *self)
{
    while (self->first >= 0) {
        int32_t i = self->first;
        self->first = self->next_active[i];
        if (self->first < 0)
            self->last = -1;
        self->graph->label[i] = 0;
        if (self->graph->node[i].level)
            return i;
    }
    return -1;
}

static void orphan_first(struct search *self, int32_t i)
{
    self->graph->node[i].parent = TREES_NONE;
    self->graph->node[i].next = self->orphans;
    if (self->orphans < 0)
        self->newest = i;
    self->orphans = i;
}

static void orphan_last(struct search *self, int32_t i)
{
    self->graph->node[i].parent = TREES_NONE;
    self->graph->node[i].next = -1;
    if (self->orphans < 0)
        self->orphans = i;
    else
        self->graph->node[self->newest].next = i;
    self->newest = i;
}

INLINE void push_path(struct search *self, int32_t i, int64_t amount, int side)
{
    struct maxflow *graph = self->graph;
    while (graph->node[i].parent != TREES_ROOT) {
        int32_t k = graph->node[i].parent, to = graph->arc[k].head;
        push_slot(graph, k, side ? amount : -amount);
        if (!toward_parent(graph, k, side))
            orphan_first(self, i);
        i = to;
    }
    graph->excess[i] += side ? amount : -amount;
    if (!graph->excess[i])
        orphan_first(self, i);
}

/* The length of j's path to its root, TREES_FAR if it ends at an orphan; what is on it remembers. */
INLINE int32_t root_distance(struct search *self, int32_t j, int side)
{
    struct maxflow *graph = self->graph;
    int32_t distance = 0, at = j;
    while (self->graph->node[at].current != self->now) {
        int32_t k = graph->node[at].parent;
        distance++;
        if (k == TREES_NONE)
            return TREES_FAR;
        if (k == TREES_ROOT) {
            self->graph->node[at].current = self->now;
            graph->node[at].level = side ? -1 : 1;
            distance--;
            break;
        }
        at = graph->arc[k].head;
    }
    distance += level_of(graph, at, side);
    for (int32_t d = distance; self->graph->node[j].current != self->now; j = graph->arc[graph->node[j].parent].head) {
        self->graph->node[j].current = self->now;
        graph->node[j].level = side ? -d : d;
        d--;
    }
    return distance;
}

/* Another parent for an orphan, or it leaves the trees and its children are orphans. */
INLINE void adopt(struct search *self, int32_t i, int side)
{
    struct maxflow *graph = self->graph;
    int32_t nearest = TREES_FAR, parent = TREES_NONE;
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
        int32_t j = graph->arc[k].head, level = level_of(graph, j, side);
        if (level <= 0 || level >= TREES_FAR || !toward_parent(graph, k, side) || graph->node[j].parent == TREES_NONE)
            continue;
        int32_t distance = root_distance(self, j, side);
        if (distance < nearest) {
            nearest = distance;
            parent = k;
        }
    }
    if (parent != TREES_NONE) {
        hang(graph, i, nearest + 1, parent, side);
        self->graph->node[i].current = self->now;
        return;
    }
    graph->node[i].level = 0;
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
        int32_t j = graph->arc[k].head, level = level_of(graph, j, side);
        if (level <= 0 || level >= TREES_FAR)
            continue;
        if (toward_parent(graph, k, side))
            activate(self, j); /* an orphan, too: it may find a parent */
        if (graph->node[j].parent == graph->arc[k].reverse)
            orphan_last(self, j);
    }
}

/* From the root of s in a source tree along slot k of s to the root of its head in a sink tree. */
static void augment(struct search *self, int32_t s, int32_t k)
{
    struct maxflow *graph = self->graph;
    int32_t t = graph->arc[k].head;
    int64_t amount = path_bottleneck(graph, t, path_bottleneck(graph, s, graph->arc[k].residual, 0), 1);
    push_slot(graph, k, amount);
    push_path(self, s, amount, 0);
    push_path(self, t, amount, 1);
    self->now++;
    while (self->orphans >= 0) {
        int32_t i = self->orphans;
        self->orphans = graph->node[i].next;
        if (graph->node[i].level > 0)
            adopt(self, i, 0);
        else
            adopt(self, i, 1);
    }
}

/* Looks at the arcs of i from `k` on. Returns the first to a tree of the other side, or -1. */
INLINE int32_t scan(struct search *self, int32_t i, int32_t k, int side)
{
    struct maxflow *graph = self->graph;
    int32_t here = level_of(graph, i, side);
    for (int32_t last = graph->first[i + 1]; k < last; k++) {
        if (!toward_child(graph, k, side))
            continue;
        int32_t j = graph->arc[k].head, level = level_of(graph, j, side);
        if (level == 0) {
            hang(graph, j, here + 1, graph->arc[k].reverse, side);
            self->graph->node[j].current = self->graph->node[i].current;
            activate(self, j);
        } else if (level < 0 && level > -TREES_FAR) {
            return k;
        } else if (level > here && level < TREES_FAR &&
                   self->graph->node[j].current <= self->graph->node[i].current) { /* a shorter way */
            hang(graph, j, here + 1, graph->arc[k].reverse, side);
            self->graph->node[j].current = self->graph->node[i].current;
        }
    }
    return -1;
}

void maxflow_search(struct maxflow *graph)
{
    struct search self = {.graph = graph, .next_active = graph->bucket, .first = -1, .last = -1, .orphans = -1};
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c];
        bool is_active = graph->label[i] && graph->node[i].level;
        graph->node[i].current = 0;
        graph->label[i] = 0;
        if (is_active)
            activate(&self, i);
    }
    /* Who is cut off while i's arcs are looked at makes i active again: those before k need no second look. */
    for (int32_t i = take_active(&self); i >= 0; i = take_active(&self)) {
        int side = graph->node[i].level < 0;
        for (int32_t k = graph->first[i]; k >= 0 && graph->node[i].level;) {
            k = side ? scan(&self, i, k, 1) : scan(&self, i, k, 0);
            if (k >= 0 && side)
                augment(&self, graph->arc[k].head, graph->arc[k].reverse);
            else if (k >= 0)
                augment(&self, i, k);
        }
    }
}
