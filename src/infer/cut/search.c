/* Finds the maximum flow by the search trees of Boykov and Kolmogorov (PAMI 2004). Trees grow from the nodes that have
 * excess and from those that have a deficit. Where two trees meet, flow is pushed along the path from root to root. A
 * node is an orphan if the arc to its parent is saturated, or if it is a root without excess or deficit left. It needs
 * another parent: the nearest neighbour of its side whose path ends at a root, or the first that is as near as the old
 * parent. Distances to roots are cached with the augmentation in which they were computed.
 *
 * In a source tree arcs lead from parent to child, in a sink tree from child to parent. Side 0 is the source trees,
 * side 1 the sink trees. Start at maxflow_search. */
#include "infer/cut/cut.h"

enum { FAR = 1 << 28, CLOSED = 1 << 30 }; /* beyond any level; the level of nodes that are not in the core */
enum { ROOT = -1, NONE = -2 };            /* in place of a parent */

struct search {
    struct maxflow *graph;
    int32_t *next_active;    /* [n_nodes] -1: the last one */
    int32_t first, last;     /* active nodes; label[] marks them */
    int32_t n_source_active; /* upper bound of the active nodes in source trees */
    int32_t orphans, newest; /* first and last orphan */
    int32_t now;             /* the current augmentation; node[i].current is the one in which `level` was exact */
};

/* Both return the residual capacity between the ends of an arc in the direction in which flow passes through trees of a
 * side: toward_child if the arc's head is a child of its tail, toward_parent if the head is the parent. */
INLINE int32_t toward_child(const struct maxflow *graph, int32_t slot, int side)
{
    return side ? graph->arc[slot].sum - graph->arc[slot].residual : graph->arc[slot].residual;
}

INLINE int32_t toward_parent(const struct maxflow *graph, int32_t slot, int side)
{
    return toward_child(graph, slot, !side);
}

/* Returns a node's level: above 0 in trees of the given side, below 0 in trees of the other side. */
INLINE int32_t level_of(const struct maxflow *graph, int32_t i, int side)
{
    return side ? -graph->node[i].level : graph->node[i].level;
}

/* Adds node i to a tree, as a child of `up`, to which i's arc `parent` leads. */
INLINE void hang(struct maxflow *graph, int32_t i, int32_t level, int32_t parent, int32_t up, int side)
{
    graph->node[i].level = side ? -level : level;
    graph->node[i].parent = parent;
    graph->node[i].up = up;
}

enum { SINK_ACTIVE = 1, SOURCE_ACTIVE }; /* marks of active nodes; a node keeps its mark when it leaves a source tree */

static void activate(struct search *self, int32_t i, int side)
{
    uint8_t before = self->graph->label[i], mark = side ? SINK_ACTIVE : SOURCE_ACTIVE;
    if (before >= mark)
        return;
    self->graph->label[i] = mark;
    self->n_source_active += mark == SOURCE_ACTIVE;
    if (before)
        return;
    self->next_active[i] = -1;
    if (self->last < 0)
        self->first = i;
    else
        self->next_active[self->last] = i;
    self->last = i;
}

/* Returns the next active node that is in a tree, or -1 when no node of a source tree is active. The source trees then
 * hold all nodes that excess reaches, so all labels are known, however far the sink trees have grown. */
static int32_t take_active(struct search *self)
{
    while (self->n_source_active > 0) {
        int32_t i = self->first;
        self->first = self->next_active[i];
        if (self->first < 0)
            self->last = -1;
        self->n_source_active -= self->graph->label[i] == SOURCE_ACTIVE;
        self->graph->label[i] = 0;
        if (self->graph->node[i].level)
            return i;
    }
    return -1;
}

static void orphan_first(struct search *self, int32_t i)
{
    self->graph->node[i].parent = NONE;
    self->graph->node[i].up = self->orphans;
    if (self->orphans < 0)
        self->newest = i;
    self->orphans = i;
}

static void orphan_last(struct search *self, int32_t i)
{
    self->graph->node[i].parent = NONE;
    self->graph->node[i].up = -1;
    if (self->orphans < 0)
        self->orphans = i;
    else
        self->graph->node[self->newest].up = i;
    self->newest = i;
}

/* Makes j a child of i, to which j's arc k leads. */
INLINE void take(struct maxflow *graph, int32_t j, int32_t i, int32_t k, int side)
{
    hang(graph, j, level_of(graph, i, side) + 1, k, i, side);
    graph->node[j].current = graph->node[i].current;
}

/* Stores the nodes from i to its root in path[] and lowers *amount to the least residual capacity on the way and to the
 * root's excess or deficit. Returns the number of nodes. */
INLINE int32_t path_to_root(const struct maxflow *graph, int32_t *path, int64_t *amount, int32_t i, int side)
{
    int64_t least = *amount;
    int32_t n = 0;
    for (int32_t k = graph->node[i].parent; k != ROOT; k = graph->node[i].parent) {
        int32_t residual = toward_parent(graph, k, side);
        least = residual < least ? residual : least;
        path[n++] = i;
        i = graph->node[i].up;
    }
    int64_t root = side ? -graph->excess[i] : graph->excess[i];
    *amount = root < least ? root : least;
    path[n++] = i;
    return n;
}

/* Pushes `amount` along an arc; a negative amount goes against it. */
INLINE void push_slot(struct maxflow *graph, int32_t slot, int64_t amount)
{
    struct maxflow_arc *arc = &graph->arc[slot];
    arc->residual -= (int32_t)amount;
    graph->arc[arc->reverse].residual += (int32_t)amount;
}

/* Pushes along a path of n nodes, the last of which is the root. Nodes that this cuts off become orphans. */
INLINE void push_path(struct search *self, const int32_t *path, int32_t n, int64_t amount, int side)
{
    struct maxflow *graph = self->graph;
    for (int32_t at = 0; at < n - 1; at++) {
        int32_t k = graph->node[path[at]].parent;
        push_slot(graph, k, side ? amount : -amount);
        if (!toward_parent(graph, k, side))
            orphan_first(self, path[at]);
    }
    int32_t root = path[n - 1];
    graph->excess[root] += side ? amount : -amount;
    if (!graph->excess[root])
        orphan_first(self, root);
}

/* Returns the level of j by the length of its path to the root, or FAR if the path ends at an orphan, and caches the
 * levels on the path. */
INLINE int32_t root_distance(struct search *self, int32_t j, int side)
{
    struct maxflow *graph = self->graph;
    int32_t distance = 0, at = j;
    while (graph->node[at].current != self->now) {
        int32_t k = graph->node[at].parent;
        distance++;
        if (k == NONE)
            return FAR;
        if (k == ROOT) {
            graph->node[at].current = self->now;
            graph->node[at].level = side ? -1 : 1;
            distance--;
            break;
        }
        at = graph->node[at].up;
    }
    distance += level_of(graph, at, side);
    for (int32_t d = distance; graph->node[j].current != self->now; j = graph->node[j].up) {
        graph->node[j].current = self->now;
        graph->node[j].level = side ? -d : d;
        d--;
    }
    return distance;
}

/* Relations of an orphan to the heads of its arcs k .. k + 31 (below `last`), one bit each: open (of its side, with an
 * arc to it that has capacity), parents (open and not an orphan), children. They are computed without branches, which
 * could not be predicted. */
struct kin {
    uint32_t open, parents, children;
};

INLINE struct kin kin_of(const struct maxflow *graph, int32_t k, int32_t last, int side)
{
    struct kin kin = {0, 0, 0};
    uint32_t bit = 1;
    last = last - k > 32 ? k + 32 : last;
    for (; k < last; k++, bit += bit) {
        const struct maxflow_arc *arc = &graph->arc[k];
        const union maxflow_node *to = &graph->node[arc->head];
        int32_t level = side ? -to->level : to->level;
        uint32_t is_kin = (uint32_t)level - 1 < FAR ? bit : 0, is_open = toward_parent(graph, k, side) ? is_kin : 0;
        kin.open |= is_open;
        kin.parents |= to->parent != NONE ? is_open : 0;
        kin.children |= to->parent == arc->reverse ? is_kin : 0;
    }
    return kin;
}

/* Finds another parent for an orphan. An orphan that finds none leaves the trees, and its children become orphans. */
INLINE void adopt(struct search *self, int32_t i, int side)
{
    struct maxflow *graph = self->graph;
    int32_t nearest = FAR, parent = NONE, before = level_of(graph, i, side);
    int32_t first = graph->first[i], last = graph->first[i + 1];
    struct kin kin = {0, 0, 0};
    for (int32_t from = first; from < last && nearest >= before; from += 32) {
        kin = kin_of(graph, from, last, side);
        for (uint32_t left = kin.parents; left && nearest >= before; left &= left - 1) {
            int32_t k = from + __builtin_ctz(left), distance = root_distance(self, graph->arc[k].head, side);
            if (distance < nearest) {
                nearest = distance;
                parent = k;
            }
        }
    }
    if (parent != NONE) {
        hang(graph, i, nearest + 1, parent, graph->arc[parent].head, side);
        graph->node[i].current = self->now;
        return;
    }
    graph->node[i].level = 0;
    for (int32_t from = first; from < last; from += 32) {
        kin = last - first > 32 ? kin_of(graph, from, last, side) : kin;
        for (uint32_t left = kin.open; left; left &= left - 1)
            activate(self, graph->arc[from + __builtin_ctz(left)].head,
                     side); /* also if it is an orphan, which may find a parent */
        for (uint32_t left = kin.children; left; left &= left - 1)
            orphan_last(self, graph->arc[from + __builtin_ctz(left)].head);
    }
}

/* Augments from the root of s in a source tree along slot k of s to the root of its head in a sink tree. */
static void augment(struct search *self, int32_t s, int32_t k)
{
    struct maxflow *graph = self->graph;
    int32_t *path = graph->next;
    int64_t amount = graph->arc[k].residual;
    int32_t n_up = path_to_root(graph, path, &amount, s, 0);
    int32_t n_down = path_to_root(graph, path + n_up, &amount, graph->arc[k].head, 1);
    push_slot(graph, k, amount);
    push_path(self, path, n_up, amount, 0);
    push_path(self, path + n_up, n_down, amount, 1);
    self->now++;
    while (self->orphans >= 0) {
        int32_t i = self->orphans;
        self->orphans = graph->node[i].up;
        if (graph->node[i].level > 0)
            adopt(self, i, 0);
        else
            adopt(self, i, 1);
    }
}

/* Grows the tree at node i along its arcs from `k` on. Returns the first arc with capacity to a tree of the other side,
 * or -1. */
INLINE int32_t scan(struct search *self, int32_t i, int32_t k, int side)
{
    struct maxflow *graph = self->graph;
    int32_t here = level_of(graph, i, side);
    for (int32_t last = graph->first[i + 1]; k < last; k++) {
        int32_t j = graph->arc[k].head, level = level_of(graph, j, side);
        if (!toward_child(graph, k, side))
            continue;
        if (level == 0) {
            take(graph, j, i, graph->arc[k].reverse, side);
            activate(self, j, side);
        } else if (level < 0 && level > -FAR) {
            return k;
        } else if (level > here + 1 && level < FAR &&
                   graph->node[j].current <= graph->node[i].current) { /* a shorter path */
            take(graph, j, i, graph->arc[k].reverse, side);
        }
    }
    return -1;
}

/* Pushes excess to neighbours with a deficit. Most paths are that short and need no trees. */
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

/* Makes every node with excess or a deficit an active root. */
static void start(struct search *self)
{
    struct maxflow *graph = self->graph;
    for (int32_t i = 0; i <= graph->n_nodes; i++)
        hang(graph, i, CLOSED, NONE, 0, 0);
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c], side = graph->excess[i] < 0;
        bool is_root = graph->excess[i] != 0;
        hang(graph, i, is_root, is_root ? ROOT : NONE, 0, side);
        graph->node[i].current = 0;
        graph->label[i] = 0;
        if (is_root)
            activate(self, i, side);
    }
}

void maxflow_search(struct maxflow *graph)
{
    struct search self = {.graph = graph, .next_active = graph->count, .first = -1, .last = -1, .orphans = -1};
    push_to_neighbours(graph);
    start(&self);
    /* A node that is cut off while i's arcs are scanned makes i active again, so the arcs before k need no second
     * scan. */
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
    for (int32_t c = 0; c < graph->n_core; c++)
        graph->label[graph->core[c]] = graph->node[graph->core[c]].level > 0;
}
